//! A message on its way into a session: what is said of it, and what is made of it before it is kept.

use secateur::Measures;
use secateur::session::Entry;
use secateur_store::NewMessage as Row;
use uuid::Uuid;

use crate::dialect::{Dialect, LARGEST_MESSAGE};
use crate::error::EngineError;
use crate::record::to_json;

/// A message that is to be appended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewMessage {
    /// Its id, unique in the session; a new one if none is given. Appending an id a second time appends nothing, so
    /// whoever is not sure whether it arrived says it again.
    pub id: Option<String>,
    /// The message as it stands in a request of the session's form.
    pub json: String,
    /// Whether it stays verbatim through every compaction.
    pub pinned: bool,
}

impl NewMessage {
    /// A message as it stands in a request.
    pub fn json(json: impl Into<String>) -> Self {
        Self { id: None, json: json.into(), pinned: false }
    }

    /// The message as it is kept, and its facts; an error if it cannot be one in this form.
    pub(crate) fn read(
        self,
        dialect: Dialect,
        measures: &Measures,
        time: i64,
    ) -> Result<(Row, Entry), EngineError> {
        let id = self.id.unwrap_or_else(|| Uuid::now_v7().to_string());
        let json = self.json;
        if json.len() > LARGEST_MESSAGE {
            return Err(EngineError::TooLarge { id, bytes: json.len(), limit: LARGEST_MESSAGE });
        }
        let is_object = serde_json::from_str::<&serde_json::value::RawValue>(&json)
            .is_ok_and(|raw| raw.get().starts_with('{'));
        if !is_object {
            return Err(EngineError::NotAMessage { id, wire: dialect.0 });
        }
        let json = json.trim().to_owned();
        let mut entry = dialect.entry(&json, &id, measures)?;
        entry.time = Some(time);
        entry.pinned = self.pinned;
        if self.pinned && entry.is_exchange() {
            return Err(EngineError::NotPinnable { id, role: entry.role });
        }
        let facts = to_json(&entry)?;
        let pinned = entry.is_fixed();
        let body = json.into_bytes();
        Ok((Row { id, pinned, time, facts, body, ..Row::default() }, entry))
    }
}
