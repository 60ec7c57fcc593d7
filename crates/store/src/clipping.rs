//! Clippings: parts that were cut from contexts, found again by handle or words.
//!
//! A clipping belongs to the body of the original message, not to a session, because equal bodies are stored once.
//! Every session that has the original finds the clipping, a forked session needs no copy, and it is deleted with the
//! last reference to the original. Of its text, only the words are stored.

/// The letters of the shortest handle that a store's key gives. Those of earlier versions are shorter.
pub(crate) const SHORTEST_HANDLE: usize = 12;

/// A cut part to record. It belongs to the body of the original message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewClipping {
    /// Which message.
    pub seq: u64,
    /// Which part of it.
    pub part: u32,
    /// The name by which it is recalled.
    pub handle: String,
    /// All letters that the store's [key](crate::Store::handle_key) gives for its text; the handle is their beginning.
    /// None if the handle was not made with the key.
    pub letters: Option<String>,
    /// Facts about it, as JSON.
    pub facts: String,
    /// The text to search: the content and whatever else it should be found by. Only its words are stored.
    pub text: String,
}

/// A cut part, and a message that contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clipping {
    /// The session's id.
    pub session: String,
    /// The message's number in the session.
    pub seq: u64,
    /// Which part of it.
    pub part: u32,
    /// The name by which it is recalled.
    pub handle: String,
    /// All letters that the store's key gave for its text, if the handle was made with it.
    pub letters: Option<String>,
    /// The key of the message's body. Clippings with the same body and part have the same text.
    pub body: Vec<u8>,
    /// Facts about it, as JSON.
    pub facts: String,
    /// When the message was created.
    pub time: i64,
}

/// A search for clippings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClippingSearch {
    /// Words that must all occur, in any order. Words after the first 32 are ignored.
    pub words: String,
    /// The session to search; all if none.
    pub session: Option<String>,
    /// The most results to return.
    pub limit: usize,
}
