//! `holdpoint serve`: the server on a home, until it is told to stop.

use std::io;

use holdpoint_server::{App, Listen, ListenError, Server, Stopped};
use serde_json::json;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::logging;
use crate::problem::{Exit, Failure, Problem};
use crate::settings::Flag;

/// Start the server
///
/// It prints its address. SIGTERM or SIGINT stops it: requests that have begun are answered for up to ten
/// seconds; a second signal stops it at once.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to listen, on this machine only [default: 127.0.0.1:4180]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// Another port at the same address; 0 takes a free one
    #[arg(long, value_name = "N")]
    port: Option<u16>,
}

pub fn run(args: Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let flag = args.listen.map(|text| Flag { name: "--listen", setting: "server.listen", text });
    let home = context.home()?;
    let settings = context.settings(&home, flag.as_slice())?.settings;
    let listen: Listen = settings.server.listen.parse().expect("addresses are checked when they are read");
    let listen = args.port.map_or(listen, |port| listen.with_port(port));
    home.create()?;
    logging::start(&settings.logging, context.output.is_quiet()).map_err(cannot_start)?;

    let runtime = Builder::new_multi_thread().enable_all().build().map_err(cannot_start)?;
    let ended = runtime.block_on(serve(listen, App::default(), context));
    // Whatever still works in the background does so for nobody.
    runtime.shutdown_background();
    ended
}

async fn serve(listen: Listen, app: App, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    // Before the address is told, so that whoever reads it can also stop the server.
    let mut signals = Signals::new().map_err(cannot_start)?;
    let server = Server::bind(listen).await.map_err(|error| cannot_listen(&error))?;
    let address = format!("http://{}", server.address());
    context.output.say(&format!("listening on {address}"));
    if context.output.is_json() {
        context.output.value(&json!({"listening": address}))?;
    }

    let stop = CancellationToken::new();
    let mut running = tokio::spawn(server.run(app, stop.clone()));
    signals.next().await;
    stop.cancel();
    tokio::select! {
        stopped = &mut running => {
            if let Stopped::Cut(connections) = stopped.map_err(cannot_start)? {
                context.output.say(&format!("stopped; {connections} connections did not end in time"));
            }
        }
        () = signals.next() => context.output.say("stopped at once"),
    }
    Ok(Exit::Done)
}

/// What asks the process to stop.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

fn cannot_listen(error: &ListenError) -> Problem {
    Problem::failed(error.code(), error.to_string(), error.hint())
}

fn cannot_start(error: impl std::fmt::Display) -> Problem {
    Problem::failed(
        "not_started",
        format!("the server cannot work: {error}"),
        "look at the limits of this system",
    )
}
