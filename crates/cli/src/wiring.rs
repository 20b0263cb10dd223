//! Opening a home: its folders, log, blobs and engine, put together in one way for every command.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use holdpoint_core::facts::{NothingKnown, Offers};
use holdpoint_core::{Actor, Command, HomeCommand};
use holdpoint_engine::clock::{IdSource, RandomIds, SystemClock};
use holdpoint_engine::doctor::refresh_journals;
use holdpoint_engine::executor::{BuiltIn, Executor};
use holdpoint_engine::{Engine, Parts, SubmitError, Works, tree};
use holdpoint_expr::RealEvaluator;
use holdpoint_store::{BlobError, StoreError};
use holdpoint_store_sqlite::blobs::LocalBlobs;
use holdpoint_store_sqlite::{Options, SqliteLog};

use crate::home::Home;
use crate::problem::Problem;
use crate::settings::{self, Files, Logging, Settings};

/// With less room than this, a database cannot be opened.
const ROOM: u64 = 256 * 1024;

/// How a home is opened.
pub struct HomeOptions {
    /// How its log is opened.
    pub log: Options,
    /// Whose work the engine takes on.
    pub works: Works,
    /// How many pieces of work it does at once.
    pub max_parallel: usize,
    /// Who does that work.
    pub executor: Arc<dyn Executor>,
    /// Where names of commands come from.
    pub ids: Arc<dyn IdSource>,
    /// What the settings say about the files of pipelines.
    pub files: Files,
    /// What the settings say about their logs.
    pub logging: Logging,
    /// What is known of what agents can be given.
    pub offers: Arc<dyn Offers>,
}

impl Default for HomeOptions {
    /// For commands that only look and submit.
    fn default() -> Self {
        Self {
            log: Options::default(),
            works: Works::Nothing,
            max_parallel: holdpoint_engine::MAX_PARALLEL,
            executor: Arc::new(BuiltIn),
            ids: Arc::new(RandomIds),
            files: Files::default(),
            logging: Logging::default(),
            offers: Arc::new(NothingKnown),
        }
    }
}

impl HomeOptions {
    /// What the settings say, for commands that only look and submit.
    pub fn of(settings: &Settings) -> Self {
        let readers = settings.database.db_pool_size as usize;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let log = Options {
            // Threads beyond two per core only wait for each other.
            readers: readers.min(cores * 2),
            patience: Duration::from_secs(settings.database.db_timeout_seconds),
            ..Options::default()
        };
        Self {
            log,
            max_parallel: settings.execution.max_parallel as usize,
            files: settings.files.clone(),
            logging: settings.logging.clone(),
            ..Self::default()
        }
    }
}

/// An open home. The log is closed when the last part of it is dropped.
pub struct OpenHome {
    /// Takes commands.
    pub engine: Engine,
    /// The log below it, for those who check it.
    pub log: Arc<SqliteLog>,
    /// The bytes that events name.
    pub blobs: Arc<LocalBlobs>,
}

/// Opens a home, and makes what is missing of it.
pub async fn open_home(home: &Home, options: HomeOptions) -> Result<OpenHome, Problem> {
    home.create()?;
    let HomeOptions { log, works, max_parallel, executor, ids, files, logging, offers } = options;
    let log = Arc::new(SqliteLog::open(&home.path().join("db"), log).map_err(|e| cannot_open(home, &e))?);
    let blobs = LocalBlobs::open(&home.path().join("blobs"), log.clone());
    let blobs = Arc::new(blobs.map_err(|error| no_blobs(home, &error))?);
    let engine = Engine::new(Parts {
        log: log.clone(),
        blobs: blobs.clone(),
        clock: Arc::new(SystemClock),
        ids,
        evaluator: evaluator()?,
        offers,
        executor,
        works,
        max_parallel,
        files: Some(tree::Options {
            log_bytes: logging.log_file_max_size_mb.saturating_mul(1024 * 1024),
            log_backups: u32::try_from(logging.log_backup_count).unwrap_or(u32::MAX),
            ..tree_options(home, &files)
        }),
    });
    // A newer program knows tables that an older one did not write.
    if log.is_stale().await.map_err(|error| cannot_read(home, &error))? {
        let streams = refresh_journals(&*log).await.map_err(|error| cannot_read(home, &error))?;
        log.refreshed().await.map_err(|error| cannot_read(home, &error))?;
        tracing::info!(streams, "journals were added up anew for a newer version");
    }
    // A home that was made before stays as it is.
    let made = engine.submit(Actor::system(), None, Command::Home(HomeCommand::Create)).await;
    made.map_err(|error| not_written(home, &error))?;
    Ok(OpenHome { engine, log, blobs })
}

/// Evaluates what people wrote in processes of this program, which can be killed.
fn evaluator() -> Result<Arc<RealEvaluator>, Problem> {
    Ok(Arc::new(RealEvaluator::default().in_workers(this_program()?)))
}

/// Where this program is, for what it starts again.
pub fn this_program() -> Result<PathBuf, Problem> {
    std::env::current_exe().map_err(|error| {
        let message = format!("this program cannot find itself: {error}");
        Problem::failed("not_started", message, "start it by a path that stays")
    })
}

