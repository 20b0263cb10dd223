//! Doing the work of agents: what they are given, told and allowed, their conversation, and what they hand in.

use holdpoint_agents::model::ToolSpec;
use holdpoint_agents::prompt::{Brief, Material, MaterialFile, MaterialKind, Told};
use holdpoint_agents::talk::{self, Agent, Discussion, Setting};
use holdpoint_agents::tools::{self, CODE_EXECUTION, FILE_OPERATIONS, FileLimits, Files, WEB_SEARCH};
use holdpoint_core::commands::record_outcome::Outcome;
use holdpoint_core::definition::{AgentConfig, CreationMode, Format};
use holdpoint_core::event::{Entry, Level, Usage};
use holdpoint_core::plan::body::{Agents, OutputSpec};
use serde_json::json;

use super::Worker;
use super::collect::collect;
use super::noted::Noted;
use super::offered::Offered;
use super::purse::Purse;
use super::room::{Given, GivenFiles, Room, empty, put};
use super::stop::Stop;
use super::table::Seat;
use super::workspace::{Last, Workspace};
use holdpoint_engine::documents::context::CONTEXT;
use holdpoint_engine::executor::Job;
use holdpoint_engine::work_context::{WorkContext, log_line};

/// The name under which an attempt's files at its beginning are pinned.
pub(crate) const WORKSPACE: &str = "workspace/";

/// One agent as it is defined, by whomever.
pub(super) struct Defined {
    pub name: String,
    role: Option<String>,
    pub system: String,
    pub task: String,
}

impl Worker {
    /// Does the work of an agentic step.
    pub(super) async fn agentic(&self, job: &Job, agents: &Agents, purse: &Purse) -> Result<Outcome, Stop> {
        let (desk, config, declared) = (&job.desk, &agents.team, &job.body.outputs);
        let entries = desk.open().await?;
        let room = Room::of(desk)?;
        let given = self.given(desk).await?;
        if entries.is_empty() {
            empty(&room.staging)?;
        } else if matches!(Last::of(&entries, WORKSPACE), Last::Tree(_)) {
            room.reset(desk.fence.epoch)?;
        }
        room.furnish(&given).await?;
        let workspace = Workspace::of(desk, room.clone());
        self.settle_files(job, &workspace, &entries).await?;
        let noted = Noted::of(&entries);
        // What is outside is not reached when a run is played.
        let is_played = self.recording.is_some() || self.rehearsal.is_some();
        let offered =
            if is_played { Offered::default() } else { self.offered(desk, config, &entries).await? };
        let mut seat = Seat::new(self, desk, &workspace, purse, entries, job.cancel.clone()).await?;
        let has = |tool: &str| config.tools.iter().any(|name| name == tool);
        if has(FILE_OPERATIONS) {
            let names = declared.iter().map(OutputSpec::file_name).collect();
            let limits = FileLimits { file_bytes: self.settings.file_bytes };
            let told = given.previous.iter().chain(&given.referenced);
            let told = told.map(|file| (file.path.clone(), file.file.clone())).collect();
            let files = Files::open(&room.workspace, &room.staging, &room.inputs, names, limits)?;
            seat.files = Some(files.told_as(told));
        }
        seat.made_up = self.rehearsal.as_ref().map(|rehearsal| rehearsal.part(job));
        seat.code = has(CODE_EXECUTION);
        seat.network = agents.network;
        let specs: Vec<ToolSpec> = specs(config, seat.network).into_iter().chain(offered.specs()).collect();
        seat.offered = offered;
        seat.hidden = config.show_conversation == Some(false);
        if seat.code && !noted.has_log("sandbox") {
            let level = self.machine.found().await.sandbox.level();
            let details = json!({"sandbox": level.as_str(), "network": seat.network});
            desk.log(Level::Info, "agents may run code", Some(details)).await?;
        }
        let model_name = config.model.clone().unwrap_or_else(|| self.settings.default_model.clone());
        if has(WEB_SEARCH) && !self.model.can_search(&model_name) {
            let message = format!(
                "`{model_name}` has no web search of its own, or none that keeps to llm.search_domains; leave the \
                 tool out or use another model"
            );
            return Err(Stop::new("no_web_search", message));
        }
        let setting = Setting {
            model: &*self.model,
            model_name: &model_name,
            max_tokens: self.settings.max_tokens,
            temperature: Some(self.settings.temperature),
            tools: &specs,
            web_search: has(WEB_SEARCH),
            tool_calls_per_turn: self.settings.tool_calls_per_turn,
            max_context: self.settings.max_context,
            table: &seat,
        };
        let mut usage = Usage::default();
        let done = self.converse(job, agents, &setting, &given, &noted, &mut usage).await;
        std::mem::take(&mut seat.offered).close().await;
        let text = done.map_err(|stop| stop.costing(usage))?;
        if seat.files.is_none() {
            hand_in(&room, declared, &text)?;
        }
        let artifacts = collect(desk, &room.staging, declared, None, self.settings.file_bytes).await;
        let artifacts = artifacts.map_err(|stop| stop.costing(usage))?;
        Ok(Outcome::done(None, artifacts, usage))
    }

