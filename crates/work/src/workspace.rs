//! The files of an execution as a tree of blobs: after a crash the work continues with the files that its journal names, not with
//! what the crash left.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use holdpoint_core::Digest;
use holdpoint_core::event::{Entry, Level};
use holdpoint_snapshot::{
    CaptureError, Captured, Known, Limits, Name, SaveSmall, Scope, SnapshotError, capture, restore,
};
use holdpoint_store::{BoxFuture, SmallBlob};
use serde_json::json;

use super::room::{Room, make};
use super::stop::Stop;
use holdpoint_engine::WorkContext;
use holdpoint_engine::{Engine, SubmitError};

/// A workspace beyond this is not kept, which the log says. It is read after every tool call that may have written.
const LIMITS: Limits = Limits { entries: 20_000, depth: 64, bytes: 256 << 20, file: 256 << 20 };
/// How many paths one line of the log names.
const NAMED: usize = 20;
/// In the details of a log line: the files after this entry are in no tree.
const NOT_KEPT: &str = "workspace_not_kept";

/// The folders that the work of one execution changes.
pub(super) struct Workspace {
    engine: Engine,
    pub room: Room,
    past: Mutex<Past>,
}

/// What is known of the trees before.
#[derive(Default)]
struct Past {
    known: Known,
    /// Whether the last one was not kept.
    too_large: bool,
    /// The paths that the log has named as missing from the trees.
    said: BTreeSet<String>,
}

/// A tree, if it could be kept, and what the log has to say about it. Both belong into one commit.
#[derive(Default)]
pub(super) struct KeptFiles {
    pub tree: Option<Digest>,
    pub log: Vec<Entry>,
}

/// The files that an attempt which was cut off had last.
pub(super) enum Last {
    Tree(Digest),
    /// They were too much to be kept, so what is on the disk is all there is.
    NotKept,
    /// It had written nothing down about its files.
    Nothing,
}

impl Last {
    pub fn of(entries: &[Entry], pin: &str) -> Self {
        let last = entries.iter().rev().find_map(|entry| match entry {
            Entry::ToolResult { workspace, .. } => workspace.map(Self::Tree),
            Entry::Pinned { name, digest } if &**name == pin => Some(Self::Tree(*digest)),
            Entry::Log { details: Some(details), .. } => details.get(NOT_KEPT).map(|_| Self::NotKept),
            _ => None,
        });
        last.unwrap_or(Self::Nothing)
    }
}

impl Workspace {
    pub fn of(desk: &WorkContext, room: Room) -> Self {
        Self { engine: desk.engine.clone(), room, past: Mutex::default() }
    }

    /// Captures the files as they are. When this answers, everything that the tree names is durable.
    pub async fn capture(&self) -> Result<KeptFiles, Stop> {
        let known = self.past().known.clone();
        let (blobs, save) = (self.engine.blobs(), Arc::new(Save(self.engine.clone())));
        match capture(blobs, save, self.scope(), LIMITS, known).await {
            Ok(captured) => Ok(self.kept(captured)),
            Err(CaptureError::Snapshot(cause @ SnapshotError::Limit { .. })) => Ok(self.not_kept(&cause)),
            Err(CaptureError::Snapshot(cause)) => Err(stop(cause)),
            Err(CaptureError::Save(cause)) => Err(cause.into()),
        }
    }

    /// Makes the folders hold exactly what a tree says.
    pub async fn restore(&self, tree: Digest) -> Result<(), Stop> {
        let blobs = self.engine.blobs();
        let restored = restore(blobs, self.scope(), tree, LIMITS).await.map_err(stop)?;
        self.past().known = restored.known;
        for folder in [&self.room.workspace, &self.room.staging] {
            make(folder)?;
        }
        Ok(())
    }

    fn scope(&self) -> Scope {
        let name = |bytes: &[u8]| Name::new(bytes).expect("a plain name");
        Scope::only(&self.room.base, [name(b"workspace"), name(b"artifacts_staging")])
    }

