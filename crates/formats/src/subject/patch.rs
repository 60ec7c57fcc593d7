//! The files that a patch touches.
//!
//! Such a patch names each file on a line of its own between its hunks (`*** Update File: src/a.rs`). It arrives as the
//! text of a JSON string or inside a command, and it may be long; its headers are found without decoding the rest.

use std::borrow::Cow;

use secateur::LineRange;

use super::{About, path};
use crate::json::string;

/// The beginnings of lines that name a file.
const HEADERS: [&str; 4] = ["Update File: ", "Add File: ", "Delete File: ", "Move to: "];

/// The common beginning of those lines.
const MARK: &str = "*** ";

/// Whether there is a patch of this kind in the text, escaped or not.
pub(super) fn is_in(text: &str) -> bool {
    text.contains("*** Begin Patch")
}

/// The files, as the subject of a call.
pub(super) fn about<'a>(files: impl Iterator<Item = Cow<'a, str>>, cwd: Option<&str>) -> About {
    About::files(files.filter_map(|file| path::normal(&file, cwd)), LineRange::ALL)
}

/// The files of a patch that is spelled as a JSON string.
pub(super) fn escaped(raw: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let body = raw.strip_prefix('"').map_or(raw, |rest| rest.strip_suffix('"').unwrap_or(rest));
    marked(body).filter(|(before, _)| before.is_empty() || ends_in_break(before)).filter_map(|(_, behind)| {
        let rest = header(behind)?;
        // `\n` is a line break, but not behind a backslash that is itself escaped.
        let breaks = rest.match_indices("\\n").map(|(at, _)| at);
        let end = breaks.into_iter().find(|at| rest.get(..at + 2).is_some_and(ends_in_break));
        let path = rest.get(..end.unwrap_or(rest.len()))?.trim_end_matches("\\r");
        Some(match path.contains('\\') {
            true => Cow::Owned(string::decode(&format!("\"{path}\"")).into_owned()),
            false => Cow::Borrowed(path),
        })
    })
}

/// Whether escaped text ends in a line break.
fn ends_in_break(text: &str) -> bool {
    let Some(before) = text.strip_suffix("\\n") else { return false };
    before.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 0
}

/// The files of a patch in plain text.
pub(super) fn plain(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    marked(text).filter(|(before, _)| before.is_empty() || before.ends_with('\n')).filter_map(
        |(_, behind)| {
            let rest = header(behind)?;
            Some(Cow::Borrowed(rest.split('\n').next()?.trim_end()))
        },
    )
}

/// The text before and after each occurrence of the mark.
fn marked(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices(MARK).filter_map(|(at, mark)| Some((text.get(..at)?, text.get(at + mark.len()..)?)))
}

fn header(line: &str) -> Option<&str> {
    HEADERS.iter().find_map(|header| line.strip_prefix(header))
}
