//! Responses that a log writes as several lines.
//!
//! Lines of one response mostly follow each other, and then their blocks are simply added to the newest message. But a
//! tool may finish before the response does, and its result then lies between the lines. Such a response is in fragments
//! until the whole log has been read.

use secateur::{MessageIx, MessagePick};

use super::tree::RecordId;
use crate::draft::TranscriptDraft;
use crate::tables::{Map, Set};

#[derive(Default)]
pub(super) struct SplitResponses {
    /// The message that a response begins with.
    starts: Map<RecordId, MessageIx>,
    /// Messages that continue a response, each with the one that it began with.
    fragments: Vec<(MessageIx, MessageIx)>,
}

impl SplitResponses {
    /// Adds a message that holds a line of this response.
    pub(super) fn add(&mut self, response: RecordId, message: MessageIx) {
        let start = *self.starts.entry(response).or_insert(message);
        if start != message && self.fragments.last().is_none_or(|&(last, _)| last != message) {
            self.fragments.push((message, start));
        }
    }

    /// Joins the fragments. Returns for each message as it was read its number from now on; empty if none changed.
    pub(super) fn join(&self, draft: &mut TranscriptDraft<'_>) -> Vec<MessageIx> {
        if self.fragments.is_empty() {
            return Vec::new();
        }
        let mut rests: Map<MessageIx, Vec<MessageIx>> = Map::default();
        for &(fragment, start) in &self.fragments {
            rests.entry(start).or_default().push(fragment);
        }
        let fragments: Set<MessageIx> = self.fragments.iter().map(|&(fragment, _)| fragment).collect();
        let mut picks = Vec::new();
        let mut wholes: Vec<MessageIx> = draft.outline.messages().collect();
        let starts = draft.outline.messages().filter(|message| !fragments.contains(message));
        for (index, message) in (0..).map(MessageIx).zip(starts) {
            let rest = rests.get(&message).into_iter().flatten().copied();
            picks.push(MessagePick::Message(message));
            picks.extend(rest.clone().map(MessagePick::Join));
            for message in rest.chain([message]) {
                if let Some(whole) = wholes.get_mut(message.0 as usize) {
                    *whole = index;
                }
            }
        }
        draft.rearrange(picks);
        wholes
    }
}
