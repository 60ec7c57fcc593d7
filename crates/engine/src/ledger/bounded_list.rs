//! A list that stays small: equal entries are kept once, the newest last, and old ones are dropped.
//!
//! Everything in a ledger is in such a list, so that no conversation, however long or hostile, exceeds its limits. A
//! list is trimmed when it has twice as many entries as it may keep, not with each new one: that keeps the cost of an
//! entry constant.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// The most bytes of JSON that an entry takes in addition to its texts.
pub(super) const OVERHEAD: usize = 112;

/// An entry of such a list.
pub(super) trait LedgerEntry: Sized {
    /// The most entries.
    const MOST: usize;
    /// The largest total weight, including [`OVERHEAD`].
    const WEIGHT: usize;
    /// Entries with the same key are one; without a key, each is distinct.
    fn key(&self) -> Option<u64>;
    /// The weight of its texts.
    fn weight(&self) -> usize;
    /// Merges a later entry with the same key.
    fn absorb(&mut self, _later: Self) {}
    /// Entries of lower worth are dropped before older ones.
    fn worth(&self) -> u32 {
        0
    }
}

/// A bounded list, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct BoundedList<T> {
    entries: Vec<T>,
    /// How many were dropped. An entry that returned and was dropped again counts twice.
    dropped: u64,
}

impl<T> Default for BoundedList<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), dropped: 0 }
    }
}

impl<T> BoundedList<T> {
    /// The entries, oldest first.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    /// Changes every entry.
    pub(super) fn map(mut self, change: impl FnMut(T) -> T) -> Self {
        self.entries = self.entries.into_iter().map(change).collect();
        self
    }

    /// How many were dropped.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether nothing was ever added.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.dropped == 0
    }

    /// A list in a known state, whatever its limits.
    #[cfg(test)]
    pub(super) fn made_of(entries: Vec<T>, dropped: u64) -> Self {
        Self { entries, dropped }
    }
}

impl<T: LedgerEntry> BoundedList<T> {
    /// Adds an entry as the newest.
    pub(super) fn note(&mut self, entry: T) {
        let place = entry.key().and_then(|key| self.entries.iter().rposition(|old| old.key() == Some(key)));
        let entry = match place {
            Some(place) => {
                let mut known = self.entries.remove(place);
                known.absorb(entry);
                known
            }
            None => entry,
        };
        self.entries.push(entry);
        if self.entries.len() > 2 * T::MOST {
            self.settle();
        }
    }

    /// Removes the entry with this key.
    pub(super) fn remove(&mut self, key: u64) {
        self.entries.retain(|entry| entry.key() != Some(key));
    }

    /// Adds all entries of a later list.
    pub(super) fn follow(&mut self, later: Self) {
        self.dropped = self.dropped.saturating_add(later.dropped);
        for entry in later.entries {
            self.note(entry);
        }
        self.settle();
    }

    /// Trims the list to its limits. Entries of lowest worth are dropped first, of these the oldest.
    pub(super) fn settle(&mut self) {
        let weights: Vec<usize> = self.entries.iter().map(|entry| entry.weight() + OVERHEAD).collect();
        let (mut count, mut total) = (self.entries.len(), weights.iter().sum::<usize>());
        if count > T::MOST || total > T::WEIGHT {
            let mut order: Vec<usize> = (0..count).collect();
            order.sort_by_key(|&at| self.entries.get(at).map_or(0, LedgerEntry::worth));
            let mut gone = HashSet::new();
            for at in order {
                if count <= T::MOST && total <= T::WEIGHT {
                    break;
                }
                count -= 1;
                total -= weights.get(at).copied().unwrap_or_default();
                gone.insert(at);
            }
            self.dropped = self.dropped.saturating_add(gone.len() as u64);
            let mut at = 0;
            self.entries.retain(|_| {
                at += 1;
                !gone.contains(&(at - 1))
            });
        }
        if self.entries.capacity() > 2 * self.entries.len() {
            self.entries.shrink_to_fit();
        }
    }
}

/// The key of a text. It is stored with the ledger, so it must be the same on every machine and in every version:
/// FNV-1a.
pub(super) fn key(text: &str) -> u64 {
    salted(0xcbf2_9ce4_8422_2325, text)
}

/// The key of a text within a group of keys.
pub(super) fn salted(salt: u64, text: &str) -> u64 {
    text.bytes().fold(salt, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Word(&'static str, u32);

    impl LedgerEntry for Word {
        const MOST: usize = 3;
        const WEIGHT: usize = 10 * OVERHEAD;
        fn key(&self) -> Option<u64> {
            Some(key(self.0))
        }
        fn weight(&self) -> usize {
            self.0.len()
        }
        fn absorb(&mut self, later: Self) {
            self.1 += later.1;
        }
        fn worth(&self) -> u32 {
            u32::from(self.0 == "dear")
        }
    }

    fn noted(words: &[&'static str]) -> BoundedList<Word> {
        let mut list = BoundedList::default();
        words.iter().for_each(|word| list.note(Word(word, 1)));
        list.settle();
        list
    }

    #[test]
    fn the_same_thing_is_kept_once_where_it_was_seen_last() {
        let list = noted(&["a", "b", "a"]);
        assert_eq!(list.entries, [Word("b", 1), Word("a", 2)]);
    }

    #[test]
    fn old_entries_give_way_but_dear_ones_last() {
        let list = noted(&["dear", "a", "b", "c", "d"]);
        assert_eq!(list.entries, [Word("dear", 1), Word("c", 1), Word("d", 1)]);
        assert_eq!(list.dropped(), 2);
    }

    #[test]
    fn a_list_that_follows_another_counts_on() {
        let mut list = noted(&["a", "b"]);
        list.follow(noted(&["a", "c"]));
        assert_eq!(list.entries, [Word("b", 1), Word("a", 2), Word("c", 1)]);
    }
}
