//! Looks how much a program has put into its folders.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::{Limits, Quota};

/// How often it looks. What is written between two looks is over the limit at most.
const EVERY: Duration = Duration::from_millis(250);

/// Waits until there is too much.
pub(crate) async fn exceeded(folders: Vec<PathBuf>, limits: Limits) -> Quota {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let (folders, limits) = (folders.clone(), limits.clone());
        let found = tokio::task::spawn_blocking(move || look(&folders, &limits)).await;
        if let Ok(Some(quota)) = found {
            return quota;
        }
    }
}

/// Adds up until there is too much. Links are counted and not followed.
fn look(folders: &[PathBuf], limits: &Limits) -> Option<Quota> {
    let mut sum = Sum { bytes: 0, files: 0, limits };
    folders.iter().find_map(|folder| sum.add_below(folder))
}

struct Sum<'a> {
    bytes: u64,
    files: u64,
    limits: &'a Limits,
}

impl Sum<'_> {
    fn add_below(&mut self, folder: &Path) -> Option<Quota> {
        let mut folders = vec![folder.to_path_buf()];
        while let Some(folder) = folders.pop() {
            // What vanished meanwhile takes no room.
            for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
                let Ok(about) = entry.metadata() else { continue };
                if let Some(quota) = self.add(&about) {
                    return Some(quota);
                }
                if about.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        None
    }

    fn add(&mut self, about: &Metadata) -> Option<Quota> {
        self.files += 1;
        // A file with holes counts as if it had none: whoever copies it fills them.
        self.bytes += about.len().max(about.blocks() * 512);
        if self.files > self.limits.workspace_files {
            Some(Quota::WorkspaceFiles)
        } else if self.bytes > self.limits.workspace_bytes {
            Some(Quota::WorkspaceBytes)
        } else {
            None
        }
    }
}
