//! The database, the log in it, the tables beside the log, and the work that runs owe.

use holdpoint_core::Timestamp;
use holdpoint_engine::clock::{Clock as _, SystemClock};
use holdpoint_engine::{audit, doctor};
use holdpoint_store::StoreError;
use holdpoint_store_sqlite::{Holder, Integrity, SqliteLog};

use super::report::{Check, Report, Section};
use crate::commands::audit::{LACKS_TAIL, RESTORE};
use crate::progress::Progress;
use crate::text::{many, size};

/// A WAL beyond this means that something keeps it from being moved into the file.
const LONG_WAL: u64 = 64 * 1024 * 1024;

/// Versions, and the state of the file.
pub async fn database(log: &SqliteLog, report: &mut Report) {
    let (mut versions, mut database) = (Section::new("versions"), Section::new("database"));
    match log.integrity().await {
        Ok(found) => {
            // A version that cannot be trusted, or a schema that is not known, would not have been opened.
            versions.add(Check::ok("sqlite", format!("{}, new enough", found.sqlite)));
            let schema = format!("{} of {}", found.schema, found.newest_schema);
            versions.add(Check::ok("schema", schema).with("schema", found.schema));
            for check in file(&found) {
                database.add(check);
            }
            if log.lacks_tail() {
                database.add(Check::fail("end", LACKS_TAIL, RESTORE));
            }
        }
        Err(error) => database.add(Check::fail("integrity", error.to_string(), RESTORE)),
    }
    report.add(versions);
    report.add(database);
}

fn file(found: &Integrity) -> Vec<Check> {
    let whole = if found.faults.is_empty() {
        Check::ok("integrity", "SQLite finds nothing wrong")
    } else {
        let text = format!("SQLite finds {}", many(found.faults.len() as u64, "fault", "faults"));
        Check::fail("integrity", text, RESTORE).findings(found.faults.clone())
    };
    let durable = if found.journal == "wal" && found.synchronous == 2 {
        Check::ok("durability", "journal mode wal, synchronous full")
    } else {
        let text = format!("journal mode {}, synchronous {}", found.journal, found.synchronous);
        Check::fail("durability", text, "commits may be lost: put the home on a local disk")
    };
    let wal = if found.wal_bytes > LONG_WAL {
        let hint = "some program keeps the database open for reading; end it";
        Check::warn("wal", size(found.wal_bytes), hint)
    } else {
        Check::ok("wal", size(found.wal_bytes))
    };
    let bytes = found.pages * found.page_bytes;
    let free = found.free_pages * found.page_bytes;
    let content = format!(
        "{} of the log, {}, {}",
        many(found.rows, "row", "rows"),
        many(found.streams, "stream", "streams"),
        many(found.blobs, "small blob", "small blobs"),
    );
    vec![
        whole,
        durable.with("journal", found.journal.as_str()).with("synchronous", found.synchronous),
        Check::ok("size", format!("{}, of which {} are free", size(bytes), size(free)))
            .with("bytes", bytes)
            .with("free", free),
        wal.with("bytes", found.wal_bytes),
        Check::ok("content", content)
            .with("rows", found.rows)
            .with("streams", found.streams)
            .with("blobs", found.blobs)
            .with("blob_bytes", found.blob_bytes),
    ]
}

/// The chain and the seals; says whether they hold.
pub async fn log(log: &SqliteLog, quiet: bool, report: &mut Report) -> bool {
    let mut section = Section::new("log");
    let progress = Progress::new("events", quiet);
    let verified = audit::verify(log, &|events| progress.tell(events)).await;
    drop(progress);
    let whole = match verified {
        Ok(found) => {
            let whole = found.wrong.is_empty();
            let chain = if whole {
                Check::ok("chain", format!("{} as written", many(found.events, "event is", "events are")))
            } else {
                let text = many(found.wrong.len() as u64, "place is", "places are");
                Check::fail("chain", format!("{text} not as written"), RESTORE).findings(found.wrong)
            };
            section.add(chain.with("events", found.events).with("rows", found.rows));
            let seals = match (found.seals, found.unsealed) {
                (0, _) => "none yet".to_owned(),
                (seals, 0) => format!("{seals}, over everything"),
                (seals, open) => format!("{seals}, and {} not yet sealed", many(open, "row is", "rows are")),
            };
            let seals = Check::ok("seals", seals).with("seals", found.seals);
            section.add(seals.with("sealed", found.sealed.0).with("unsealed", found.unsealed));
            whole
        }
        Err(error) => {
            section.add(Check::fail("chain", error.to_string(), RESTORE));
            false
        }
    };
    report.add(section);
    whole
}

