//! Facts about one message of an outline.

use super::{MessageIx, MessageRow, Outline, Role};
use crate::names::Name;

/// The facts about a message that does not exist.
const NO_MESSAGE: MessageRow = MessageRow {
    role: Role::Other,
    summary: false,
    finished: false,
    failed: false,
    marker: false,
    id: Name::NONE,
    parent: Name::NONE,
    tail: Name::NONE,
    first_part: 0,
    time: None,
    place: u32::MAX,
    gone: u32::MAX,
};

/// Facts about one message. An index past the end is an empty message of unknown role.
impl Outline {
    pub(super) fn message(&self, message: MessageIx) -> &MessageRow {
        self.messages.get(message.0 as usize).unwrap_or(&NO_MESSAGE)
    }

    /// Whose message it is.
    pub fn role(&self, message: MessageIx) -> Role {
        self.message(message).role
    }

    /// Whether it summarises what came before.
    pub fn is_summary(&self, message: MessageIx) -> bool {
        self.message(message).summary
    }

    /// Whether the model finished it.
    pub fn is_finished(&self, message: MessageIx) -> bool {
        self.message(message).finished
    }

    /// Whether it ended in an error.
    pub fn is_failed(&self, message: MessageIx) -> bool {
        self.message(message).failed
    }

    /// Whether it is the marker of a compaction.
    pub fn is_marker(&self, message: MessageIx) -> bool {
        self.message(message).marker
    }

    /// The source's own id.
    pub fn id(&self, message: MessageIx) -> Name {
        self.message(message).id
    }

    /// The id of the message that it replies to.
    pub fn parent(&self, message: MessageIx) -> Name {
        self.message(message).parent
    }

    /// The id of the message from which a compaction keeps history verbatim.
    pub fn tail(&self, message: MessageIx) -> Name {
        self.message(message).tail
    }

    /// When it was made.
    pub fn time(&self, message: MessageIx) -> Option<i64> {
        self.message(message).time
    }
}
