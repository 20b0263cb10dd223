//! The log of an execution, a page at a time.

use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::{ExecutionId, Seq, StreamId};
use holdpoint_store::{Query, Record};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::lists::{self, Order};
use super::rows::Named;
use super::{Bounds, Listed, Time};
use crate::{Engine, SubmitError};

/// A line of an execution's log.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LogLine {
    /// Its id.
    pub log_id: Uuid,
    /// When.
    pub timestamp: Time,
    /// `info`, `warning` or `error`.
    pub level: String,
    /// The text.
    pub message: String,
    /// More.
    pub details: Option<Value>,
}

impl LogLine {
    fn of(record: &Record) -> Option<Self> {
        let row = Named::new(Table::LogLine, record);
        Some(Self {
            log_id: row.uuid("id")?,
            timestamp: row.time("at")?.into(),
            level: row.text("level")?,
            message: row.text("message")?,
            details: row.text("details").and_then(|text| serde_json::from_str(&text).ok()),
        })
    }
}

impl Engine {
    /// Lines of an execution's log.
    pub async fn log_lines(
        &self,
        id: ExecutionId,
        order: Order,
        bounds: Bounds,
    ) -> Result<Listed<LogLine>, SubmitError> {
        let table = Table::LogLine;
        // One more shows whether something follows.
        let limit = bounds.limit.saturating_add(1);
        let query = match order {
            Order::Oldest => {
                let after = bounds.after.map(|after| after.n);
                Query::Of { table, stream: StreamId::Journal(id), after, limit }
            }
            // An event makes one line at most, so its position names the line.
            Order::Newest => {
                let by = Some(("execution", Cell::from(id.0)));
                Query::List { table, by, before: bounds.after.map(|after| Seq(after.seq)), limit }
            }
        };
        let records = self.query(query).await?.records;
        Ok(lists::cut(records, bounds, LogLine::of))
    }
}
