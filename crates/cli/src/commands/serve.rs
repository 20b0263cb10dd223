//! `holdpoint serve`: the server and the engine on a home, until they are told to stop.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use holdpoint_core::TokenId;
use holdpoint_core::facts::Offers;
use holdpoint_engine::retention::GcReport;
use holdpoint_engine::{Drained, Engine, SubmitError, Works};
use holdpoint_server::{App, Health, Limits, Listen, ListenError, NotReady, Server, Stopped};
use holdpoint_store::{BoxFuture, Query};
use holdpoint_store_sqlite::SqliteLog;
use holdpoint_work::{Machine, Worker};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::runtime::Builder;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at, timeout};
use tokio_util::sync::CancellationToken;

use crate::commands::audit::LACKS_TAIL;
use crate::context::Context;
use crate::dry_runs::Beside;
use crate::home::Home;
use crate::keys;
use crate::logging;
use crate::problem::{Exit, Failure, Problem};
use crate::settings::{Flag, Settings};
use crate::signals::Signals;
use crate::text::many;
use crate::wiring::{self, HomeOptions, OpenHome};

/// How often the heads of streams are sealed.
const SEAL: Duration = Duration::from_mins(1);
/// How long requests may go on after the first signal; what is left of ten seconds is for the last seal.
const DRAIN: Duration = Duration::from_secs(9);
/// How long the last seal may take.
const LAST_SEAL: Duration = Duration::from_millis(700);
/// How often what is old is removed, and how long after the start for the first time.
const CLEAN_UP: Duration = Duration::from_hours(24);
const CLEAN_UP_AFTER: Duration = Duration::from_hours(1);
/// How soon it is noticed that the store has stopped.
const LOOK: Duration = Duration::from_millis(100);

/// Why requests are refused; it names no path, because clients read it.
const DISPLACED: &str = "the home was deleted or replaced while the server was running";

/// Start the server
///
/// It prints its address. SIGTERM or SIGINT stops it: requests and work that have begun come to their end for up
/// to ten seconds; a second signal stops it at once. Work that was cut off is taken up by the next server.
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
    allow_many_files();
    logging::start(&settings.logging, context.output.is_quiet()).map_err(cannot_start)?;

    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let mut runtime = Builder::new_multi_thread();
    let runtime = runtime.worker_threads(cores.max(2)).enable_all().build().map_err(cannot_start)?;
    let (worker, machine) = crate::worker::worker(&home, &settings, context.surroundings())?;
    let offers = crate::tool_servers::offers(&home, &settings, context.surroundings())?;
    let working = (worker, machine, offers);
    let ended = runtime.block_on(serve(&home, listen, settings, working, context, greet));
    // Whatever still works in the background does so for nobody.
    runtime.shutdown_background();
    ended
}

/// A server that has begun to work.
pub struct Open<'a> {
    /// Takes commands.
    pub engine: &'a Engine,
    /// `http://` and where it listens.
    pub address: String,
    app: &'a App,
    admin: TokenId,
}

impl Open<'_> {
    /// A link that signs in once, to a page of the console.
    pub fn sign_in(&self, page: Option<&str>) -> String {
        let next = page.map_or_else(String::new, |page| format!("&next={page}"));
        format!("{}/sign-in?ticket={}{next}", self.address, self.app.ticket(self.admin))
    }
}

async fn greet(open: Open<'_>, context: &mut Context<'_, '_>) -> Result<(), Failure> {
    let (address, sign_in) = (&open.address, open.sign_in(None));
    context.output.say(&format!("listening on {address}"));
    context.output.say(&format!("sign in once, within ten minutes: {sign_in}"));
    if context.output.is_json() {
        context.output.value(&json!({"listening": address, "sign_in": sign_in}))?;
    }
    Ok(())
}

