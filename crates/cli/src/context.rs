//! What a command is given: the options of every command, the surroundings, and the output.

use crate::args::Global;
use crate::commands::Command;
use crate::home::Home;
use crate::output::Output;
use crate::problem::Problem;
use crate::settings::{self, Flag, Loaded};
use crate::surroundings::Surroundings;

pub struct Context<'a, 'o> {
    global: Global,
    surroundings: Surroundings,
    pub output: &'a mut Output<'o>,
}

impl<'a, 'o> Context<'a, 'o> {
    pub fn new(global: Global, surroundings: Surroundings, output: &'a mut Output<'o>) -> Self {
        Self { global, surroundings, output }
    }

    /// Refuses `--server` where it would have no effect.
    pub fn check_server(&self, command: &Command) -> Result<(), Problem> {
        if self.global.server.is_none() || command.works_on_a_server() {
            return Ok(());
        }
        let message = format!("`holdpoint {}` does not work on a server", command.name());
        Err(Problem::usage("server_not_possible", message, "leave --server out"))
    }

    /// The home to work on, whether it exists or not.
    pub fn home(&self) -> Result<Home, Problem> {
        Home::find(self.global.home.as_deref(), &self.surroundings)
    }

    /// The settings, with a command's own flags on top.
    pub fn settings(&self, home: &Home, flags: &[Flag]) -> Result<Loaded, Problem> {
        settings::load(home, &self.surroundings, flags)
    }
}
