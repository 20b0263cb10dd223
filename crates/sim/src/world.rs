//! One world: processes, people and faults, until faults end and everything comes to rest.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use holdpoint_core::{Seq, StreamId};
use holdpoint_store::EventLog as _;
use tokio::task::JoinHandle;

use crate::client::{Journal, Sent, Town};
use crate::faults;
use crate::ledger::Pid;
use crate::mirror::Mirror;
use crate::people::People;
use crate::process::Process;
use crate::rng::Rng;
use crate::scenery::{Scenery, lock};

/// How long a heartbeat keeps an owner alive here: two beats and a little.
const LEASE_MS: u64 = 12_000;
/// The most that time moves at once.
const TICK_MS: u64 = 500;
/// How long everything may take to come to rest after the last fault.
const REST_MS: u64 = 60_000;
/// The most processes at once.
const MAX_PROCESSES: usize = 3;

/// One world.
pub struct World {
    /// What clients share.
    pub town: Arc<Town>,
    rng: Rng,
    people: People,
    processes: Vec<Process>,
    next_pid: Pid,
    sent: u64,
    sends: Vec<JoinHandle<()>>,
    /// Who stands still, and until when.
    thaws: Vec<(Pid, Duration)>,
}

impl World {
    /// A world from a generator, with a home that is ready.
    pub async fn begin(mut rng: Rng, keeps_all: bool) -> Self {
        let scenery = Arc::new(Scenery::new(&mut rng, keeps_all));
        scenery.disk.set_lease(LEASE_MS);
        let mirror = tokio::sync::Mutex::new(Mirror::new(&scenery.disk));
        let people = People::new(rng.fork(), scenery.ids.clone());
        let town = Arc::new(Town { scenery, mirror, journal: Mutex::new(Journal::default()) });
        let processes = Vec::new();
        let (sends, thaws) = (Vec::new(), Vec::new());
        let mut world = Self { town, rng, people, processes, next_pid: 1, sent: 0, sends, thaws };
        world.start_process(true);
        for _ in 0..world.rng.below(MAX_PROCESSES as u64) {
            let works = world.rng.percent(70);
            world.start_process(works);
        }
        for intent in world.people.beginning() {
            world.sent += 1;
            let sent = Sent::new(world.sent, intent, true);
            world.town.scenery.note(&format!("#{} first {}", sent.no, sent.intent.describe()));
            let process = &world.processes[0];
            world.town.send(process.engine.clone(), process.blobs.clone(), sent).await;
        }
        world
    }

    fn scenery(&self) -> &Arc<Scenery> {
        &self.town.scenery
    }

    /// Lives through people, time and faults.
    pub async fn live(&mut self) {
        let weight = self.rng.below(4);
        let hook = faults::hook(self.scenery().clone(), self.rng.fork(), weight);
        self.scenery().disk.set_fault(Some(hook));
        for _ in 0..self.rng.between(25, 60) {
            self.bury().await;
            self.act();
            let ms = match self.rng.below(20) {
                0..8 => self.rng.below(50),
                8..16 => self.rng.between(50, 1_500),
                16..19 => self.rng.between(1_500, 8_000),
                _ => self.rng.between(15_000, 40_000),
            };
            self.pass(ms).await;
        }
    }

    /// Ends all faults and lets everything come to rest.
    pub async fn rest(&mut self) {
        let clock = self.rng.percent(60);
        self.scenery().heal(clock);
        self.scenery().note("faults are over");
        for process in &self.processes {
            process.freeze(false);
        }
        if self.rng.percent(40) {
            self.processes.iter().for_each(Process::kill);
        }
        self.bury().await;
        self.start_process(true);
        // What was on its way when faults ended arrives within moments.
        self.pass(1_000).await;
        let unanswered = std::mem::take(&mut lock(&self.town.journal).unanswered);
        for sent in unanswered {
            self.send(sent, false);
        }
        self.pass(REST_MS).await;
        if let Some(process) = self.processes.last()
            && let Err(cause) = process.engine.seal().await
        {
            self.scenery().wrong(format!("I25: nothing can be sealed: {cause}"));
        }
        for sending in std::mem::take(&mut self.sends) {
            if !sending.is_finished() {
                self.scenery().wrong("I28: an order was never answered".to_owned());
                sending.abort();
            }
        }
    }

