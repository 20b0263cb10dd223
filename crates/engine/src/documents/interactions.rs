//! What people said and decided about an execution, a page at a time.

use holdpoint_core::rows::{Cell, Table};
use holdpoint_core::{ExecutionId, Seq};
use holdpoint_store::{Query, Record};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::rows::Named;
use super::{Bounds, Listed, Time, lists};
use crate::{Engine, SubmitError};

/// Something that a person said or decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Interaction {
    /// Its id.
    pub interaction_id: Uuid,
    /// When.
    pub timestamp: Time,
    /// What kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the person said.
    pub user_input: String,
    /// What the system did about it.
    pub system_response: String,
    /// Who.
    pub actor: Option<String>,
}

impl Interaction {
    fn of(record: &Record) -> Option<Self> {
        let row = Named::new(Table::Interaction, record);
        Some(Self {
            interaction_id: row.uuid("id")?,
            timestamp: row.time("at")?.into(),
            kind: row.text("type")?,
            user_input: row.text("user_input").unwrap_or_default(),
            system_response: row.text("system_response").unwrap_or_default(),
            actor: row.text("actor"),
        })
    }
}

impl Engine {
    /// What people said and decided about an execution, newest first.
    pub async fn interactions(
        &self,
        id: ExecutionId,
        bounds: Bounds,
    ) -> Result<Listed<Interaction>, SubmitError> {
        let query = Query::List {
            table: Table::Interaction,
            by: Some(("execution", Cell::from(id.0))),
            // An event makes one interaction at most, so its position names the interaction.
            before: bounds.after.map(|after| Seq(after.seq)),
            // One more shows whether something follows.
            limit: bounds.limit.saturating_add(1),
        };
        let records = self.query(query).await?.records;
        Ok(lists::cut(records, bounds, Interaction::of))
    }
}