/// The tables, made anew from the log and compared. From a log that is damaged nothing is repaired.
pub async fn tables(log: &SqliteLog, repair: bool, whole: bool, quiet: bool) -> Section {
    let mut section = Section::new("tables");
    let progress = Progress::new("streams", quiet);
    let told = |streams: u64| progress.tell(streams);
    let checked = doctor::check_tables(log, repair && whole, &told).await;
    // What was repaired is believed after another look.
    let left = match &checked {
        Ok(found) if found.repaired => doctor::check_tables(log, false, &told).await,
        _ => Ok(doctor::Tables::default()),
    };
    drop(progress);
    section.add(match (checked, left) {
        (Ok(found), Ok(left)) => tables_found(found, left, repair, whole),
        (Err(error), _) | (_, Err(error)) => unreadable(&error),
    });
    section
}

fn tables_found(found: doctor::Tables, left: doctor::Tables, repair: bool, whole: bool) -> Check {
    let differ = many(found.wrong.len() as u64, "row differs", "rows differ");
    let check = if found.wrong.is_empty() {
        Check::ok("rows", format!("{} as the log says", many(found.rows, "row is", "rows are")))
    } else if found.repaired && left.wrong.is_empty() {
        let hint = "nothing is left to do; somebody or something had changed the tables";
        Check::warn("rows", format!("{differ} from the log; written anew"), hint).findings(found.wrong)
    } else if found.repaired {
        let hint = "stop everything else that uses this home, and repair again";
        Check::fail("rows", format!("{differ} from the log, even after a repair"), hint).findings(left.wrong)
    } else if repair && !whole {
        let hint = "the log is damaged, so nothing was written from it; restore a copy of the home";
        Check::fail("rows", format!("{differ} from the log; not repaired"), hint).findings(found.wrong)
    } else {
        let hint = if whole { "`holdpoint doctor --repair` writes them anew from the log" } else { RESTORE };
        Check::fail("rows", format!("{differ} from the log"), hint).findings(found.wrong)
    };
    check.with("rows", found.rows).with("streams", found.streams).with("repaired", found.repaired)
}

fn unreadable(error: &StoreError) -> Check {
    Check::fail("rows", format!("they cannot be compared: {error}"), RESTORE)
}

/// Runs with work due, and who does it.
pub async fn work(log: &SqliteLog) -> Section {
    let mut section = Section::new("work");
    match log.holders().await {
        Ok(holders) if holders.is_empty() => section.add(Check::ok("runs", "no run has work due")),
        Ok(holders) => {
            for holder in &holders {
                section.add(held(holder, SystemClock.now()));
            }
        }
        Err(error) => section.add(Check::fail("runs", error.to_string(), RESTORE)),
    }
    section
}

fn held(holder: &Holder, now: Timestamp) -> Check {
    let serve = "start `holdpoint serve` on this home: it takes them over";
    let runs = many(holder.runs, "run", "runs");
    let check = match holder.owner {
        Some(owner) if holder.lives => Check::ok("runs", format!("{runs} of owner {:016x}", owner.0)),
        Some(owner) => {
            Check::warn("runs", format!("{runs} of owner {:016x}, which has ended", owner.0), serve)
        }
        None if holder.first_due > now => Check::ok("runs", format!("{runs} with a time still to come")),
        None => Check::warn("runs", format!("{runs} with work due that nobody does"), serve),
    };
    let owner = holder.owner.map(|owner| format!("{:016x}", owner.0));
    check.with("runs", holder.runs).with("owner", owner).with("lives", holder.lives)
}
