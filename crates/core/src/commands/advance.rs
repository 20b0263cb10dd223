//! A client hands in the result of a step and continues, from the newest node of a branch or from an older one.
//!
//! A call is named by the node that it continues from and the attempt at it. It counts once: the same call again writes
//! nothing. From a node that is no head the run is forked; both branches stay.

use std::sync::Arc;

use holdpoint_planted::{Bug, planted};
use serde_json::{Map, Value};

use super::wrong_run;
use crate::advance::{self, BranchCause, Finished, branch_from};
use crate::asks;
use crate::context;
use crate::decision::Draft;
use crate::definition::Fault;
use crate::event::{Blocker, Content, RunEvent};
use crate::facts::Verdict;
use crate::plan::Body;
use crate::plan::body::{Check, Criteria};
use crate::state::run::{AckKey, Execution, ExecutionState, RunStatus, Stage};
use crate::{BranchNo, ExecNo, GateId, NodeNo, Rejection, RunId, canonical};

/// How large a result may be, as JSON.
const OUTPUT: usize = 64 << 20;
/// How many branches a run may have.
const BRANCHES: u32 = 10_000;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Advance {
    /// The node that the client continues from.
    pub node: NodeNo,
    /// The attempt at that node, from 1.
    pub attempt: u32,
    /// The result.
    pub output: Option<Value>,
    /// What it leaves in the context; null deletes.
    pub context: Map<String, Value>,
}

/// The rule.
pub fn decide(draft: &mut Draft<'_>, run: RunId, command: &Advance) -> Result<(), Rejection> {
    let Advance { node, attempt, .. } = *command;
    context::check_delta(&command.context)?;
    let state = draft.run(run)?;
    let missing = || Rejection::NotFound { what: "node", id: format!("{} of run {run}", node.0) };
    let from = state.graph.anchor(node).ok_or_else(missing)?;
    if state.acks.contains_key(&(node, AckKey::Advance(attempt))) && !planted(Bug::AckTwice) {
        return Ok(());
    }
    if attempt == 0 || attempt > state.next_attempt(node) {
        let message = format!("attempts at this node are 1 to {}", state.next_attempt(node));
        return Err(Rejection::Invalid(vec![Fault::at("/attempt", message)]));
    }
    match state.status {
        RunStatus::InProgress | RunStatus::Completed => {}
        RunStatus::NotStarted | RunStatus::Paused | RunStatus::Failed | RunStatus::Aborted => {
            return Err(wrong_run(draft, run, "continue")?);
        }
    }
    let branch = match branch_at(draft, run, node, from)? {
        Some(branch) => {
            if let Some(gate) = waiting(draft, run, branch, node)? {
                draft.reply.gate = Some(gate);
                return Ok(());
            }
            branch
        }
        None => fork(draft, run, from)?,
    };
    let Some(x) = with_client(draft, run, branch)? else {
        return match waiting(draft, run, branch, node)? {
            Some(gate) => {
                draft.reply.gate = Some(gate);
                Ok(())
            }
            None => Err(wrong_run(draft, run, "continue")?),
        };
    };
    reopen(draft, run)?;
    hand_in(draft, run, x, command)
}

/// The branch that continues: the node's own, or the current one, where it is live and its head is the node.
fn branch_at(
    draft: &Draft<'_>,
    run: RunId,
    node: NodeNo,
    from: NodeNo,
) -> Result<Option<BranchNo>, Rejection> {
    let graph = &draft.run(run)?.graph;
    let own = graph.node(node).map(|node| node.branch);
    let at_head =
        |b: &BranchNo| graph.branch(*b).is_some_and(|branch| branch.is_live() && branch.head == from);
    Ok(own.into_iter().chain([graph.current()]).find(at_head))
}

/// The gate that a branch waits at for a call that continues from a node.
fn waiting(
    draft: &Draft<'_>,
    run: RunId,
    branch: BranchNo,
    node: NodeNo,
) -> Result<Option<GateId>, Rejection> {
    let state = draft.run(run)?;
    let Some(live) = state.graph.branch(branch) else { return Ok(None) };
    let outside: Vec<&Arc<Execution>> =
        live.active.iter().filter_map(|x| state.execution(*x)).filter(|e| e.outside).collect();
    let from_here = |e: &&&Arc<Execution>| {
        let call = e.handed.as_ref().and_then(|handed| handed.call);
        call.is_some_and(|call| call.at == node || call.blocked == Some(node))
    };
    // What was handed in from here waits, whatever else there is to do.
    let own = outside.iter().filter(from_here).find_map(|e| e.gate);
    let free = outside.iter().any(|e| e.gate.is_none() && e.state == ExecutionState::Working(Stage::Client));
    let any = outside.iter().find_map(|e| e.gate).or_else(|| live.asking.get_min().copied());
    Ok(own.or(any.filter(|_| !free)))
}

/// The step that a client works at on a branch: the oldest.
fn with_client(draft: &Draft<'_>, run: RunId, branch: BranchNo) -> Result<Option<ExecNo>, Rejection> {
    let state = draft.run(run)?;
    let Some(branch) = state.graph.branch(branch) else { return Ok(None) };
    let is_with_client = |x: &&ExecNo| {
        let execution = state.execution(**x);
        execution.is_some_and(|e| e.state == ExecutionState::Working(Stage::Client) && e.gate.is_none())
    };
    Ok(branch.active.iter().find(is_with_client).copied())
}

