//! The age of a part in model calls.
//!
//! If model calls were recorded, they are counted. A reopened session, or a log without usage, has none; then responses
//! are counted. A response is one message of the model or several in a row: some systems write each tool call of a
//! response as its own message. A tool result ends a response, even inside the model's own message.

use super::{MessageIx, Outline, PartIx, PartKind, Role};

impl Outline {
    /// Whether a message of the model that is added now begins a response.
    pub(super) fn begins_response(&self) -> bool {
        let Some(last) = self.messages.last() else {
            return true;
        };
        let own = MessageIx(self.messages.len() as u32 - 1);
        let is_result = |part: u32| self.kind(PartIx(part)) == PartKind::Result;
        last.role != Role::Assistant || self.parts_of(own).any(is_result)
    }

    /// The number of the first model call whose context contains a message.
    pub(crate) fn first_call(&self, message: MessageIx) -> u32 {
        let count = if self.calls.is_empty() {
            self.responses.partition_point(|&response| response <= message)
        } else {
            self.calls.partition_point(|call| call.message <= message)
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The number of the next model call.
    pub(crate) fn next_call(&self) -> u32 {
        let count = if self.calls.is_empty() { self.responses.len() } else { self.calls.len() };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The first part that was not in the context of any model call.
    pub(crate) fn unseen(&self) -> u32 {
        let newest = match self.calls.last() {
            Some(call) => Some(call.message),
            None => self.responses.last().copied(),
        };
        newest.map_or(0, |message| self.first_part(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MessageFacts, ModelCall, PartFacts, Usage};

    fn say(outline: &mut Outline, role: Role, kinds: &[PartKind]) -> MessageIx {
        let message = outline.push_message(MessageFacts { role, ..MessageFacts::default() });
        for &kind in kinds {
            outline.push_part(PartFacts { kind, ..PartFacts::default() });
        }
        message
    }

    #[test]
    fn messages_of_the_model_in_a_row_are_one_response() {
        let mut outline = Outline::default();
        let user = say(&mut outline, Role::User, &[PartKind::Text]);
        say(&mut outline, Role::Assistant, &[PartKind::Reasoning]);
        let call = say(&mut outline, Role::Assistant, &[PartKind::Call]);
        let result = say(&mut outline, Role::Tool, &[PartKind::Result]);
        assert_eq!((outline.first_call(user), outline.first_call(call)), (0, 1));
        assert_eq!((outline.first_call(result), outline.next_call(), outline.unseen()), (1, 1, 1));
        say(&mut outline, Role::Assistant, &[PartKind::Text]);
        assert_eq!((outline.first_call(result), outline.next_call(), outline.unseen()), (1, 2, 4));
    }

    #[test]
    fn a_result_in_the_models_own_message_ends_a_response() {
        let mut outline = Outline::default();
        let first = say(&mut outline, Role::Assistant, &[PartKind::Call, PartKind::Result]);
        say(&mut outline, Role::Assistant, &[PartKind::Call, PartKind::Result]);
        assert_eq!((outline.first_call(first), outline.next_call()), (1, 2));
    }

    #[test]
    fn recorded_calls_are_counted_instead_of_responses() {
        let mut outline = Outline::default();
        for _ in 0..5 {
            say(&mut outline, Role::User, &[PartKind::Text]);
            say(&mut outline, Role::Assistant, &[PartKind::Text]);
        }
        assert_eq!(outline.next_call(), 5);
        outline.push_model_call(ModelCall { message: MessageIx(3), time: None, usage: Usage::default() });
        assert_eq!((outline.next_call(), outline.unseen()), (1, 3));
        assert_eq!((outline.first_call(MessageIx(2)), outline.first_call(MessageIx(3))), (0, 1));
    }
}
