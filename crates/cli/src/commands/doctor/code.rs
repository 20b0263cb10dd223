//! What foreign code is confined by on this machine, found out by trying to break it.

use holdpoint_sandbox::{Choice, Level};
use holdpoint_work::Machine;

use super::report::{Check, Section};
use crate::home::Home;

pub async fn look(home: &Home, choice: Choice) -> Section {
    let mut section = Section::new("code");
    let Ok(helper) = std::env::current_exe() else {
        section.add(Check::warn(
            "sandbox",
            "this program cannot find itself",
            "start it by a path that stays",
        ));
        return section;
    };
    // A home that is not there yet is not made for this.
    let scratch = if home.path().exists() { home.path().join("tmp") } else { std::env::temp_dir() };
    let machine = Machine::new(helper, scratch, choice);
    let found = machine.found().await;
    section.add(sandbox(found.sandbox.findings()));
    section.add(if let Some(python) = &found.python {
        let text = format!("{} at {}", python.version, python.program.display());
        Check::ok("python", text).with("version", python.version.clone())
    } else {
        let hint = "install python3 to run Python scripts and agents' code";
        Check::warn("python", "there is no python3", hint)
    });
    section
}

fn sandbox(findings: &holdpoint_sandbox::Findings) -> Check {
    let missing = || findings.checks.iter().filter(|check| !check.held);
    let told: Vec<String> =
        missing().map(|check| format!("{} ({}): {}", check.check, check.level, check.detail)).collect();
    let fix = missing().find_map(|check| check.fix.clone()).unwrap_or_default();
    let held = findings.checks.iter().filter(|check| check.held).count();
    let level = findings.level.as_str();
    let check = match findings.level {
        Level::Full => Check::ok("sandbox", format!("full: a hostile program broke none of {held} limits")),
        Level::Restricted => Check::ok(
            "sandbox",
            format!("restricted, without namespaces: a hostile program broke none of {held} limits"),
        ),
        Level::External => {
            let hint = "execution.sandbox is external: only the machine around the server confines code";
            Check::warn("sandbox", "external: code is not confined by this program", hint)
        }
        Level::None => {
            let text = "none: scripts and agents' code are refused";
            Check::warn("sandbox", text, fix).findings(told)
        }
    };
    check.with("level", level)
}
