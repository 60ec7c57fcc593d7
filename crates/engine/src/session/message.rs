//! Messages on their way into a session.

use bytestring::ByteString;
use secateur::Measures;
use secateur::session::SessionMessage;
use secateur_store::NewStoredMessage;
use uuid::Uuid;

use super::json::to_json;
use crate::error::EngineError;
use crate::session_wire::{LARGEST_MESSAGE, SessionWire};

/// A message to append.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewMessage {
    /// Its id, unique in the session (default: a new one). An id that the session has is not appended again, so a
    /// caller that is not sure whether a message arrived can repeat it.
    pub id: Option<String>,
    /// The message as it stands in a request of the session's wire. It may be a slice of a whole request, so that it
    /// need not be copied.
    pub json: ByteString,
    /// Whether it is never cut or summarised.
    pub pinned: bool,
}

impl NewMessage {
    /// A message as it stands in a request.
    pub fn json(json: impl Into<ByteString>) -> Self {
        Self { id: None, json: json.into(), pinned: false }
    }

    /// The message as it is stored, and its facts; an error if it is not a message of this wire.
    pub(crate) fn read(
        self,
        wire: SessionWire,
        measures: &Measures,
        time: i64,
    ) -> Result<(NewStoredMessage, SessionMessage), EngineError> {
        let id = self.id.unwrap_or_else(|| Uuid::now_v7().to_string());
        let json = self.json;
        if json.len() > LARGEST_MESSAGE {
            return Err(EngineError::TooLarge { id, bytes: json.len(), limit: LARGEST_MESSAGE });
        }
        let is_object = serde_json::from_str::<&serde_json::value::RawValue>(&json)
            .is_ok_and(|raw| raw.get().starts_with('{'));
        if !is_object {
            return Err(EngineError::InvalidMessage { id, wire: wire.0 });
        }
        let json = json.slice_ref(json.trim());
        let mut facts = wire.entry(&json, &id, measures)?;
        facts.time = Some(time);
        facts.pinned = self.pinned;
        if self.pinned && facts.has_tool_parts() {
            return Err(EngineError::NotPinnable { id, role: facts.role });
        }
        let row = NewStoredMessage {
            id,
            pinned: facts.is_fixed(),
            time,
            facts: to_json(&facts)?,
            body: json.into_bytes(),
            ..NewStoredMessage::default()
        };
        Ok((row, facts))
    }
}
