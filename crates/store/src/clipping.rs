//! What was taken out of contexts, as it is handed in and found again.
//!
//! A clipping is a part of a message's original. It belongs to those bytes and not to a session, because equal bodies
//! are kept once: whoever has the original finds it, a session that branches off has it without a copy, and it goes
//! when the last one forgets it. Of its text a store keeps the words alone.

/// A part of a message that is taken out of the context. It belongs to the message's original: whoever else has that,
/// finds it as well, and it goes when the last one forgets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewClipping {
    /// Which message.
    pub seq: u64,
    /// Which part of it.
    pub part: u32,
    /// The name under which it is fetched back.
    pub handle: String,
    /// What is known about it, as JSON.
    pub facts: String,
    /// What it is found by: what it says, and what else is to be found by. Only the words are kept.
    pub text: String,
}

/// Something that was taken out of a context, and a message that has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clipping {
    /// The session's id.
    pub session: String,
    /// The message's number in the session.
    pub seq: u64,
    /// Which part of it.
    pub part: u32,
    /// The name under which it is fetched back.
    pub handle: String,
    /// What is known about it, as JSON.
    pub facts: String,
    /// When the message was made.
    pub time: i64,
}

/// A search in what was taken out of contexts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClippingSearch {
    /// Words, all of which must occur. Anything may stand between them; after the first 32, words do not count.
    pub words: String,
    /// The session to search, or all.
    pub session: Option<String>,
    /// How many are wanted at most.
    pub limit: usize,
}
