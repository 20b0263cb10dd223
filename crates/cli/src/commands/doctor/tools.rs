//! The servers of tools that agents may use: whether they can be reached, and still offer what was seen.

use holdpoint_agents::mcp::{Pins, Server};

use super::report::{Check, Section};
use crate::commands::mcp::{Seen, SeenState, look};
use crate::text::many;

/// Asks every server.
pub async fn section(servers: &[Server], pins: &Pins) -> Option<Section> {
    if servers.is_empty() {
        return None;
    }
    let mut section = Section::new("tools");
    for server in servers {
        section.add(check(&look(server, pins).await));
    }
    Some(section)
}

fn check(seen: &Seen) -> Check {
    let name = seen.server.as_str();
    let check = match &seen.state {
        SeenState::Off => Check::ok("server", format!("{name}: switched off")),
        SeenState::Failed(why) => {
            let hint = format!("look at [mcp.{name}] in the settings");
            Check::warn("server", format!("{name}: {why}"), hint)
        }
        SeenState::New(offer) => {
            let tools = many(offer.tools.len() as u64, "tool", "tools");
            Check::ok("server", format!("{name}: {tools}, not used before"))
                .with("tools", offer.tools.len())
                .with("digest", offer.digest())
        }
        SeenState::Same(offer) => {
            let tools = many(offer.tools.len() as u64, "tool", "tools");
            Check::ok("server", format!("{name}: {tools}, as they were seen first"))
                .with("tools", offer.tools.len())
                .with("digest", offer.digest())
        }
        SeenState::Changed(offer, changes) => {
            let hint =
                format!("look with `holdpoint mcp tools {name}`, accept with `holdpoint mcp trust {name}`");
            let told = changes.iter().map(|change| format!("{} of {}", change.what, change.tool)).collect();
            Check::warn("server", format!("{name}: what it offers changed; no agent gets its tools"), hint)
                .findings(told)
                .with("tools", offer.tools.len())
                .with("digest", offer.digest())
        }
    };
    let state = match &seen.state {
        SeenState::Off => "off",
        SeenState::Failed(_) => "failed",
        SeenState::New(_) => "new",
        SeenState::Same(_) => "same",
        SeenState::Changed(..) => "changed",
    };
    check.with("server", name).with("offer", state)
}
