//! The tools of configured servers that an attempt's agents are offered, from its beginning to its end.

use std::collections::{BTreeMap, BTreeSet};

use holdpoint_agents::mcp::{Offer, OfferedTool, PinError, Server, Session, told_as};
use holdpoint_agents::model::ToolSpec;
use holdpoint_core::definition::{AgentConfig, TOOLS};
use holdpoint_core::event::{Entry, Level};
use serde_json::{Value, json};

use super::Worker;
use super::stop::Stop;
use holdpoint_engine::WorkContext;

/// The name under which what a server offered is pinned, before the server's own.
const OFFERED: &str = "tools ";
/// How much of a description a model reads.
const DESCRIPTION: usize = 8 * 1024;
/// How large the schema of what a tool is given may be.
const SCHEMA: usize = 64 * 1024;

/// Servers that are spoken to, and the tools of theirs that may be called. Dropping it ends them.
#[derive(Debug, Default)]
pub(super) struct Offered {
    sessions: BTreeMap<String, Session>,
    /// By the name that the model knows.
    tools: BTreeMap<String, (String, OfferedTool)>,
}

impl Offered {
    /// What the model is told.
    pub fn specs(&self) -> impl Iterator<Item = ToolSpec> + '_ {
        self.tools.iter().map(|(name, (server, tool))| spec(name, server, tool))
    }

    /// A tool by the name that the model knows, and whom to ask for it.
    pub fn get(&self, name: &str) -> Option<(&Session, &OfferedTool)> {
        let (server, tool) = self.tools.get(name)?;
        Some((self.sessions.get(server)?, tool))
    }

    /// Ends what was begun for this attempt.
    pub async fn close(self) {
        for session in self.sessions.into_values() {
            session.close().await;
        }
    }
}

impl Worker {
    /// Speaks to the servers whose tools a step names, and looks whether they still offer what was seen before.
    pub(super) async fn offered(
        &self,
        desk: &WorkContext,
        config: &AgentConfig,
        entries: &[Entry],
    ) -> Result<Offered, Stop> {
        let mut offered = Offered::default();
        for (name, wanted) in wanted(config) {
            let server = self.server(name)?;
            let session = Session::open(server).await.map_err(|cause| failed(&cause))?;
            let offer = session.offer().await.map_err(|cause| failed(&cause))?;
            self.compare(desk, server, &offer).await?;
            record(desk, server, &offer, entries).await?;
            for tool in chosen(server, &offer, wanted.as_ref())? {
                let told = told_as(name, &tool.name);
                if serde_json::to_string(&tool.input_schema).is_ok_and(|text| text.len() > SCHEMA) {
                    let message =
                        format!("the tool `{name}/{}` has a schema of more than {SCHEMA} bytes", tool.name);
                    return Err(Stop::new("tool_server", message));
                }
                let taken = offered.tools.insert(told, (name.to_owned(), tool.clone()));
                if let Some((other, twin)) = taken {
                    let message = format!(
                        "a model cannot tell `{name}/{}` from `{other}/{}`: leave one of them out with \
                         `mcp.{name}.tools`",
                        tool.name, twin.name
                    );
                    return Err(Stop::new("tool_names", message));
                }
            }
            offered.sessions.insert(name.to_owned(), session);
        }
        Ok(offered)
    }

    fn server(&self, name: &str) -> Result<&Server, Stop> {
        let servers = &self.settings.servers;
        let found = servers.iter().find(|server| server.name == name);
        match found {
            Some(server) if server.enabled => Ok(server),
            Some(_) => {
                let message = format!("the server `{name}` is switched off (mcp.{name}.enabled)");
                Err(Stop::new("unknown_tool", message))
            }
            None => {
                let known = servers.iter().map(|server| server.name.as_str());
                let known = TOOLS.into_iter().chain(known).collect::<Vec<_>>().join(", ");
                let message =
                    format!("there is no tool `{name}`: built in, or configured as servers, are {known}");
                Err(Stop::new("unknown_tool", message))
            }
        }
    }

