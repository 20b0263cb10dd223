//! `holdpoint token`: who may come in.

use serde_json::{Value, json};

use crate::client::{Api, Body, path_part};
use crate::context::Context;
use crate::problem::{Exit, Failure, Problem};
use crate::table::{Table, text_of};

/// Make, list and withdraw access tokens
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print the admin token of a home
    Show,
    /// Make a token; its secret is printed once and never again
    Create {
        /// Whose it is
        name: String,
        /// What its holder may do
        #[arg(long, value_name = "ROLE", default_value = "viewer",
            value_parser = ["viewer", "operator", "approver", "admin"])]
        role: String,
        /// For how many days it is good
        #[arg(long, value_name = "DAYS")]
        days: Option<u32>,
        /// Only for this pipeline; may be given several times
        #[arg(long = "pipeline", value_name = "PIPELINE")]
        pipelines: Vec<String>,
        /// For a program that acts for nobody: it can never approve
        #[arg(long)]
        agent: bool,
    },
    /// List tokens
    List,
    /// Withdraw a token
    Revoke {
        /// Its id
        id: String,
    },
}

pub fn run(args: &Args, context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    if matches!(args.command, Command::Show) {
        return show(context);
    }
    if matches!(args.command, Command::List) && Api::nothing_there(context)? {
        return Ok(Exit::Done);
    }
    let api = match &args.command {
        Command::Create { .. } => Api::open(context)?,
        _ => Api::existing(context)?,
    };
    match &args.command {
        Command::Show => {}
        Command::Create { name, role, days, pipelines, agent } => {
            let ids: Vec<String> = pipelines
                .iter()
                .map(|pipeline| super::pipeline::find(&api, pipeline))
                .collect::<Result<_, _>>()?;
            let mut body = json!({"name": name, "role": role, "agent": agent, "pipelines": ids});
            if let Some(days) = days {
                body["lasts_seconds"] = (u64::from(*days) * 24 * 3600).into();
            }
            let made = api.post("/api/tokens", body)?;
            if context.output.is_json() {
                context.output.value(&made)?;
            } else {
                context.output.data(&format!("{}\n", text_of(&made["token"])))?;
                context.output.say("keep it: it cannot be shown again");
            }
        }
        Command::List => list(&api, context)?,
        Command::Revoke { id } => {
            api.call("DELETE", &format!("/api/tokens/{}", path_part(id)?), Body::None)?;
            if context.output.is_json() {
                context.output.value(&json!({"token_id": id, "revoked": true}))?;
            } else {
                context.output.say("revoked");
            }
        }
    }
    api.finish();
    Ok(Exit::Done)
}

fn show(context: &mut Context<'_, '_>) -> Result<Exit, Failure> {
    let home = context.home()?;
    let path = home.path().join("keys/admin.token");
    let token = std::fs::read_to_string(&path).map_err(|error| {
        let message = format!("`{}` cannot be read: {error}", path.display());
        Problem::failed("token_missing", message, "`holdpoint serve` makes it when it first starts")
    })?;
    let token = token.trim();
    if context.output.is_json() {
        context.output.value(&json!({"token": token}))?;
    } else {
        context.output.data(&format!("{token}\n"))?;
    }
    Ok(Exit::Done)
}

fn list(api: &Api, context: &mut Context<'_, '_>) -> Result<(), Failure> {
    let items: Vec<Value> = api.list("/api/tokens", 10_000)?;
    if context.output.is_json() {
        context.output.value(&json!({"items": items}))?;
        return Ok(());
    }
    let mut table = Table::new(&["ID", "NAME", "ROLE", "MADE", "EXPIRES"]);
    for item in &items {
        table.row([
            text_of(&item["token_id"]),
            text_of(&item["name"]),
            text_of(&item["role"]),
            text_of(&item["issued_at"]),
            text_of(&item["expires_at"]),
        ]);
    }
    context.output.data(&table.to_string())?;
    Ok(())
}
