//! Interned strings: tool names and ids, each stored once and referred to by number.
//!
//! An outline mentions the same tool names and ids again and again. A number of four bytes compares faster than a
//! string and keeps rows small. Names are never removed, because an outline only grows.

use foldhash::fast::RandomState;
use indexmap::IndexSet;

/// The number of an interned string, valid for the [`Names`] that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(u32);

impl Name {
    /// No name: a part without a tool, a message without a parent.
    pub const NONE: Name = Name(u32::MAX);

    /// Whether this is a name at all.
    pub fn is_some(self) -> bool {
        self != Name::NONE
    }

    /// The position of the name in its table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A table of strings, each stored once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Every part is looked up here, so the hash is a fast one. It has a random key, because names come from
    /// untrusted files.
    set: IndexSet<Box<str>, RandomState>,
}

impl Names {
    /// The number of `text`, which is added if it is new; [`Name::NONE`] once the table is full (four billion names).
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(index) = self.set.get_index_of(text) {
            return Name(index as u32);
        }
        if self.set.len() >= u32::MAX as usize {
            return Name::NONE;
        }
        let (index, _) = self.set.insert_full(text.into());
        Name(index as u32)
    }

    /// The number of `text`, if it was interned.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.set.get_index_of(text).map(|index| Name(index as u32))
    }

    /// The string behind `name`; `None` for [`Name::NONE`] and for names of another table.
    pub fn text(&self, name: Name) -> Option<&str> {
        self.set.get_index(name.index()).map(AsRef::as_ref)
    }

    /// The name at a position, in order of first mention.
    pub fn nth(&self, index: usize) -> Option<&str> {
        self.set.get_index(index).map(AsRef::as_ref)
    }

    /// How many different names there are.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Whether nothing was interned yet.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once_and_found_again() {
        let mut names = Names::default();
        let bash = names.intern("bash");
        assert_eq!(names.intern("bash"), bash);
        assert_eq!(names.find("read"), None);
        assert_eq!(names.text(bash), Some("bash"));
        assert_eq!(names.text(Name::NONE), None);
        assert_eq!(names.len(), 1);
    }
}
