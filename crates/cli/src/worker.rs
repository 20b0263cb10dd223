//! Who does the work of checkpoints in this process: the machine, the models and the limits that the settings name.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use holdpoint_agents::model;
use holdpoint_sandbox::Limits;
use holdpoint_work::{self as work, Machine, Worker};

use crate::home::Home;
use crate::problem::Problem;
use crate::settings::{Secret, Settings};
use crate::surroundings::Surroundings;
use crate::tool_servers;
use crate::wiring;

/// The folder of a home that the provider `script` plays from.
const PLAYED: &str = "scripts";

/// Puts a worker together.
pub fn worker(
    home: &Home,
    settings: &Settings,
    surroundings: &Surroundings,
) -> Result<(Worker, Machine), Problem> {
    let machine = Machine::new(wiring::this_program()?, home.path().join("tmp"), settings.execution.sandbox);
    let providers = model::Providers::new(models(home, settings, surroundings)?);
    let folders = settings.execution.script_folders.split(':');
    let limits = &settings.limits;
    let work = work::Settings {
        servers: tool_servers::servers(settings, surroundings)?,
        pins: tool_servers::pins(home),
        summaries: home.path().join("cache/summaries"),
        file_bytes: limits.max_file_size_mb.saturating_mul(1024 * 1024),
        script_folders: folders.filter(|folder| !folder.is_empty()).map(PathBuf::from).collect(),
        limits: Limits {
            wall: Duration::from_mins(limits.max_checkpoint_timeout_minutes),
            cpu: Duration::from_mins(limits.max_checkpoint_timeout_minutes),
            ..Limits::default()
        },
        default_model: settings.llm.default_model.clone(),
        max_tokens: settings.llm.default_max_tokens,
        temperature: settings.llm.default_temperature,
        max_context: limits.max_context_length,
        tool_calls_per_turn: u32::try_from(limits.tool_calls_per_turn).unwrap_or(u32::MAX),
    };
    Ok((Worker::new(machine.clone(), Arc::new(providers), work), machine))
}

/// The models that the settings name.
pub fn models(
    home: &Home,
    settings: &Settings,
    surroundings: &Surroundings,
) -> Result<model::Settings, Problem> {
    let mut providers = BTreeMap::new();
    for (name, provider) in &settings.llm.providers {
        let named = match &provider.api_key_env {
            Some(variable) => surroundings.text(variable)?.map(str::to_owned),
            None => None,
        };
        let key = provider.api_key.clone().map(Secret::hand_over).or(named);
        let base_url = provider.base_url.clone();
        providers.insert(name.clone(), model::Provider { base_url, api_key: key.map(model::Secret::new) });
    }
    Ok(model::Settings {
        providers,
        max_retries: u32::try_from(settings.llm.max_retries).unwrap_or(u32::MAX),
        call_timeout: Duration::from_secs(settings.llm.call_timeout_seconds),
        search_domains: settings.llm.search_domains.clone(),
        scripts_folder: Some(home.path().join(PLAYED)),
        ..model::Settings::default()
    })
}
