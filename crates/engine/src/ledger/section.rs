//! A section of the record, fitted into its budget.
//!
//! A section is a heading and entries. If not all fit, the most important are shown and a line says how many are
//! missing. Whether an entry may be cut depends on what it is: half of a message is better than nothing, half of a
//! path is wrong.

use std::borrow::Cow;

use super::clean_text::{GAP, clean, one_line};

/// What happens to an entry that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlong {
    /// Its beginning is shown.
    Cut,
    /// It is left out.
    Omit,
}

/// Which end of a list matters most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListEnd {
    /// The first entry is dropped last.
    First,
    /// The last entry is dropped last.
    Last,
}

/// A section of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// The heading, without its `#`.
    pub(super) heading: &'static str,
    /// Entries of one or more whole lines.
    pub(super) entries: Vec<String>,
    /// Which of them are shown if not all fit.
    pub(super) dear: ListEnd,
    /// How many more there were.
    pub(super) dropped: u64,
    /// What happens to an entry that does not fit.
    pub(super) long: Overlong,
}

impl Section {
    /// No entry is cut to less than this: a few words say nothing.
    const SHORTEST: usize = 24;

    /// Long entries are not cut to less than this in favour of others.
    const STUB: usize = 160;

    /// The section in at most `room` bytes; empty if not even one entry fits.
    pub(super) fn fit(&self, room: usize) -> String {
        let opening = format!("\n## {}\n", self.heading);
        let Some(room) = room.checked_sub(opening.len()) else { return String::new() };
        let entries = self.evened(room);
        let mut rest = entries.iter();
        let mut next = || match self.dear {
            ListEnd::First => rest.next(),
            ListEnd::Last => rest.next_back(),
        };
        let mut shown: Vec<Cow<'_, str>> = Vec::new();
        let mut used = 0;
        while let Some(entry) = next() {
            let hidden = self.entries.len() - shown.len() - 1;
            let left = room.saturating_sub(used + self.more(hidden).len());
            if entry.len() <= left {
                used += entry.len();
                shown.push(Cow::Borrowed(&**entry));
                continue;
            }
            shown.extend(shorten(entry, left).filter(|_| self.long == Overlong::Cut).map(Cow::Owned));
            break;
        }
        let more = self.more(self.entries.len() - shown.len());
        if shown.is_empty() {
            return String::new();
        }
        if self.dear == ListEnd::Last {
            shown.reverse();
        }
        [opening, shown.concat(), more].concat()
    }

    /// The entries, with long ones cut if that makes space for more: one pasted page should not hide ten short
    /// requests.
    fn evened(&self, room: usize) -> Vec<Cow<'_, str>> {
        let whole = || self.entries.iter().map(|entry| Cow::Borrowed(&**entry));
        let evened = |most: usize| -> Vec<Cow<'_, str>> {
            let short = |entry| shorten(entry, most).map_or(Cow::Borrowed(entry), Cow::Owned);
            self.entries
                .iter()
                .map(|entry| if entry.len() > most { short(entry) } else { Cow::Borrowed(&**entry) })
                .collect()
        };
        let size = |entries: &[Cow<'_, str>]| entries.iter().map(|entry| entry.len()).sum::<usize>();
        let mut entries: Vec<_> = whole().collect();
        let mut most = room / 2;
        while self.long == Overlong::Cut
            && self.entries.len() > 1
            && size(&entries) > room
            && most >= Self::STUB
        {
            entries = evened(most);
            most /= 2;
        }
        entries
    }

    /// The line that says how many are not shown.
    fn more(&self, hidden: usize) -> String {
        match self.dropped.saturating_add(hidden as u64) {
            0 => String::new(),
            count => format!("{GAP} and {count} more\n"),
        }
    }
}

/// The beginning of an entry that is too long.
fn shorten(entry: &str, room: usize) -> Option<String> {
    let end = room.checked_sub(GAP.len() + 1).filter(|&end| end >= Section::SHORTEST)?;
    let kept = entry.get(..entry.floor_char_boundary(end))?;
    // A line with nothing but its mark is dropped.
    let kept =
        kept.rsplit_once('\n').filter(|(_, last)| "  > ".starts_with(last)).map_or(kept, |(whole, _)| whole);
    Some(format!("{kept}{GAP}\n"))
}

/// A text as quoted lines; the first may follow the mark of an entry. Every kind of line end begins a new quoted
/// line.
pub(super) fn quoted(text: &str, mark: &str) -> String {
    let mut lines = String::new();
    for (at, line) in clean(text).split('\n').enumerate() {
        lines.push_str(if at == 0 { mark } else { "  " });
        lines.push('>');
        if !line.trim().is_empty() {
            lines.push(' ');
            lines.push_str(line.trim_end());
        }
        lines.push('\n');
    }
    lines
}

/// An entry of one line.
pub(super) fn item(text: &str) -> String {
    format!("- {}\n", one_line(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(long: Overlong) -> Section {
        let entries = ["one", "two", "three"].map(item).to_vec();
        Section { heading: "Numbers", entries, dropped: 2, long, dear: ListEnd::Last }
    }

    #[test]
    fn the_newest_are_shown_and_the_others_counted() {
        insta::assert_snapshot!(section(Overlong::Omit).fit(42), @r"

        ## Numbers
        - two
        - three
        … and 3 more
        ");
        assert_eq!(section(Overlong::Omit).fit(20), "");
    }

    #[test]
    fn what_was_said_is_cut_rather_than_left_out() {
        let entries = vec![quoted("a request that is longer than the room for it", "- ")];
        let section =
            Section { heading: "Said", entries, dropped: 0, long: Overlong::Cut, dear: ListEnd::Last };
        assert_eq!(section.fit(40), "\n## Said\n- > a request that is longe…\n");
    }

    #[test]
    fn a_pasted_page_does_not_hide_short_requests() {
        let page = quoted(&"a line of a log\n".repeat(200), "- ");
        let entries = vec![item("one"), page.clone(), item("two"), page, item("three")];
        let section =
            Section { heading: "Said", entries, dropped: 0, long: Overlong::Cut, dear: ListEnd::Last };
        let text = section.fit(1_000);
        assert!(["- one\n", "- two\n", "- three\n"].iter().all(|line| text.contains(line)), "{text}");
        assert!(text.len() > 400 && text.len() <= 1_000, "{}", text.len());
    }

    #[test]
    fn no_line_of_a_quoted_text_is_unquoted() {
        let text = quoted("a\n## Heading\r\nb\u{2028}## c\n", "- ");
        assert!(text.lines().all(|line| line.starts_with("- >") || line.starts_with("  >")), "{text}");
    }
}