fn fork(draft: &mut Draft<'_>, run: RunId, from: NodeNo) -> Result<BranchNo, Rejection> {
    let graph = &draft.run(run)?.graph;
    if graph.next_branch().0 >= BRANCHES {
        return Err(Rejection::LimitReached { what: "branches of a run", limit: BRANCHES.into() });
    }
    let todo = graph.front_at(from).is_some_and(|front| !front.todo.is_empty());
    if !todo {
        return Err(wrong_run(draft, run, "continue from the end")?);
    }
    reopen(draft, run)?;
    branch_from(draft, run, from, BranchCause::Fork)
}

/// A completed run is in progress again.
pub(crate) fn reopen(draft: &mut Draft<'_>, run: RunId) -> Result<(), Rejection> {
    if draft.run(run)?.status == RunStatus::Completed {
        draft.on_run(run, RunEvent::Reopened {});
    }
    Ok(())
}

fn hand_in(draft: &mut Draft<'_>, run: RunId, x: ExecNo, command: &Advance) -> Result<(), Rejection> {
    let Advance { node: at, attempt, .. } = *command;
    let execution = draft.execution(run, x)?;
    draft.reply.execution = Some(execution.id);
    let body = advance::body_of(draft, run, x)?;
    let context = advance::left_behind(draft, run, x, command.output.as_ref(), command.context.clone())?;
    let kept = command.output.as_ref().map(|output| content(draft, output)).transpose()?;
    // With the output that later conditions read: a result that a person accepts leaves the same as one that passes.
    draft.on_run(run, RunEvent::HandedIn { x, at, attempt, output: kept, context: context.clone() });
    let mut why = blockers(draft, &body, command.output.as_ref());
    if why.is_empty() {
        let before = draft.save();
        complete(draft, run, x, &body, &context)?;
        // A loop without its list is a mistake of this very result: the client can hand in another one.
        match before.warned(draft) {
            Some(message) => {
                draft.restore(before);
                why.push(Blocker { code: "INVARIANT_VIOLATION".into(), message, about: None });
            }
            None => return Ok(()),
        }
    }
    draft.on_run(run, RunEvent::Blocked { x, at, attempt, why, changes: false });
    if draft.execution(run, x)?.blocks >= body.policy.max_blocked {
        asks::blocked::ask(draft, run, x)?;
    }
    Ok(())
}

fn complete(
    draft: &mut Draft<'_>,
    run: RunId,
    x: ExecNo,
    body: &Body,
    context: &Map<String, Value>,
) -> Result<(), Rejection> {
    if advance::is_approval_needed(draft, run, x, &body.policy.approve_complete, context)? {
        return asks::result::ask(draft, run, x);
    }
    advance::complete(draft, run, x, Finished::default())
}

/// Keeps a client's JSON: small in the event, else beside the log.
pub(super) fn content(draft: &mut Draft<'_>, value: &Value) -> Result<Content, Rejection> {
    let bytes = canonical(value);
    if bytes.len() > OUTPUT {
        return Err(Rejection::LimitReached { what: "bytes of output", limit: OUTPUT as u64 });
    }
    Ok(match bytes.len() as u64 {
        size if Content::is_inline(size) => Content::Inline(value.clone()),
        size => Content::Stored(draft.keep_blob(bytes), size),
    })
}

/// What is wrong with a result, all at once.
fn blockers(draft: &Draft<'_>, body: &Body, output: Option<&Value>) -> Vec<Blocker> {
    let mut found = Vec::new();
    for check in &body.checks {
        match check {
            Check::Notes(criteria) => found.extend(notes_fault(criteria, output)),
            Check::Schema(schema) => {
                let why = match draft.facts.evaluator.schema(schema, output.unwrap_or(&Value::Null)) {
                    Verdict::Yes => continue,
                    Verdict::No(why) => why,
                    Verdict::Broken(why) => vec![why],
                };
                let code =
                    if output.is_some() { "INVALID_REQUIRED_OUTPUT" } else { "MISSING_REQUIRED_OUTPUT" };
                found.extend(why.into_iter().map(|why| blocker(code, &why)));
            }
            Check::Format | Check::Gap(_) | Check::Judge(_) => {}
        }
    }
    found
}

fn blocker(code: &str, message: &str) -> Blocker {
    Blocker { code: code.into(), message: message.into(), about: None }
}

/// What is wrong with the notes of a result.
fn notes_fault(criteria: &Criteria, output: Option<&Value>) -> Vec<Blocker> {
    let notes = output.and_then(|output| output.get("notesMarkdown")).and_then(Value::as_str);
    let Some(notes) = notes.filter(|notes| !notes.trim().is_empty()) else {
        return vec![blocker("MISSING_REQUIRED_NOTES", "the step needs notes")];
    };
    let mut found = Vec::new();
    let length = notes.chars().count();
    if length < criteria.min_length as usize {
        let message = format!("the notes have {length} characters and need {}", criteria.min_length);
        found.push(blocker("INVALID_REQUIRED_OUTPUT", &message));
    }
    let lower = notes.to_lowercase();
    for text in criteria.contains.iter().filter(|text| !lower.contains(&text.to_lowercase())) {
        found.push(blocker("INVALID_REQUIRED_OUTPUT", &format!("the notes do not contain “{text}”")));
    }
    for source in &criteria.matches {
        let pattern = regex::RegexBuilder::new(source).size_limit(1 << 20).build();
        if !pattern.is_ok_and(|pattern| pattern.is_match(notes)) {
            found.push(blocker("INVALID_REQUIRED_OUTPUT", &format!("the notes do not match `{source}`")));
        }
    }
    found
}
