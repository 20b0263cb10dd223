//! A run that was recorded, as the work of another run is played from it: the answers of models by their keys, the
//! scripts as they were, and what of earlier versions was given.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdpoint_agents::model::{Answer, Part as Said};
use holdpoint_agents::talk::Heard;
use holdpoint_core::event::Entry;
use holdpoint_core::state::run::{EffectId, Execution, Part};
use holdpoint_core::{ExecutionId, RunId, State, StreamId, Version};

use super::agents::WORKSPACE;
use super::room::{GivenFiles, Missing};
use super::shorten::SUMMARY;
use super::stop::Stop;
use super::table::{Kept, recalled};
use holdpoint_engine::documents::context::CONTEXT;
use holdpoint_engine::{Engine, SubmitError};

/// What is known of a recorded run.
#[derive(Default)]
pub struct Recording {
    /// By the checkpoint's name, one visit after the other.
    visits: BTreeMap<String, Vec<Visit>>,
}

#[derive(Default)]
struct Visit {
    given: GivenFiles,
    works: BTreeMap<(u32, u32, bool), Arc<Played>>,
}

/// What one attempt's work, or its check, said and used.
#[derive(Default)]
pub(crate) struct Played {
    pub answers: BTreeMap<String, Answer>,
    pub words: BTreeMap<String, Heard>,
    /// Results of tools, by their places.
    pub results: BTreeMap<String, Said>,
    pub pinned: BTreeMap<String, Vec<u8>>,
}

impl Recording {
    /// Reads what a run has recorded.
    pub async fn of(engine: &Engine, run: RunId) -> Result<Self, SubmitError> {
        let loaded = engine.view(StreamId::Run(run)).await?;
        let mut recording = Self::default();
        let State::Run(state) = &loaded.state else { return Ok(recording) };
        for (x, execution) in state.executions() {
            let Some(name) = execution.name.as_deref() else { continue };
            // What is missing now was an error then, and is one again.
            let given = GivenFiles::of(engine, run, x, Missing::LeaveOut).await.unwrap_or_default();
            let works = read(engine, execution.id).await?;
            recording.visits.entry(name.to_owned()).or_default().push(Visit { given, works });
        }
        Ok(recording)
    }

    /// Lets scripts be looked for where they are now.
    pub fn forget_scripts(&mut self) {
        for visit in self.visits.values_mut().flatten() {
            for played in visit.works.values_mut() {
                if let Some(played) = Arc::get_mut(played) {
                    played.pinned.retain(|name, _| name.starts_with(SUMMARY));
                }
            }
        }
    }

    fn visit(&self, execution: &Execution) -> Option<&Visit> {
        let visits = self.visits.get(execution.name.as_deref()?)?;
        visits.get((execution.place.visit as usize).checked_sub(1)?)
    }

    /// What the same work said then; nothing, if there was no such work.
    pub(crate) fn played(&self, execution: &Execution, effect: &EffectId) -> Arc<Played> {
        let key = (effect.revision, effect.attempt, effect.part == Part::Check);
        let known = self.visit(execution).and_then(|visit| visit.works.get(&key));
        known.cloned().unwrap_or_default()
    }

    /// Gives the same outputs of the version before as then, and calls this run's outputs as they were called.
    pub(crate) fn give(&self, execution: &Execution, given: &mut GivenFiles) {
        let Some(Visit { given: then, .. }) = self.visit(execution) else { return };
        given.previous.clone_from(&then.previous);
        given.no_previous.clone_from(&then.no_previous);
        for file in &mut given.referenced {
            let same = then.referenced.iter().find(|other| {
                (&other.checkpoint, &other.name, &other.format)
                    == (&file.checkpoint, &file.name, &file.format)
            });
            if let Some(same) = same {
                (file.number, file.version) = (same.number, same.version);
                (file.file, file.path) = (same.file.clone(), same.path.clone());
            }
        }
    }
}

/// What each attempt's work and each check of an execution said and used, by revision and attempt.
async fn read(
    engine: &Engine,
    execution: ExecutionId,
) -> Result<BTreeMap<(u32, u32, bool), Arc<Played>>, SubmitError> {
    let mut works: BTreeMap<(u32, u32, bool), Played> = BTreeMap::new();
    let mut now = None;
    let mut next = Some(Version(0));
    while let Some(after) = next {
        let page = engine.journal_page(execution, after).await?;
        for entry in page.entries {
            if let Entry::Began { revision, attempt, check } = entry {
                now = Some((revision, attempt, check));
                works.entry((revision, attempt, check)).or_default();
                continue;
            }
            let Some(played) = now.and_then(|key| works.get_mut(&key)) else { continue };
            remember(engine, played, entry).await?;
        }
        next = page.next;
    }
    Ok(works.into_iter().map(|(key, played)| (key, Arc::new(played))).collect())
}

async fn remember(engine: &Engine, played: &mut Played, entry: Entry) -> Result<(), SubmitError> {
    if let Entry::Pinned { name, digest } = &entry {
        // Files and words of agents are made again.
        if &**name != WORKSPACE && !name.starts_with(CONTEXT) {
            played.pinned.insert(name.to_string(), engine.bytes(*digest).await?);
        }
        return Ok(());
    }
    match recalled(engine, entry).await? {
        Some((key, Kept::Answer(answer))) => {
            played.answers.insert(key, Answer { scripted: true, ..answer });
        }
        Some((key, Kept::Words(words))) => {
            played.words.insert(key, words);
        }
        Some((key, Kept::Result(result))) => {
            played.results.insert(key, result);
        }
        Some((_, Kept::Calling)) | None => {}
    }
    Ok(())
}

impl Played {
    /// The answer under a key, or what is missing.
    pub fn answer(&self, key: &str, asked: &str) -> Result<Answer, Stop> {
        self.answers.get(key).cloned().ok_or_else(|| {
            let message = format!("the recording has no answer to the question `{key}`: {asked}");
            Stop::new("not_recorded", message)
        })
    }
}
