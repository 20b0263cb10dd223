//! `holdpoint open`: the console of a running server, in a browser.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::client::Api;
use crate::context::Context;
use crate::problem::{Exit, Failure};
use crate::table::text_of;

/// Open the web console, signed in
///
/// Prints the link where no browser can be opened, or with `NO_BROWSER=1`.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let url = context.running_server()?;
    let api = Api::on_server(&url, context)?;
    let ticket = api.post("/api/sign-in/tickets", json!({}))?;
    let link = format!("{url}/sign-in?ticket={}", text_of(&ticket["ticket"]));
    let opened = context.wants_browser() && browse(&link);
    if context.output.is_json() {
        context.output.value(&json!({"url": link, "opened": opened}))?;
    } else if opened {
        context.output.say(&format!("opened {url}"));
    } else {
        context.output.data(&format!("{link}\n"))?;
    }
    Ok(Exit::Done)
}

/// Opens a link in the person's browser.
pub fn browse(link: &str) -> bool {
    let mut command = Command::new("xdg-open");
    command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
