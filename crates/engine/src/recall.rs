//! Recalls originals by name: the handle in a placeholder, the id of a tool call, or the number of a message.
//!
//! No session is opened for that: the caller may be another process than the one that works on the session, and a
//! look-up must not change it.

use secateur::session::{Seq, SessionMessage, SessionPart};
use secateur::{Measures, PartIx, PartKind};
use secateur_store::{Clipping, SessionRow, StoredMessage};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session_wire::{SessionWire, text};
use crate::stored::session_wire_of;

/// How many messages are read at once.
const PAGE: Seq = 200;

/// In how many sessions a name is looked for that is not in the index.
const SESSIONS: usize = 8;

/// In how many of their newest messages.
const MESSAGES: Seq = 2_000;

/// An original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recalled {
    /// The session that it is from.
    pub session: String,
    /// The number of its message.
    pub seq: Seq,
    /// The part of the message; none for all of it.
    pub part: Option<u32>,
    /// The tool of the call or result, if it was cut and that is known.
    pub tool: Option<String>,
    /// What the tool call was about.
    pub subject: Option<String>,
    /// The bytes of the message as they were appended.
    pub body: Vec<u8>,
    /// The text of the part, or of all parts: for tool input its JSON, for media the raw content.
    pub text: String,
}

/// What is known about text that left the context, as the store keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ClippingFacts {
    /// What kind of part it is.
    pub kind: PartKind,
    /// The tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the tool call was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

impl ClippingFacts {
    /// The facts of an index facts.
    pub(crate) fn of(clipping: &Clipping) -> Self {
        serde_json::from_str(&clipping.facts).unwrap_or_default()
    }

    /// Whether a text is worth finding. A tool call that names only its subject says no more than its result, which is
    /// found by the subject as well.
    pub(crate) fn is_worth_finding(&self, text: &str) -> bool {
        /// The length of what surrounds the subject in a tool's input: braces and a name.
        const FRAME: usize = 40;
        let subject = self.subject.as_deref().map_or(0, |subject| subject.len() + FRAME);
        self.kind != PartKind::Call || text.len() > subject
    }

    /// A text with its tool and subject, for the index: the content of a file does not name its path.
    pub(crate) fn searchable(&self, text: &str) -> String {
        let or_empty = |name: &Option<String>| name.clone().unwrap_or_default();
        format!("{}\n{}\n{text}", or_empty(&self.tool), or_empty(&self.subject))
    }
}

