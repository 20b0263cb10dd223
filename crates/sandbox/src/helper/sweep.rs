//! Ends every descendant of this process, also those that left its group, session and parent.
//!
//! This process adopts orphans (it is their subreaper), so whatever the program started is below it for ever.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, pidfd_open, pidfd_send_signal, wait,
};

/// How long stopping may take before killing begins anyway.
const STOPPING: Duration = Duration::from_millis(500);

/// How long the whole may take. After it this process ends, and the kernel kills its child.
const SWEEPING: Duration = Duration::from_secs(5);

/// Kills all descendants and waits until none is left. Gives the status of the one that is asked for.
///
/// They are stopped first: a killed process makes room for the next one of a fork bomb, a stopped one does not.
pub(super) fn sweep(wanted: Pid) -> Option<WaitStatus> {
    let began = Instant::now();
    let mut stopped = HashSet::new();
    while began.elapsed() < STOPPING {
        let running: Vec<Process> =
            descendants().into_iter().filter(|process| stopped.insert(process.pid)).collect();
        if running.is_empty() {
            break;
        }
        signal_all(&running, Signal::STOP);
    }
    let mut status = None;
    while began.elapsed() < SWEEPING {
        signal_all(&descendants(), Signal::KILL);
        let (found, left) = reap(wanted);
        status = status.or(found);
        if !left {
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    status
}

/// Takes note of all that ended. Gives the status of the one that is asked for, and whether any is left.
pub(super) fn reap(wanted: Pid) -> (Option<WaitStatus>, bool) {
    let mut status = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, how))) if pid == wanted => status = Some(how),
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return (status, true),
            Err(_) => return (status, false),
        }
    }
}

#[derive(Clone, Copy)]
struct Process {
    pid: i32,
    parent: i32,
}

fn descendants() -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
        if let Some(process) = process.file_name().to_str().and_then(|name| name.parse().ok()).and_then(read)
        {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let mut found = Vec::new();
    let mut parents = vec![std::process::id() as i32];
    while let Some(parent) = parents.pop() {
        let below = children.remove(&parent).unwrap_or_default();
        parents.extend(below.iter().map(|process| process.pid));
        found.extend(below);
    }
    found
}

fn read(pid: i32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, so the fields begin after the last one.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z").then_some(Process { pid, parent })
}

fn signal_all(processes: &[Process], signal: Signal) {
    for process in processes {
        let Some(handle) =
            Pid::from_raw(process.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
        else {
            continue;
        };
        // The handle names one process for good; looking again makes sure that it is the one that was seen.
        let ours = std::process::id() as i32;
        if read(process.pid).is_some_and(|now| now.parent == process.parent || now.parent == ours) {
            // One that ended meanwhile needs no signal.
            let _ = pidfd_send_signal(&handle, signal);
        }
    }
}
