//! What tools of servers are called: in definitions, and by models.

use sha2::{Digest as _, Sha256};

/// The longest name that every provider takes.
const LONGEST: usize = 64;

/// The name under which a model is told of a server's tool: `server__tool`, in letters that every provider takes.
pub fn told_as(server: &str, tool: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = format!("{server}__{tool}").chars().map(plain).collect();
    if name.len() <= LONGEST {
        return name;
    }
    // What is cut off still tells two tools apart.
    let mark = Sha256::digest(format!("{server}/{tool}").as_bytes());
    format!("{}_{:02x}{:02x}{:02x}{:02x}", &name[..LONGEST - 9], mark[0], mark[1], mark[2], mark[3])
}

/// Whether a name may be a server's: it stands in names of tools, of files and of settings.
pub fn legal(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= 32
        && name.bytes().all(allowed)
        && !name.contains("__")
        && !name.ends_with('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_names_that_its_provider_takes() {
        assert_eq!(told_as("files", "read"), "files__read");
        assert_eq!(told_as("files", "a.b/c d"), "files__a_b_c_d");
        let (one, two) = (told_as("s", &"x".repeat(100)), told_as("s", &format!("{}y", "x".repeat(100))));
        assert_eq!((one.len(), two.len()), (64, 64));
        assert_ne!(one, two);
    }

    #[test]
    fn a_server_has_a_plain_name() {
        assert!(legal("github") && legal("my-server_2"));
        for name in ["", "A", "2x", "a__b", "a_", "a/b", "a.b", &"x".repeat(33)] {
            assert!(!legal(name), "{name}");
        }
    }
}