impl Engine {
    /// The original of something that was cut or compacted away, by the handle in its placeholder.
    ///
    /// Several sessions may have the same handle: a fork of another session, or the same text. Then the original comes
    /// from `session`, or else from the session changed last. With `session`, the id of a tool call names its result,
    /// `12` message 12, and `12.0` the first part of it.
    pub async fn recall(&self, name: &str, session: Option<&str>) -> Result<Recalled, EngineError> {
        let mut found = self.parts.store.clippings(name).await?;
        // The sort is stable: among the others, the session changed last stays first.
        found.sort_by_key(|clipping| Some(clipping.session.as_str()) != session);
        for clipping in found {
            let row = self.parts.store.session(&clipping.session).await?;
            match self.original(&row, clipping.seq, Some(clipping.part)).await {
                Ok(recalled) => {
                    let ClippingFacts { tool, subject, .. } = ClippingFacts::of(&clipping);
                    return Ok(Recalled { tool, subject, ..recalled });
                }
                // It was forgotten a moment ago; another session may still have it.
                Err(EngineError::Forgotten { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(id) = session {
            let row = self.parts.store.session(id).await?;
            return self.recall_in(&row, name).await;
        }
        for row in self.parts.store.sessions(SESSIONS).await? {
            let earliest = row.head.saturating_sub(MESSAGES);
            if let Some((seq, part)) = self.find_part(&row, name, earliest).await? {
                return self.original(&row, seq, Some(part)).await;
            }
        }
        Err(EngineError::NotCut { name: name.to_owned() })
    }

    /// The original with this name in one session.
    async fn recall_in(&self, row: &SessionRow, name: &str) -> Result<Recalled, EngineError> {
        let place = match parse_number(name) {
            Some((seq, part)) => Some((seq, part)),
            None => self.find_part(row, name, 0).await?.map(|(seq, part)| (seq, Some(part))),
        };
        let (seq, part) = place.ok_or_else(|| not_found(row, name))?;
        self.original(row, seq, part).await
    }

    /// The newest part after message `earliest` that has this name. The index does not contain parts that were cut for
    /// one request alone.
    async fn find_part(
        &self,
        row: &SessionRow,
        name: &str,
        earliest: Seq,
    ) -> Result<Option<(Seq, u32)>, EngineError> {
        let wire = session_wire_of(row)?;
        let mut end = row.head + 1;
        while end > earliest + 1 {
            let start = end.saturating_sub(PAGE).max(earliest + 1);
            let mut page = self.parts.store.messages(&row.id, start, end).await?;
            if may_be_handle(name) {
                self.restore_originals(row, &mut page).await?;
            }
            let found = page.iter().rev().find_map(|message| {
                let part = result_of_call(message, name).or_else(|| part_with_handle(wire, message, name));
                part.map(|part| (message.seq, part))
            });
            if found.is_some() {
                return Ok(found);
            }
            end = start;
        }
        Ok(None)
    }

    /// Replaces the bodies of messages that were cut by their originals.
    async fn restore_originals(
        &self,
        row: &SessionRow,
        page: &mut [StoredMessage],
    ) -> Result<(), EngineError> {
        let cut: Vec<&mut StoredMessage> =
            page.iter_mut().filter(|message| !message.cuts.is_empty()).collect();
        let seqs: Vec<Seq> = cut.iter().map(|message| message.seq).collect();
        let originals = self.parts.store.originals(&row.id, &seqs).await?;
        for (message, original) in cut.into_iter().zip(originals) {
            message.body = original.unwrap_or_default();
        }
        Ok(())
    }

    /// The original of a message, or of a part of it.
    pub(crate) async fn original(
        &self,
        row: &SessionRow,
        seq: Seq,
        part: Option<u32>,
    ) -> Result<Recalled, EngineError> {
        let mut found = self.parts.store.originals(&row.id, &[seq]).await?;
        let Some(body) = found.pop().flatten() else {
            let exists = !self.parts.store.messages(&row.id, seq, seq.saturating_add(1)).await?.is_empty();
            let not_found = || not_found(row, &seq.to_string());
            return Err(if exists { EngineError::Forgotten { seq } } else { not_found() });
        };
        let wire = session_wire_of(row)?;
        let wrapped = wire.body("{}", std::iter::once(body.as_slice()));
        let transcript = wire.read(&wrapped, &Measures::default())?;
        let text = match part.map(PartIx) {
            None => text(&transcript),
            Some(part) if transcript.outline.parts().any(|there| there == part) => {
                transcript.original(part).into_owned()
            }
            Some(part) => return Err(not_found(row, &format!("{seq}.{}", part.0))),
        };
        let (session, tool, subject) = (row.id.clone(), None, None);
        Ok(Recalled { session, seq, part, tool, subject, body, text })
    }
}

fn not_found(row: &SessionRow, name: &str) -> EngineError {
    EngineError::NotFound { session: row.id.clone(), what: format!("part {name:?}") }
}

/// The message or part in a name such as `12` or `12.0`.
fn parse_number(name: &str) -> Option<(Seq, Option<u32>)> {
    match name.split_once('.') {
        None => Some((name.parse().ok()?, None)),
        Some((seq, part)) => Some((seq.parse().ok()?, Some(part.parse().ok()?))),
    }
}

/// The part with the result of the tool call of this id.
fn result_of_call(message: &StoredMessage, name: &str) -> Option<u32> {
    let facts: SessionMessage = serde_json::from_str(&message.facts).ok()?;
    let is_result = |part: &SessionPart| part.kind == PartKind::Result && part.call.as_deref() == Some(name);
    facts.parts.iter().position(is_result).and_then(|at| u32::try_from(at).ok())
}

/// Whether a name looks like a handle. Otherwise bodies need not be read.
fn may_be_handle(name: &str) -> bool {
    name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The part with this handle.
fn part_with_handle(wire: SessionWire, message: &StoredMessage, name: &str) -> Option<u32> {
    if !may_be_handle(name) {
        return None;
    }
    let wrapped = wire.body("{}", std::iter::once(message.body.as_slice()));
    let transcript = wire.read(&wrapped, &Measures::default()).ok()?;
    transcript.outline.parts().find(|&part| transcript.handle(part) == name).map(|part| part.0)
}
