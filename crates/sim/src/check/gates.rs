//! Gates: passed once, by a person, on exactly what was shown; and what was approved is what is promoted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use holdpoint_core::event::{Made, RunEvent};
use holdpoint_core::plan::body::Policy;
use holdpoint_core::state::run::AskKind;
use holdpoint_core::{ActorKind, ArtifactRecordId, Digest, ExecNo, GateId, RunId, State, StreamId};

use super::{Found, Moment};
use crate::mirror::Mirror;

/// The names and digests of outputs.
type Outputs = BTreeMap<String, (ArtifactRecordId, Digest)>;

/// The books on gates.
pub struct Gates<'m> {
    mirror: &'m Mirror,
    asked: BTreeMap<GateId, Asked>,
    outputs: BTreeMap<(RunId, ExecNo), Outputs>,
    /// Who began runs, and who filled in forms.
    began: BTreeMap<RunId, Arc<str>>,
    authors: BTreeMap<(RunId, ExecNo), Arc<str>>,
    /// Executions that a person let begin.
    let_begin: BTreeSet<(RunId, ExecNo)>,
    /// What the present row approves, and promotes.
    approved: BTreeMap<ExecNo, Approved>,
    promoted: BTreeMap<ExecNo, BTreeSet<ArtifactRecordId>>,
}

struct Asked {
    run: RunId,
    x: Option<ExecNo>,
    digest: Digest,
    shown: Outputs,
    answered: bool,
    /// What it asks.
    kind: AskKind,
    /// Who has agreed so far, where more must.
    agreed: BTreeSet<Arc<str>>,
}

struct Approved {
    outputs: Outputs,
    edited: bool,
}

impl<'m> Gates<'m> {
    /// Empty books; the mirror knows the plans.
    pub fn new(mirror: &'m Mirror) -> Self {
        Self {
            mirror,
            asked: BTreeMap::new(),
            outputs: BTreeMap::new(),
            began: BTreeMap::new(),
            authors: BTreeMap::new(),
            let_begin: BTreeSet::new(),
            approved: BTreeMap::new(),
            promoted: BTreeMap::new(),
        }
    }

    /// Another row begins.
    pub fn begin_row(&mut self) {
        self.approved.clear();
        self.promoted.clear();
    }

    /// Looks at one event.
    pub fn see(&mut self, moment: &Moment<'_>, event: &RunEvent) -> Found {
        let run = moment.run;
        let mut found = Vec::new();
        if let RunEvent::Asked { x, .. } | RunEvent::AttemptBegan { x, .. } = event {
            found.extend(self.begin_answered(moment, *x));
        }
        if let Some((gate, x, digest, kind)) = asks(event) {
            let shown = x.and_then(|x| self.outputs.get(&(run, x))).cloned().unwrap_or_default();
            let asked = Asked { run, x, digest, shown, answered: false, kind, agreed: BTreeSet::new() };
            if self.asked.insert(gate, asked).is_some() {
                found.push(format!("I13: gate {gate} is asked twice"));
            }
        }
        if let Some((gate, x, digest)) = answers(event) {
            found.extend(self.answer(moment, gate, x, digest));
        }
        let actor = || moment.entry.row.actor.name.clone();
        match event {
            RunEvent::Began {} => drop(self.began.insert(run, actor())),
            RunEvent::Submitted { x, gate, .. } if self.kind(*gate) == Some(AskKind::Form) => {
                drop(self.authors.insert((run, *x), actor()));
            }
            RunEvent::ApprovalGiven { x, gate, .. } => found.extend(self.agree(moment, *x, *gate, true)),
            RunEvent::Approved { x, gate, .. } if self.kind(*gate) != Some(AskKind::Guidance) => {
                found.extend(self.agree(moment, *x, *gate, false));
            }
            _ => {}
        }
        match event {
            RunEvent::Approved { x, gate, .. } if self.kind(*gate) == Some(AskKind::Start) => {
                self.let_begin.insert((run, *x));
            }
            RunEvent::AttemptBegan { x, revision: 0, attempt: 1, .. } => {
                let asks =
                    self.policy(moment, *x).is_some_and(|policy| policy.approve_start.is_needed(|_| true));
                if asks && !self.let_begin.contains(&(run, *x)) {
                    found.push(format!("I13: {x} of run {run} began without approval"));
                }
            }
            _ => {}
        }
        found.extend(self.see_outputs(moment, event));
        found
    }

