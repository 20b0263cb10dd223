//! `holdpoint mcp`: the servers of tools that agents may use.

use std::fmt::Write as _;

use holdpoint_agents::mcp::{Changed, Offer, Pins, Server, Session};
use serde_json::{Value, json};

use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::{text, tool_servers, wiring};

/// Look at servers of tools for agents, and accept what they offer
///
/// Servers are configured in `[mcp.<name>]`. What a server offers is kept when it is first seen; when it changes later,
/// its tools are offered to no agent until somebody has looked and accepted it.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Ask servers for their tools, and show what changed since they were first seen
    Tools {
        /// Only this server
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Accept what a server offers now
    Trust {
        /// The server
        #[arg(value_name = "NAME")]
        name: String,

        /// Only if it offers exactly this, as `holdpoint mcp tools` shows it
        #[arg(long, value_name = "DIGEST")]
        digest: Option<String>,
    },
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let home = context.home()?;
    let settings = context.settings(&home, &[])?.settings;
    let servers = tool_servers::servers(&settings, context.surroundings())?;
    let pins = tool_servers::pins(&home);
    match &args.command {
        Command::Tools { name } => {
            let wanted = match name {
                Some(name) => vec![find(&servers, name)?],
                None => servers.iter().collect(),
            };
            tools(&wanted, &pins, context)
        }
        Command::Trust { name, digest } => {
            let seen = wiring::wait(look(find(&servers, name)?, &pins))?;
            trust(&seen, digest.as_deref(), &pins, context)
        }
    }
}

fn find<'a>(servers: &'a [Server], name: &str) -> Result<&'a Server, Problem> {
    servers.iter().find(|server| server.name == name).ok_or_else(|| {
        let names = || servers.iter().map(|server| server.name.as_str());
        let hint = match text::nearest(name, names()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if servers.is_empty() => format!("configure it in [mcp.{name}]"),
            None => format!("configured are {}", names().collect::<Vec<_>>().join(", ")),
        };
        Problem::usage("unknown_server", format!("there is no server of tools `{name}`"), hint)
    })
}

/// What became of asking a server.
pub struct Seen {
    pub server: String,
    pub enabled: bool,
    pub state: SeenState,
}

pub enum SeenState {
    /// Nobody was asked.
    Off,
    Failed(String),
    /// Never seen before.
    New(Offer),
    Same(Offer),
    Changed(Offer, Vec<Changed>),
}

/// Asks one server, and compares what it says with what was seen before. Nothing is written.
pub async fn look(server: &Server, pins: &Pins) -> Seen {
    let seen = |state| Seen { server: server.name.clone(), enabled: server.enabled, state };
    if !server.enabled {
        return seen(SeenState::Off);
    }
    let session = match Session::open(server).await {
        Ok(session) => session,
        Err(error) => return seen(SeenState::Failed(error.to_string())),
    };
    let offer = session.offer().await;
    session.close().await;
    let offer = match offer {
        Ok(offer) => offer,
        Err(error) => return seen(SeenState::Failed(error.to_string())),
    };
    seen(match pins.read(&server.name) {
        Ok(None) => SeenState::New(offer),
        Ok(Some(pinned)) => match pinned.changes(&offer) {
            changes if changes.is_empty() => SeenState::Same(offer),
            changes => SeenState::Changed(offer, changes),
        },
        Err(error) => {
            SeenState::Failed(format!("the pin of the server `{}` cannot be read: {error}", server.name))
        }
    })
}