/// How much a server takes.
pub fn limits(settings: &settings::Limits) -> holdpoint_server::Limits {
    holdpoint_server::Limits::default().for_files(settings.max_file_size_mb.saturating_mul(1024 * 1024))
}

/// Where the files of pipelines are kept, and for how long.
pub fn tree_options(home: &Home, files: &Files) -> tree::Options {
    tree::Options {
        clean_up: files.temp_cleanup_on_next_checkpoint,
        archive_days: files.archive_retention_days,
        error_days: files.error_retention_days,
        ..tree::Options::new(home.path().join(&files.base_pipelines_path))
    }
}

/// Refuses a home that was never used, for commands that make none: in a wrong folder "nothing waits" would be wrong.
pub fn must_exist(home: &Home) -> Result<(), Problem> {
    if has_database(home) {
        return Ok(());
    }
    let message = format!("there is no home with a database in `{}`", home.path().display());
    let hint = "name another with --home PATH; `holdpoint serve` makes one";
    Err(Problem::failed("home_missing", message, hint))
}

/// Opens the log of a home that is there, to look at it: nothing is made, and nothing is written to the log.
pub fn look_at(home: &Home) -> Result<Arc<SqliteLog>, Problem> {
    must_exist(home)?;
    let options = Options { short: true, existing: true, ..Options::default() };
    let log = SqliteLog::open(&home.path().join("db"), options);
    log.map(Arc::new).map_err(|error| cannot_open(home, &error))
}

/// An engine on a log that was opened to look at it. It takes on no work.
pub fn looking_engine(home: &Home, log: &Arc<SqliteLog>, files: &Files) -> Result<Engine, Problem> {
    let blobs = LocalBlobs::open(&home.path().join("blobs"), log.clone());
    Ok(Engine::new(Parts {
        log: log.clone(),
        blobs: Arc::new(blobs.map_err(|error| no_blobs(home, &error))?),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        evaluator: evaluator()?,
        offers: Arc::new(NothingKnown),
        executor: Arc::new(BuiltIn),
        works: Works::Nothing,
        max_parallel: holdpoint_engine::MAX_PARALLEL,
        files: Some(tree_options(home, files)),
    }))
}

/// Whether a home was ever used.
pub fn has_database(home: &Home) -> bool {
    home.path().join("db/state.db").exists()
}

/// Waits for something that is no server.
pub fn wait<T>(future: impl Future<Output = T>) -> Result<T, Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        let message = format!("the command cannot work: {error}");
        Problem::failed("not_started", message, "look at the limits of this system")
    })?;
    Ok(runtime.block_on(future))
}

/// A log that opened, and then could not be read.
pub fn cannot_read(home: &Home, error: &StoreError) -> Problem {
    if let Some(full) = disk_full(home) {
        return full;
    }
    let message = format!("the database of `{}` cannot be read: {error}", home.path().display());
    let hint = "`holdpoint doctor` says what is wrong with the file; restore a copy of the home";
    Problem::failed("storage_damaged", message, hint)
}

fn cannot_open(home: &Home, error: &StoreError) -> Problem {
    let path = home.path().display();
    match error {
        StoreError::Newer { .. } => Problem::failed(
            "schema_newer",
            format!("the database of `{path}` cannot be opened: {error}"),
            "use the version of holdpoint that wrote it, or a newer one",
        ),
        StoreError::Older { .. } => Problem::failed(
            "schema_older",
            format!("the database of `{path}` cannot be opened: {error}"),
            "export its pipelines with the version of holdpoint that wrote it, and start a new home: --home PATH",
        ),
        StoreError::Corrupt(_) | StoreError::LogCorrupt { .. } => Problem::failed(
            "storage_damaged",
            format!("the database of `{path}` cannot be opened: {error}"),
            "restore a copy of the home, or name another with --home PATH",
        ),
        StoreError::Io(_) | StoreError::Closed => disk_full(home).unwrap_or_else(|| {
            Problem::failed(
                "storage",
                format!("the database of `{path}` cannot be opened: {error}"),
                "look at the disk and at the rights of the folder `db` in it",
            )
        }),
    }
}

/// That the disk of a home is full, if it is. SQLite says only that the disk failed, also of commands that look: it makes
/// files beside the database for every reader.
fn disk_full(home: &Home) -> Option<Problem> {
    let disk = rustix::fs::statvfs(home.path()).ok()?;
    if disk.f_bavail.saturating_mul(disk.f_frsize) >= ROOM {
        return None;
    }
    let message = format!("the disk of `{}` is full", home.path().display());
    Some(Problem::failed("disk_full", message, "make room on the disk, then try again; nothing was lost"))
}

fn no_blobs(home: &Home, error: &BlobError) -> Problem {
    let message = format!("the blobs of `{}` cannot be opened: {error}", home.path().display());
    Problem::failed("storage", message, "look at the disk and at the rights of the folder `blobs` in it")
}

fn not_written(home: &Home, error: &SubmitError) -> Problem {
    if let Some(full) = disk_full(home) {
        return full;
    }
    let message = format!("the home `{}` cannot be written: {error}", home.path().display());
    Problem::failed(error.code(), message, "look at the disk and the space on it")
}
