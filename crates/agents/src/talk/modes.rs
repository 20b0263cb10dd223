//! The documented ways in which several agents discuss.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use holdpoint_core::definition::DiscussionMode;
use holdpoint_core::event::Usage;
use serde::Deserialize;
use serde_json::json;

use super::turn::{self, Ears};
use super::{Agent, Discussion, Halt, Outcome, Setting, View, ask_for};
use crate::model::{Message, ToolSpec};
use crate::prompt::{extract, fenced, tokens};

/// How often an agent may try to vote.
const VOTES: u32 = 3;

/// A conversation on its way.
struct Talk<'a> {
    setting: &'a Setting<'a>,
    agents: &'a [Agent],
    max_turns: u32,
    turns: u32,
    usage: Usage,
    /// How many notes of people were handed on.
    heard: AtomicUsize,
    /// How often what somebody said was handed on as an extract.
    shortened: AtomicUsize,
    left_out: Vec<String>,
}

/// What was said in a turn.
#[derive(Clone, Debug)]
struct Said {
    agent: usize,
    text: String,
}

/// An agent's view of whether all agree.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vote {
    agree: bool,
    #[serde(default)]
    reason: String,
}

/// Lets agents discuss, and gives what the one who writes said last.
pub async fn discuss(
    setting: &Setting<'_>,
    agents: &[Agent],
    discussion: Discussion,
) -> Result<Outcome, (Halt, Usage)> {
    let mut talk = Talk {
        setting,
        agents,
        max_turns: discussion.max_turns.max(1),
        turns: 0,
        usage: Usage::default(),
        heard: AtomicUsize::new(0),
        shortened: AtomicUsize::new(0),
        left_out: Vec::new(),
    };
    let text = match discussion.mode {
        _ if agents.is_empty() => Err(Halt::new("no_agents", "there is nobody to do the work")),
        _ if agents.len() == 1 => talk.alone().await,
        None | Some(DiscussionMode::Sequential) => talk.sequential().await,
        Some(DiscussionMode::Parallel) => talk.parallel().await,
        Some(DiscussionMode::Council) => talk.council().await,
        Some(DiscussionMode::Debate) => talk.debate().await,
    };
    let shortened = talk.shortened.into_inner();
    if shortened > 0 {
        let extracts =
            format!("what agents said was handed on as extracts, {shortened} in all, to fit the question");
        talk.left_out.push(extracts);
    }
    if text.is_ok()
        && let Ok(notes) = setting.table.notes().await
    {
        let missed = notes.len().saturating_sub(talk.heard.load(Ordering::SeqCst));
        if missed > 0 {
            talk.left_out.push(format!("{missed} of the notes that people left came after the last answer"));
        }
    }
    match text {
        Ok(text) => Ok(Outcome { text, usage: talk.usage, left_out: talk.left_out }),
        Err(halt) => Err((halt, talk.usage)),
    }
}

