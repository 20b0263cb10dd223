//! The documented names of folders and files, made from names that people chose.
//!
//! Names are made safe for a file system and stay readable; ids keep them apart.

use crate::{ArtifactId, ExecutionId, RollbackId, Timestamp};

/// The longest slug, in bytes.
const MAX_SLUG: usize = 60;

/// A name as part of a folder or file name: letters, digits, `-`, `_` and `.` stay, everything else becomes
/// one `_`.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.trim().chars() {
        let c = if c.is_alphanumeric() || c == '-' || c == '.' { c } else { '_' };
        if slug.len() + c.len_utf8() > MAX_SLUG {
            break;
        }
        if c != '_' || !slug.ends_with('_') {
            slug.push(c);
        }
    }
    let slug = slug.trim_matches(|c| c == '_' || c == '.');
    if slug.is_empty() { "unnamed".to_owned() } else { slug.to_owned() }
}

/// Whether a name can stand in a file name as it is: no path, no control, direction or invisible characters, no
/// leading dot, no name that a system reserves.
pub fn is_plain_name(name: &str) -> bool {
    const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "com1", "lpt1"];
    let forbidden = |c: char| c.is_control() || is_invisible(c) || "/\\:*?\"<>|".contains(c);
    !name.is_empty()
        && name.len() <= 120
        && name == name.trim()
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !name.contains(forbidden)
        && !RESERVED.contains(&name.to_ascii_lowercase().as_str())
}

/// Whether a character shows nothing, or changes the direction of others: two names that look the same would differ.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{e0000}'..='\u{e0fff}')
}

/// The folder of a run inside its pipeline: `runs/v2`.
pub fn run_folder(number: u32) -> String {
    format!("runs/v{number}")
}

/// The folder of a checkpoint inside a run's folder: `checkpoint_0_requirements`.
pub fn checkpoint_folder(position: u32, name: &str) -> String {
    format!("checkpoint_{position}_{}", slug(name))
}

/// The folder of an execution's temporary files inside its pipeline.
pub fn temp_folder(execution: ExecutionId) -> String {
    format!(".temp/exec_{execution}")
}

/// An artifact's file name before promotion: `requirements_a1b2c3d4.json`.
pub fn staged_name(name: &str, artifact: ArtifactId, extension: &str) -> String {
    format!("{name}_{}.{extension}", short(artifact))
}

/// An artifact's file name after promotion: `requirements_a1b2c3d4_v2.json`.
pub fn promoted_name(name: &str, artifact: ArtifactId, number: u32, extension: &str) -> String {
    format!("{name}_{}_v{number}.{extension}", short(artifact))
}

/// The folder of a rollback's archive inside its pipeline.
pub fn archive_folder(rollback: RollbackId, at: Timestamp) -> String {
    format!(".archived/rollback_{rollback}_{}/", at.compact())
}

/// The folder of an execution that has failed for good, inside its pipeline.
pub fn errored_folder(execution: ExecutionId, at: Timestamp) -> String {
    format!(".errored/exec_{execution}_{}", at.compact())
}

/// The folder of what was done under an earlier definition version, inside its pipeline.
pub fn definition_folder(version: u32, at: Timestamp) -> String {
    format!(".archived/definition_v{version}_{}/", at.compact())
}

/// The last eight hex digits of an artifact's id.
fn short(artifact: ArtifactId) -> String {
    let text = artifact.0.simple().to_string();
    text[24..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_safe_and_readable() {
        for (name, wanted) in [
            ("Business Analysis", "Business_Analysis"),
            ("../../etc/passwd", "etc_passwd"),
            ("  a // b  ", "a_b"),
            ("Überblick 1.2", "Überblick_1.2"),
            ("...", "unnamed"),
            ("", "unnamed"),
        ] {
            assert_eq!(slug(name), wanted, "{name}");
        }
        assert!(slug(&"x".repeat(500)).len() <= MAX_SLUG);
    }

    #[test]
    fn names_that_could_leave_their_folder_are_refused() {
        for name in
            ["../x", "/abs", "a/b", "a\\b", ".hidden", "a\0b", "", " a", "CON", "a\u{202e}b", "nul", "x."]
        {
            assert!(!is_plain_name(name), "{name:?}");
        }
        for name in ["requirements", "business_objectives", "Überblick 2", "v1.2-final"] {
            assert!(is_plain_name(name), "{name:?}");
        }
    }

    #[test]
    fn files_have_the_documented_names() {
        let id: ArtifactId = "00000000-0000-7000-8000-0000a1b2c3d4".parse().expect("a UUID");
        assert_eq!(staged_name("business_objectives", id, "json"), "business_objectives_a1b2c3d4.json");
        assert_eq!(
            promoted_name("business_objectives", id, 2, "json"),
            "business_objectives_a1b2c3d4_v2.json"
        );
        assert_eq!(checkpoint_folder(0, "Requirements"), "checkpoint_0_Requirements");
    }
}
