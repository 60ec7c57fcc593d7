//! Which messages a model still sees: messages leave the context, and a summary takes their place.
//!
//! A log keeps everything that ever happened: what was said before a compaction, branches that the user left,
//! turns that were rolled back. The outline keeps it, too, so that a session can be counted and replayed. But a
//! request holds only what is alive at that point. So each message knows when it was [retired](Outline::retire),
//! and a summary that was written late knows before which message it [stands](crate::MessageFacts::place).
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

/// How a message comes into an outline that is made from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePick {
    /// As a message.
    Message(MessageIx),
    /// Its parts join those of the message before: one answer of the model that a log tells in several records.
    Join(MessageIx),
}

impl Outline {
    /// Takes a message out of the context: `at` is the first message that is made without it. What left once does not come back: an earlier
    /// retirement stays.
    pub fn retire(&mut self, message: MessageIx, at: MessageIx) {
        if let Some(message) = self.messages.get_mut(message.0 as usize) {
            message.gone = message.gone.min(at.0);
        }
    }

    /// Lets a message stand before an earlier one, as [`MessageFacts::place`](crate::MessageFacts::place) does, where
    /// that is known only later.
    pub fn move_before(&mut self, message: MessageIx, place: MessageIx) {
        if let Some(message) = self.messages.get_mut(message.0 as usize) {
            message.place = place.0;
        }
    }

    /// The message from which on this one is no longer in the context.
    pub fn gone(&self, message: MessageIx) -> Option<MessageIx> {
        Some(self.message(message).gone).filter(|&gone| gone != u32::MAX).map(MessageIx)
    }

    /// The messages in the context of the model call that produces message `at`, in the order in which the model
    /// sees them; without `at`, those of the next request.
    pub fn context(&self, at: Option<MessageIx>) -> Vec<MessageIx> {
        let end = at.map_or(self.messages.len(), |at| (at.0 as usize).min(self.messages.len()));
        let alive = |&index: &usize| self.messages[index].gone as usize > end;
        let mut order: Vec<MessageIx> = (0..end).filter(alive).map(|index| MessageIx(index as u32)).collect();
        // Most sessions hold no late summary, and then nothing moves. Of two messages with one place the summary
        // is the one that was written later.
        let place = |&message: &MessageIx| {
            let place = self.message(message).place.min(message.0);
            (place, u32::from(place == message.0))
        };
        order.sort_by_key(place);
        order
    }

    /// An outline without messages that knows the same names, to be [grown](Outline::grow) from this one.
    pub fn seedling(&self) -> Outline {
        Outline {
            measures: self.measures.clone(),
            tools: Arc::clone(&self.tools),
            ids: Arc::clone(&self.ids),
            subjects: Arc::clone(&self.subjects),
            ..Outline::default()
        }
    }

    /// Adds a message of the outline that this one is a [seedling](Outline::seedling) of, with its parts. So a recorded
    /// session is played again: the outline holds at each request what was there then, and nothing of what came later.
    pub fn grow(&mut self, from: &Outline, message: MessageIx) {
        let Some(row) = from.messages.get(message.0 as usize) else { return };
        self.push_row(MessageRow { gone: u32::MAX, place: u32::MAX, ..*row });
        for part in from.parts_of(message) {
            self.copy_part(from, part as usize);
        }
    }

    /// An outline of some of the messages, in this order, and for each of its parts the part that it was here.
    ///
    /// Model calls come along with their message, and a late summary keeps its place if that is selected as well.
    /// Lives are not taken over: in the new outline all is alive.
    pub fn select(&self, picks: impl IntoIterator<Item = MessagePick>) -> (Outline, Vec<PartIx>) {
        let mut selected = self.seedling();
        let mut parts = Vec::new();
        let mut renamed = vec![None; self.messages.len()];
        for pick in picks {
            let (MessagePick::Message(message) | MessagePick::Join(message)) = pick;
            let Some(row) = self.messages.get(message.0 as usize) else { continue };
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
