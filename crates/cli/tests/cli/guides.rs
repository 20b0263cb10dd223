//! The commands in the guides, run as they stand there.

use crate::Sandbox;

/// The lines behind `$` in the blocks of a guide.
fn commands(guide: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    guide.lines().filter_map(move |line| {
        if line.starts_with("```") {
            inside = line == "```console";
        }
        line.strip_prefix("$ ").filter(|_| inside)
    })
}

#[test]
fn your_first_pipeline_goes_as_it_is_written() {
    let sandbox = Sandbox::new();
    let guide = include_str!("../../../../docs/guides/first-pipeline.md");
    let mut count = 0;
    for line in commands(guide) {
        let shell = format!("holdpoint() {{ \"$0\" \"$@\"; }}\n{line}");
        let output = sandbox.command_by(&shell, &[]).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        // A run that waits for a person ends with 3.
        let right = if line.contains("pipeline run ") { 3 } else { 0 };
        assert_eq!(output.status.code(), Some(right), "{line}\n{said}");
        assert!(!line.starts_with("find ") || String::from_utf8_lossy(&output.stdout).lines().count() == 3);
        count += 1;
    }
    assert_eq!(count, 20, "the guide has another number of commands");
}

#[test]
fn running_in_the_terminal_goes_as_it_is_written() {
    let sandbox = Sandbox::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/report");
    let copied = sandbox.command_by(&format!("cp -r '{example}' report"), &[]).status().expect("a shell");
    assert!(copied.success());
    let mut count = 0;
    for line in commands(include_str!("../../../../docs/guides/running.md")) {
        let (line, exit) = line.split_once("   # ends with ").unwrap_or((line, "0"));
        let shell = format!("holdpoint() {{ \"$0\" \"$@\"; }}\n{line}");
        let output = sandbox.command_by(&shell, &[]).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), exit.parse().ok(), "{line}\n{said}");
        count += 1;
    }
    assert_eq!(count, 10, "the guide has another number of commands");
}

#[test]
fn compiling_goes_as_it_is_written() {
    let sandbox = Sandbox::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/dag");
    let copied = sandbox.command_by(&format!("cp -r '{example}' dag"), &[]).status().expect("a shell");
    assert!(copied.success());
    let guide = include_str!("../../../../docs/guides/compiling.md");
    let (mut count, mut told) = (0, String::new());
    for line in commands(guide) {
        let (line, exit) = line.split_once("   # ends with ").unwrap_or((line, "0"));
        let shell = format!("holdpoint() {{ \"$0\" \"$@\"; }}\n{line}");
        let output = sandbox.command_by(&shell, &[]).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), exit.parse().ok(), "{line}\n{said}");
        told.push_str(&said);
        count += 1;
    }
    assert_eq!(count, 8, "the guide has another number of commands");
    for said in guide.split("It says `").skip(1).filter_map(|rest| rest.split('`').next()) {
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn backing_up_goes_as_it_is_written() {
    let sandbox = Sandbox::new();
    let guide = include_str!("../../../../docs/guides/backup.md");
    let mut count = 0;
    for line in commands(guide) {
        // The commands find the home in the folder, as they do for a reader.
        let shell = format!("holdpoint() {{ \"$0\" \"$@\"; }}\nunset HOLDPOINT_HOME\n{line}");
        let output = sandbox.command_by(&shell, &[]).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\n{said}");
        count += 1;
    }
    assert_eq!(count, 6, "the guide has another number of commands");
}
