//! The admin's token of a home: made at the first start, kept where only its owner can read it. Beside it stand the
//! sessions of browsers.
//!
//! The file appears whole or not at all, so that two first starts at once agree on one token. The home knows
//! only its hash.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdpoint_core::commands::issue_token::IssueToken;
use holdpoint_core::event::Role;
use holdpoint_core::{Actor, Command, HomeCommand, Rejection, State, StreamId, TokenId};
use holdpoint_engine::{Engine, SubmitError};
use holdpoint_server::Secret;

use crate::home::Home;
use crate::problem::Problem;

/// No session lasts longer without a request.
const SESSION: Duration = Duration::from_hours(24);

/// Where the admin's token stands.
pub fn admin_file(home: &Home) -> PathBuf {
    home.path().join("keys/admin.token")
}

/// Where the sessions of browsers stand; each server of a home has cookies of its own, by its port.
pub fn sessions_file(home: &Home, port: u16) -> PathBuf {
    home.path().join(format!("keys/sessions-{port}.json"))
}

/// Removes the sessions that servers at other ports left, once they have ended.
pub fn forget_old_sessions(home: &Home) {
    let Ok(all) = fs::read_dir(home.path().join("keys")) else { return };
    for file in all.flatten().filter(|file| file.file_name().to_string_lossy().starts_with("sessions-")) {
        let used = file.metadata().and_then(|facts| facts.modified()).ok();
        if used.and_then(|used| used.elapsed().ok()).is_some_and(|idle| idle > SESSION) {
            // What stays is looked at again at the next start.
            let _ = fs::remove_file(file.path());
        }
    }
}

/// The admin's token, made if there is none.
pub fn admin_token(home: &Home) -> Result<Secret, Problem> {
    let file = admin_file(home);
    if let Some(known) = read(&file)? {
        return Ok(known);
    }
    publish(&file, &Secret::token()).map_err(|error| not_kept(&file, &error))?;
    // Whoever was first has made the one that counts.
    read(&file)?.ok_or_else(|| not_kept(&file, &io::ErrorKind::NotFound.into()))
}

/// Makes the home know the admin's token, and says which of its tokens it is.
pub async fn admit_admin(home: &Home, engine: &Engine) -> Result<TokenId, Problem> {
    let secret = admin_token(home)?;
    let failed = |error: SubmitError| {
        let message = format!("the admin's token cannot be issued: {error}");
        Problem::failed(error.code(), message, "look at the disk and the space on it")
    };
    let issue = IssueToken::new("admin", Role::Admin, secret.digest());
    let issued = engine.submit(Actor::system(), None, Command::Home(HomeCommand::IssueToken(issue))).await;
    match issued {
        Ok(submitted) => Ok(submitted.names.token.expect("an issued token has a name")),
        Err(SubmitError::Rejected(Rejection::Exists { .. })) => {
            let loaded = engine.view(StreamId::Home).await.map_err(failed)?;
            let State::Home(state) = &loaded.state else { unreachable!("a home's stream holds a home") };
            let known = state.token_of(secret.digest()).map(|(id, _)| id);
            known.ok_or_else(|| failed(SubmitError::Contended))
        }
        Err(error) => Err(failed(error)),
    }
}

fn read(file: &Path) -> Result<Option<Secret>, Problem> {
    match fs::read_to_string(file) {
        Ok(text) => Secret::known(&text).map(Some).ok_or_else(|| {
            let message = format!("`{}` does not hold a token", file.display());
            Problem::failed(
                "admin_token_damaged",
                message,
                "remove the file: the next start makes a new token",
            )
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(not_kept(file, &error)),
    }
}

/// Writes the file aside and gives it its name, unless another has it by now.
fn publish(file: &Path, secret: &Secret) -> io::Result<()> {
    let folder = file.parent().expect("the file stands in a folder");
    let aside = folder.join(format!("admin.token.{}", std::process::id()));
    let _ = fs::remove_file(&aside);
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
    written.write_all(format!("{}\n", secret.reveal()).as_bytes())?;
    written.sync_all()?;
    let named = match fs::hard_link(&aside, file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    };
    fs::remove_file(&aside)?;
    named?;
    fs::File::open(folder)?.sync_all()
}

fn not_kept(file: &Path, error: &io::Error) -> Problem {
    let message = format!("the admin's token cannot be kept in `{}`: {error}", file.display());
    Problem::failed(
        "admin_token_not_kept",
        message,
        "look at the disk and at the rights of the folder `keys`",
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::surroundings::Surroundings;

    fn home(folder: &Path) -> Home {
        let home = Home::find(Some(&folder.join("home")), &Surroundings::of(&[], folder)).expect("a home");
        home.create().expect("made");
        home
    }

    #[test]
    fn the_token_is_made_once_and_only_for_its_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = home(folder.path());
        let made = admin_token(&home).expect("a token");
        assert_eq!(admin_token(&home).expect("a token"), made);
        let rights = fs::metadata(admin_file(&home)).expect("there").permissions().mode();
        assert_eq!(rights & 0o777, 0o600);
        let names = fs::read_dir(home.path().join("keys")).expect("a folder").count();
        assert_eq!(names, 1);
        // Whoever comes second takes the first one's.
        publish(&admin_file(&home), &Secret::token()).expect("nothing happens");
        assert_eq!(admin_token(&home).expect("a token"), made);
    }

    #[test]
    fn a_file_that_holds_no_token_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = home(folder.path());
        fs::write(admin_file(&home), "nonsense").expect("written");
        assert_eq!(admin_token(&home).expect_err("damaged").code, "admin_token_damaged");
    }
}