    fn see_outputs(&mut self, moment: &Moment<'_>, event: &RunEvent) -> Option<String> {
        let run = moment.run;
        match event {
            RunEvent::AttemptBegan { x, .. } => drop(self.outputs.remove(&(run, *x))),
            RunEvent::ArtifactMade { x, made } => {
                let Made { record, name, digest, .. } = made;
                let outputs = self.outputs.entry((run, *x)).or_default();
                outputs.insert(name.to_string(), (*record, *digest));
                if let Some(approved) = self.approved.get_mut(x).filter(|approved| approved.edited) {
                    approved.outputs.insert(name.to_string(), (*record, *digest));
                }
            }
            RunEvent::Approved { x, gate, edited, .. } if self.kind(*gate) == Some(AskKind::Result) => {
                let outputs = self.asked.get(gate)?.shown.clone();
                self.approved.insert(*x, Approved { outputs, edited: *edited });
            }
            RunEvent::ArtifactPromoted { x, record } => {
                self.promoted.entry(*x).or_default().insert(*record);
            }
            RunEvent::ExecutionCompleted { x, .. } => return self.completed(moment, *x),
            _ => {}
        }
        None
    }

    /// I13, I14: what needs approval has it, and nothing else is promoted.
    fn completed(&self, moment: &Moment<'_>, x: ExecNo) -> Option<String> {
        let run = moment.run;
        let asks = self.policy(moment, x).is_some_and(|policy| policy.approve_complete.is_needed(|_| true));
        let promoted = self.promoted.get(&x).cloned().unwrap_or_default();
        match self.approved.get(&x) {
            None if asks => Some(format!("I13: {x} of run {run} was completed without approval")),
            None => None,
            Some(approved) => {
                let right: BTreeSet<_> = approved.outputs.values().map(|(record, _)| *record).collect();
                (right != promoted)
                    .then(|| format!("I14: {x} of run {run} promotes {promoted:?}, approved is {right:?}"))
            }
        }
    }

    /// I13: as many people as the definition wants have agreed, and none of them with themselves.
    fn agree(&mut self, moment: &Moment<'_>, x: ExecNo, gate: GateId, more: bool) -> Found {
        let mut found = Vec::new();
        let Some(policy) = self.policy(moment, x) else { return found };
        let name = moment.entry.row.actor.name.clone();
        let Some(asked) = self.asked.get_mut(&gate) else { return found };
        let began = self.began.get(&moment.run);
        let starts = asked.kind == AskKind::Start;
        let author = if starts { began } else { self.authors.get(&(moment.run, x)) };
        if !policy.approve_complete.approvers.is_empty() && !policy.approve_complete.approvers.contains(&name)
        {
            found.push(format!("I13: {name} approved at gate {gate} and is no approver"));
        }
        if !asked.agreed.insert(name.clone()) {
            found.push(format!("I13: {name} approved twice at gate {gate}"));
        }
        if policy.approve_complete.needed > 1 && author == Some(&name) {
            found.push(format!("I13: {name} approved an own request at gate {gate}"));
        }
        if more != (asked.agreed.len() < policy.approve_complete.needed as usize) {
            found.push(format!(
                "I13: gate {gate} has {} of {}",
                asked.agreed.len(),
                policy.approve_complete.needed
            ));
        }
        found
    }

