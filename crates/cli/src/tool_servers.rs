//! The servers of tools that the settings name, as agents can use them and as definitions may name them.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdpoint_agents::mcp::{Pins, Reach, Server};
use holdpoint_agents::model::{Model, Providers, Secret};
use holdpoint_core::facts::{Offers, ToolServer};

use crate::home::Home;
use crate::problem::Problem;
use crate::settings::{self, Settings};
use crate::surroundings::Surroundings;

/// The folder of a home that keeps what servers offered.
const FOLDER: &str = "mcp";
/// What every program may see of the environment.
const USUAL: [&str; 3] = ["PATH", "HOME", "LANG"];

/// Every server that is configured, in the order of their names.
pub fn servers(settings: &Settings, surroundings: &Surroundings) -> Result<Vec<Server>, Problem> {
    settings.mcp.iter().map(|(name, server)| one(name, server, surroundings)).collect()
}

fn one(name: &str, set: &settings::ToolServer, surroundings: &Surroundings) -> Result<Server, Problem> {
    let secret = |secret: &settings::Secret| Secret::new(secret.clone().hand_over());
    let reach = match (&set.command, &set.url) {
        (Some(command), _) => {
            let mut env = BTreeMap::new();
            for variable in USUAL.into_iter().chain(set.env_from.iter().map(String::as_str)) {
                if let Some(value) = surroundings.text(variable)? {
                    env.insert(variable.to_owned(), Secret::new(value));
                }
            }
            env.extend(set.env.iter().map(|(name, value)| (name.clone(), secret(value))));
            let keeper = holdpoint_sandbox::keeper(&crate::wiring::this_program()?);
            Reach::Program { keeper, command: command.clone(), env }
        }
        (None, url) => {
            let named = match &set.token_env {
                Some(variable) => surroundings.text(variable)?.map(Secret::new),
                None => None,
            };
            let token = set.token.as_ref().map(secret).or(named);
            Reach::Address { url: url.clone().unwrap_or_default(), token }
        }
    };
    Ok(Server {
        name: name.to_owned(),
        reach,
        timeout: std::time::Duration::from_secs(set.timeout_seconds),
        tools: set.tools.clone(),
        enabled: set.enabled,
    })
}

/// What servers offered when they were first seen.
pub fn pins(home: &Home) -> Pins {
    Pins::new(home.path().join(FOLDER))
}

/// What definitions may name, with these settings.
pub fn offers(
    home: &Home,
    settings: &Settings,
    surroundings: &Surroundings,
) -> Result<Arc<dyn Offers>, Problem> {
    Ok(Arc::new(Here {
        servers: servers(settings, surroundings)?,
        pins: pins(home),
        minutes: settings.limits.max_checkpoint_timeout_minutes,
        retries: settings.limits.max_retry_attempts,
        retry_delay_seconds: u32::try_from(settings.execution.default_retry_delay_seconds)
            .unwrap_or(u32::MAX),
        model: settings.llm.default_model.clone(),
        models: Providers::new(crate::worker::models(home, settings, surroundings)?),
    }))
}

struct Here {
    servers: Vec<Server>,
    pins: Pins,
    model: String,
    models: Providers,
    minutes: u64,
    retries: u64,
    retry_delay_seconds: u32,
}

impl Offers for Here {
    fn servers(&self) -> Option<Vec<ToolServer>> {
        let enabled = self.servers.iter().filter(|server| server.enabled);
        let told = enabled.map(|server| {
            // A pin that cannot be read is told when the tool is to be used.
            let pinned = self.pins.read(&server.name).ok().flatten();
            let allowed = |offer: holdpoint_agents::mcp::Offer| {
                let names = offer.tools.into_iter().map(|tool| tool.name);
                names.filter(|name| server.allows(name)).collect()
            };
            ToolServer { name: server.name.clone(), tools: pinned.map(allowed) }
        });
        Some(told.collect())
    }

    fn searches(&self, model: Option<&str>) -> Option<bool> {
        Some(self.models.can_search(model.unwrap_or(&self.model)))
    }

    fn most_retries(&self) -> Option<u64> {
        Some(self.retries)
    }

    fn retry_delay_seconds(&self) -> u32 {
        self.retry_delay_seconds
    }

    fn longest_minutes(&self) -> Option<u64> {
        Some(self.minutes)
    }
}
