//! What a command is given: the options of every command, the surroundings, and the output.

use std::cell::Cell;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use holdpoint_core::Actor;

use crate::args::Global;
use crate::commands::Command;
use crate::home::Home;
use crate::output::Output;
use crate::problem::Problem;
use crate::settings::trust::Untrusted;
use crate::settings::{self, Flag, Loaded};
use crate::surroundings::Surroundings;
use crate::text;

pub struct Context<'a, 'o> {
    global: Global,
    surroundings: Surroundings,
    /// Whether the person was told of settings that are not trusted.
    warned: Cell<bool>,
    pub output: &'a mut Output<'o>,
}

impl<'a, 'o> Context<'a, 'o> {
    pub fn new(global: Global, surroundings: Surroundings, output: &'a mut Output<'o>) -> Self {
        Self { global, surroundings, warned: Cell::new(false), output }
    }

    /// What the process found around it.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// Refuses `--server` where it would have no effect.
    pub fn check_server(&self, command: &Command) -> Result<(), Problem> {
        if self.global.server.is_none() || command.works_on_a_server() {
            return Ok(());
        }
        let message = format!("`holdpoint {}` does not work on a server", command.name());
        Err(Problem::usage("server_not_possible", message, "leave --server out"))
    }

    /// The home that `--home` names, and only that.
    pub fn named_home(&self) -> Result<Option<Home>, Problem> {
        self.global.home.is_some().then(|| self.home()).transpose()
    }

    /// The home to work on, whether it exists or not.
    pub fn home(&self) -> Result<Home, Problem> {
        Home::find(self.global.home.as_deref(), &self.surroundings)
    }

    /// The server that `--server` names.
    pub fn server(&self) -> Option<&str> {
        self.global.server.as_deref()
    }

    /// The token for a server: `HOLDPOINT_TOKEN`, else the admin token of the home.
    pub fn token(&self) -> Result<Option<String>, Problem> {
        if let Some(token) = self.surroundings.text("HOLDPOINT_TOKEN")? {
            return Ok(Some(token.trim().to_owned()));
        }
        let Ok(home) = self.home() else { return Ok(None) };
        let token = std::fs::read_to_string(home.path().join("keys/admin.token")).ok();
        Ok(token.map(|token| token.trim().to_owned()))
    }

    /// Who works on a home: the user of this process.
    pub fn actor(&self) -> Actor {
        let user =
            ["USER", "LOGNAME"].into_iter().find_map(|name| self.surroundings.text(name).ok().flatten());
        Actor::person(user.unwrap_or("local"))
    }

    /// Who gives answers that this user had prepared in a file.
    pub fn prepared_actor(&self) -> Actor {
        Actor::person(&format!("{} (prepared answers)", self.actor().name))
    }

    /// The options that make another command work in the same place, for people to copy.
    pub fn same_place(&self) -> String {
        match (&self.global.server, &self.global.home) {
            (Some(url), _) => format!(" --server {}", text::quoted(url)),
            (None, Some(home)) => format!(" --home {}", text::quoted(&home.to_string_lossy())),
            (None, None) => String::new(),
        }
    }

    /// The address of the server to talk to: `--server`, else where this home's server listens.
    pub fn running_server(&self) -> Result<String, Problem> {
        if let Some(url) = self.server() {
            return Ok(url.trim_end_matches('/').to_owned());
        }
        let settings = self.settings(&self.home()?, &[])?.settings;
        Ok(format!("http://{}", settings.server.listen))
    }

    /// Whether a browser may be opened.
    pub fn wants_browser(&self) -> bool {
        let display =
            ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| self.surroundings.variable(name).is_some());
        self.surroundings.variable("NO_BROWSER").is_none() && display
    }

    /// A path that somebody named, seen from the working folder.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, Problem> {
        match self.surroundings.folder() {
            Some(folder) => Ok(folder.join(path)),
            None if path.is_absolute() => Ok(path.to_owned()),
            None => {
                let message = format!("`{}` cannot be found: the working folder is gone", path.display());
                Err(Problem::usage("folder_gone", message, "change to a folder that exists"))
            }
        }
    }

    /// The settings, with a command's own flags on top.
    pub fn settings(&self, home: &Home, flags: &[Flag]) -> Result<Loaded, Problem> {
        let loaded = settings::load(home, &self.surroundings, flags)?;
        if !loaded.untrusted.is_empty() && !self.warned.replace(true) && !self.output.is_quiet() {
            // Talk that nobody can hear is no reason to fail.
            let _ = writeln!(std::io::stderr(), "{}", text::line(&not_applied(&loaded.untrusted)));
        }
        Ok(loaded)
    }

    /// The settings, for a command that says itself what is not trusted.
    pub fn settings_to_trust(&self, home: &Home) -> Result<Loaded, Problem> {
        settings::load(home, &self.surroundings, &[])
    }
}

/// What is said of settings that nobody has trusted.
fn not_applied(untrusted: &[Untrusted]) -> String {
    let names: Vec<&str> =
        untrusted.iter().flat_map(|one| &one.entries).map(|entry| entry.name.as_str()).collect();
    let files: Vec<String> = untrusted.iter().map(|one| format!("`{}`", one.file.display())).collect();
    format!(
        "warning: not applied, because you have not trusted {}: {}; `holdpoint config trust` shows them",
        files.join(" and "),
        names.join(", ")
    )
}