    /// What changed since it was seen is told, and nothing of it reaches a model.
    async fn compare(&self, desk: &WorkContext, server: &Server, offer: &Offer) -> Result<(), Stop> {
        let (pins, name, seen) = (self.settings.pins.clone(), server.name.clone(), offer.clone());
        let checked = tokio::task::spawn_blocking(move || pins.check(&name, &seen)).await;
        match checked.map_err(std::io::Error::other)? {
            Ok(()) => Ok(()),
            Err(PinError::Changed(changes)) => {
                let why = PinError::Changed(changes.clone());
                let (details, more) = desk.fit(json!({"server": server.name, "changes": changes})).await?;
                let details =
                    json!({"tools_changed": details, "more": more.map(|digest| digest.to_string())});
                let name = &server.name;
                let message = format!(
                    "the server `{name}` {why}; look at it with `holdpoint mcp tools {name}`, and accept it \
                     with `holdpoint mcp trust {name}`"
                );
                desk.log(Level::Error, &message, Some(details)).await?;
                Err(Stop::new("tool_changed", message))
            }
            Err(why @ PinError::Io(_)) => {
                Err(Stop::new("tool_server", format!("the server `{}` {why}", server.name)))
            }
        }
    }
}

/// Writes down which tools this very attempt works with, once.
async fn record(desk: &WorkContext, server: &Server, offer: &Offer, entries: &[Entry]) -> Result<(), Stop> {
    let (digest, _) = desk.keep(offer.canonical()).await?;
    let pin = Entry::Pinned { name: format!("{OFFERED}{}", server.name).into(), digest };
    if entries.contains(&pin) {
        return Ok(());
    }
    let count = offer.tools.len();
    let text = format!("the server `{}` offers {count} tools", server.name);
    let details = json!({"server": server.name, "tools_digest": offer.digest()});
    Ok(desk
        .write(vec![pin, Entry::Log { level: Level::Info, text: text.into(), details: Some(details) }])
        .await?)
}

/// The servers that a step names, each with the tools that it wants; none: all of them.
fn wanted(config: &AgentConfig) -> BTreeMap<&str, Option<BTreeSet<&str>>> {
    let mut wanted: BTreeMap<&str, Option<BTreeSet<&str>>> = BTreeMap::new();
    for name in config.tools.iter().map(String::as_str).filter(|name| !TOOLS.contains(name)) {
        match name.split_once('/') {
            None => {
                wanted.insert(name, None);
            }
            Some((server, tool)) => {
                if let Some(tools) = wanted.entry(server).or_insert_with(|| Some(BTreeSet::new())) {
                    tools.insert(tool);
                }
            }
        }
    }
    wanted
}

fn chosen<'a>(
    server: &Server,
    offer: &'a Offer,
    wanted: Option<&BTreeSet<&str>>,
) -> Result<Vec<&'a OfferedTool>, Stop> {
    let allowed = || offer.tools.iter().filter(|tool| server.allows(&tool.name));
    let Some(names) = wanted else { return Ok(allowed().collect()) };
    let pick = |name: &&str| {
        allowed().find(|tool| tool.name == *name).ok_or_else(|| {
            let all = allowed().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ");
            let message =
                format!("the server `{}` has no tool `{name}` to use (there is {all})", server.name);
            Stop::new("unknown_tool", message)
        })
    };
    names.iter().map(pick).collect()
}

fn spec(name: &str, server: &str, tool: &OfferedTool) -> ToolSpec {
    let about = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or("It has no description.");
    let about: String = about.chars().take(DESCRIPTION).collect();
    let mut input_schema = tool.input_schema.clone();
    if let Value::Object(schema) = &mut input_schema {
        schema.entry("type").or_insert_with(|| "object".into());
    }
    let description = format!("A tool of the server `{server}`, which describes it like this: {about}");
    ToolSpec { name: name.to_owned(), description, input_schema }
}

fn failed(cause: &holdpoint_agents::mcp::McpError) -> Stop {
    Stop::new("tool_server", cause.to_string())
}