    fn past(&self) -> std::sync::MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self, captured: Captured) -> KeptFiles {
        let mut past = self.past();
        past.known = captured.known;
        past.too_large = false;
        let skipped = captured.skipped.iter().map(|s| (s.path.to_string(), s.why.words()));
        let unstable = captured.unstable.iter().map(|path| (path.to_string(), "changed while it was read"));
        let new: Vec<_> =
            skipped.chain(unstable).filter(|(path, _)| past.said.insert(path.clone())).collect();
        KeptFiles { tree: Some(captured.tree), log: said(&new).into_iter().collect() }
    }

    fn not_kept(&self, cause: &SnapshotError) -> KeptFiles {
        let is_new = !std::mem::replace(&mut self.past().too_large, true);
        let line = is_new.then(|| {
            let text = format!(
                "the workspace is too large to be kept ({cause}): after a crash the work continues with the files as \
                 they are on the disk"
            );
            warning(&text, json!({NOT_KEPT: cause.to_string()}))
        });
        KeptFiles { tree: None, log: line.into_iter().collect() }
    }
}

/// Names files that the tree lacks, or that it may have in between two versions.
fn said(new: &[(String, &str)]) -> Option<Entry> {
    if new.is_empty() {
        return None;
    }
    let mut names: Vec<String> =
        new.iter().take(NAMED).map(|(path, why)| format!("`{path}` ({why})")).collect();
    if new.len() > NAMED {
        names.push(format!("{} more", new.len() - NAMED));
    }
    let text = format!("not kept for a restart after a crash, or not whole: {}", names.join(", "));
    let files: Vec<_> = new.iter().take(NAMED).map(|(path, why)| json!({"path": path, "why": why})).collect();
    Some(warning(&text, json!({"files_not_kept": files})))
}

fn warning(text: &str, details: serde_json::Value) -> Entry {
    Entry::Log { level: Level::Warning, text: text.into(), details: Some(details) }
}

fn stop(cause: SnapshotError) -> Stop {
    match cause {
        SnapshotError::Content { cause, .. } => SubmitError::from(cause).into(),
        other => Stop::new("workspace", format!("the files of the work cannot be kept or restored: {other}")),
    }
}

/// Small blobs stand in the database, which only the engine writes.
struct Save(Engine);

impl SaveSmall for Save {
    type Error = SubmitError;

    fn save(&self, blobs: Vec<SmallBlob>) -> BoxFuture<'_, Result<(), SubmitError>> {
        Box::pin(self.0.keep_small(blobs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(workspace: Option<Digest>) -> Entry {
        Entry::ToolResult {
            call: "c".into(),
            content: json!("done"),
            workspace,
            key: None,
            tool: None,
            agent: None,
            error: false,
            more: None,
            hidden: false,
        }
    }

    #[test]
    fn an_older_tree_is_never_taken_for_files_that_were_too_large() {
        let tree = Digest::of(b"tree");
        let too_large = || warning("too large", json!({NOT_KEPT: "more than 1 entries"}));
        let pinned = || Entry::Pinned { name: "workspace".into(), digest: tree };
        let last = |entries: &[Entry]| Last::of(entries, "workspace");
        assert!(matches!(last(&[]), Last::Nothing));
        assert!(matches!(last(&[pinned(), tool(None)]), Last::Tree(digest) if digest == tree));
        assert!(matches!(last(&[pinned(), tool(None), too_large(), tool(None)]), Last::NotKept));
        assert!(matches!(last(&[too_large(), tool(Some(tree)), tool(None)]), Last::Tree(_)));
    }

    #[test]
    fn what_is_missing_from_a_tree_is_named() {
        assert_eq!(said(&[]), None);
        let many: Vec<_> = (0..22).map(|n| (format!("pipe-{n}"), "a socket, pipe or device")).collect();
        let Some(Entry::Log { text, details: Some(details), .. }) = said(&many) else { panic!("a line") };
        assert!(text.contains("`pipe-0` (a socket, pipe or device), `pipe-1`"), "{text}");
        assert!(text.ends_with(", 2 more"), "{text}");
        assert_eq!(details["files_not_kept"].as_array().map(Vec::len), Some(NAMED));
    }
}
