//! `holdpoint config`: what is set, and where.

use std::io::Write as _;

use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::home::Home;
use crate::problem::{Exit, Failure, Problem};
use crate::settings::{Entry, Loaded, trust};
use crate::{answering, terminal, text, wiring};

/// Look at the settings
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show every setting with its value; secrets are masked
    Show {
        /// Also show where each value comes from
        #[arg(long)]
        origin: bool,
    },
    /// Trust settings of this folder that run programs
    ///
    /// Settings in a `holdpoint.toml`, or in a `.holdpoint/` that was found upwards, are not applied while they name
    /// programs, sandboxes, folders of scripts or addresses of models and nobody has looked at them. This shows them and
    /// asks. A value that changes has to be trusted again.
    Trust {
        /// Trust exactly the settings with this digest, without being asked
        #[arg(long, value_name = "SHA256")]
        digest: Option<String>,
    },
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let home = context.home()?;
    let origin = match &args.command {
        Command::Show { origin } => *origin,
        Command::Trust { digest } => return trust_settings(&home, digest.as_deref(), context),
    };
    let loaded = context.settings(&home, &[])?;
    if context.output.is_json() {
        context.output.value(&as_json(&home, &loaded, origin))?;
    } else {
        context.output.data(&as_text(&home, &loaded, origin))?;
    }
    Ok(Exit::Done)
}

fn trust_settings(home: &Home, named: Option<&str>, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let untrusted = context.settings_to_trust(home)?.untrusted;
    let digest = trust::digest_of(&untrusted).checksum();
    if untrusted.is_empty() {
        if context.output.is_json() {
            context.output.value(&json!({"untrusted": [], "digest": null, "trusted": true}))?;
        } else {
            context.output.say("every setting here is trusted already, or needs no trust");
        }
        return Ok(Exit::Done);
    }
    if !context.output.is_json() {
        for one in &untrusted {
            context.output.say(&format!("{}:", one.file.display()));
            for Entry { name, value, .. } in &one.entries {
                context.output.say(&format!("  {name} = {value}"));
            }
        }
        context.output.say(&format!("digest: {digest}"));
    }
    let agreed = match named {
        Some(named) if named == digest || Some(named) == digest.strip_prefix("sha256:") => true,
        Some(_) => {
            let message = "the settings have another digest: they are not what you looked at";
            return Err(
                Problem::failed("stale_digest", message, "look at them: `holdpoint config trust`").into()
            );
        }
        None => answering::is_terminal() && !context.output.is_json() && asked()?,
    };
    if agreed {
        let list = trust::remember(&untrusted, context.surroundings())?;
        context.output.say(&format!("trusted; remembered in {}", list.display()));
    }
    if context.output.is_json() {
        let shown = untrusted.iter().map(|one| {
            let values: Map<String, Value> =
                one.entries.iter().map(|entry| (entry.name.clone(), entry.value.clone())).collect();
            json!({"file": one.file.to_string_lossy(), "settings": values})
        });
        let shown: Vec<Value> = shown.collect();
        context.output.value(&json!({"untrusted": shown, "digest": digest, "trusted": agreed}))?;
        return Ok(if agreed { Exit::Done } else { Exit::Failed });
    }
    if agreed {
        return Ok(Exit::Done);
    }
    let hint =
        format!("in a terminal, answer the question; elsewhere: holdpoint config trust --digest {digest}");
    Err(Problem::failed("settings_untrusted", "nothing was trusted", hint).into())
}

/// Asks the person at the terminal. Only the whole word counts.
fn asked() -> Result<bool, Failure> {
    terminal::discard()?;
    let mut err = std::io::stderr();
    write!(err, "Apply these settings from now on? Type yes to trust them: ")?;
    err.flush()?;
    Ok(wiring::wait(terminal::next_line())?.as_deref() == Some("yes"))
}

/// One setting per line, valid as a settings file.
fn as_text(home: &Home, loaded: &Loaded, with_origin: bool) -> String {
    let mut lines = Vec::new();
    if with_origin {
        lines.push(format!(
            "# home = {}  # {}",
            Value::from(home.path().to_string_lossy()),
            home.found().text()
        ));
    }
    for Entry { name, value, origin } in &loaded.entries {
        lines.push(if with_origin {
            format!("{name} = {value}  # {origin}")
        } else {
            format!("{name} = {value}")
        });
    }
    lines.iter().map(|line| text::line(line) + "\n").collect()
}

fn as_json(home: &Home, loaded: &Loaded, with_origin: bool) -> Value {
    let settings: Map<String, Value> = loaded
        .entries
        .iter()
        .map(|Entry { name, value, origin }| {
            let shown = if with_origin { json!({"value": value, "origin": origin}) } else { value.clone() };
            (name.clone(), shown)
        })
        .collect();
    let mut all = json!({"settings": settings});
    if with_origin {
        all["home"] = json!({"path": home.path().to_string_lossy(), "from": home.found().text()});
    }
    all
}
