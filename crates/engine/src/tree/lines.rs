//! `system.log`: one line per event of a pipeline and its runs, for people who look into the folder.
//!
//! It only grows, up to a size at which it becomes `system.log.1` and the ones before get the next numbers. The last line says how far it is, so that
//! whoever writes next goes on from there, and a log that was deleted is begun anew.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use holdpoint_core::{PipelineId, Seq, event};
use holdpoint_store::{EventFilter, Query, Row};

use super::TreeError;
use super::folder::Folder;
use super::place::blocking;
use crate::Engine;

const FOLDER: &str = ".pipeline_system/logs";
const NAME: &str = "system.log";
/// How many rows a log that was lost, or has fallen behind, is begun with.
const MAX_ROWS: usize = 5_000;
/// How many rows are read at once.
const PAGE: u32 = 200;

/// How much of a log is kept.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    /// The size at which it is put aside.
    pub(super) bytes: u64,
    /// How many are kept that were put aside.
    pub(super) backups: u32,
}

/// Text from anywhere on one line, without anything that a terminal would obey.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(2_000).collect()
}

impl Engine {
    /// Adds the lines of what happened since the last one.
    pub(super) async fn write_lines(
        &self,
        id: PipelineId,
        root: Arc<Folder>,
        kept: Kept,
    ) -> Result<(), TreeError> {
        let folder = root.clone();
        let last = blocking(move || last_position(&folder)).await?;
        let mut rows: Vec<Row> = Vec::new();
        let mut before = None;
        loop {
            // The last line is the last event of its row, or of one that is internal: the next row is behind it.
            let filter = EventFilter { session: Some(id.into()), after: last, ..EventFilter::default() };
            let page = self.query(Query::Events { filter, before, limit: PAGE }).await?.rows;
            let more = page.len() == PAGE as usize;
            before = page.last().map(|row| row.seq);
            rows.extend(page);
            if !more || rows.len() >= MAX_ROWS {
                break;
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        let text: String = rows.iter().rev().flat_map(lines).collect();
        Ok(blocking(move || append(&root, &text, kept)).await?)
    }
}

fn lines(row: &Row) -> Vec<String> {
    // A damaged row is told where its stream is read; here it only has no lines.
    let events = row.events().unwrap_or_default();
    let line = |(event, seq): (holdpoint_core::Event, u64)| {
        let what = event::wire_type(event.kind())?;
        let actor = one_line(&row.actor.name);
        Some(format!("{seq} {} {what} {} by {actor}\n", row.at.rfc3339(), row.stream))
    };
    events.into_iter().zip(row.seq.0..).filter_map(line).collect()
}

/// The position that the last whole line tells; 0, if there is none.
fn last_position(root: &Folder) -> io::Result<Seq> {
    let super::folder::Walk::There(folder) = root.walk(FOLDER)? else { return Ok(Seq(0)) };
    let mut file = match folder.read(NAME) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seq(0)),
        Err(error) => return Err(error),
    };
    let size = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(size.saturating_sub(8 * 1024)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let tail = String::from_utf8_lossy(&tail);
    let whole = tail.rfind('\n').map_or("", |end| &tail[..end]);
    let last = whole.lines().rev().find_map(|line| line.split(' ').next()?.parse().ok());
    Ok(Seq(last.unwrap_or(0)))
}

fn append(root: &Folder, text: &str, kept: Kept) -> io::Result<()> {
    let folder = root.make(FOLDER)?;
    let mut file = folder.append(NAME)?;
    let size = file.seek(SeekFrom::End(0))?;
    if size > kept.bytes {
        rotate(&folder, kept.backups)?;
        file = folder.append(NAME)?;
    } else if size > 0 {
        // A line that was cut off stays, on a line of its own.
        let mut last = [0];
        file.seek(SeekFrom::Start(size - 1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    file.write_all(text.as_bytes())
}

/// Gives every log the next number; the oldest one is lost.
fn rotate(folder: &Folder, backups: u32) -> io::Result<()> {
    let name = |number| if number == 0 { NAME.to_owned() } else { format!("{NAME}.{number}") };
    if backups == 0 {
        return folder.remove(NAME).map(drop);
    }
    for number in (0..backups).rev() {
        match folder.move_over(&name(number), folder, &name(number + 1)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_is_put_aside_and_the_oldest_is_lost() {
        let home = tempfile::tempdir().expect("a folder");
        let root = Folder::open_base(home.path()).expect("opened");
        let kept = Kept { bytes: 4, backups: 2 };
        for text in ["first\n", "second\n", "third\n", "fourth\n"] {
            append(&root, text, kept).expect("written");
        }
        let read = |name: &str| std::fs::read_to_string(home.path().join(FOLDER).join(name));
        assert_eq!(read("system.log").expect("there"), "fourth\n");
        assert_eq!(read("system.log.1").expect("there"), "third\n");
        assert_eq!(read("system.log.2").expect("there"), "second\n");
        assert!(read("system.log.3").is_err());
        append(&root, "fifth\n", Kept { bytes: 4, backups: 0 }).expect("written");
        assert_eq!(read("system.log").expect("there"), "fifth\n");
        assert_eq!(read("system.log.1").expect("there"), "third\n");
    }
}
