//! Which lines of a file a tool showed.
//!
//! Whether a later read makes an earlier one superfluous depends on the lines of both. Files are not at hand when that
//! is asked, so their lengths are unknown: the end of a file is [`Lines::END`], and the last lines of a file are
//! counted back from there. A whole file then covers its own tail, a longer tail covers a shorter one, and no tail
//! claims to cover a line that is known by its number.

use serde::{Deserialize, Serialize};

/// A range of lines, counted from one; both ends belong to it.
///
/// ```
/// use secateur::Lines;
///
/// let page = Lines::starting(101, Some(50));
/// assert_eq!(page, Lines { first: 101, last: 150 });
/// assert!(Lines::ALL.covers(page) && !page.covers(Lines::ALL));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lines {
    /// The first line.
    pub first: u32,
    /// The last line; [`Lines::END`] if the range goes to the end of the file.
    pub last: u32,
}

impl Lines {
    /// The last line of any file.
    pub const END: u32 = u32::MAX;

    /// A whole file.
    pub const ALL: Lines = Lines { first: 1, last: Lines::END };

    /// So many lines from this one on, or all of them. There is no line 0; what begins there begins at line 1.
    pub fn starting(first: u32, count: Option<u32>) -> Self {
        let first = first.max(1);
        let last = count.map_or(Lines::END, |count| first.saturating_add(count.saturating_sub(1)));
        Self { first, last }
    }

    /// The last lines of a file of unknown length.
    pub fn ending(count: u32) -> Self {
        Self { first: (Lines::END - count).saturating_add(1).max(1), last: Lines::END }
    }

    /// Whether every line of `other` is among these.
    pub fn covers(self, other: Lines) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// The part of this range that somebody sees who is shown only `part` of it, counted from its beginning.
    pub fn within(self, part: Lines) -> Self {
        let at = |line: u32| self.first.saturating_add(line.saturating_sub(1));
        Self { first: at(part.first), last: at(part.last).min(self.last) }
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_covers_what_lies_inside_it() {
        let lines = |first, last| Lines { first, last };
        assert!(lines(10, 20).covers(lines(10, 20)));
        assert!(lines(10, 20).covers(lines(12, 13)));
        assert!(!lines(10, 20).covers(lines(9, 13)));
        assert!(!lines(10, 20).covers(lines(12, 21)));
        assert!(Lines::ALL.covers(Lines::ALL));
    }

    #[test]
    fn the_end_of_a_file_is_covered_by_the_file_and_by_a_longer_end() {
        assert!(Lines::ALL.covers(Lines::ending(50)));
        assert!(Lines::starting(200, None).covers(Lines::ending(50)));
        assert!(Lines::ending(50).covers(Lines::ending(20)));
        assert!(!Lines::ending(20).covers(Lines::ending(50)));
        assert!(!Lines::ending(1_000_000).covers(Lines::starting(1, Some(10))));
    }

    #[test]
    fn counts_beyond_all_files_are_harmless() {
        assert_eq!(Lines::starting(0, Some(0)), Lines { first: 1, last: 1 });
        assert_eq!(Lines::starting(5, Some(u32::MAX)), Lines { first: 5, last: Lines::END });
        assert_eq!(Lines::ending(u32::MAX), Lines::ALL);
        assert_eq!(Lines::ending(0), Lines { first: Lines::END, last: Lines::END });
    }

    #[test]
    fn a_part_of_a_range_is_counted_from_its_beginning() {
        let page = Lines::starting(101, Some(50));
        assert_eq!(page.within(Lines { first: 11, last: 20 }), Lines { first: 111, last: 120 });
        assert_eq!(page.within(Lines::ALL), page);
        assert_eq!(Lines::ALL.within(page), page);
    }
}
