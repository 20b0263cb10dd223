//! `holdpoint config`: what is set, and where.

use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::home::Home;
use crate::problem::{Exit, Failure};
use crate::settings::{Entry, Loaded};
use crate::text;

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
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let Command::Show { origin } = args.command;
    let home = context.home()?;
    let loaded = context.settings(&home, &[])?;
    if context.output.is_json() {
        context.output.value(&as_json(&home, &loaded, origin))?;
    } else {
        context.output.data(&as_text(&home, &loaded, origin))?;
    }
    Ok(Exit::Done)
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
