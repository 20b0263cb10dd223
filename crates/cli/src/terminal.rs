//! Lines that a person types at the terminal.
//!
//! One thread reads for the whole process, so that a question can be withdrawn while the person types. What was typed
//! for one question must never answer the next one: [`discard`] empties this process's buffers and the terminal's own,
//! which holds a line until Enter is pressed.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::stdin;
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::Notify;

/// The longest line that is read; longer ones are cut there.
const LONGEST: usize = 64 * 1024;

static INPUT: OnceLock<Input> = OnceLock::new();

#[derive(Default)]
struct Input {
    typed: Mutex<Typed>,
    changed: Notify,
}

#[derive(Default)]
struct Typed {
    lines: VecDeque<String>,
    /// The start of a line whose end has not been read.
    rest: Vec<u8>,
    ended: bool,
}

impl Input {
    fn typed(&self) -> MutexGuard<'_, Typed> {
        self.typed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn input() -> &'static Input {
    let mut first = false;
    let input = INPUT.get_or_init(|| {
        first = true;
        Input::default()
    });
    if first {
        std::thread::spawn(move || {
            while read(input) {}
            input.typed().ended = true;
            input.changed.notify_one();
        });
    }
    input
}

/// Reads what is there; false when the input has ended.
fn read(input: &Input) -> bool {
    if !is_readable(None) {
        return true;
    }
    // Reading happens under the lock, and only what is there already: `discard` can then be sure that no bytes from
    // before it are on their way from the terminal to the buffer.
    let mut typed = input.typed();
    if !is_readable(Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
        return true;
    }
    let mut bytes = [0; 4096];
    let count = match rustix::io::read(stdin(), &mut bytes[..]) {
        Ok(0) => return false,
        Ok(count) => count,
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return true,
        Err(_) => return false,
    };
    for byte in &bytes[..count] {
        if *byte == b'\n' {
            let line = std::mem::take(&mut typed.rest);
            // Bytes that are no text end the input like its end does.
            let Ok(line) = String::from_utf8(line) else { return false };
            typed.lines.push_back(line.trim().to_owned());
        } else if typed.rest.len() < LONGEST {
            typed.rest.push(*byte);
        }
    }
    drop(typed);
    input.changed.notify_one();
    true
}

fn is_readable(timeout: Option<&Timespec>) -> bool {
    let fd = stdin();
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    poll(&mut fds, timeout).is_ok_and(|ready| ready > 0)
}

/// The next line, without the blanks around it; none when the input has ended. Reading begins with the first call.
pub async fn next_line() -> Option<String> {
    let input = input();
    loop {
        {
            let mut typed = input.typed();
            if let Some(line) = typed.lines.pop_front() {
                return Some(line);
            }
            if typed.ended {
                return None;
            }
        }
        input.changed.notified().await;
    }
}

/// Throws away what was typed and not yet taken, also a line without its Enter.
pub fn discard() -> io::Result<()> {
    let mut typed = input().typed();
    typed.lines.clear();
    typed.rest.clear();
    match tcflush(stdin(), QueueSelector::IFlush) {
        Ok(()) | Err(rustix::io::Errno::NOTTY) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
