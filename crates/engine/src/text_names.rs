//! The names of texts in a store.

use std::collections::BTreeSet;

use secateur::HANDLE_LETTERS;
use secateur_formats::{HandleKey, earlier_handle};
use uuid::Uuid;

/// The letters of a handle that no commit compares with others: of a cut for one request alone, or without the store's
/// key. With these letters, two texts do not have the same.
const UNCHECKED_LETTERS: usize = 16;

/// By how many letters a handle grows that another text has.
const STEP: usize = 4;

/// Names texts with the key of a store. A process that has not reached its store yet uses a key of its own: such names
/// are recalled through the cuts in which they are stored later.
#[derive(Clone)]
pub(crate) struct TextNames {
    key: HandleKey,
    is_of_store: bool,
}

/// A random key, of 244 random bits.
pub(crate) fn random_key() -> HandleKey {
    let mut bytes = [0; 32];
    for half in bytes.as_chunks_mut::<16>().0 {
        *half = *Uuid::new_v4().as_bytes();
    }
    HandleKey::new(bytes)
}

impl TextNames {
    /// Names by the key of a store; by the key of this process, if the store has not been reached yet.
    pub(crate) fn new(of_store: Option<[u8; 32]>, of_process: &HandleKey) -> Self {
        match of_store {
            Some(key) => Self { key: HandleKey::new(key), is_of_store: true },
            None => Self { key: of_process.clone(), is_of_store: false },
        }
    }

    /// The handle of a text, longer than those that other texts have, and all of its letters if they are the store's.
    pub(crate) fn name(&self, text: &str, taken: &BTreeSet<String>) -> (String, Option<String>) {
        let letters = self.key.letters(text);
        let mut length = if self.is_of_store { HANDLE_LETTERS } else { UNCHECKED_LETTERS };
        while length + STEP <= letters.len() && letters.get(..length).is_some_and(|name| taken.contains(name))
        {
            length += STEP;
        }
        let handle = letters.get(..length).unwrap_or(&letters).to_owned();
        (handle, Some(letters).filter(|_| self.is_of_store))
    }

    /// The handle of a text that is cut for one request alone.
    pub(crate) fn name_once(&self, text: &str) -> String {
        let mut letters = self.key.letters(text);
        letters.truncate(UNCHECKED_LETTERS);
        letters
    }

    /// Whether a name is a handle of this text, of this version or an earlier one.
    pub(crate) fn is_name_of(&self, name: &str, text: &str) -> bool {
        if !Self::may_name(name) {
            return earlier_handle(text) == name;
        }
        self.key.letters(text).starts_with(name)
    }

    /// Whether a name looks like a handle of this version. Otherwise bodies need not be read.
    pub(crate) fn may_name(name: &str) -> bool {
        name.len() >= HANDLE_LETTERS && name.bytes().all(|byte| byte.is_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_grows_until_no_other_text_has_it() {
        let names = TextNames { key: HandleKey::PUBLIC, is_of_store: true };
        let (handle, letters) = names.name("text", &BTreeSet::new());
        let letters = letters.unwrap();
        assert_eq!(handle, letters[..12]);
        let taken: BTreeSet<String> = [12, 16, 20].map(|length| letters[..length].to_owned()).into();
        assert_eq!(names.name("text", &taken).0, letters[..24]);
        let all: BTreeSet<String> = (12..=48).map(|length| letters[..length].to_owned()).collect();
        assert_eq!(names.name("text", &all).0, letters);
        assert!(
            names.is_name_of(&letters[..12], "text") && names.is_name_of(&earlier_handle("text"), "text")
        );
        assert!(!names.is_name_of(&letters[..8], "text") && !names.is_name_of(&letters[..12], "other"));
    }

    #[test]
    fn without_the_key_of_the_store_names_are_long_and_of_this_process() {
        let names = TextNames { key: random_key(), is_of_store: false };
        let (handle, letters) = names.name("text", &BTreeSet::new());
        assert_eq!((handle.len(), letters), (16, None));
        assert_ne!(handle, TextNames { key: random_key(), is_of_store: false }.name_once("text"));
    }
}
