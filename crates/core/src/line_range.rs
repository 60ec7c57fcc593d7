//! Which lines of a file a tool showed.
//!
//! Whether a later read makes an earlier one superfluous depends on the lines of both. The length of the file is
//! unknown then: its end is [`LineRange::END`], and its last lines are counted back from there. So a whole file covers
//! its own tail, a longer tail covers a shorter one, and no tail covers a line that is given by its number.

use serde::{Deserialize, Serialize};

/// A range of lines, counted from one; both ends belong to it.
///
/// ```
/// use secateur::LineRange;
///
/// let page = LineRange::starting(101, Some(50));
/// assert_eq!(page, LineRange { first: 101, last: 150 });
/// assert!(LineRange::ALL.covers(page) && !page.covers(LineRange::ALL));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LineRange {
    /// The first line.
    pub first: u32,
    /// The last line; [`LineRange::END`] if the range goes to the end of the file.
    pub last: u32,
}

impl LineRange {
    /// The last line of any file.
    pub const END: u32 = u32::MAX;

    /// A whole file.
    pub const ALL: LineRange = LineRange { first: 1, last: LineRange::END };

    /// `count` lines from `first` on, or all of them. Line 0 is taken as line 1.
    pub fn starting(first: u32, count: Option<u32>) -> Self {
        let first = first.max(1);
        let last = count.map_or(LineRange::END, |count| first.saturating_add(count.saturating_sub(1)));
        Self { first, last }
    }

    /// The last lines of a file of unknown length.
    pub fn ending(count: u32) -> Self {
        Self { first: (LineRange::END - count).saturating_add(1).max(1), last: LineRange::END }
    }

    /// Whether every line of `other` is among these.
    pub fn covers(self, other: LineRange) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// The lines that `part` selects of this range, counted from its beginning.
    pub fn within(self, part: LineRange) -> Self {
        let at = |line: u32| self.first.saturating_add(line.saturating_sub(1));
        Self { first: at(part.first), last: at(part.last).min(self.last) }
    }
}

impl Default for LineRange {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_covers_what_lies_inside_it() {
        let lines = |first, last| LineRange { first, last };
        assert!(lines(10, 20).covers(lines(10, 20)));
        assert!(lines(10, 20).covers(lines(12, 13)));
        assert!(!lines(10, 20).covers(lines(9, 13)));
        assert!(!lines(10, 20).covers(lines(12, 21)));
        assert!(LineRange::ALL.covers(LineRange::ALL));
    }

    #[test]
    fn the_end_of_a_file_is_covered_by_the_file_and_by_a_longer_end() {
        assert!(LineRange::ALL.covers(LineRange::ending(50)));
        assert!(LineRange::starting(200, None).covers(LineRange::ending(50)));
        assert!(LineRange::ending(50).covers(LineRange::ending(20)));
        assert!(!LineRange::ending(20).covers(LineRange::ending(50)));
        assert!(!LineRange::ending(1_000_000).covers(LineRange::starting(1, Some(10))));
    }

    #[test]
    fn counts_beyond_all_files_are_harmless() {
        assert_eq!(LineRange::starting(0, Some(0)), LineRange { first: 1, last: 1 });
        assert_eq!(LineRange::starting(5, Some(u32::MAX)), LineRange { first: 5, last: LineRange::END });
        assert_eq!(LineRange::ending(u32::MAX), LineRange::ALL);
        assert_eq!(LineRange::ending(0), LineRange { first: LineRange::END, last: LineRange::END });
    }

    #[test]
    fn a_part_of_a_range_is_counted_from_its_beginning() {
        let page = LineRange::starting(101, Some(50));
        assert_eq!(page.within(LineRange { first: 11, last: 20 }), LineRange { first: 111, last: 120 });
        assert_eq!(page.within(LineRange::ALL), page);
        assert_eq!(LineRange::ALL.within(page), page);
    }
}
