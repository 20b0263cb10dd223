//! seccomp: system calls that no script needs and that reach around the other layers.
//!
//! A list of refusals rather than of permissions: programs stay what they are, and each entry has a reason. What
//! is newer than the list does not exist.

use std::io;

use seccompiler::{BpfProgram, TargetArch, apply_filter, compile_from_json, sock_filter};
use serde_json::{Value, json};

const EPERM: u32 = 1;
const ENOSYS: u32 = 38;

/// The first system call that this list has not judged (`setxattrat`). The other calling convention of x86-64,
/// which would give every refused call a second number, lies above it, too.
const FIRST_UNKNOWN: u32 = 463;

const AF_UNIX: u64 = 1;
const NETWORK_FAMILIES: [u64; 3] = [2, 10, 16];

/// Kinds of namespace, as flags of `clone`.
const NAMESPACES: [u64; 7] =
    [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];

/// Commands that type into a terminal.
const TERMINAL_COMMANDS: [u64; 2] = [0x5412, 0x541C];

const REFUSED: &[&str] = &[
    // Other processes.
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "kcmp",
    "pidfd_getfd",
    // Another view of the machine.
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "fsopen",
    "fsmount",
    "fsconfig",
    "fspick",
    "move_mount",
    "open_tree",
    "mount_setattr",
    "unshare",
    "setns",
    // Files by number, past every check of paths.
    "open_by_handle_at",
    "name_to_handle_at",
    "fanotify_init",
    // Large, often broken parts of the kernel.
    "bpf",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "userfaultfd",
    "perf_event_open",
    "keyctl",
    "add_key",
    "request_key",
    "modify_ldt",
    "personality",
    // Memory that no limit counts, and that may outlive the program.
    "memfd_create",
    "memfd_secret",
    "shmget",
    "msgget",
    "semget",
    "mq_open",
    // The machine itself.
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "quotactl_fd",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "syslog",
    "sethostname",
    "setdomainname",
    "iopl",
    "ioperm",
    "vhangup",
    "lookup_dcookie",
    "nfsservctl",
];

/// What changes a file's description by its path, for its owner. Landlock does not ask about these.
const OF_OWNERS: &[&str] = &["chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat"];

/// The same for whoever may write to it. The ones about times are from before `utimensat`.
const OF_WRITERS: &[&str] =
    &["setxattr", "lsetxattr", "removexattr", "lremovexattr", "utime", "utimes", "futimesat"];

/// What a worker does not need, which only computes with what it is sent: files, programs, other processes.
const OF_WORKERS: &[&str] = &[
    "open",
    "openat",
    "openat2",
    "creat",
    "truncate",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "mkdir",
    "mkdirat",
    "mknod",
    "mknodat",
    "rmdir",
    "chdir",
    "execve",
    "execveat",
    "fork",
    "vfork",
    "kill",
    "tkill",
    "pidfd_open",
    "pidfd_send_signal",
    "socketpair",
    "connect",
    "bind",
];

/// What a program is to the files outside its folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outside {
    /// They are not there.
    Absent,
    /// They belong to someone else, whose permissions it may pass by.
    Foreign,
    /// They belong to the same user.
    Owned,
}

/// Restricts this process.
pub(super) fn restrict(network: bool, outside: Outside) -> io::Result<()> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    apply(&refused(network, outside, arch), arch)
}

/// Restricts this process to computing.
pub(super) fn restrict_worker() -> io::Result<()> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let mut rules = refused(false, Outside::Owned, arch);
    rules.retain(|rule| rule["syscall"] != "socketpair");
    rules.extend(known(OF_WORKERS.iter(), arch));
    apply(&rules, arch)
}

fn apply(rules: &[Value], arch: TargetArch) -> io::Result<()> {
    let programs = [
        compile(rules, EPERM, arch)?,
        // Its flags lie in memory, where a filter cannot look. Libraries then use `clone`.
        compile(&[json!({"syscall": "clone3"})], ENOSYS, arch)?,
        refuse_unknown(),
    ];
    for program in &programs {
        apply_filter(program).map_err(io::Error::other)?;
    }
    Ok(())
}

