//! A list of what happened that stays small: the same thing is kept once, the newest last, old things give way.
//!
//! Everything that a ledger counts lives in such a list, so that no conversation, however long or hostile, makes it
//! larger than its bounds. A list is put in order when it has twice as many entries as it may keep, not with each
//! new one: that keeps the cost of an entry constant.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// What one entry takes as JSON besides its texts, at most.
pub(super) const OVERHEAD: usize = 112;

/// Something that is kept in such a list.
pub(super) trait LedgerEntry: Sized {
    /// How many are kept.
    const MOST: usize;
    /// What all of them may weigh together, [`OVERHEAD`] included.
    const WEIGHT: usize;
    /// Entries with the same key are one; without a key, each is its own.
    fn key(&self) -> Option<u64>;
    /// What its texts weigh.
    fn weight(&self) -> usize;
    /// Takes in a later entry of the same key.
    fn absorb(&mut self, later: Self);
    /// Entries worth less give way before older ones.
    fn worth(&self) -> u32 {
        0
    }
}

/// A bounded list, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct BoundedList<T> {
    entries: Vec<T>,
    /// How many gave way. One that came back and gave way again counts twice.
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

    /// The same list with every entry changed.
    pub(super) fn map(mut self, change: impl FnMut(T) -> T) -> Self {
        self.entries = self.entries.into_iter().map(change).collect();
        self
    }

    /// How many gave way.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether nothing was ever noted.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.dropped == 0
    }

    /// A list in a known state, whatever its bounds.
    #[cfg(test)]
    pub(super) fn made_of(entries: Vec<T>, dropped: u64) -> Self {
        Self { entries, dropped }
    }
}

impl<T: LedgerEntry> BoundedList<T> {
    /// Notes an entry as the newest.
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

    /// Forgets the entry with this key.
    pub(super) fn remove(&mut self, key: u64) {
        self.entries.retain(|entry| entry.key() != Some(key));
    }

    /// Notes all entries of a later list.
    pub(super) fn follow(&mut self, later: Self) {
        self.dropped = self.dropped.saturating_add(later.dropped);
        for entry in later.entries {
            self.note(entry);
        }
        self.settle();
    }

    /// Brings the list within its bounds. The least worth go first, of these the oldest.
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

/// The key of a text. It is kept with the ledger, so it must be the same on every machine and in every version: FNV-1a.
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
