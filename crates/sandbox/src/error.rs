//! Why a program was not run.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a program was not run. What happens after it began is an [`Ended`](crate::Ended).
#[derive(Debug, Error)]
pub enum SandboxError {
    /// This machine cannot confine anything.
    #[error("this machine cannot confine programs: {missing}")]
    Unavailable {
        /// What did not hold.
        missing: String,
        /// What to do about it.
        fix: String,
    },
    /// It could be confined before and now could not.
    #[error("the sandbox could not be set up: {detail}")]
    Failed {
        /// What went wrong.
        detail: String,
    },
    /// The helper or the program could not be started.
    #[error("the sandbox could not be started: {0}")]
    Start(#[from] io::Error),
    /// There is no such program.
    #[error("there is no program {}", .0.display())]
    ProgramMissing(PathBuf),
    /// The file is there and is no program.
    #[error("{} cannot be run: it is no file that is marked as executable", .0.display())]
    ProgramNotExecutable(PathBuf),
    /// A folder that was handed in is not there or cannot be handed in.
    #[error("{} cannot be used as a folder of the sandbox: {reason}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A variable's name cannot be one.
    #[error("{0:?} is no name of an environment variable")]
    Variable(String),
    /// It was cancelled, or its time was over, before it began.
    #[error("it was ended before it began")]
    EndedEarly,
    /// No Python was found.
    #[error("there is no python3: {0}")]
    NoPython(String),
}

impl SandboxError {
    /// The stable word for it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "sandbox_unavailable",
            Self::Failed { .. } | Self::Start(_) => "sandbox_failed",
            Self::ProgramMissing(_) | Self::NoPython(_) => "program_missing",
            Self::ProgramNotExecutable(_) => "program_not_executable",
            Self::Folder { .. } => "sandbox_folder",
            Self::Variable(_) => "sandbox_variable",
            Self::EndedEarly => "sandbox_ended_early",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Unavailable { fix, .. } => fix,
            Self::Failed { .. } | Self::Start(_) => {
                "run `holdpoint doctor`: it tries the sandbox again and says what fails"
            }
            Self::ProgramMissing(_) => {
                "give the absolute path of a program that is installed on this machine"
            }
            Self::ProgramNotExecutable(_) => {
                "mark the file as executable (chmod +x), or name its interpreter"
            }
            Self::Folder { .. } => {
                "hand in an absolute path of an existing folder, and start the program inside one"
            }
            Self::Variable(_) => "use letters, digits and underscores",
            Self::EndedEarly => "start it again, with more time if that was the cause",
            Self::NoPython(_) => "install Python 3, for example: apt-get install python3",
        }
    }
}
