//! The entries of a log and how they hang together.
//!
//! The model is given what lies on the way from the root to the last entry, and of that only what the last
//! compaction on that way kept. Which way that is, is known only at the end of the log.

use secateur::{MessageIx, Outline};

/// What an entry says about its parent.
#[derive(Clone, Copy, Debug)]
pub(super) enum PiLink<'a> {
    /// Nothing: it follows the entry before it.
    Previous,
    /// It has none.
    Root,
    /// The id of another entry.
    To(&'a str),
}

#[derive(Default)]
pub(super) struct PiTree {
    entries: Vec<PiEntry>,
    /// The entries by the literals of their ids.
    ids: crate::tables::Map<Box<str>, usize>,
    compactions: Vec<PiCompaction>,
}

struct PiEntry {
    parent: Option<usize>,
    /// The first message that came with this entry or behind it.
    next: MessageIx,
    message: Option<MessageIx>,
}

struct PiCompaction {
    entry: usize,
    /// From this entry on history is kept; none of it, if there is no such entry.
    kept: Option<usize>,
}

impl PiTree {
    /// Adds an entry and says which one it is; `next` is the next message that will be made.
    pub(super) fn push(&mut self, id: Option<&str>, link: PiLink<'_>, next: MessageIx) -> usize {
        let entry = self.entries.len();
        let previous = entry.checked_sub(1);
        let parent = match link {
            PiLink::Root => None,
            PiLink::Previous => previous,
            // A parent that nobody knows was on a line that could not be read.
            PiLink::To(id) => self.find(id).or(previous),
        };
        self.entries.push(PiEntry { parent, next, message: None });
        if let Some(id) = id {
            self.ids.insert(id.into(), entry);
        }
        entry
    }

    pub(super) fn set_message(&mut self, entry: usize, message: Option<MessageIx>) {
        if let Some(entry) = self.entries.get_mut(entry) {
            entry.message = message;
        }
    }

    /// The entry with this id.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// The first message that came with this entry or with one behind it.
    pub(super) fn message_from(&self, entry: usize) -> Option<MessageIx> {
        self.entries.get(entry).map(|entry| entry.next)
    }

    /// Says that an entry is a compaction that keeps what lies between `kept` and itself.
    pub(super) fn compact(&mut self, entry: usize, kept: Option<usize>) {
        self.compactions.push(PiCompaction { entry, kept });
    }

    /// Takes out of the context what lies on branches that were left, and what compactions did not keep.
    pub(super) fn retire(&self, outline: &mut Outline) {
        let active = self.active();
        let is_active = |entry: usize| active.get(entry).copied().unwrap_or_default();
        let Some(last) = outline.messages().next_back() else { return };
        let mut next = last;
        for (index, entry) in self.entries.iter().enumerate().rev() {
            match entry.message {
                Some(message) if is_active(index) => next = message,
                Some(message) => outline.retire(message, next),
                None => {}
            }
        }
        let mut done = 0;
        let mut summary = None;
        for compaction in self.compactions.iter().filter(|compaction| is_active(compaction.entry)) {
            let Some(at) = self.entries.get(compaction.entry).and_then(|entry| entry.message) else {
                continue;
            };
            // An earlier summary goes even if it was written within what is kept: the new one covers it.
            if let Some(earlier) = summary.replace(at) {
                outline.retire(earlier, at);
            }
            let kept = compaction.kept.unwrap_or(compaction.entry).min(compaction.entry);
            for entry in self.entries.get(done..kept).unwrap_or_default() {
                if let Some(message) = entry.message {
                    outline.retire(message, at);
                }
            }
            done = done.max(kept);
        }
    }

    /// Which entries lie on the way from the root to the last one. Parents stand before their children, so the way
    /// ends.
    fn active(&self) -> Vec<bool> {
        let mut active = vec![false; self.entries.len()];
        let mut at = self.entries.len().checked_sub(1);
        while let Some(index) = at {
            if let Some(active) = active.get_mut(index) {
                *active = true;
            }
            at = self.entries.get(index).and_then(|entry| entry.parent);
        }
        active
    }
}
