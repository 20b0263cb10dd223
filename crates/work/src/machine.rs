//! What this machine can do with foreign code: found out once, when it is first needed or told to.

use std::path::PathBuf;
use std::sync::Arc;

use holdpoint_sandbox::{Choice, Interpreter, Sandbox};
use tokio::sync::OnceCell;

/// A machine that foreign code may run on.
#[derive(Clone, Debug)]
pub struct Machine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    helper: PathBuf,
    scratch: PathBuf,
    choice: Choice,
    found: OnceCell<Found>,
}

/// What was found out.
#[derive(Debug)]
pub struct Found {
    /// What confines code.
    pub sandbox: Sandbox,
    /// What runs Python, if there is any.
    pub python: Option<Interpreter>,
}

impl Machine {
    /// A machine nobody has looked at yet. `helper` is this program, which confines code by calling itself.
    /// Its temporary files are in `scratch`.
    pub fn new(helper: PathBuf, scratch: PathBuf, choice: Choice) -> Self {
        Self { inner: Arc::new(Inner { helper, scratch, choice, found: OnceCell::new() }) }
    }

    /// What was found out, once it is known.
    pub fn known(&self) -> Option<&Found> {
        self.inner.found.get()
    }

    /// Finds out, or waits for whoever does.
    pub async fn found(&self) -> &Found {
        let inner = &self.inner;
        let look = async || {
            let sandbox = Sandbox::probe(inner.helper.clone(), inner.scratch.clone(), inner.choice).await;
            let python = tokio::task::spawn_blocking(Interpreter::find).await;
            Found { sandbox, python: python.ok().and_then(Result::ok) }
        };
        self.inner.found.get_or_init(look).await
    }
}