    /// I13: an answer comes from a person, once, to a question that was asked.
    fn answer(&mut self, moment: &Moment<'_>, gate: GateId, x: Option<ExecNo>, digest: Digest) -> Found {
        let mut found = Vec::new();
        let actor = moment.entry.row.actor.kind;
        if actor != ActorKind::Person && self.kind(gate) != Some(AskKind::Failed) {
            found.push(format!("I13: gate {gate} is answered by {actor:?}"));
        }
        match self.asked.get_mut(&gate) {
            Some(asked) if asked.run == moment.run && (x.is_none() || asked.x == x) && !asked.answered => {
                asked.answered = true;
                if asked.digest != digest {
                    let shown = asked.digest;
                    found.push(format!("I13: gate {gate} was asked about {shown}, answered {digest}"));
                }
            }
            Some(_) => found.push(format!("I13: gate {gate} is answered twice, or in another's place")),
            None => found.push(format!("I13: gate {gate} is answered and was never asked")),
        }
        found
    }

    /// I13: who approved had seen what was asked about.
    pub fn sent(&self, approvals: &[(GateId, Option<Digest>)]) -> Found {
        let mut found = Vec::new();
        for (gate, digest) in approvals {
            let Some(asked) = self.asked.get(gate) else { continue };
            let needed = asked.kind == AskKind::Result;
            if (needed || digest.is_some()) && *digest != Some(asked.digest) {
                found.push(format!("I13: gate {gate} about {:?} was passed with {digest:?}", asked.digest));
            }
        }
        found
    }

    fn kind(&self, gate: GateId) -> Option<AskKind> {
        self.asked.get(&gate).map(|asked| asked.kind)
    }

    /// A step that waited to be started has begun, or asks for more: that is the answer, once.
    fn begin_answered(&mut self, moment: &Moment<'_>, x: ExecNo) -> Option<String> {
        let gate = moment.before.execution(x).and_then(|e| e.gate)?;
        let asked = self.asked.get_mut(&gate).filter(|asked| asked.kind == AskKind::Begin)?;
        let twice = std::mem::replace(&mut asked.answered, true);
        twice.then(|| format!("I13: gate {gate} is answered twice"))
    }

    fn policy(&self, moment: &Moment<'_>, x: ExecNo) -> Option<Policy> {
        let execution = moment.after.execution(x)?;
        if let (Some(body), Some(pipeline)) = (execution.body, moment.after.pipeline()) {
            let State::Pipeline(state) = moment.states.get(&StreamId::Pipeline(pipeline))? else {
                return None;
            };
            return Some(state.bodies.get(&body)?.body().policy.clone());
        }
        let plan = self.mirror.plan(moment.after.plan?)?;
        Some(plan.bodies.get(&execution.place.step)?.policy.clone())
    }
}

/// The gate that an event opens.
fn asks(event: &RunEvent) -> Option<(GateId, Option<ExecNo>, Digest, AskKind)> {
    match event {
        RunEvent::Asked { x, gate, ask, digest, .. } => Some((*gate, Some(*x), *digest, ask.kind())),
        RunEvent::GateAsked { gate, digest, .. } => Some((*gate, None, *digest, AskKind::Choice)),
        _ => None,
    }
}

/// The gate that an event answers, and for which step where the event says so.
fn answers(event: &RunEvent) -> Option<(GateId, Option<ExecNo>, Digest)> {
    match event {
        RunEvent::Approved { x, gate, digest, .. }
        | RunEvent::Rejected { x, gate, digest, .. }
        | RunEvent::Submitted { x, gate, digest, .. }
        | RunEvent::BudgetRaised { x, gate, digest, .. }
        | RunEvent::RevisionAsked { x, gate, digest, .. }
        | RunEvent::RetryGranted { x, gate, digest, .. } => Some((*gate, Some(*x), *digest)),
        RunEvent::GateAnswered { gate, digest, .. } => Some((*gate, None, *digest)),
        _ => None,
    }
}