    /// Lets time pass, for everybody.
    async fn pass(&mut self, ms: u64) {
        let mut left = ms;
        while left > 0 {
            let step = left.min(TICK_MS);
            tokio::time::sleep(Duration::from_millis(step)).await;
            self.scenery().disk.advance(step);
            self.thaw();
            left -= step;
        }
        self.sends.retain(|sending| !sending.is_finished());
    }

    /// One thing happens.
    fn act(&mut self) {
        match self.rng.below(100) {
            0..70 => self.order(),
            70..74 => self.send_again(),
            74..78 => self.kill(),
            78..80 => self.stop(),
            80..87 => self.freeze(),
            87..91 => self.jump(),
            91..95 => self.seal(),
            95..97 => self.disconnect(),
            _ => self.look(),
        }
    }

    fn start_process(&mut self, works: bool) {
        let pid = self.next_pid;
        self.next_pid += 1;
        self.scenery()
            .note(&format!("process {pid} starts{}", if works { "" } else { ", without taking on work" }));
        self.processes.push(Process::start(self.scenery(), pid, works));
    }

    /// Takes dead processes away, and starts new ones, sooner or later.
    async fn bury(&mut self) {
        let mut living = Vec::new();
        for process in std::mem::take(&mut self.processes) {
            if process.is_alive().await && !process.has_stopped() {
                living.push(process);
            } else {
                self.town.scenery.note(&format!("process {} is gone", process.pid));
                process.kill();
            }
        }
        self.processes = living;
        let often = if self.processes.is_empty() { 80 } else { 25 };
        if self.processes.len() < MAX_PROCESSES && self.rng.percent(often) {
            let works = self.rng.percent(80);
            self.start_process(works);
        }
    }

    fn order(&mut self) {
        let intent = match self.town.mirror.try_lock() {
            Ok(mirror) => self.people.next(&mirror),
            Err(_) => return,
        };
        self.sent += 1;
        let keyed = self.rng.percent(70);
        let sent = Sent::new(self.sent, intent, keyed);
        self.scenery().note(&format!("#{} {}", sent.no, sent.intent.describe()));
        if keyed && self.rng.percent(15) {
            self.send(sent.clone(), true);
        }
        self.send(sent, true);
    }

    /// Sends an order to some process; with `any`, also to one that stands still.
    fn send(&mut self, sent: Sent, any: bool) {
        let able: Vec<usize> =
            (0..self.processes.len()).filter(|n| any || !self.processes[*n].is_frozen()).collect();
        let Some(process) = self.rng.pick(&able).map(|n| &self.processes[*n]) else {
            lock(&self.town.journal).unanswered.extend(sent.key.map(|_| sent));
            return;
        };
        let (town, engine, blobs) = (self.town.clone(), process.engine.clone(), process.blobs.clone());
        self.sends.push(tokio::spawn(async move { town.send(engine, blobs, sent).await }));
    }

    /// A client sends again what was not answered, or what was.
    fn send_again(&mut self) {
        let sent = {
            let mut journal = lock(&self.town.journal);
            if journal.unanswered.is_empty() {
                self.rng.pick(&journal.answered).cloned()
            } else {
                Some(journal.unanswered.remove(0))
            }
        };
        if let Some(sent) = sent {
            self.scenery().note(&format!("#{} again", sent.no));
            self.send(sent, true);
        }
    }

    fn kill(&mut self) {
        if let Some(process) = self.rng.pick(&self.processes) {
            self.town.scenery.note(&format!("process {} is killed", process.pid));
            process.kill();
        }
    }

    fn stop(&mut self) {
        if let Some(process) = self.rng.pick(&self.processes) {
            self.town.scenery.note(&format!("process {} is asked to stop", process.pid));
            process.stop();
        }
    }