/// A connection is an open file, and the usual limit is low; where it cannot be raised, it stays.
pub fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Serves a home until it is told to stop; `greet` tells people where, or makes something first.
pub async fn serve(
    home: &Home,
    listen: Listen,
    settings: Settings,
    (worker, machine, offers): (Worker, Machine, Arc<dyn Offers>),
    context: &mut Context<'_, '_>,
    greet: impl AsyncFnOnce(Open<'_>, &mut Context<'_, '_>) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    // Before the address is told, so that whoever reads it can also stop the server.
    let mut signals = Signals::new().map_err(cannot_start)?;
    let server = Server::bind(listen).await.map_err(|error| cannot_listen(&error))?;
    let server = server.with_limits(Limits { drain: DRAIN, ..wiring::limits(&settings.limits) });
    let (address, port) = (format!("http://{}", server.address()), server.address().port());
    let (behind, stop) = (Behind(Arc::default(), Some(machine.clone())), CancellationToken::new());
    let app = App::new(behind.clone());
    keys::forget_old_sessions(home);
    app.keep_sessions_in(keys::sessions_file(home, port));
    app.dry_run_by(Beside::new(home, wiring::tree_options(home, &settings.files).folder)?);
    let serving = tokio::spawn(server.run(app.clone(), stop.clone()));
    // The server answers meanwhile that it lives, and is not ready before the home is open.
    let executor = Arc::new(worker);
    let options = HomeOptions { works: Works::All, executor, offers, ..HomeOptions::of(&settings) };
    let open = wiring::open_home(home, options).await?;
    let OpenHome { engine, log, .. } = behind.0.get_or_init(|| open);
    if log.lacks_tail() {
        context.output.say(&format!("warning: {LACKS_TAIL}"));
    }
    let admin = keys::admit_admin(home, engine).await?;
    app.open(engine.clone());
    // Nobody waits for it, unless there is code to run.
    tokio::spawn(async move {
        let sandbox = machine.found().await.sandbox.level();
        tracing::info!(%sandbox, "what foreign code is confined by");
    });
    let works = stop.child_token();
    let mut working = tokio::spawn(work(serving, engine.clone(), works.clone()));
    let open = Open { engine, address, app: &app, admin };
    let greeted = tokio::select! {
        greeted = greet(open, context) => greeted.map(|()| true)?,
        () = signals.next() => false,
        () = until_halted(engine, log) => return Err(halted().into()),
    };
    let mut displaced = None;
    if greeted {
        tokio::select! {
            () = signals.next() => {}
            () = until_halted(engine, log) => return Err(halted().into()),
            () = until_displaced(log) => displaced = Some(self::displaced(home)),
        }
    }
    if let Some(problem) = &displaced {
        // Nothing that is written now can be read again, and nothing may be written into what is there instead.
        engine.abandon();
        works.cancel();
        app.close(DISPLACED.to_owned());
        context.output.problem(problem);
        signals.next().await;
    }
    stop.cancel();
    tokio::select! {
        ended = &mut working => {
            let (stopped, drained) = ended.map_err(cannot_start)?;
            if let Ok(Stopped::Cut(connections)) = stopped {
                let connections = many(connections as u64, "connection", "connections");
                context.output.say(&format!("stopped; {connections} did not end in time"));
            }
            if !drained.clean {
                context.output.say("stopped; work that did not end in time is owed to the next server");
            }
        }
        () = signals.next() => context.output.say("stopped at once"),
        () = until_halted(engine, log) => return Err(halted().into()),
    }
    match displaced {
        Some(problem) => Err(problem.into()),
        None => Ok(Exit::Done),
    }
}

/// The server, the runner, the seals and the daily cleaning side by side; after they have drained, what they wrote is sealed.
async fn work(
    serving: JoinHandle<Stopped>,
    engine: Engine,
    stop: CancellationToken,
) -> (Result<Stopped, JoinError>, Drained) {
    let (stopped, drained, (), ()) =
        tokio::join!(serving, engine.run_until(stop.clone()), seal(&engine, &stop), clean_up(&engine, &stop));
    if timeout(LAST_SEAL, seal_now(&engine)).await.is_err() {
        tracing::warn!("the last seal did not end in time");
    }
    (stopped, drained)
}

async fn seal(engine: &Engine, stop: &CancellationToken) {
    let mut ticks = interval(SEAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        seal_now(engine).await;
    }
}

async fn seal_now(engine: &Engine) {
    match engine.seal().await {
        // Whoever was faster has sealed.
        Ok(_) | Err(SubmitError::Contended) => {}
        Err(error) => tracing::warn!(%error, "the log could not be sealed"),
    }
}

/// Removes once a day what is older than the settings want it kept.
async fn clean_up(engine: &Engine, stop: &CancellationToken) {
    // Not right at the start, when people wait for other things.
    let mut ticks = interval_at(Instant::now() + CLEAN_UP_AFTER, CLEAN_UP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(ticks.tick()).await.is_some() {
        match stop.run_until_cancelled(engine.gc(false)).await {
            Some(Ok(GcReport { folders, blobs, failed })) => {
                tracing::info!(
                    folders = folders.len(),
                    blobs = blobs.blobs,
                    bytes = blobs.bytes,
                    "cleaned up"
                );
                for what in failed {
                    tracing::warn!(what, "could not be removed");
                }
            }
            Some(Err(error)) => tracing::warn!(%error, "cleaning up failed"),
            None => {}
        }
    }
}

/// Waits until it is unknown whether a commit happened: from then on only the disk can tell.
async fn until_halted(engine: &Engine, log: &SqliteLog) {
    let mut ticks = interval(LOOK);
    while log.is_displaced() || !engine.is_halted() && !log.is_closed() {
        ticks.tick().await;
    }
}

/// Waits until the database is deleted, or replaced by another one.
async fn until_displaced(log: &SqliteLog) {
    let mut ticks = interval(LOOK);
    while !log.is_displaced() {
        ticks.tick().await;
    }
}

/// What the server asks before it says that it can take work: the home, once it is open.
#[derive(Clone, Default)]
struct Behind(Arc<OnceLock<OpenHome>>, Option<Machine>);

impl Health for Behind {
    fn sandbox(&self) -> Option<&'static str> {
        Some(self.1.as_ref()?.known()?.sandbox.level().as_str())
    }

    fn damaged(&self) -> usize {
        self.0.get().map_or(0, |home| home.engine.damaged().len())
    }

    fn damaged_blobs(&self) -> usize {
        self.0.get().map_or(0, |home| home.engine.damaged_blobs().len())
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), NotReady>> {
        Box::pin(async move {
            let missing = |reason: String| Err(NotReady { reason });
            let Some(OpenHome { engine, log, .. }) = self.0.get() else {
                return missing("the home is being opened".to_owned());
            };
            if log.is_displaced() {
                return missing(DISPLACED.to_owned());
            }
            if engine.is_halted() || log.is_closed() {
                return missing("the store has stopped after a failed commit".to_owned());
            }
            match engine.query(Query::Streams { after: None, limit: 1 }).await {
                Ok(_) => Ok(()),
                Err(error) => missing(format!("the database does not answer: {error}")),
            }
        })
    }
}

fn halted() -> Problem {
    Problem {
        exit: Exit::Restart,
        ..Problem::failed(
            "commit_unknown",
            "it is unknown whether the last commit reached the disk, so nothing more is written",
            "look at the disk, then start the server again: what stands in the log on disk counts",
        )
    }
}

fn displaced(home: &Home) -> Problem {
    let path = home.path().display();
    Problem::failed(
        "home_replaced",
        format!(
            "the home `{path}` was deleted or replaced while the server was running; every request is refused"
        ),
        "stop this server, look at the folder, and start it again",
    )
}

fn cannot_listen(error: &ListenError) -> Problem {
    Problem::failed(error.code(), error.to_string(), error.hint())
}

pub fn cannot_start(error: impl std::fmt::Display) -> Problem {
    Problem::failed(
        "not_started",
        format!("the server cannot work: {error}"),
        "look at the limits of this system",
    )
}
