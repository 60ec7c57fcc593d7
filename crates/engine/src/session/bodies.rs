//! The bytes of messages: in memory, waiting to be stored, or in the store.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use secateur::session::{Seq, SessionCut};
use secateur::{Action, Measures};

use super::core::SessionCore;
use super::history::History;
use crate::error::EngineError;
use crate::session_wire::text;

/// How many bodies are read at once.
const PAGE: Seq = 200;

impl<H: History> SessionCore<H> {
    /// The body of a message as it is shown, if it is in memory.
    pub(crate) fn body(&self, seq: Seq) -> Option<&[u8]> {
        let pending = || {
            let at = usize::try_from(seq.checked_sub(self.row.head + 1)?).ok()?;
            Some(self.history.pending().get(at)?.body.as_ref())
        };
        self.bodies.get(&seq).map(Bytes::as_ref).or_else(pending)
    }

    /// Whether these messages can be read without the store.
    pub(crate) fn has_at_hand(&self, seqs: &[Seq]) -> bool {
        seqs.iter().all(|seq| self.body(*seq).is_some() || self.history.body_at_hand(*seq).is_some())
    }

    /// The original of a message, if it is in memory or in the request that is being decided.
    fn original_at_hand(&self, seq: Seq) -> Option<Bytes> {
        let is_whole = self.live_message(seq).is_some_and(|message| message.cuts.is_empty());
        let shown = self.body(seq).filter(|_| is_whole).map(Bytes::copy_from_slice);
        shown.or_else(|| self.read_originals.get(&seq).cloned()).or_else(|| self.history.body_at_hand(seq))
    }

    /// The bytes of a message as they were appended.
    pub(crate) async fn original(&self, seq: Seq) -> Result<Bytes, EngineError> {
        self.originals(&[seq]).await?.remove(&seq).ok_or(EngineError::Forgotten { seq })
    }

    /// The originals of these messages, without those that were forgotten.
    pub(crate) async fn originals(&self, seqs: &[Seq]) -> Result<HashMap<Seq, Bytes>, EngineError> {
        let at_hand = |seq: &Seq| Some((*seq, self.original_at_hand(*seq)?));
        let mut found: HashMap<Seq, Bytes> = seqs.iter().filter_map(at_hand).collect();
        let missing: Vec<Seq> = seqs.iter().copied().filter(|seq| !found.contains_key(seq)).collect();
        if !missing.is_empty() {
            let originals = self.engine.parts.store.originals(&self.row.id, &missing).await?;
            let read = missing.into_iter().zip(originals);
            found.extend(read.filter_map(|(seq, body)| Some((seq, body?.into()))));
        }
        Ok(found)
    }

    /// Reads the originals that cuts need. Returns the cut parts whose originals cannot be read now.
    pub(crate) async fn read_originals_of(
        &mut self,
        cuts: &[(Seq, SessionCut)],
    ) -> Result<Vec<(Seq, u32)>, EngineError> {
        if self.history.provisional().is_none() {
            return Ok(Vec::new());
        }
        let cut = cuts.iter().filter(|(_, cut)| cut.action != Action::DropThinking);
        let seqs: BTreeSet<Seq> = cut.map(|(seq, _)| *seq).collect();
        match self.originals(&Vec::from_iter(seqs)).await {
            Ok(found) => {
                self.read_originals = found;
                Ok(Vec::new())
            }
            Err(error) if self.goes_on_after(&error) => {
                let is_missing = |(seq, _): &&(Seq, SessionCut)| self.original_at_hand(*seq).is_none();
                Ok(cuts.iter().filter(is_missing).map(|(seq, cut)| (*seq, cut.part)).collect())
            }
            Err(error) => Err(error),
        }
    }

    /// The body of a message with these cuts.
    pub(crate) async fn body_with_cuts(&self, seq: Seq, cuts: &[SessionCut]) -> Result<Vec<u8>, EngineError> {
        let original = self.original(seq).await?;
        Ok(self.wire.cut(&String::from_utf8_lossy(&original), cuts)?.into_bytes())
    }

    /// Messages as text without credentials, for hooks and for the summariser.
    pub(crate) async fn text_of(&self, seqs: &[Seq]) -> Result<String, EngineError> {
        let body = self.request_of(seqs).await?;
        let Ok(transcript) = self.wire.read(&body, &Measures::default()) else {
            return Ok(String::new());
        };
        let text = text(&transcript);
        Ok(self.engine.parts.redactor.redact(&text).text.into_owned())
    }

    /// Messages as they are shown, as one request without an envelope.
    pub(crate) async fn request_of(&self, seqs: &[Seq]) -> Result<String, EngineError> {
        let fetched = self.fetch(seqs).await?;
        let body = |seq: &Seq| self.body(*seq).or_else(|| fetched.get(seq).map(Bytes::as_ref));
        Ok(self.wire.body("{}", seqs.iter().filter_map(body)))
    }

    /// The bodies as they are shown of those of these messages that are not in memory.
    async fn fetch(&self, seqs: &[Seq]) -> Result<HashMap<Seq, Bytes>, EngineError> {
        let mut missing: Vec<Seq> = seqs.iter().copied().filter(|seq| self.body(*seq).is_none()).collect();
        missing.sort_unstable();
        let mut found = HashMap::new();
        for &seq in &missing {
            let Some(original) = self.history.body_at_hand(seq) else { continue };
            let cuts = self.live_message(seq).map(|message| message.cuts.as_slice()).unwrap_or_default();
            let shown = match cuts {
                [] => original,
                cuts => self.wire.cut(&String::from_utf8_lossy(&original), cuts)?.into(),
            };
            found.insert(seq, shown);
        }
        missing.retain(|seq| !found.contains_key(seq));
        let mut rest = missing.as_slice();
        while let Some(&first) = rest.first() {
            let here = rest.iter().take_while(|&&seq| seq < first + PAGE).count();
            let (page, later) = rest.split_at(here);
            let end = page.last().map_or(first, |last| last + 1);
            let rows = self.engine.parts.store.messages(&self.row.id, first, end).await?;
            let wanted = rows.into_iter().filter(|row| page.binary_search(&row.seq).is_ok());
            found.extend(wanted.map(|row| (row.seq, Bytes::from(row.body))));
            rest = later;
        }
        Ok(found)
    }
}
