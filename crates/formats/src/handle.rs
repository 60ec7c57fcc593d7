//! The name by which an original is recalled: letters that are computed from its text.
//!
//! The id of a tool call would not do. Some providers give none, some servers count from one in every conversation, a call
//! shares it with its result, and the usual ones take twenty tokens. A hash of the text is short, differs for different
//! texts, and is the same in every process, branch and copy of the session. Letters alone make fewer tokens than letters
//! and digits, and cannot be mistaken for the number of a message.
//!
//! Without a secret, a text could be made that has the handle of another one. So each store has a key of its own. Files
//! have none, and nothing is recalled from them by handle: there the key is public.

use std::fmt;

use sha2::{Digest as _, Sha256};
use xxhash_rust::xxh3::xxh3_64;

/// How many letters a key gives for a text. A handle is the beginning of them.
const LETTERS: usize = 48;

/// How many letters a handle of an earlier version has.
const EARLIER: usize = 8;

/// The key of the handles in a store.
///
/// ```
/// use secateur_formats::HandleKey;
///
/// let letters = HandleKey::PUBLIC.letters("pub fn main() {}");
/// assert_eq!(letters.len(), 48);
/// assert_ne!(letters, HandleKey::new([7; 32]).letters("pub fn main() {}"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct HandleKey([u8; 32]);

impl fmt::Debug for HandleKey {
    /// It is a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandleKey")
    }
}

impl HandleKey {
    /// The key of files, which everyone knows.
    pub const PUBLIC: Self = Self([0; 32]);

    /// A key of these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// All letters for a text. Cuts in stored sessions name their beginning, so they must never change.
    pub fn letters(&self, text: &str) -> String {
        let keyed = |text: &[u8]| Sha256::new().chain_update(self.0).chain_update(text).finalize();
        // Twice, so that the hash of a text says nothing about the hash of a longer one.
        let hash = keyed(&keyed(text.as_bytes()));
        hash.as_chunks::<16>()
            .0
            .iter()
            .flat_map(|half| letters(u128::from_le_bytes(*half), LETTERS / 2))
            .collect()
    }
}

/// The handle that an earlier version gave a text. Cuts in stored sessions name it, so it must never change.
pub fn earlier_handle(text: &str) -> String {
    letters(u128::from(xxh3_64(text.as_bytes())), EARLIER).collect()
}

fn letters(number: u128, count: usize) -> impl Iterator<Item = char> {
    let mut rest = number;
    (0..count).map(move |_| {
        let letter = b'a' + (rest % 26) as u8;
        rest /= 26;
        char::from(letter)
    })
}

#[cfg(test)]
mod tests {
    use secateur::{Action, HANDLE_LETTERS, Measures, PartIx, PartKind, SurrogatePairs};

    use super::*;
    use crate::{Format, Rendering, Wire, read_as};

    #[test]
    fn a_call_without_an_id_and_its_answer_have_handles_of_their_own() {
        let body = br#"{"contents":[
            {"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"a", "text":"t"}}},
                                     {"functionCall":{"name":"read","args":{"path":"b","text":"t"}}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"one"}}},
                                    {"functionResponse":{"name":"read","response":{"output":"two"}}}]}]}"#;
        let transcript = read_as(body, Format::Request(Wire::Gemini), &Measures::default()).unwrap();
        let parts: Vec<PartIx> = transcript.outline.parts().collect();
        let originals: Vec<_> = parts.iter().map(|&part| transcript.original(part)).collect();
        assert_eq!(originals, [r#"{"path":"a","text":"t"}"#, r#"{"path":"b","text":"t"}"#, "one", "two"]);
        let placeholders: Vec<_> =
            parts.iter().map(|&part| transcript.placeholder(part, "{handle}")).collect();
        let handle = |text: &str| HandleKey::PUBLIC.letters(text)[..HANDLE_LETTERS].to_owned();
        assert_eq!(placeholders, originals.iter().map(|original| handle(original)).collect::<Vec<_>>());
        assert_eq!(transcript.outline.kind(PartIx(0)), PartKind::Call);
    }

    #[test]
    fn what_is_trimmed_says_how_to_have_it_back_if_what_is_cleared_does() {
        let body = br#"{"messages":[{"role":"tool","tool_call_id":"c","content":"0123456789"}]}"#;
        let transcript = read_as(body, Format::Request(Wire::OpenAiChat), &Measures::default()).unwrap();
        let trim = |placeholder| {
            let action = Action::Trim { head: 2, tail: 2, pairs: SurrogatePairs::Whole };
            let cut = Rendering { part: PartIx(0), action, placeholder };
            String::from_utf8(transcript.apply([cut], 0).unwrap().to_vec()).unwrap()
        };
        let handle = &HandleKey::PUBLIC.letters("0123456789")[..HANDLE_LETTERS];
        let note = format!(r"of 10 chars.]\n[recall {handle} brings all of it back]");
        assert!(trim("[cut; recall {handle}]").contains(&note), "{}", trim("[cut; recall {handle}]"));
        // As in sessions that were cut before there were handles: what was frozen stays as it was.
        assert!(trim("[cut; recall c]").contains(r#"of 10 chars.]""#), "{}", trim("[cut; recall c]"));
    }

    #[test]
    fn handles_never_change() {
        assert_eq!(earlier_handle(""), "adfeoero");
        assert_eq!(earlier_handle("pub fn main() {}\n"), "nbzrkmct");
        let key = HandleKey::new(*b"a key of a store, for this test.");
        assert_eq!(key.letters(""), "advslguuuchmxtuzrwfydhsjnkbatmtsrarrczljiycrchzk");
        assert_eq!(key.letters("pub fn main() {}\n"), "nqjjxtbvlkfhmznjimfqocefmhnbjqdvintepmmtoyljlxhw");
    }

    #[test]
    fn other_texts_and_other_keys_have_other_handles() {
        let key = HandleKey::new([1; 32]);
        let texts = (0..10_000).map(|n| n.to_string());
        let handles: std::collections::HashSet<String> =
            texts.flat_map(|text| [key.letters(&text), HandleKey::PUBLIC.letters(&text)]).collect();
        assert_eq!(handles.len(), 20_000);
        assert!(handles.iter().all(|letters| letters.len() == LETTERS));
        assert_eq!(format!("{key:?}"), "HandleKey");
    }

    #[test]
    fn a_part_may_have_a_name_of_its_own() {
        let body = br#"{"messages":[{"role":"tool","tool_call_id":"c","content":"0123456789"}]}"#;
        let mut transcript = read_as(body, Format::Request(Wire::OpenAiChat), &Measures::default()).unwrap();
        transcript.set_handle(PartIx(0), "kbqzwmtahdue".to_owned());
        assert_eq!(transcript.placeholder(PartIx(0), "[{handle}]"), "[kbqzwmtahdue]");
    }
}
