//! Conversations are recognised by what was said in them.
//!
//! A client sends its whole history each time and says nowhere reliably which conversation that is. So each message gets
//! an id made of everything up to it: a chain. Two requests belong together as far as their chains are the same, over
//! restarts and on every machine; where they part, two branches begin.
//!
//! Marks for the provider's cache are not part of what was said. One of them moves with every request, so ids are made
//! without them.
//!
//! Making an id costs a pass over the message with a cryptographic hash, because whoever could forge one could be shown a
//! summary of somebody else's conversation. A message that is known already costs less: how it was spelled is remembered
//! by a quick hash, keyed with a number that nobody outside this process knows.

use std::fmt;

use secateur_formats::Wire;
use secateur_formats::json::{Token, tokens};
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use secateur::session::Seq;

/// The id of a message: of all that was said up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id([u8; 16]);

impl Id {
    /// The id of a message that follows another one, or nothing.
    pub(crate) fn after(previous: Option<Id>, wire: Wire, message: &str) -> Self {
        let mut hash = Sha256::new();
        match previous {
            Some(Id(previous)) => hash.update(previous),
            None => hash.update(wire.name()),
        }
        let mut from = 0;
        for mark in marks(message) {
            hash.update(message.get(from..mark.start).unwrap_or_default());
            from = mark.end;
        }
        hash.update(message.get(from..).unwrap_or_default());
        let digest = hash.finalize();
        let mut id = [0; 16];
        id.copy_from_slice(&digest[..16]);
        Id(id)
    }

    /// An id as it is printed; none if the text is none.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = Some(text)
            .filter(|text| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u128::from_str_radix(digits, 16).ok().map(|id| Id(id.to_be_bytes()))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Where a message has marks for the provider's cache, each with the comma that joins it to its neighbours.
fn marks(message: &str) -> Vec<std::ops::Range<usize>> {
    const NAME: &str = "\"cache_control\"";
    // In a text the quotes would be escaped, so hardly any message is looked through for nothing.
    if memchr::memmem::find(message.as_bytes(), NAME.as_bytes()).is_none() {
        return Vec::new();
    }
    let mut marks = Vec::new();
    let mut depth = 0usize;
    // Where the mark at hand began, and how deep.
    let mut open: Option<(usize, usize)> = None;
    for (at, token) in tokens(message) {
        let mut end = None;
        match token {
            Token::Key(NAME) if open.is_none() => open = Some((at, depth)),
            Token::ObjectStart | Token::ArrayStart => depth += 1,
            Token::ObjectEnd | Token::ArrayEnd => {
                depth = depth.saturating_sub(1);
                end = Some(at + 1);
            }
            Token::Key(_) => {}
            _ => end = Some(at + token.raw().len()),
        }
        if let (Some((start, outer)), Some(end)) = (open, end)
            && depth == outer
        {
            marks.push(joined(message, start, end));
            open = None;
        }
    }
    marks
}

/// A member of an object with the comma before it, or if it is the first the one behind it.
fn joined(message: &str, start: usize, end: usize) -> std::ops::Range<usize> {
    let before = message.get(..start).unwrap_or_default().trim_end();
    if let Some(before) = before.strip_suffix(',') {
        return before.len()..end;
    }
    let behind = message.get(end..).unwrap_or_default();
    let Some(rest) = behind.trim_start().strip_prefix(',') else { return start..end };
    start..message.len() - rest.trim_start().len()
}

/// How a message was spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spelling {
    pub len: usize,
    pub hash: u128,
}

impl Spelling {
    pub(crate) fn of(message: &[u8], seed: u64) -> Self {
        Self { len: message.len(), hash: xxh3_128_with_seed(message, seed) }
    }
}

/// A message of a chain.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub id: Id,
    /// Its number in the session; 0 if it is not alive there any more.
    pub seq: Seq,
    /// How it was spelled last, and before that: with a mark for the cache, and without.
    pub spellings: [Option<Spelling>; 2],
}

impl Link {
    pub(crate) fn new(id: Id, seq: Seq, spelling: Spelling) -> Self {
        Self { id, seq, spellings: [Some(spelling), None] }
    }

    /// Remembers how it is spelled now.
    pub(crate) fn respell(&mut self, spelling: Spelling) {
        if self.spellings[0] != Some(spelling) {
            self.spellings = [Some(spelling), self.spellings[0]];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(message: &str) -> Id {
        Id::after(None, Wire::Anthropic, message)
    }

    #[test]
    fn marks_for_the_cache_are_not_part_of_what_was_said() {
        let plain = r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#;
        let ends =
            r#"{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}"#;
        let begins = r#"{"role":"user","content":[{"cache_control":{"type":"ephemeral","ttl":"1h"},"type":"text","text":"hi"}]}"#;
        assert_eq!(id(plain), id(ends));
        assert_eq!(id(plain), id(begins));
        let spaced = r#"{"role": "user", "content": [{"type": "text", "text": "hi"}]}"#;
        let marked = r#"{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}"#;
        assert_eq!(id(spaced), id(marked));
        assert_ne!(id(plain), id(spaced));
        let nulled = r#"{"role":"user","content":[{"type":"text","text":"hi","cache_control":null}]}"#;
        assert_eq!(id(plain), id(nulled));
    }

    #[test]
    fn several_marks_go_and_what_only_looks_like_one_stays() {
        let two = r#"{"content":[{"a":1,"cache_control":{}},{"b":[2],"cache_control":{"x":[{}]}}],"z":0}"#;
        assert_eq!(id(two), id(r#"{"content":[{"a":1},{"b":[2]}],"z":0}"#));
        let quoted = r#"{"content":"\"cache_control\":{}"}"#;
        assert!(marks(quoted).is_empty());
        assert_ne!(id(r#"{"content":"cache_control"}"#), id(r#"{"content":""}"#));
        assert_eq!(id(r#"{"cache_control":{}}"#), id("{}"));
    }

    #[test]
    fn an_id_stands_for_everything_up_to_its_message() {
        let second = |first| Id::after(Some(id(first)), Wire::Anthropic, "{}");
        assert_ne!(second("{\"a\":1}"), second("{\"a\":2}"));
        assert_ne!(id("{}"), Id::after(None, Wire::OpenAiChat, "{}"));
        assert_eq!(Id::parse(&id("{}").to_string()), Some(id("{}")));
        assert_eq!(Id::parse("message-1"), None);
    }
}