    /// A process stands still for a while, mostly one that is at work. Somebody else is there to take over.
    fn freeze(&mut self) {
        if self.processes.len() < MAX_PROCESSES && self.rng.percent(70) {
            self.start_process(true);
        }
        let busy = self.scenery().busy().filter(|_| self.rng.percent(75));
        let at_work = self.processes.iter().position(|process| Some(process.pid) == busy);
        let any = self.rng.below(self.processes.len() as u64) as usize;
        let Some(process) = self.processes.get(at_work.unwrap_or(any)) else { return };
        let ms = self.rng.between(2_000, 40_000);
        self.town.scenery.note(&format!("process {} stands still for {ms} ms", process.pid));
        process.freeze(true);
        self.thaws.push((process.pid, self.scenery().clock.age() + Duration::from_millis(ms)));
    }

    /// Lets those go on whose time has come.
    fn thaw(&mut self) {
        let now = self.scenery().clock.age();
        let (due, later) = std::mem::take(&mut self.thaws).into_iter().partition(|(_, at)| *at <= now);
        self.thaws = later;
        let due: Vec<(Pid, Duration)> = due;
        for (pid, _) in due {
            for process in self.processes.iter().filter(|process| process.pid == pid) {
                self.town.scenery.note(&format!("process {pid} goes on"));
                process.freeze(false);
            }
        }
    }

    fn jump(&mut self) {
        const HOUR: i64 = 3_600_000_000;
        let by = [HOUR, -HOUR, 24 * HOUR, -24 * HOUR][self.rng.below(4) as usize];
        self.scenery().note(&format!("the clock jumps by {} h", by / HOUR));
        self.scenery().clock.jump(by);
    }

    /// Every process seals at once: they get in each other's way.
    fn seal(&mut self) {
        self.scenery().note("the heads are sealed");
        for process in &self.processes {
            let engine = process.engine.clone();
            self.sends.push(tokio::spawn(async move { drop(engine.seal().await) }));
        }
    }

    /// A client goes away without waiting for its answer.
    fn disconnect(&mut self) {
        if let Some(sending) = self.rng.pick(&self.sends) {
            self.town.scenery.note("a client goes away");
            sending.abort();
        }
    }

    /// Somebody looks at a run: the answer is never older than the question.
    fn look(&mut self) {
        let Some(process) = self.rng.pick(&self.processes) else { return };
        let (town, engine) = (self.town.clone(), process.engine.clone());
        let chance = self.rng.next();
        self.sends.push(tokio::spawn(async move { look(&town, &engine, chance).await }));
    }
}

async fn look(town: &Town, engine: &holdpoint_engine::Engine, chance: u64) {
    let (run, known) = {
        let mut mirror = town.mirror.lock().await;
        if mirror.sync().await.is_err() {
            return;
        }
        let runs: Vec<_> = mirror.runs().map(|(run, state)| (run, state.clone())).collect();
        let Some((run, state)) = runs.get(chance as usize % runs.len().max(1)) else { return };
        (*run, state.clone())
    };
    if let Ok(loaded) = engine.view(StreamId::Run(run)).await {
        let mirror = town.mirror.lock().await;
        let moved = mirror.run(run) != Some(&known);
        let same = matches!(&loaded.state, holdpoint_core::State::Run(state) if **state == known);
        if !moved && !same && town.scenery.disk.head() == mirror.head {
            town.scenery.wrong(format!("run {run} is shown as it is not"));
        }
    }
}

impl World {
    /// What happened, for whoever asks.
    pub async fn summary(&self, trace: Vec<String>) -> crate::Summary {
        let mirror = self.town.mirror.lock().await;
        let rows = mirror.log().read_all(Seq(0), u32::MAX).await.unwrap_or_default();
        let streams: BTreeSet<StreamId> = rows.iter().map(|row| row.stream).collect();
        let mut folds = 0;
        for stream in streams {
            folds += u64::from(mirror.log().fold(stream).await.is_ok_and(|fold| fold.is_some()));
        }
        let journal = lock(&self.town.journal);
        let acknowledged = journal.acks.len() as u64;
        let fenced = lock(&self.town.scenery.ledger).fenced;
        crate::Summary { rows, trace, acknowledged, refused: journal.refused, fenced, folds }
    }
}
