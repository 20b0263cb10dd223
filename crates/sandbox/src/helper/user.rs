//! Another user, for a server that is root.
//!
//! The kernel's limit on processes does not bind root, and root owns nearly every file. So each run becomes a user
//! that nobody else is: its processes are counted alone, and it can harm no other run. Its folders still belong to
//! root and may lie in a home that only root can enter; changing their owner would leave traces, so instead the
//! program keeps the right to pass by the permissions of files. Landlock, and the mounts where there are any,
//! decide which files that is about.

use std::fs;
use std::io;

use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, set_capabilities, set_keep_capabilities, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};

use crate::Level;
use crate::plan::Plan;

/// Users from here on belong to no one: distributions and containers give out lower numbers.
const FIRST: u32 = 2_000_000_000;

/// The user that owns nothing, for a machine (a container, mostly) that has no such numbers.
const NOBODY: u32 = 65534;

/// Whom a plan's program becomes: someone else if the server is root and may change.
pub(super) fn pick(plan: &Plan) -> Option<u32> {
    let needed = CapabilitySet::SETUID | CapabilitySet::SETGID;
    let changes = plan.level != Level::External
        && plan.layers.user
        && geteuid().is_root()
        && capabilities(None).is_ok_and(|sets| sets.permitted.contains(needed));
    let own = FIRST + std::process::id();
    let exists = ["/proc/self/uid_map", "/proc/self/gid_map"].iter().all(|map| maps(map, own));
    changes.then_some(if exists { own } else { NOBODY })
}

/// Whether a number exists here. Each line of a map is: first number, what it stands for, how many.
fn maps(map: &str, number: u32) -> bool {
    fs::read_to_string(map).unwrap_or_default().lines().any(|line| {
        let fields: Vec<u64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        matches!(fields[..], [first, _, count] if (first..first + count).contains(&number.into()))
    })
}

/// Becomes that user.
pub(super) fn change(plan: &Plan, user: u32) -> io::Result<()> {
    let wanted = if plan.namespaces() {
        // Also to change the mode of a file that an earlier run made. Without mounts that would be any file.
        CapabilitySet::DAC_OVERRIDE | CapabilitySet::FOWNER
    } else {
        CapabilitySet::DAC_OVERRIDE
    };
    let kept = capabilities(None)?.permitted & wanted;
    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
    set_keep_capabilities(true)?;
    set_thread_groups(&[])?;
    set_thread_res_gid(gid, gid, gid)?;
    set_thread_res_uid(uid, uid, uid)?;
    set_keep_capabilities(false)?;
    clear_ambient_capability_set()?;
    set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable: kept })?;
    for right in kept.iter() {
        // Only in this set does a right outlast the change into a program.
        configure_capability_in_ambient_set(right, true)?;
    }
    Ok(())
}

/// Stays who it is, without any right beyond that.
pub(super) fn give_up_rights() -> io::Result<()> {
    let none = CapabilitySet::empty();
    clear_ambient_capability_set()?;
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}
