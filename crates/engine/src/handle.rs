//! Fetching back what has a name: a handle in a placeholder, the id of a tool call, the number of a message.
//!
//! A session is not opened for that. Whoever asks may be another process than the one that works with it, and looking
//! something up is no reason to do anything to a session.

use secateur::session::{Seq, SessionMessage};
use secateur::{Measures, PartIx, PartKind};
use secateur_formats::{UnknownWire, Wire};
use secateur_store::{Clipping, SessionRow, StoredMessage};

use crate::clipping::About;
use crate::dialect::{Dialect, text};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::recall::Recalled;

/// How many messages are looked through at once.
const PAGE: Seq = 200;

/// How many sessions are looked through for a name that nothing was cut under.
const SESSIONS: usize = 8;

/// How many of their messages, the newest first.
const MESSAGES: Seq = 2_000;

impl Engine {
    /// The original of something that was cut or compacted away, by the handle that stands in its place.
    ///
    /// What was cut in several sessions, because one branched off from another or because it says the same, is fetched
    /// from the session that is named, or else from the one changed last. In a session that is named, the id of a tool
    /// call names its result, `12` message 12, and `12.0` the first part of that.
    pub async fn recall(&self, name: &str, session: Option<&str>) -> Result<Recalled, EngineError> {
        let mut found = self.parts.store.clippings(name).await?;
        // It is stable: among the others, that of the session changed last stays the first.
        found.sort_by_key(|clipping| Some(clipping.session.as_str()) != session);
        for clipping in found {
            let row = self.parts.store.session(&clipping.session).await?;
            match self.original(&row, clipping.seq, Some(clipping.part)).await {
                Ok(recalled) => return Ok(about(recalled, &clipping)),
                // Somebody forgot it a moment ago; another session may still have it.
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
            if let Some((seq, part)) = self.look_through(&row, name, earliest).await? {
                return self.original(&row, seq, Some(part)).await;
            }
        }
        Err(EngineError::NotCut { name: name.to_owned() })
    }

    /// What has this name in one session.
    pub(crate) async fn recall_in(&self, row: &SessionRow, name: &str) -> Result<Recalled, EngineError> {
        let place = match numbered(name) {
            Some((seq, part)) => Some((seq, part)),
            None => self.look_through(row, name, 0).await?.map(|(seq, part)| (seq, Some(part))),
        };
        let (seq, part) = place.ok_or_else(|| nothing(row, name))?;
        self.original(row, seq, part).await
    }

    /// The newest part behind message `earliest` that has this name. What was cut for one request alone, or before
    /// handles were kept, is found in no other way.
    async fn look_through(
        &self,
        row: &SessionRow,
        name: &str,
        earliest: Seq,
    ) -> Result<Option<(Seq, u32)>, EngineError> {
        let dialect = dialect(row)?;
        let mut end = row.head + 1;
        while end > earliest + 1 {
            let start = end.saturating_sub(PAGE).max(earliest + 1);
            let mut page = self.parts.store.messages(&row.id, start, end).await?;
            if may_be_handle(name) {
                self.show_originals(row, &mut page).await?;
            }
            let found = page.iter().rev().find_map(|message| {
                called(message, name).or_else(|| handled(dialect, message, name)).map(|at| (message.seq, at))
            });
            if found.is_some() {
                return Ok(found);
            }
            end = start;
        }
        Ok(None)
    }

    /// Has messages show what they said before they were cut.
    async fn show_originals(&self, row: &SessionRow, page: &mut [StoredMessage]) -> Result<(), EngineError> {
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
            let what = || nothing(row, &seq.to_string());
            return Err(if exists { EngineError::Forgotten { seq } } else { what() });
        };
        let dialect = dialect(row)?;
        let wrapped = dialect.body("{}", std::iter::once(body.as_slice()));
        let transcript = dialect.read(&wrapped, &Measures::default())?;
        let text = match part.map(PartIx) {
            None => text(&transcript, None).join("\n"),
            Some(part) if transcript.outline.parts().any(|there| there == part) => {
                transcript.original(part).into_owned()
            }
            Some(part) => return Err(nothing(row, &format!("{seq}.{}", part.0))),
        };
        let (session, tool, subject) = (row.id.clone(), None, None);
        Ok(Recalled { session, seq, part, tool, subject, body, text })
    }
}

/// What is known about something that was found in the index.
fn about(recalled: Recalled, clipping: &Clipping) -> Recalled {
    let About { tool, subject, .. } = serde_json::from_str(&clipping.facts).unwrap_or_default();
    Recalled { tool, subject, ..recalled }
}

fn nothing(row: &SessionRow, name: &str) -> EngineError {
    EngineError::NothingThere { session: row.id.clone(), what: format!("part {name:?}") }
}

pub(crate) fn dialect(row: &SessionRow) -> Result<Dialect, EngineError> {
    let wire: Wire = row.wire.parse().map_err(|source: UnknownWire| EngineError::Unreadable {
        what: format!("session {}", row.id),
        source: source.into(),
    })?;
    Ok(Dialect(wire))
}

/// A message or a part of one that is named by number.
fn numbered(name: &str) -> Option<(Seq, Option<u32>)> {
    match name.split_once('.') {
        None => Some((name.parse().ok()?, None)),
        Some((seq, part)) => Some((seq.parse().ok()?, Some(part.parse().ok()?))),
    }
}

/// The result of this call.
fn called(message: &StoredMessage, name: &str) -> Option<u32> {
    let entry: SessionMessage = serde_json::from_str(&message.facts).ok()?;
    let is_meant = |part: &secateur::session::SessionPart| {
        part.kind == PartKind::Result && part.call.as_deref() == Some(name)
    };
    entry.parts.iter().position(is_meant).and_then(|at| u32::try_from(at).ok())
}

/// Whether a name looks like a handle, so that it is worth to look at texts.
fn may_be_handle(name: &str) -> bool {
    name.len() == 8 && name.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The part with this handle.
fn handled(dialect: Dialect, message: &StoredMessage, name: &str) -> Option<u32> {
    if !may_be_handle(name) {
        return None;
    }
    let wrapped = dialect.body("{}", std::iter::once(message.body.as_slice()));
    let transcript = dialect.read(&wrapped, &Measures::default()).ok()?;
    transcript.outline.parts().find(|&part| transcript.handle(part) == name).map(|part| part.0)
}