    /// Tells the agents, lets them talk, and gives the last words of the one who writes.
    #[expect(clippy::too_many_arguments, reason = "all of it is one attempt")]
    async fn converse(
        &self,
        job: &Job,
        work: &Agents,
        setting: &Setting<'_>,
        given: &GivenFiles,
        noted: &Noted,
        usage: &mut Usage,
    ) -> Result<String, Stop> {
        let (desk, config, instructions) = (&job.desk, &work.team, work.instructions.as_ref());
        let stopped = |halt: talk::Halt| Stop::new(halt.kind, halt.message);
        let mut materials = materials(given, &job.execution);
        let rules = rules(config, &job.body.outputs);
        let feedback: Vec<String> = job.execution.feedback.iter().map(ToString::to_string).collect();
        self.shorten(desk, setting, &mut materials, instructions, given, noted, usage).await?;
        let brief = |system: &str, task: &str| -> Told {
            Brief { instructions, system, task, materials: &materials, feedback: &feedback, rules: &rules }
                .told()
        };
        let defined = match config.creation_mode {
            CreationMode::MetaAgent => {
                let instructions = config.meta_agent_instructions.as_deref().unwrap_or_default();
                let told = brief(META, instructions);
                let max = config.max_agents.unwrap_or(1);
                let meta =
                    Agent { name: "Meta-agent".into(), role: None, system: told.system, first: told.user };
                let (made, cost) = talk::make_agents(setting, &meta, max).await.map_err(stopped)?;
                *usage = usage.plus(cost);
                if !noted.has_log("agents") {
                    let names: Vec<&str> = made.iter().map(|agent| agent.name.as_str()).collect();
                    let text = format!("the meta-agent made {}", names.join(", "));
                    desk.log(Level::Info, &text, Some(json!({"agents": made}))).await?;
                }
                let of = |agent: talk::Made| Defined {
                    name: agent.name,
                    role: Some(agent.role),
                    system: agent.system_prompt,
                    task: agent.task_prompt,
                };
                made.into_iter().map(of).collect()
            }
            CreationMode::Predefined | CreationMode::Single => defined(config),
        };
        let mut agents = Vec::with_capacity(defined.len());
        for Defined { name, role, system, task } in defined {
            let told = brief(&system, &task);
            let pin = format!("{CONTEXT}{name}");
            if noted.pinned(&pin).is_none() {
                let (digest, _) = desk.keep(json!(told).to_string().into_bytes()).await?;
                desk.write(vec![Entry::Pinned { name: pin.into(), digest }]).await?;
            }
            agents.push(Agent { name, role, system: told.system, first: told.user });
        }
        let max_turns = config.max_turns.unwrap_or(agents.len() as u32 + 1);
        let discussion = Discussion { mode: config.discussion_mode, max_turns };
        match talk::discuss(setting, &agents, discussion).await {
            Ok(outcome) => {
                *usage = usage.plus(outcome.usage);
                desk.say_last(outcome.left_out.iter().map(|text| log_line(Level::Warning, text, None)));
                Ok(outcome.text)
            }
            Err((halt, cost)) => {
                *usage = usage.plus(cost);
                Err(stopped(halt))
            }
        }
    }

    /// A fresh attempt begins with what the one before had handed in, if something about that is to be changed; an
    /// attempt that was cut off goes on with the files that its journal knows.
    async fn settle_files(&self, job: &Job, workspace: &Workspace, entries: &[Entry]) -> Result<(), Stop> {
        let desk = &job.desk;
        match Last::of(entries, WORKSPACE) {
            Last::Tree(digest) => return workspace.restore(digest).await,
            Last::NotKept => return Ok(()),
            Last::Nothing if !entries.is_empty() => return Ok(()),
            Last::Nothing => {}
        }
        if !job.execution.feedback.is_empty() {
            bring_back(desk, &workspace.room, &job.body.outputs).await?;
        }
        let kept = workspace.capture().await?;
        let pinned = kept.tree.map(|digest| Entry::Pinned { name: WORKSPACE.into(), digest });
        desk.write(pinned.into_iter().chain(kept.log).collect()).await?;
        Ok(())
    }
}

/// What an agent that makes agents is told.
pub(super) const META: &str = "You do not do the task yourself. You define the agents that will do it together, each with a name, a role, \
                    a system prompt and a task prompt of its own, by calling the tool `create_agents`.";

pub(super) fn defined(config: &AgentConfig) -> Vec<Defined> {
    if let Some(agent) = &config.agent {
        let (name, system, task) =
            (agent.name.clone(), agent.system_prompt.clone(), agent.task_prompt.clone());
        return vec![Defined { name, role: None, system, task }];
    }
    let all = config.agents.iter().flatten();
    all.map(|agent| Defined {
        name: agent.name.clone(),
        role: Some(agent.role.clone()),
        system: agent.system_prompt.clone(),
        task: agent.task_prompt.clone(),
    })
    .collect()
}

