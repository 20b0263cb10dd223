//! Rows of what was spent: one for each call of a model, and one for each stretch of work.

use crate::StreamId;
use crate::event::{Entry, Event, Usage};
use crate::rows::{Cell, Op, RowChange, Table};
use crate::state::{JournalState, Stamp};

pub(super) fn project(
    stream: StreamId,
    before: &JournalState,
    after: &JournalState,
    stamp: &Stamp<'_>,
    events: &[Event],
    changes: &mut [Vec<RowChange>],
) {
    let mut n = before.spendings;
    for (event, changes) in events.iter().zip(changes) {
        let Event::Journal(entry) = event else { continue };
        let (usage, agent, model, took) = match entry {
            Entry::Message { usage, agent, about, .. } if !usage.is_zero() => {
                let model = about.as_ref().and_then(|about| about["model"].as_str());
                (*usage, agent.as_deref(), model, 0)
            }
            Entry::Took { ms } => (Usage::default(), None, None, *ms),
            Entry::Opened { .. }
            | Entry::Began { .. }
            | Entry::Pinned { .. }
            | Entry::Calling { .. }
            | Entry::Log { .. }
            | Entry::Message { .. }
            | Entry::ToolResult { .. } => continue,
        };
        let cells = vec![
            ("execution", stream.uuid().into()),
            ("run", after.owner.map(|(run, _)| run.0).into()),
            ("pipeline", after.pipeline.map(|pipeline| pipeline.0).into()),
            ("step", Cell::text_or_null(after.step.as_ref().map(|step| &*step.0))),
            ("at", stamp.at.into()),
            ("model", Cell::text_or_null(model)),
            ("agent", Cell::text_or_null(agent)),
            ("calls", usage.calls.into()),
            ("input_tokens", usage.input_tokens.into()),
            ("output_tokens", usage.output_tokens.into()),
            ("cache_read_tokens", usage.cache_read_tokens.into()),
            ("cache_write_tokens", usage.cache_write_tokens.into()),
            ("cost_micros", usage.cost_micros.into()),
            ("took_ms", took.into()),
        ];
        changes.push(RowChange { table: Table::Spending, op: Op::Put(n, cells) });
        n += 1;
    }
}