impl Talk<'_> {
    async fn alone(&mut self) -> Result<String, Halt> {
        let first = self.agents[0].first.clone();
        Ok(self.last_turn(0, &first).await?.text)
    }

    /// Each in turn sees all before; the last one writes.
    async fn sequential(&mut self) -> Result<String, Halt> {
        let last = self.agents.len() - 1;
        let mut said: Vec<Said> = Vec::new();
        for agent in 0..last {
            if self.turns + 1 >= self.max_turns {
                let why = self.turns_used_up();
                self.leave_out(agent..last, &why);
                break;
            }
            let words = self.words(agent, &said, DISCUSS);
            said.push(self.turn(agent, &words).await?);
        }
        let words = self.words(last, &said, WRITE);
        Ok(self.last_turn(last, &words).await?.text)
    }

    /// All at once, none sees the others; the last one merges.
    async fn parallel(&mut self) -> Result<String, Halt> {
        let last = self.agents.len() - 1;
        let room = self.max_turns.saturating_sub(1) as usize;
        let count = self.agents.len().min(room);
        if count < last {
            let why = self.turns_used_up();
            self.leave_out(count..last, &why);
        }
        let said = self.round(0..count, |talk, agent| talk.words(agent, &[], DISCUSS)).await?;
        let words = self.words(last, &said, if said.is_empty() { WRITE } else { MERGE });
        Ok(self.last_turn(last, &words).await?.text)
    }

    /// All answer, then all see all answers and answer again, until they agree or the turns are used up; the first
    /// one writes the outcome.
    async fn council(&mut self) -> Result<String, Halt> {
        let all = self.agents.len();
        // One turn is kept for the outcome.
        let count = all.min(self.max_turns.saturating_sub(1) as usize);
        if count < all {
            let why = self.turns_used_up();
            self.leave_out(count.max(1)..all, &why);
        }
        let mut said = self.round(0..count, |talk, agent| talk.words(agent, &[], DISCUSS)).await?;
        let mut round = 1;
        // Where not all could speak, there is nothing that all could agree on.
        while count == all && !self.all_agree(&said, round).await? {
            if self.turns as usize + all + 1 > self.max_turns as usize {
                self.left_out
                    .push(format!("the council did not agree in {} turns (max_turns)", self.max_turns));
                break;
            }
            round += 1;
            let before = said.clone();
            said = self.round(0..all, |talk, agent| talk.words(agent, &before, AGAIN)).await?;
        }
        let words = self.words(0, &said, WRITE);
        Ok(self.last_turn(0, &words).await?.text)
    }

    /// Two sides argue in turn, the last agent judges.
    async fn debate(&mut self) -> Result<String, Halt> {
        let last = self.agents.len() - 1;
        let sides = if last >= 2 { 2 } else { self.agents.len() };
        if last > 2 {
            self.leave_out(2..last, "only two sides argue, and the last agent judges");
        }
        let mut said: Vec<Said> = Vec::new();
        while self.turns + 1 < self.max_turns {
            let agent = said.len() % sides;
            let words = self.words(agent, &said, ARGUE);
            said.push(self.turn(agent, &words).await?);
        }
        let words = self.words(last, &said, JUDGE);
        Ok(self.last_turn(last, &words).await?.text)
    }

    /// One turn of one agent, which sees only what it is told now.
    async fn turn(&mut self, agent: usize, words: &str) -> Result<Said, Halt> {
        self.one_turn(agent, words, false).await
    }

    /// The turn of the one who writes.
    async fn last_turn(&mut self, agent: usize, words: &str) -> Result<Said, Halt> {
        self.one_turn(agent, words, true).await
    }

    async fn one_turn(&mut self, agent: usize, words: &str, is_last: bool) -> Result<Said, Halt> {
        self.turns += 1;
        let key = self.key(self.turns, agent);
        let (who, ears) = (&self.agents[agent], Ears { heard: &self.heard, is_last });
        let done = turn::take(self.setting, who, &mut View::default(), &key, words, ears).await?;
        self.usage = self.usage.plus(done.usage);
        Ok(Said { agent, text: done.text })
    }

    /// One turn of each of several agents, at once.
    async fn round(
        &mut self,
        agents: std::ops::Range<usize>,
        words: impl Fn(&Self, usize) -> String,
    ) -> Result<Vec<Said>, Halt> {
        let begun: Vec<(usize, String, String)> = agents
            .enumerate()
            .map(|(n, agent)| (agent, self.key(self.turns + 1 + n as u32, agent), words(self, agent)))
            .collect();
        self.turns += begun.len() as u32;
        let (setting, everybody) = (self.setting, self.agents);
        let ears = Ears { heard: &self.heard, is_last: false };
        let turns = begun.iter().map(|(agent, key, words)| async move {
            let mut view = View::default();
            turn::take(setting, &everybody[*agent], &mut view, key, words, ears).await
        });
        let done = join_all(turns).await;
        let mut said = Vec::with_capacity(done.len());
        for ((agent, ..), turn) in begun.iter().zip(done) {
            let turn = turn?;
            self.usage = self.usage.plus(turn.usage);
            said.push(Said { agent: *agent, text: turn.text });
        }
        Ok(said)
    }

    async fn all_agree(&mut self, said: &[Said], round: u32) -> Result<bool, Halt> {
        let tool = ToolSpec {
            name: "vote".to_owned(),
            description: "Says whether you agree with the other answers in everything that matters."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "agree": {"type": "boolean"},
                    "reason": {"type": "string", "description": "one sentence"},
                },
                "required": ["agree", "reason"],
                "additionalProperties": false,
            }),
        };
        let mut agreed = true;
        for (n, agent) in self.agents.iter().enumerate() {
            let words = self.words(n, said, VOTE);
            let key = format!("vote {round}/{}", agent.name);
            let before: &[Message] = &[];
            let vote: super::Asked<Vote> =
                ask_for(self.setting, agent, before, &key, &words, &tool, VOTES, &|_| Ok(())).await?;
            self.usage = self.usage.plus(vote.usage);
            tracing::debug!(
                agent = agent.name,
                agrees = vote.value.agree,
                reason = vote.value.reason,
                "vote"
            );
            agreed &= vote.value.agree;
        }
        Ok(agreed)
    }

    fn key(&self, turn: u32, agent: usize) -> String {
        format!("turn {turn}/{}", self.agents[agent].name)
    }

    /// What an agent is told: its first message, what the others said, and what is wanted of it.
    fn words(&self, agent: usize, said: &[Said], wanted: &str) -> String {
        let mut words = self.agents[agent].first.clone();
        let mut texts: Vec<String> = said.iter().map(|said| said.text.clone()).collect();
        let mut needed = tokens(&words) + texts.iter().map(|text| tokens(text)).sum::<u64>();
        // What was said first is shortened first where not all of it fits; the extract says what it leaves out.
        for text in &mut texts {
            if needed > self.setting.max_context / 4 * 3 {
                needed -= tokens(text);
                *text = extract(text);
                needed += tokens(text);
                self.shortened.fetch_add(1, Ordering::Relaxed);
            }
        }
        for (Said { agent: speaker, .. }, text) in said.iter().zip(&texts) {
            let who = &self.agents[*speaker];
            let role = who.role.as_ref().map_or_else(String::new, |role| format!(" ({role})"));
            let own = if *speaker == agent { ", which is you," } else { "" };
            words.push_str(&format!("\n\n{}{role}{own} said:\n{}", who.name, fenced("", text)));
        }
        words.push_str("\n\n");
        words.push_str(wanted);
        words
    }

    fn turns_used_up(&self) -> String {
        format!("max_turns is {}", self.max_turns)
    }

    fn leave_out(&mut self, agents: std::ops::Range<usize>, why: &str) {
        for agent in &self.agents[agents] {
            self.left_out.push(format!("{} had no turn: {why}", agent.name));
        }
    }
}

const DISCUSS: &str =
    "You are one of several who work on this. Give your contribution; another one writes the outcome.";
const WRITE: &str = "You write the outcome: take up what the others said, and hand in the finished work.";
const MERGE: &str = "All of these were made at the same time, without knowledge of each other. You merge them: hand in the \
                     finished work.";
const AGAIN: &str =
    "Answer again, now that you know what the others think. Say where you agree and where not.";
const ARGUE: &str = "This is a debate. Argue for your side, and answer what the other side said last.";
const JUDGE: &str = "You judge this debate: weigh both sides, decide, and hand in the finished work.";
const VOTE: &str =
    "Say by the tool `vote` whether you agree with the answers of all others in everything that matters.";
