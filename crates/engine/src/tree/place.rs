//! Where a pipeline's folder is, and the lock that keeps processes apart while they write to it.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::Arc;

use holdpoint_core::PipelineId;
use tokio::runtime::Handle;

use super::Tree;
use super::folder::{Folder, Kind, Walk};

/// Where locks and the cursor are.
pub(crate) const OWN: &str = ".tree";
/// Where pipelines are that were put away.
const AWAY: &str = ".archived";

/// Held by whoever writes the files of a pipeline; free again when it is dropped.
pub(crate) struct Held {
    _lock: File,
}

impl Tree {
    /// Waits for the lock of a pipeline. Pipelines share a few locks, so that there are never many files.
    pub(super) async fn lock(&self, pipeline: PipelineId) -> io::Result<Held> {
        let base = self.base()?;
        let name = format!("lock-{:02x}", pipeline.0.as_bytes()[15]);
        blocking(move || {
            let lock = base.make(OWN)?.append(&name)?;
            lock.lock()?;
            Ok(Held { _lock: lock })
        })
        .await
    }

    /// The folder of a pipeline, at the place where it belongs. With `make`, it is brought there or made.
    pub(super) async fn root(
        &self,
        pipeline: PipelineId,
        away: bool,
        make: bool,
    ) -> io::Result<Option<Arc<Folder>>> {
        let base = self.base()?;
        blocking(move || {
            let name = pipeline.to_string();
            let (here, there) = (name.clone(), format!("{AWAY}/{name}"));
            let (wanted, other) = if away { (there, here) } else { (here, there) };
            if make && base.look(&wanted)?.is_none() && is_folder(&base, &other)? {
                bring(&base, &other, &wanted)?;
            }
            match base.walk(&wanted)? {
                Walk::There(folder) => Ok(Some(Arc::new(folder))),
                Walk::Absent if make => Ok(Some(Arc::new(base.make(&wanted)?))),
                Walk::Absent => Ok(None),
                Walk::Blocked(at) => Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    format!("`{at}` in the folder of pipelines is not a folder; move it away"),
                )),
            }
        })
        .await
    }
}

/// A pipeline's folder while nobody else writes to it.
pub(crate) struct Place {
    root: Arc<Folder>,
    _held: Held,
}

impl Place {
    /// The names in a folder inside; none, if it is not there.
    pub async fn names(&self, path: &str) -> io::Result<Vec<String>> {
        let (root, path) = (self.root.clone(), path.to_owned());
        blocking(move || match root.walk(&path)? {
            Walk::There(folder) => {
                let names = folder.names()?.into_iter();
                Ok(names.filter_map(|(name, _)| name.into_string().ok()).collect())
            }
            Walk::Absent | Walk::Blocked(_) => Ok(Vec::new()),
        })
        .await
    }

    /// The bytes of the files in a folder, if it is there.
    pub async fn size(&self, path: &str) -> io::Result<Option<u64>> {
        let (root, path) = (self.root.clone(), path.to_owned());
        blocking(move || match root.walk(&path)? {
            Walk::There(folder) => folder.size().map(Some),
            Walk::Absent | Walk::Blocked(_) => Ok(None),
        })
        .await
    }

    /// Removes a folder with everything in it.
    pub async fn remove(&self, path: &str) -> io::Result<()> {
        let (root, path) = (self.root.clone(), path.to_owned());
        blocking(move || {
            let (folder, name) = super::folder::split(&path);
            match root.walk(folder)? {
                Walk::There(folder) => folder.remove_all(name),
                Walk::Absent | Walk::Blocked(_) => Ok(()),
            }
        })
        .await
    }
}

impl crate::Engine {
    /// The folder of a pipeline, if it has one.
    pub(crate) async fn place_of(&self, id: PipelineId, away: bool) -> io::Result<Option<Place>> {
        let Some(tree) = self.tree() else { return Ok(None) };
        let held = tree.lock(id).await?;
        Ok(tree.root(id, away, false).await?.map(|root| Place { root, _held: held }))
    }
}

fn is_folder(base: &Folder, path: &str) -> io::Result<bool> {
    Ok(base.look(path)?.is_some_and(|meta| meta.kind == Kind::Folder))
}

fn bring(base: &Folder, from: &str, to: &str) -> io::Result<()> {
    let ((from_in, from_name), (to_in, to_name)) = (super::folder::split(from), super::folder::split(to));
    let Walk::There(source) = base.walk(from_in)? else { return Ok(()) };
    let name = std::ffi::CString::new(from_name)?;
    source.move_to(&name, &base.make(to_in)?, to_name)
}

thread_local! {
    /// Whether this thread may block already.
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Does work that goes to files again and again on one thread that may block: changing threads for each step
/// would take longer than the steps.
pub(crate) async fn on_one_thread<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> io::Result<T> {
    let handle = Handle::current();
    let done = tokio::task::spawn_blocking(move || {
        MAY_BLOCK.set(true);
        let done = handle.block_on(work);
        MAY_BLOCK.set(false);
        done
    });
    done.await.map_err(|error| not_ended(&error))
}

fn not_ended(error: &tokio::task::JoinError) -> io::Error {
    io::Error::other(format!("work on files did not end: {error}"))
}

/// Does work on files where it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    if MAY_BLOCK.get() { work() } else { apart(work).await }
}

/// Does work on files on a thread of its own, where it may also wait for the runtime.
pub(crate) async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| not_ended(&error))?
}
