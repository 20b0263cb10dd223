//! What this program does when it is called as its own worker.

use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;

use super::limits;
use super::wire::{self, MAX_QUESTION, MAX_REPLY, Reply, Request};
use crate::{js, schema};

/// Room for the engine's own stack and for schemas inside each other, whatever the system usually gives.
const STACK: usize = 8 << 20;

/// The worker. Call it first of all. It ends when standard input does, so it never outlives an idle server.
pub fn helper_main() -> ExitCode {
    let served = limits::set().and_then(|()| {
        let thread = thread::Builder::new().stack_size(STACK).spawn(serve)?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("a fault of the engine")))
    });
    // Nobody reads why: the server sees that it ended.
    if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn serve() -> io::Result<()> {
    let mut input = io::stdin().lock();
    say(&Reply::Ready)?;
    while let Some(request) = wire::read(&mut input, MAX_QUESTION)? {
        say(&answer(&request)?)?;
    }
    Ok(())
}

fn answer(request: &Request) -> io::Result<Reply> {
    match request {
        Request::Expression(question) => {
            limits::work(question.time().as_secs())?;
            Ok(Reply::Expression(js::answer(question)))
        }
        Request::Schema { schema, value, seconds } => {
            limits::work(*seconds)?;
            let schema = serde_json::from_str(schema)?;
            Ok(Reply::Schema(match value {
                Some(value) => schema::check_value(&schema, &serde_json::from_str(value)?),
                None => schema::check_schema(&schema).map(|()| Vec::new()),
            }))
        }
    }
}

fn say(reply: &Reply) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(&wire::frame(reply, MAX_REPLY)?)?;
    output.flush()
}