fn tools(servers: &[&Server], pins: &Pins, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let mut items = Vec::new();
    let mut failed = false;
    for server in servers {
        let seen = wiring::wait(look(server, pins))?;
        failed |= matches!(seen.state, SeenState::Failed(_) | SeenState::Changed(..));
        if context.output.is_json() {
            items.push(as_json(&seen));
        } else {
            context.output.data(&as_text(&seen))?;
        }
    }
    if context.output.is_json() {
        context.output.value(&json!({"items": items}))?;
    } else if servers.is_empty() {
        context.output.say("no server of tools is configured; `[mcp.<name>]` in the settings names one");
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn trust(
    seen: &Seen,
    digest: Option<&str>,
    pins: &Pins,
    context: &mut Context<'_, '_>,
) -> Result<Exit, Failure> {
    let name = &seen.server;
    let offer = match &seen.state {
        SeenState::New(offer) | SeenState::Same(offer) | SeenState::Changed(offer, _) => offer,
        SeenState::Off => {
            let message = format!("the server `{name}` is switched off");
            return Err(Problem::failed("tool_server", message, format!("set mcp.{name}.enabled")).into());
        }
        SeenState::Failed(why) => {
            let hint = "`holdpoint mcp tools` asks again";
            return Err(Problem::failed("tool_server", why.clone(), hint).into());
        }
    };
    if digest.is_some_and(|digest| digest != offer.digest()) {
        let message = format!("the server `{name}` offers {} now", offer.digest());
        let hint = format!("look again with `holdpoint mcp tools {name}`");
        return Err(Problem::failed("tool_changed", message, hint).into());
    }
    pins.trust(name, offer).map_err(|error| {
        let message = format!("what the server `{name}` offers cannot be kept: {error}");
        Problem::failed(
            "storage",
            message,
            "look at the disk and at the rights of the folder `mcp` in the home",
        )
    })?;
    if context.output.is_json() {
        context.output.value(&as_json(seen))?;
    } else {
        context.output.data(&as_text(seen))?;
        context.output.say(&format!("what `{name}` offers is accepted from now on"));
    }
    Ok(Exit::Done)
}

fn as_json(seen: &Seen) -> Value {
    let (state, offer, changes) = match &seen.state {
        SeenState::Off => ("off", None, None),
        SeenState::Failed(why) => {
            return json!({"server": seen.server, "enabled": seen.enabled, "state": "failed", "error": why});
        }
        SeenState::New(offer) => ("new", Some(offer), None),
        SeenState::Same(offer) => ("same", Some(offer), None),
        SeenState::Changed(offer, changes) => ("changed", Some(offer), Some(changes)),
    };
    json!({
        "server": seen.server,
        "enabled": seen.enabled,
        "state": state,
        "digest": offer.map(Offer::digest),
        "tools": offer.map(|offer| &offer.tools),
        "changes": changes,
    })
}

/// Everything that a model would read, in full: a page that somebody accepts hides nothing.
fn as_text(seen: &Seen) -> String {
    let mut page = String::new();
    let name = &seen.server;
    let (word, offer) = match &seen.state {
        SeenState::Off => return format!("{name}  switched off\n"),
        SeenState::Failed(why) => return format!("{name}  FAIL  {}\n", text::line(why)),
        SeenState::New(offer) => ("not seen before", offer),
        SeenState::Same(offer) => ("as it was seen first", offer),
        SeenState::Changed(offer, _) => ("CHANGED since it was seen", offer),
    };
    let _ = writeln!(page, "{name}  {word}  {}", offer.digest());
    for tool in &offer.tools {
        let about = tool.description.as_deref().unwrap_or("(no description)");
        let _ = writeln!(page, "  {}: {}", text::line(&tool.name), text::line(about));
        let _ = writeln!(page, "    given {}", text::line(&tool.input_schema.to_string()));
    }
    if let SeenState::Changed(_, changes) = &seen.state {
        for Changed { tool, what, before, now } in changes {
            let _ = writeln!(page, "  changed: {what} of {}", text::line(tool));
            for (sign, value) in [('-', before), ('+', now)].into_iter().filter(|(_, value)| !value.is_null())
            {
                let words = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
                let _ = writeln!(page, "    {sign} {}", text::line(&words));
            }
        }
    }
    page
}