fn specs(config: &AgentConfig, network: bool) -> Vec<ToolSpec> {
    let spec = |name: &String| match name.as_str() {
        FILE_OPERATIONS => Some(tools::file_operations()),
        CODE_EXECUTION => Some(tools::code_execution(network)),
        _ => None,
    };
    config.tools.iter().filter_map(spec).collect()
}

/// How the work is handed in.
pub(super) fn rules(config: &AgentConfig, declared: &[OutputSpec]) -> String {
    if declared.is_empty() {
        return String::new();
    }
    let line = |artifact: &OutputSpec| {
        let about = artifact.description.as_deref().map_or_else(String::new, |text| format!(": {text}"));
        let schema = artifact.schema.as_ref().filter(|schema| !schema.is_null());
        let schema = schema.map_or_else(String::new, |schema| format!("; its JSON Schema is {schema}"));
        format!("- {}{about}{schema}", artifact.file_name())
    };
    let list = declared.iter().map(line).collect::<Vec<_>>().join("\n");
    if config.tools.iter().any(|tool| tool == FILE_OPERATIONS) {
        format!("Outputs are handed in as files in `artifacts_staging/`, by these names:\n{list}")
    } else {
        format!("Your answer is the output, all of it and nothing else:\n{list}")
    }
}

pub(super) fn materials(
    given: &GivenFiles,
    execution: &holdpoint_core::state::run::Execution,
) -> Vec<Material> {
    let mut all: Vec<Material> = Vec::new();
    if let Some((version, why)) = &given.no_previous {
        let (kind, number) = (MaterialKind::Previous, execution.position + 1);
        all.push(Material { kind, number, version: *version, files: Vec::new(), missing: Some(why.clone()) });
    }
    let groups = [(MaterialKind::Previous, &given.previous), (MaterialKind::Referenced, &given.referenced)];
    for (kind, files) in groups {
        for given in files {
            let same =
                |m: &&mut Material| (m.kind, m.number, m.version) == (kind, given.number, given.version);
            if let Some(material) = all.iter_mut().find(same) {
                material.files.push(file(given));
            } else {
                let (number, version) = (given.number, given.version);
                all.push(Material { kind, number, version, files: vec![file(given)], missing: None });
            }
        }
    }
    all
}

fn file(given: &Given) -> MaterialFile {
    let content = std::str::from_utf8(&given.bytes).map_or_else(
        |_| format!("[{} bytes that are not text; read the file with code]", given.bytes.len()),
        ToOwned::to_owned,
    );
    let (name, path, format) = (given.file.clone(), given.path.clone(), given.format.clone());
    MaterialFile { name, path, format, content, shortened: None }
}

/// Puts what was handed in last where it can be changed.
async fn bring_back(desk: &WorkContext, room: &Room, declared: &[OutputSpec]) -> Result<(), Stop> {
    for (name, digest) in desk.engine.last_outputs(desk.execution).await? {
        let known = declared.iter().find(|artifact| *artifact.name == *name);
        let Some(artifact) = known else { continue };
        let bytes = desk.bytes(digest).await?;
        put(&room.staging, &artifact.file_name(), &bytes)?;
    }
    Ok(())
}

/// An agent without the tool for files gives its last words as the one output.
fn hand_in(room: &Room, declared: &[OutputSpec], text: &str) -> Result<(), Stop> {
    let [artifact] = declared else { return Ok(()) };
    let text = if artifact.format == Format::Md { text.trim() } else { unquoted(text.trim()) };
    // Who says nothing has handed in nothing.
    if text.is_empty() {
        return Ok(());
    }
    Ok(put(&room.staging, &artifact.file_name(), format!("{text}\n").as_bytes())?)
}

/// What stands inside a fence, if all of a text does.
fn unquoted(text: &str) -> &str {
    let inside = || {
        let rest = text.strip_prefix("```")?.strip_suffix("```")?;
        let (_, inside) = rest.split_once('\n')?;
        (!inside.contains("```")).then_some(inside.trim_end())
    };
    inside().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::{put, unquoted};

    #[test]
    fn what_code_left_behind_is_replaced_and_never_written_through() {
        let home = tempfile::tempdir().expect("a folder");
        let (staging, victim) = (home.path().join("staging"), home.path().join("victim"));
        std::fs::create_dir(&staging).expect("made");
        std::fs::write(&victim, "untouched").expect("written");
        symlink(&victim, staging.join("plan.md")).expect("planted");
        put(&staging, "plan.md", b"the plan").expect("written");
        assert_eq!(std::fs::read_to_string(&victim).expect("read"), "untouched");
        assert_eq!(std::fs::read_to_string(staging.join("plan.md")).expect("read"), "the plan");
        assert!(!staging.join("plan.md").is_symlink());
    }

    #[test]
    fn only_a_whole_quotation_is_opened() {
        assert_eq!(unquoted("```json\n{\"a\": 1}\n```"), "{\"a\": 1}");
        assert_eq!(unquoted("{\"a\": 1}"), "{\"a\": 1}");
        assert_eq!(unquoted("```a\n1\n```\nand\n```b\n2\n```"), "```a\n1\n```\nand\n```b\n2\n```");
    }
}
