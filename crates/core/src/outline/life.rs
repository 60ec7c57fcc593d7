//! Which messages were in the context when: messages leave it, and a summary takes their place.
//!
//! A log has the whole history: what came before a compaction, abandoned branches, turns that were rolled back. The
//! outline has it, too, so that a session can be counted and replayed. But a request holds only part of it. So each
//! message has the point at which it was [retired](Outline::retire), and a summary that was written late has the message
//! before which it [stands](crate::MessageFacts::place).
//!
//! ```
//! use secateur::{MessageFacts, MessageIx, Outline, Role};
//!
//! let mut outline = Outline::default();
//! for role in [Role::User, Role::Assistant, Role::User] {
//!     outline.push_message(MessageFacts { role, ..Default::default() });
//! }
//! // A compaction: a summary replaces the first two messages and stands before the third.
//! let facts = MessageFacts { role: Role::User, summary: true, place: Some(MessageIx(2)), ..Default::default() };
//! let summary = outline.push_message(facts);
//! outline.retire(MessageIx(0), summary);
//! outline.retire(MessageIx(1), summary);
//!
//! assert_eq!(outline.context(None), [summary, MessageIx(2)]);
//! assert_eq!(outline.context(Some(MessageIx(2))), [MessageIx(0), MessageIx(1)]);
//! ```

use std::sync::Arc;

use super::{MessageIx, MessageRow, Outline, PartIx};

/// How a message is taken over into a selected outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePick {
    /// As a message.
    Message(MessageIx),
    /// Its parts are added to the message before: a log has several records for one response.
    Join(MessageIx),
}

impl Outline {
    /// Takes a message out of the context: `at` is the first message that is made without it. An earlier retirement
    /// stays.
    pub fn retire(&mut self, message: MessageIx, at: MessageIx) {
        if let Some(message) = self.messages.get_mut(message.0 as usize) {
            message.gone = message.gone.min(at.0);
        }
    }

    /// Moves a message before an earlier one, like [`MessageFacts::place`](crate::MessageFacts::place), for sources that
    /// say so only later.
    pub fn move_before(&mut self, message: MessageIx, place: MessageIx) {
        if let Some(message) = self.messages.get_mut(message.0 as usize) {
            message.place = place.0;
        }
    }

    /// The first message whose context does not contain this one any more.
    pub fn gone(&self, message: MessageIx) -> Option<MessageIx> {
        Some(self.message(message).gone).filter(|&gone| gone != u32::MAX).map(MessageIx)
    }

    /// The messages in the context of the model call that produces message `at`, in the order in which the model
    /// sees them; without `at`, those of the next request.
    pub fn context(&self, at: Option<MessageIx>) -> Vec<MessageIx> {
        let end = at.map_or(self.messages.len(), |at| (at.0 as usize).min(self.messages.len()));
        let alive = |&index: &usize| self.messages[index].gone as usize > end;
        let mut order: Vec<MessageIx> = (0..end).filter(alive).map(|index| MessageIx(index as u32)).collect();
        // Without late summaries nothing moves. Of two messages with the same place, the later one is the summary and
        // comes first.
        let place = |&message: &MessageIx| {
            let place = self.message(message).place.min(message.0);
            (place, u32::from(place == message.0))
        };
        order.sort_by_key(place);
        order
    }

    /// An empty outline with the same names, to be [extended](Outline::extend_from) from this one.
    pub fn empty_copy(&self) -> Outline {
        Outline {
            measures: self.measures.clone(),
            tools: Arc::clone(&self.tools),
            ids: Arc::clone(&self.ids),
            subjects: Arc::clone(&self.subjects),
            ..Outline::default()
        }
    }

    /// Adds a message with its parts from the outline that this one is an [empty copy](Outline::empty_copy) of. That
    /// replays a recorded session: at each request the outline holds what was there then.
    pub fn extend_from(&mut self, from: &Outline, message: MessageIx) {
        let Some(row) = from.messages.get(message.0 as usize) else {
            return;
        };
        self.push_row(MessageRow { gone: u32::MAX, place: u32::MAX, ..*row });
        for part in from.parts_of(message) {
            self.copy_part(from, part as usize);
        }
    }

    /// An outline of some of the messages, in this order, and for each of its parts the index that it has here.
    ///
    /// Model calls are copied with their message, and a late summary keeps its place if that is selected as well.
    /// Retirements are not copied: in the new outline everything is in the context.
    pub fn select(&self, picks: impl IntoIterator<Item = MessagePick>) -> (Outline, Vec<PartIx>) {
        let mut selected = self.empty_copy();
        let mut parts = Vec::new();
        let mut renamed = vec![None; self.messages.len()];
        for pick in picks {
            let (MessagePick::Message(message) | MessagePick::Join(message)) = pick;
            let Some(row) = self.messages.get(message.0 as usize) else {
                continue;
            };
            if matches!(pick, MessagePick::Message(_)) || selected.messages.is_empty() {
                selected.push_row(MessageRow { gone: u32::MAX, ..*row });
            }
            renamed[message.0 as usize] = Some(MessageIx(selected.messages.len() as u32 - 1));
            for part in self.parts_of(message) {
                selected.copy_part(self, part as usize);
                parts.push(PartIx(part));
            }
        }
        for message in &mut selected.messages {
            let place = renamed.get(message.place as usize).copied().flatten();
            message.place = place.map_or(u32::MAX, |place: MessageIx| place.0);
        }
        let calls = self.calls.iter().filter_map(|call| {
            let message = *renamed.get(call.message.0 as usize)?;
            Some(super::ModelCall { message: message?, ..*call })
        });
        selected.calls.extend(calls);
        (selected, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::{MessageFacts, Role};

    #[test]
    fn a_late_summary_keeps_its_place_when_messages_are_joined() {
        let mut outline = Outline::default();
        for _ in 0..4 {
            outline.push_message(MessageFacts { role: Role::User, ..MessageFacts::default() });
        }
        let facts = MessageFacts { summary: true, place: Some(MessageIx(3)), ..MessageFacts::default() };
        let summary = outline.push_message(facts);
        outline.retire(MessageIx(0), summary);

        let picks = [0, 2, 3, 4].map(|index| MessagePick::Message(MessageIx(index)));
        let (joined, _) =
            outline.select([picks[0], MessagePick::Join(MessageIx(1)), picks[1], picks[2], picks[3]]);
        assert_eq!(joined.context(None), [0, 1, 3, 2].map(MessageIx));
        let (apart, _) = outline.select([picks[3], picks[0]]);
        assert_eq!(apart.context(None), [0, 1].map(MessageIx));
    }

    #[test]
    fn a_selection_shares_the_names_until_it_learns_one() {
        let mut outline = Outline::default();
        outline.push_message(MessageFacts { id: Some("a"), ..MessageFacts::default() });
        let (mut selected, _) = outline.select([MessagePick::Message(MessageIx(0))]);
        selected.push_message(MessageFacts { id: Some("a"), ..MessageFacts::default() });
        assert!(Arc::ptr_eq(&outline.ids, &selected.ids));
        selected.push_message(MessageFacts { id: Some("b"), ..MessageFacts::default() });
        assert_eq!((outline.ids().len(), selected.ids().len()), (1, 2));
        assert_eq!(outline.ids().find("a"), selected.ids().find("a"));
    }
}
