//! Landlock: which files can be opened, run, changed. The kernel asks it about every path, whoever owns the file.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};

use crate::plan::Plan;
use crate::system;

/// Without this version a file outside could be cut to nothing by its path. Older kernels are refused.
const REQUIRED: ABI = ABI::V3;

/// Restricts this process. Network, signals and device commands are added where the kernel knows them; the probe
/// tells whether something else covers them.
pub(super) fn restrict(plan: &Plan) -> Result<(), RulesetError> {
    let files = AccessFs::from_all(REQUIRED);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(files)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?
        .scope(Scope::from_all(ABI::V6))?;
    if !plan.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4))?;
    }
    let read = AccessFs::from_read(REQUIRED);
    let write_file: BitFlags<AccessFs> =
        AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    // Sockets and devices are not made even in a folder of its own: nothing else should have to fear them.
    let change = files & !(AccessFs::MakeSock | AccessFs::MakeBlock | AccessFs::MakeChar);
    ruleset
        .create()?
        .add_rules(path_beneath_rules(readable(plan), read))?
        .add_rules(path_beneath_rules(system::DEVICES, write_file))?
        .add_rules(path_beneath_rules(writable(plan), change))?
        .restrict_self()?;
    Ok(())
}

fn readable(plan: &Plan) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        system::folders().chain(system::settings(plan.network)).map(Path::to_path_buf).collect();
    if plan.namespaces() {
        // Only its own processes are in there.
        paths.push("/proc".into());
    } else {
        // This process keeps its number when it becomes the program, so this is the program's own folder.
        paths.push(format!("/proc/{}", std::process::id()).into());
        paths.extend(system::facts().map(Path::to_path_buf));
    }
    paths.extend(plan.read_only.iter().cloned());
    paths
}

fn writable(plan: &Plan) -> Vec<PathBuf> {
    let mut paths = plan.read_write.clone();
    paths.push(plan.tmp());
    if plan.namespaces() {
        paths.push("/dev/shm".into());
    }
    paths
}