fn refused(network: bool, outside: Outside, arch: TargetArch) -> Vec<Value> {
    let of_writers = if outside >= Outside::Foreign { OF_WRITERS } else { &[] };
    let of_owners = if outside >= Outside::Owned { OF_OWNERS } else { &[] };
    let mut rules: Vec<Value> = known(REFUSED.iter().chain(of_writers).chain(of_owners), arch).collect();
    // With a path (without one it is about an open file), and for a mere writer without times.
    let path = (1, "qword", json!("ne"), 0);
    match outside {
        Outside::Absent => {}
        Outside::Foreign => rules.push(when("utimensat", &[path, (2, "qword", json!("eq"), 0)])),
        Outside::Owned => rules.push(when("utimensat", &[path])),
    }
    rules.extend(NAMESPACES.map(|flag| when("clone", &[(0, "qword", json!({"masked_eq": flag}), flag)])));
    rules.extend(TERMINAL_COMMANDS.map(|command| when("ioctl", &[(1, "dword", json!("eq"), command)])));
    if outside > Outside::Absent {
        rules.extend(of_others());
    }
    rules.push(when("socketpair", &[(0, "dword", json!("ne"), AF_UNIX)]));
    rules.push(if network {
        when("socket", &NETWORK_FAMILIES.map(|family| (0, "dword", json!("ne"), family)))
    } else {
        json!({"syscall": "socket"})
    });
    rules
}

/// Limits and priorities of other processes. Where the program has no process ids of its own it could give the server a
/// limit that kills it. A process may change its own under the name 0; a process group, and all of a user, are others.
fn of_others() -> impl Iterator<Item = Value> {
    let is_not = |index, value: u64| (index, "dword", json!("ne"), value);
    let sets = (2, "qword", json!("ne"), 0);
    let by_id = [
        "sched_setaffinity",
        "sched_setattr",
        "sched_setparam",
        "sched_setscheduler",
        "migrate_pages",
        "move_pages",
    ];
    let by_kind = [("setpriority", 0), ("ioprio_set", 1)];
    let kinds = by_kind
        .into_iter()
        .flat_map(move |(name, own)| [when(name, &[is_not(0, own)]), when(name, &[is_not(1, 0)])]);
    [when("prlimit64", &[is_not(0, 0), sets])]
        .into_iter()
        .chain(by_id.map(|name| when(name, &[is_not(0, 0)])))
        .chain(kinds)
}

/// Rules for the calls that this kind of machine has.
fn known<'a>(names: impl Iterator<Item = &'a &'a str>, arch: TargetArch) -> impl Iterator<Item = Value> {
    names
        .map(|name| json!({"syscall": name}))
        .filter(move |rule| compile(std::slice::from_ref(rule), EPERM, arch).is_ok())
}

/// A rule for a call whose arguments all fit.
fn when(syscall: &str, conditions: &[(u8, &str, Value, u64)]) -> Value {
    let args: Vec<Value> = conditions
        .iter()
        .map(|(index, kind, op, val)| json!({"index": index, "type": kind, "op": op, "val": val}))
        .collect();
    json!({"syscall": syscall, "args": args})
}

fn compile(rules: &[Value], errno: u32, arch: TargetArch) -> io::Result<BpfProgram> {
    let filters = json!({"all": {
        "mismatch_action": "allow",
        "match_action": {"errno": errno},
        "filter": rules,
    }});
    compile_from_json(filters.to_string().as_bytes(), arch)
        .map_err(io::Error::other)?
        .remove("all")
        .ok_or_else(|| io::Error::other("no filter came out"))
}

/// Load the number; from the first unknown one on answer that there is no such call; else allow.
fn refuse_unknown() -> BpfProgram {
    let line = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        line(0x20, 0, 0, 0),
        line(0x35, 0, 1, FIRST_UNKNOWN),
        line(0x06, 0, 0, 0x0005_0000 | ENOSYS),
        line(0x06, 0, 0, 0x7fff_0000),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_name_is_known() {
        let arch = TargetArch::x86_64;
        let unknown: Vec<&&str> = REFUSED
            .iter()
            .chain(OF_WRITERS)
            .chain(OF_OWNERS)
            .chain(OF_WORKERS)
            .filter(|name| compile(&[json!({"syscall": name})], EPERM, arch).is_err())
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn every_kind_of_filter_compiles() {
        for arch in [TargetArch::x86_64, TargetArch::aarch64] {
            for outside in [Outside::Absent, Outside::Foreign, Outside::Owned] {
                for network in [false, true] {
                    compile(&refused(network, outside, arch), EPERM, arch)
                        .expect("the rules are well-formed");
                }
            }
        }
    }
}
