//! The files of pipelines: each must be as the log says.

use std::sync::Arc;

use holdpoint_engine::tree::{CheckFiles, FilesReport};
use holdpoint_store_sqlite::SqliteLog;

use super::report::{Check, Section};
use crate::home::Home;
use crate::settings::Files;
use crate::text::many;
use crate::wiring;

/// How many faults are named.
const MAX_FOUND: usize = 100;

pub async fn look(home: &Home, log: &Arc<SqliteLog>, files: &Files, check: CheckFiles) -> Section {
    let mut section = Section::new("files");
    let engine = match wiring::looking_engine(home, log, files) {
        Ok(engine) => engine,
        Err(problem) => {
            section.add(Check::fail("tree", problem.message, problem.hint));
            return section;
        }
    };
    section.add(match engine.check_files(check).await {
        Ok(report) => found(report, check),
        Err(error) => Check::fail("tree", error.to_string(), "look at the rights of the folder of pipelines"),
    });
    section
}

fn found(report: FilesReport, check: CheckFiles) -> Check {
    let FilesReport { pipelines, files, wrong, told, drifted, aside, failed } = report;
    let drift = drifted.iter().map(|(pipeline, file)| format!("{pipeline}: {} ({:?})", file.path, file.how));
    let mut findings: Vec<String> = failed.iter().cloned().chain(drift).chain(told).collect();
    findings.truncate(MAX_FOUND);
    let differ = many(wrong.max(drifted.len() as u64), "is not", "are not");
    let result = if !failed.is_empty() {
        let hint = "look at the disk and at the rights of the folder of pipelines";
        Check::fail(
            "tree",
            format!("{} could not be looked at", many(failed.len() as u64, "pipeline", "pipelines")),
            hint,
        )
    } else if wrong == 0 && drifted.is_empty() {
        let how = if check.deep { ", by content" } else { "" };
        let of = many(pipelines, "pipeline", "pipelines");
        Check::ok("tree", format!("{} of {of} are as the log says{how}", many(files, "file", "files")))
    } else if check.repair {
        let hint = match aside.first() {
            Some((pipeline, folder)) => format!("what stood there was moved to {pipeline}/{folder}"),
            None => "nothing is left to do".to_owned(),
        };
        Check::warn("tree", format!("{differ} as the log says; written again"), hint)
    } else {
        let hint = "`holdpoint doctor --repair` and `holdpoint serve` write them again";
        Check::fail("tree", format!("{differ} as the log says"), hint)
    };
    result
        .findings(findings)
        .with("pipelines", pipelines)
        .with("files", files)
        .with("wrong", wrong)
        .with("drifted", drifted.len())
        .with("deep", check.deep)
}
