//! Recalls originals by name: the handle in a placeholder, the id of a tool call, or the number of a message.
//!
//! No session is opened for that: the caller may be another process than the one that works on the session, and a
//! look-up must not change it.

use std::collections::HashSet;

use secateur::session::{Seq, SessionCut, SessionMessage, SessionPart};
use secateur::{Measures, PartIx, PartKind};
use secateur_store::{Clipping, SessionRow, StoreError, StoredMessage};
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::{EngineError, RecallCandidate};
use crate::session_wire::{SessionWire, text};
use crate::stored::session_wire_of;
use crate::text_names::TextNames;

/// How many messages are read at once.
const PAGE: Seq = 200;

/// In how many sessions a name is looked for that is not in the index.
const SESSIONS: usize = 8;

/// In how many of their newest messages.
const MESSAGES: Seq = 2_000;

/// The most texts of one name that are listed.
const CANDIDATES: usize = 20;

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
    /// The facts that a clipping has.
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
    /// The original with this name: the handle of something that was cut or compacted away, or the id of a tool call for
    /// its result. A session that is named is looked at first; there `12` names message 12, and `12.0` the first part of
    /// it. Without a session, the sessions changed last are looked at.
    ///
    /// What is returned has this name. If several different texts have it, that is [`EngineError::Ambiguous`].
    pub async fn recall(&self, name: &str, session: Option<&str>) -> Result<Recalled, EngineError> {
        let found = self.parts.store.clippings(name).await?;
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|clipping| Some(clipping.session.as_str()) == session);
        for found in [here, elsewhere] {
            if let Some(recalled) = self.recall_clippings(name, found).await? {
                return Ok(recalled);
            }
        }
        if let Some(id) = session {
            let row = self.parts.store.session(id).await?;
            return self.recall_in(&row, name).await;
        }
        let mut texts = Vec::new();
        for row in self.parts.store.sessions(SESSIONS).await? {
            let earliest = row.head.saturating_sub(MESSAGES);
            texts.extend(self.recall_parts(&row, name, earliest).await?);
        }
        only_text(name, texts)?.ok_or_else(|| EngineError::NotCut { name: name.to_owned() })
    }

    /// The text that these clippings have under this name, if one of them can be read.
    async fn recall_clippings(
        &self,
        name: &str,
        found: Vec<Clipping>,
    ) -> Result<Option<Recalled>, EngineError> {
        let (mut texts, mut read, mut damage) = (Vec::new(), HashSet::new(), None);
        for clipping in found {
            // Clippings with the same letters, or the same body, have the same text.
            let text = (
                clipping.letters.clone(),
                clipping.letters.is_none().then(|| (clipping.body.clone(), clipping.part)),
            );
            if texts.len() > CANDIDATES || read.contains(&text) {
                continue;
            }
            match self.clipped(&clipping, name).await {
                Ok(recalled) => {
                    read.extend(recalled.is_some().then_some(text));
                    texts.extend(recalled);
                }
                // Another message may still have it.
                Err(error @ EngineError::Store(StoreError::Damaged { .. })) => damage = Some(error),
                Err(error) => return Err(error),
            }
        }
        match (only_text(name, texts)?, damage) {
            (None, Some(damage)) => Err(damage),
            (text, _) => Ok(text),
        }
    }

    /// The original of a clipping that was found by this name. None if it was forgotten a moment ago, or if the index is
    /// wrong: what is there does not have the name.
    pub(crate) async fn clipped(
        &self,
        clipping: &Clipping,
        name: &str,
    ) -> Result<Option<Recalled>, EngineError> {
        let row = self.parts.store.session(&clipping.session).await?;
        let recalled = match self.original(&row, clipping.seq, Some(clipping.part)).await {
            Ok(recalled) => recalled,
            Err(EngineError::Forgotten { .. } | EngineError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !self.text_names().is_name_of(name, &recalled.text) {
            // A process that had not reached the store has named it.
            let page = self.parts.store.facts(&row.id, clipping.seq.saturating_sub(1), 1).await?;
            if !page.iter().any(|message| cuts_named(message, name).contains(&clipping.part)) {
                return Ok(None);
            }
        }
        let ClippingFacts { tool, subject, .. } = ClippingFacts::of(clipping);
        Ok(Some(Recalled { tool, subject, ..recalled }))
    }

    /// The original with this name in one session.
    async fn recall_in(&self, row: &SessionRow, name: &str) -> Result<Recalled, EngineError> {
        if let Some((seq, part)) = parse_number(name) {
            return self.original(row, seq, part).await;
        }
        let texts = self.recall_parts(row, name, 0).await?;
        only_text(name, texts)?.ok_or_else(|| not_found(row, name))
    }

    /// The originals after message `earliest` that have this name, the newest first. The index does not contain parts
    /// that were cut for one request alone.
    async fn recall_parts(
        &self,
        row: &SessionRow,
        name: &str,
        earliest: Seq,
    ) -> Result<Vec<Recalled>, EngineError> {
        let wire = session_wire_of(row)?;
        let names = self.text_names();
        let mut recalled = Vec::new();
        let mut end = row.head + 1;
        while end > earliest + 1 && recalled.len() <= CANDIDATES {
            let start = end.saturating_sub(PAGE).max(earliest + 1);
            let mut parts: Vec<(Seq, u32)> = Vec::new();
            if TextNames::may_name(name) {
                let mut page = self.parts.store.messages(&row.id, start, end).await?;
                self.restore_originals(row, &mut page).await?;
                for message in page.iter().rev() {
                    parts.extend(
                        parts_named(wire, &names, message, name).into_iter().map(|part| (message.seq, part)),
                    );
                }
            } else {
                let limit = usize::try_from(end - start).unwrap_or(usize::MAX);
                let page = self.parts.store.facts(&row.id, start - 1, limit).await?;
                for message in page.iter().rev().filter(|message| message.seq < end) {
                    parts.extend(result_of_call(message, name).map(|part| (message.seq, part)));
                }
            }
            for (seq, part) in parts {
                match self.original(row, seq, Some(part)).await {
                    Ok(original) => recalled.push(original),
                    Err(EngineError::Forgotten { .. }) if earliest > 0 || !recalled.is_empty() => {}
                    Err(error) => return Err(error),
                }
            }
            end = start;
        }
        Ok(recalled)
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

/// The parts of a message whose cuts have this handle.
fn cuts_named(message: &StoredMessage, name: &str) -> Vec<u32> {
    let cuts: Vec<SessionCut> = serde_json::from_str(&message.cuts).unwrap_or_default();
    cuts.iter().filter(|cut| cut.handle.as_deref() == Some(name)).map(|cut| cut.part).collect()
}

/// The parts of a message, with its original, that have this handle.
fn parts_named(wire: SessionWire, names: &TextNames, message: &StoredMessage, name: &str) -> Vec<u32> {
    let mut parts = cuts_named(message, name);
    parts.extend(result_of_call(message, name));
    let wrapped = wire.body("{}", std::iter::once(message.body.as_slice()));
    if let Ok(transcript) = wire.read(&wrapped, &Measures::default()) {
        let is_named = |part: &PartIx| names.is_name_of(name, &transcript.original(*part));
        parts.extend(transcript.outline.parts().filter(is_named).map(|part| part.0));
    }
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// The one text of all that have a name. An error if they differ.
fn only_text(name: &str, texts: Vec<Recalled>) -> Result<Option<Recalled>, EngineError> {
    let mut distinct: Vec<Recalled> = Vec::new();
    for recalled in texts {
        if distinct.iter().all(|known| known.text != recalled.text) {
            distinct.push(recalled);
        }
    }
    if distinct.len() > 1 {
        let candidate = |recalled: Recalled| {
            let Recalled { session, seq, part, tool, subject, .. } = recalled;
            RecallCandidate { session, seq, part, tool, subject }
        };
        let candidates = distinct.into_iter().take(CANDIDATES).map(candidate).collect();
        return Err(EngineError::Ambiguous { name: name.to_owned(), candidates });
    }
    Ok(distinct.pop())
}
