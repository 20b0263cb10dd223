//! A second, simpler account of a pipeline's runs: statuses and counters only, written from the documents.
//!
//! It knows no events, ids, digests or times. Whatever the rules answer, this must answer too.

use super::acts::{Act, Care, Made};
use super::spec::{Spec, Then, Work};

/// What becomes of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Refused,
    InEffect,
    Done,
}

use Answer::{Done, InEffect, Refused};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    NotStarted,
    InProgress,
    Paused,
    Completed,
    Failed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Pending,
    AskStart,
    Form,
    Input,
    Work,
    Check,
    Help,
    /// A budget is used up, for a check or for the work.
    Budget(bool),
    Wait,
    AskDone,
    Done,
    Failed(Why),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Cancelled,
    Revisions,
    Other,
}

impl At {
    fn works(self) -> bool {
        let asks = matches!(self, Self::Form | Self::Input | Self::Help | Self::Budget(_));
        asks || self.in_flight()
    }

    fn asks_inside(self) -> bool {
        matches!(self, Self::Form | Self::Input | Self::Help | Self::Budget(_) | Self::AskDone)
    }

    fn in_flight(self) -> bool {
        matches!(self, Self::Work | Self::Check | Self::Wait)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Exec {
    pub x: u32,
    pub position: usize,
    pub at: At,
    pub attempt: u32,
    pub revision: u32,
    /// What it pinned when it was made.
    spec: Spec,
    attempts: u32,
    granted: u32,
    revisions: u32,
    checks: u32,
    held: bool,
    answered: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Run {
    pub status: Status,
    pub pausing: bool,
    pub gone: bool,
    pub execs: Vec<Exec>,
    number: u32,
    visits: u32,
    old: bool,
}

struct Rollback {
    target: usize,
    before: Run,
    removed: Vec<usize>,
    next_number: u32,
    undone: bool,
    old: bool,
    ended: bool,
}

/// A pipeline and its runs.
pub(super) struct Model {
    pub runs: Vec<Run>,
    steps: Vec<Spec>,
    auto: bool,
    deleted: bool,
    next_number: u32,
    rollbacks: Vec<Rollback>,
}

impl Model {
    pub fn new(steps: Vec<Spec>) -> Self {
        Self { runs: vec![], steps, auto: false, deleted: false, next_number: 1, rollbacks: vec![] }
    }

    /// The spec that a checkpoint gets when it is edited.
    pub fn edited(&self, position: usize) -> Spec {
        let spec = self.steps[position].clone();
        Spec { complete: !spec.complete, ..spec }
    }

    pub fn act(&mut self, act: &Act) -> Answer {
        match *act {
            Act::StartRun(begins) => self.start_run(begins),
            Act::Undo(i) => self.undo(i),
            Act::Edit(_) | Act::Auto(_) | Act::Reverse | Act::Apply(_) if self.deleted => Refused,
            Act::Edit(position) => {
                self.steps[position] = self.edited(position);
                Done
            }
            Act::Auto(auto) if self.auto == auto => InEffect,
            Act::Auto(auto) => {
                self.auto = auto;
                Done
            }
            Act::Apply(false) => InEffect,
            Act::Reverse | Act::Apply(true) if self.steps.len() < 2 => InEffect,
            Act::Reverse | Act::Apply(true) if self.active() => Refused,
            Act::Reverse | Act::Apply(true) => {
                self.steps.reverse();
                self.next_number = 1;
                self.runs.iter_mut().for_each(|run| run.old = true);
                self.rollbacks.iter_mut().for_each(|rollback| rollback.old = true);
                Done
            }
            Act::Delete if self.deleted => InEffect,
            Act::Delete if self.active() => Refused,
            Act::Delete => {
                self.deleted = true;
                Done
            }
            Act::Restore if !self.deleted => InEffect,
            Act::Restore => {
                self.deleted = false;
                Done
            }
            Act::Drift(found) => {
                if found {
                    Done
                } else {
                    InEffect
                }
            }
            Act::EndArchive(i) => match self.rollbacks.get_mut(i) {
                None => Refused,
                Some(rollback) if rollback.undone || rollback.ended => InEffect,
                Some(rollback) => {
                    rollback.ended = true;
                    Done
                }
            },
            Act::On(n, ref on) => match self.runs.get(n as usize - 1) {
                Some(run) if !run.gone => self.on(n as usize - 1, on),
                Some(_) | None => Refused,
            },
        }
    }

    fn active(&self) -> bool {
        self.runs.iter().any(|run| !run.gone && run.is_active())
    }

    fn start_run(&mut self, begins: bool) -> Answer {
        if self.deleted {
            return Refused;
        }
        let number = self.next_number;
        self.next_number += 1;
        let status = Status::NotStarted;
        self.runs.push(Run {
            status,
            pausing: false,
            gone: false,
            execs: vec![],
            number,
            visits: 0,
            old: false,
        });
        if begins {
            self.begin_run(self.runs.len() - 1);
        }
        Done
    }

    fn begin_run(&mut self, r: usize) {
        self.runs[r].status = Status::InProgress;
        self.enter(r, 0, true, false);
    }

    fn on(&mut self, r: usize, on: &super::acts::On) -> Answer {
        use super::acts::On;
        let at = |x: u32| self.runs[r].execs.iter().position(|e| e.x == x);
        match *on {
            On::StartStep => self.start_step(r),
            On::Pause => self.pause(r),
            On::Resume => self.resume(r),
            On::Abort => self.end(r, Status::Aborted, self.runs[r].is_active()),
            On::Fail => {
                let may = self.runs[r].is_active() && self.runs[r].status != Status::NotStarted;
                self.end(r, Status::Failed, may)
            }
            On::RollBack(position) => self.roll_back(r, r, position),
            On::RollBackTo(target, position) => match self.runs.get(target as usize - 1) {
                Some(run) if !run.gone && run.number < self.runs[r].number && run.old == self.runs[r].old => {
                    self.roll_back(r, target as usize - 1, position)
                }
                Some(_) | None => Refused,
            },
            On::Timer(early) => self.timer(r, early),
            On::Step(x, ref step) => match at(x) {
                Some(i) => self.step(r, i, step),
                None => Refused,
            },
        }
    }

    fn step(&mut self, r: usize, i: usize, step: &super::acts::Step) -> Answer {
        use super::acts::Step;
        let (at, going) = (self.runs[r].execs[i].at, self.runs[r].status == Status::InProgress);
        match (step, at) {
            (
                Step::ApproveStart(Care::Agent)
                | Step::RejectStart(Care::Agent)
                | Step::Approve(Care::Agent)
                | Step::Submit(Made::ByAgent),
                _,
            ) => Refused,
            (Step::ApproveStart(care), At::AskStart) if going && *care != Care::Stale => {
                self.begin(r, i, 0, 1)
            }
            (Step::ApproveStart(_), at) if at.works() => InEffect,
            (Step::RejectStart(care), At::AskStart) if *care != Care::Stale => {
                self.runs[r].execs[i].at = At::Pending;
                self.runs[r].execs[i].held = true;
                Done
            }
            (Step::RejectStart(_), At::Pending) if self.runs[r].execs[i].held => InEffect,
            (Step::Submit(Made::Report), At::Form) if going => self.worked(r, i, true),
            (Step::Input(true), At::Input) if going => {
                self.runs[r].execs[i].at = At::Work;
                self.runs[r].execs[i].answered = true;
                Done
            }
            (Step::Input(true), At::Help) if going => self.again(r, i),
            (Step::Approve(Care::Fresh), At::AskDone) => self.complete(r, i),
            (Step::Revise(true), At::AskDone) => self.revise(r, i),
            (Step::Retry, At::Failed(why)) if self.runs[r].is_active() => self.retry(r, i, why),
            (Step::Retry, at) if at.works() => InEffect,
            (Step::Cancel, at) if at.works() => self.fail(r, i, Why::Cancelled, false),
            (Step::Approve(_), At::Done) | (Step::Cancel, At::Failed(Why::Cancelled)) => InEffect,
            (Step::Note, at) if at.in_flight() => Done,
            (Step::Outcome(Made::Report), At::Work) => self.worked(r, i, true),
            (Step::Outcome(Made::Nothing), At::Work) => self.worked(r, i, false),
            (Step::Outcome(Made::Broken), At::Work | At::Check) => self.attempt_failed(r, i),
            (Step::Spent, At::Work | At::Check) => {
                self.runs[r].execs[i].at = At::Budget(at == At::Check);
                Done
            }
            (Step::Budget(true), At::Budget(check)) if going => {
                self.runs[r].execs[i].at = if check { At::Check } else { At::Work };
                Done
            }
            (Step::Budget(false), At::Budget(_)) if going => self.fail(r, i, Why::Other, false),
            (Step::Verdict(passed), At::Check) => self.judged(r, i, *passed),
            (_, _) => Refused,
        }
    }

    /// Makes the execution of a checkpoint; it asks, begins or stays pending.
    fn enter(&mut self, r: usize, position: usize, first: bool, held: bool) {
        let spec = self.steps[position].clone();
        let run = &mut self.runs[r];
        run.visits += 1;
        run.execs.push(Exec {
            x: run.visits,
            position,
            at: At::Pending,
            attempt: 1,
            revision: 0,
            attempts: spec.retries + 1,
            granted: 0,
            revisions: spec.revisions,
            checks: 0,
            held,
            answered: false,
            spec,
        });
        if !held {
            self.start_or_hold(r, run_last(&self.runs[r]), first);
        }
    }

    fn start_or_hold(&mut self, r: usize, i: usize, first: bool) {
        let run = &self.runs[r];
        if run.execs[i].spec.start {
            self.runs[r].execs[i].at = At::AskStart;
        } else if (first || self.auto) && run.status == Status::InProgress && !run.pausing {
            self.begin(r, i, 0, 1);
        }
    }

    fn begin(&mut self, r: usize, i: usize, revision: u32, attempt: u32) -> Answer {
        let e = &mut self.runs[r].execs[i];
        let known = e.answered && e.revision == revision && !matches!(e.at, At::Failed(_));
        if revision > e.revision {
            e.checks = 0;
            e.attempts -= e.granted;
            e.granted = 0;
        }
        (e.revision, e.attempt, e.held) = (revision, attempt, false);
        e.at = match e.spec.work {
            Work::Form => At::Form,
            Work::Asks if !known => At::Input,
            Work::Asks | Work::Script => At::Work,
        };
        if e.at == At::Input {
            e.answered = false;
        }
        Done
    }

    fn again(&mut self, r: usize, i: usize) -> Answer {
        let (revision, attempt) = (self.runs[r].execs[i].revision, self.runs[r].execs[i].attempt);
        self.begin(r, i, revision, attempt + 1)
    }

    fn worked(&mut self, r: usize, i: usize, made: bool) -> Answer {
        let spec = &self.runs[r].execs[i].spec;
        if spec.report && !made {
            return self.attempt_failed(r, i);
        }
        self.runs[r].execs[i].at = match (spec.judge, spec.complete) {
            (Some(_), _) => At::Check,
            (None, true) => At::AskDone,
            (None, false) => return self.complete(r, i),
        };
        Done
    }

    fn judged(&mut self, r: usize, i: usize, passed: bool) -> Answer {
        let e = &mut self.runs[r].execs[i];
        if passed && e.spec.complete {
            e.at = At::AskDone;
            return Done;
        }
        if passed {
            return self.complete(r, i);
        }
        e.checks += 1;
        match e.spec.judge {
            Some((Then::Retry, allowed)) if e.checks <= allowed => self.again(r, i),
            Some((Then::Ask, allowed)) if e.checks <= allowed => {
                e.at = At::Help;
                Done
            }
            Some(_) | None => self.fail(r, i, Why::Other, self.runs[r].execs[i].spec.goes_back),
        }
    }

    fn complete(&mut self, r: usize, i: usize) -> Answer {
        self.runs[r].execs[i].at = At::Done;
        match self.runs[r].execs[i].position + 1 {
            next if next < self.steps.len() => self.enter(r, next, false, false),
            _ => {
                self.runs[r].status = Status::Completed;
                self.runs[r].pausing = false;
            }
        }
        self.settle(r);
        Done
    }

    fn settle(&mut self, r: usize) {
        let run = &mut self.runs[r];
        let between = run.execs.last().is_some_and(|e| matches!(e.at, At::Pending | At::AskStart));
        if run.pausing && run.status == Status::InProgress && between {
            (run.status, run.pausing) = (Status::Paused, false);
        }
    }

    fn attempt_failed(&mut self, r: usize, i: usize) -> Answer {
        let e = &mut self.runs[r].execs[i];
        if e.attempt - e.checks < e.attempts {
            e.at = At::Wait;
            return Done;
        }
        let goes_back = e.spec.goes_back;
        self.fail(r, i, Why::Other, goes_back)
    }

    fn fail(&mut self, r: usize, i: usize, why: Why, goes_back: bool) -> Answer {
        self.runs[r].execs[i].at = At::Failed(why);
        if goes_back {
            let pausing = self.runs[r].pausing;
            let position = self.runs[r].execs[i].position;
            self.rewind(r, position.checked_sub(1), vec![]);
            self.runs[r].pausing = pausing;
            self.settle(r);
        } else if self.runs[r].status == Status::InProgress {
            (self.runs[r].status, self.runs[r].pausing) = (Status::Paused, false);
        }
        Done
    }

    fn revise(&mut self, r: usize, i: usize) -> Answer {
        let e = &self.runs[r].execs[i];
        let (revision, goes_back) = (e.revision + 1, e.spec.goes_back);
        if revision > e.revisions {
            return self.fail(r, i, Why::Revisions, goes_back);
        }
        self.begin(r, i, revision, 1)
    }

    fn retry(&mut self, r: usize, i: usize, why: Why) -> Answer {
        self.runs[r].status = Status::InProgress;
        self.runs[r].pausing = false;
        let e = &mut self.runs[r].execs[i];
        if why == Why::Revisions {
            e.revisions += 1;
            let revision = e.revision + 1;
            return self.begin(r, i, revision, 1);
        }
        let more = (e.attempt - e.checks + 1).saturating_sub(e.attempts);
        e.attempts += more;
        e.granted += more;
        self.again(r, i)
    }

    fn start_step(&mut self, r: usize) -> Answer {
        let run = &self.runs[r];
        match (run.status, run.execs.last().map(|e| e.at)) {
            (Status::NotStarted, _) => {
                self.begin_run(r);
                Done
            }
            (Status::InProgress, Some(At::Pending)) => {
                let i = run_last(run);
                if run.execs[i].spec.start {
                    self.runs[r].execs[i].at = At::AskStart;
                    return Done;
                }
                self.begin(r, i, 0, 1)
            }
            (Status::InProgress, Some(at)) if at == At::AskStart || at.works() => InEffect,
            (_, _) => Refused,
        }
    }

    fn pause(&mut self, r: usize) -> Answer {
        match (self.runs[r].status, self.runs[r].pausing) {
            (Status::InProgress, false) => {
                self.runs[r].pausing = true;
                self.settle(r);
                Done
            }
            (Status::InProgress, true) | (Status::Paused, _) => InEffect,
            (_, _) => Refused,
        }
    }

    fn resume(&mut self, r: usize) -> Answer {
        let run = &mut self.runs[r];
        let last = run.execs.last().map(|e| (e.at, e.held));
        match (run.status, run.pausing) {
            (Status::InProgress, false) => return InEffect,
            (Status::Paused, _) if matches!(last, Some((At::Failed(_), _))) => return Refused,
            (Status::InProgress, true) | (Status::Paused, _) => {}
            (_, _) => return Refused,
        }
        (run.status, run.pausing) = (Status::InProgress, false);
        if last == Some((At::Pending, false)) {
            self.start_or_hold(r, run_last(&self.runs[r]), false);
        }
        Done
    }

    fn end(&mut self, r: usize, status: Status, may: bool) -> Answer {
        let run = &mut self.runs[r];
        if run.status == status {
            return InEffect;
        }
        if !may {
            return Refused;
        }
        (run.status, run.pausing) = (status, false);
        if let Some(e) = run.execs.last_mut() {
            e.at = match e.at {
                At::AskStart => At::Pending,
                at if at.works() || at == At::AskDone => At::Failed(Why::Other),
                at => at,
            };
        }
        Done
    }

    fn timer(&mut self, r: usize, early: bool) -> Answer {
        let last = self.runs[r].execs.len().checked_sub(1);
        let Some(i) = last.filter(|_| !early) else { return Refused };
        let e = &self.runs[r].execs[i];
        match (e.at, e.spec.timeout) {
            (At::Wait, _) => self.again(r, i),
            (At::Work, Some(goes_back)) => self.fail(r, i, Why::Other, goes_back),
            (_, _) => Refused,
        }
    }

    fn roll_back(&mut self, source: usize, r: usize, position: usize) -> Answer {
        let kept = self.runs[r].execs.iter().find(|e| e.position == position).map(|e| e.at);
        let number = self.runs[r].number;
        let later = |(i, run): (usize, &Run)| (!run.gone && !run.old && run.number > number).then_some(i);
        let removed: Vec<usize> =
            if source == r { vec![] } else { self.runs.iter().enumerate().filter_map(later).collect() };
        let behind = self.runs[r].execs.iter().any(|e| e.position > position) || !removed.is_empty();
        if self.deleted || self.runs[r].old || kept != Some(At::Done) || !behind {
            return Refused;
        }
        self.rewind(r, Some(position), removed);
        Done
    }

    fn rewind(&mut self, r: usize, keep: Option<usize>, removed: Vec<usize>) {
        let (before, next_number) = (self.runs[r].clone(), self.next_number);
        for &i in &removed {
            self.runs[i].gone = true;
        }
        self.rollbacks.push(Rollback {
            target: r,
            before,
            removed,
            next_number,
            undone: false,
            old: false,
            ended: false,
        });
        let run = &mut self.runs[r];
        let next = keep.map_or(0, |position| position + 1);
        run.execs.retain(|e| e.position < next);
        (run.status, run.pausing) = (Status::InProgress, false);
        if next < self.steps.len() {
            self.enter(r, next, false, true);
        } else {
            self.runs[r].status = Status::Completed;
        }
    }

    fn undo(&mut self, i: usize) -> Answer {
        let last = self.rollbacks.iter().rposition(|rollback| !rollback.undone && !rollback.old);
        let Some(rollback) = self.rollbacks.get(i).filter(|_| !self.deleted) else { return Refused };
        if rollback.undone {
            return InEffect;
        }
        let target = &self.runs[rollback.target];
        let begun = |e: &Exec| e.x > rollback.before.visits && e.at != At::Pending;
        let newer = self.runs.iter().any(|run| !run.old && run.number >= rollback.next_number);
        let ended = matches!(target.status, Status::Aborted | Status::Failed);
        if last != Some(i) || newer || rollback.ended || ended || target.execs.iter().any(begun) {
            return Refused;
        }
        let (visits, paused) = (target.visits, target.status == Status::Paused);
        let (r, before, removed) = (rollback.target, rollback.before.clone(), rollback.removed.clone());
        self.rollbacks[i].undone = true;
        self.runs[r] = Run { visits, ..before };
        // A pause that a person asked for after the rollback stays.
        if paused && self.runs[r].is_active() {
            (self.runs[r].status, self.runs[r].pausing) = (Status::Paused, false);
        }
        for r in removed.into_iter().chain([r]) {
            self.runs[r].gone = false;
            self.runs[r].cut();
        }
        // Inside a step it holds from the step's end.
        let run = &mut self.runs[r];
        if run.status == Status::Paused && run.execs.last().is_some_and(|e| e.at.asks_inside()) {
            (run.status, run.pausing) = (Status::InProgress, true);
        }
        Done
    }
}

fn run_last(run: &Run) -> usize {
    run.execs.len() - 1
}

impl Run {
    fn is_active(&self) -> bool {
        matches!(self.status, Status::NotStarted | Status::InProgress | Status::Paused)
    }

    /// Work that a rollback stopped has failed, and a run that moves does not stand at a failed step.
    fn cut(&mut self) {
        let Some(last) = self.execs.last_mut() else { return };
        if last.at.in_flight() {
            last.at = At::Failed(Why::Other);
        }
        if matches!(last.at, At::Failed(_)) && self.status == Status::InProgress {
            (self.status, self.pausing) = (Status::Paused, false);
        }
    }
}
