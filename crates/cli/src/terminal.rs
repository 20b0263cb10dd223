//! Lines that somebody types. One thread reads them for the whole process, so that a question can be given up
//! when somebody else has answered it, and what was typed meanwhile is not lost.

use std::io::BufRead as _;
use std::sync::OnceLock;

use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

static LINES: OnceLock<Mutex<UnboundedReceiver<String>>> = OnceLock::new();

fn read() -> Mutex<UnboundedReceiver<String>> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            // Bytes that are no text end the input like its end does.
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    Mutex::new(receiver)
}

/// The next line, without what surrounds it; none when the input has ended. Reading begins with the first call.
pub async fn next_line() -> Option<String> {
    let mut lines = LINES.get_or_init(read).lock().await;
    lines.recv().await.map(|line| line.trim().to_owned())
}
