//! The command line of `bwrap` for a plan: a file system with the program's folders and the system's, read-only
//! where they must not change, and its own processes, network and identifiers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::plan::{HELPER, Plan, TMP};
use crate::system;

/// Shared memory for semaphores of libraries; enough for many, too little to fill the machine.
const SHARED_MEMORY_BYTES: &str = "67108864";

/// `bwrap`, about to run the entrance. `entrance` is what the helper is called with.
pub(crate) fn command(bwrap: &Path, plan: &Plan, helper: &Path, entrance: &[&str]) -> Command {
    let mut args = Args::default();
    args.words(["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]);
    args.words(["--die-with-parent", "--new-session", "--hostname", "sandbox"]);
    if !plan.network {
        args.word("--unshare-net");
    }
    if rustix::process::geteuid().is_root() {
        // The entrance needs the first two to become another user, and gives them up. It keeps the others,
        // without which that user could not work in folders that belong to root.
        args.words(["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]);
        args.words(["--cap-add", "CAP_DAC_OVERRIDE", "--cap-add", "CAP_FOWNER"]);
    }
    for folder in system::folders() {
        match std::fs::read_link(folder) {
            Ok(target) => args.paths("--symlink", &target, folder),
            Err(_) => args.paths("--ro-bind", folder, folder),
        }
    }
    for setting in system::settings(plan.network) {
        args.paths("--ro-bind", setting, setting);
    }
    args.words(["--proc", "/proc", "--dev", "/dev"]);
    args.words(["--perms", "1777", "--size", SHARED_MEMORY_BYTES, "--tmpfs", "/dev/shm"]);
    args.paths("--bind", &plan.scratch, Path::new(TMP));
    for (path, writable) in mounts(plan) {
        args.paths(if writable { "--bind" } else { "--ro-bind" }, &path, &path);
    }
    args.paths("--ro-bind", helper, Path::new(HELPER));
    args.words(["--remount-ro", "/", "--chdir"]);
    args.0.push(plan.cwd.clone().into());
    args.words(["--", HELPER]);
    args.words(entrance.iter().copied());

    let mut command = Command::new(bwrap);
    command.args(args.0);
    command
}

/// The plan's own folders, outer ones first so that none covers one inside it.
fn mounts(plan: &Plan) -> Vec<(PathBuf, bool)> {
    let mut mounts: Vec<(PathBuf, bool)> = plan
        .read_only
        .iter()
        .map(|path| (path.clone(), false))
        .chain(plan.read_write.iter().map(|path| (path.clone(), true)))
        .collect();
    mounts.sort_by_key(|(path, _)| path.components().count());
    mounts
}

#[derive(Default)]
struct Args(Vec<OsString>);

impl Args {
    fn word(&mut self, word: &str) {
        self.0.push(word.into());
    }

    fn words<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.0.extend(words.into_iter().map(OsString::from));
    }

    fn paths(&mut self, option: &str, from: &Path, to: &Path) {
        self.0.extend([option.into(), from.into(), to.into()]);
    }
}
