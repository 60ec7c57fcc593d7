//! Conversations are recognised by their messages.
//!
//! A client sends its whole history with each request, and nothing reliable names the conversation. So each message gets
//! an id made from everything up to it: a chain. Two requests belong together as far as their chains are the same, over
//! restarts and on every machine. Where the chains part, two branches begin.
//!
//! `cache_control` marks are left out of ids, because one of them moves with every request.
//!
//! An id costs a pass over the message with a cryptographic hash: a client that could forge an id could be sent a summary
//! of another client's conversation. A known message costs less: its bytes are recognised by a fast hash, keyed with a
//! number that is secret to this process.

use std::fmt;
use std::sync::Arc;

use parking_lot::RwLock;
use secateur::session::Seq;
use secateur_formats::Wire;
use secateur_formats::json::{Token, tokens};
use secateur_store::LOCAL_TENANT;
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// The id of a message: a hash of everything up to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ChainId([u8; 16]);

impl ChainId {
    /// The id of a message after another one.
    pub(crate) fn after(ChainId(previous): ChainId, message: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(previous);
        Self::of(hash, message)
    }

    /// The id of a first message. That of each tenant is different, so that the same conversation of two tenants has no id
    /// in common, and looking for one never meets messages of the other.
    pub(crate) fn first(tenant: &str, wire: Wire, message: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(wire.name());
        if tenant != LOCAL_TENANT {
            // No message begins with a NUL character.
            hash.update([0]);
            hash.update(tenant);
            hash.update([0]);
        }
        Self::of(hash, message)
    }

    fn of(mut hash: Sha256, message: &str) -> Self {
        let mut from = 0;
        for mark in marks(message) {
            hash.update(message.get(from..mark.start).unwrap_or_default());
            from = mark.end;
        }
        hash.update(message.get(from..).unwrap_or_default());
        let hash = hash.finalize();
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        ChainId(id)
    }

    /// Reads an id as it is printed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = Some(text)
            .filter(|text| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u128::from_str_radix(digits, 16).ok().map(|id| ChainId(id.to_be_bytes()))
    }
}

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The `cache_control` marks of a message, each with the comma that joins it to its neighbours.
fn marks(message: &str) -> Vec<std::ops::Range<usize>> {
    const NAME: &str = "\"cache_control\"";
    // Within a text the quotes would be escaped, so this rarely finds anything else.
    if memchr::memmem::find(message.as_bytes(), NAME.as_bytes()).is_none() {
        return Vec::new();
    }
    let mut marks = Vec::new();
    let mut depth = 0usize;
    // Where the current mark began, and how deep.
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

/// A member of an object with the comma before it, or after it if it is the first.
fn joined(message: &str, start: usize, end: usize) -> std::ops::Range<usize> {
    let before = message.get(..start).unwrap_or_default().trim_end();
    if let Some(before) = before.strip_suffix(',') {
        return before.len()..end;
    }
    let behind = message.get(end..).unwrap_or_default();
    let Some(rest) = behind.trim_start().strip_prefix(',') else { return start..end };
    start..message.len() - rest.trim_start().len()
}

/// A fast hash of the bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub len: usize,
    pub hash: u128,
}

impl Fingerprint {
    pub(crate) fn of(message: &[u8], seed: u64) -> Self {
        Self { len: message.len(), hash: xxh3_128_with_seed(message, seed) }
    }
}

/// A message of a chain.
#[derive(Clone, Debug)]
pub(crate) struct ChainLink {
    pub id: ChainId,
    /// Its number in the session; 0 if a summary replaced it there.
    pub seq: Seq,
    /// Its last two fingerprints: with a `cache_control` mark, and without.
    pub fingerprints: [Option<Fingerprint>; 2],
}

impl ChainLink {
    pub(crate) fn new(id: ChainId, seq: Seq, fingerprint: Fingerprint) -> Self {
        Self { id, seq, fingerprints: [Some(fingerprint), None] }
    }

    /// Remembers the fingerprint that it has now.
    pub(crate) fn seen_as(&mut self, fingerprint: Fingerprint) {
        if self.fingerprints[0] != Some(fingerprint) {
            self.fingerprints = [Some(fingerprint), self.fingerprints[0]];
        }
    }
}

/// The chain of a branch. While it is changed, readers see it as it was.
pub(crate) struct SharedChain(RwLock<Arc<Vec<ChainLink>>>);

impl SharedChain {
    pub(crate) fn new(chain: Vec<ChainLink>) -> Self {
        Self(RwLock::new(Arc::new(chain)))
    }

    pub(crate) fn get(&self) -> Arc<Vec<ChainLink>> {
        self.0.read().clone()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Vec<ChainLink>)) {
        change(Arc::make_mut(&mut self.0.write()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(message: &str) -> ChainId {
        ChainId::first(LOCAL_TENANT, Wire::Anthropic, message)
    }

    #[test]
    fn cache_marks_do_not_change_an_id() {
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
    fn all_marks_are_left_out_and_what_only_looks_like_one_is_not() {
        let two = r#"{"content":[{"a":1,"cache_control":{}},{"b":[2],"cache_control":{"x":[{}]}}],"z":0}"#;
        assert_eq!(id(two), id(r#"{"content":[{"a":1},{"b":[2]}],"z":0}"#));
        let quoted = r#"{"content":"\"cache_control\":{}"}"#;
        assert!(marks(quoted).is_empty());
        assert_ne!(id(r#"{"content":"cache_control"}"#), id(r#"{"content":""}"#));
        assert_eq!(id(r#"{"cache_control":{}}"#), id("{}"));
    }

    #[test]
    fn an_id_stands_for_everything_up_to_its_message() {
        let second = |first| ChainId::after(id(first), "{}");
        assert_ne!(second("{\"a\":1}"), second("{\"a\":2}"));
        assert_ne!(id("{}"), ChainId::first(LOCAL_TENANT, Wire::OpenAiChat, "{}"));
        assert_ne!(id("{}"), ChainId::first("anna", Wire::Anthropic, "{}"));
        assert_eq!(ChainId::parse(&id("{}").to_string()), Some(id("{}")));
        assert_eq!(ChainId::parse("message-1"), None);
    }
}
