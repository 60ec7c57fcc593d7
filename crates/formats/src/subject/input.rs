//! The members of an input that hold the subject of a call.
//!
//! The same member has many names: `file_path`, `filePath`, `path`. One set of members is enough for all tools, because
//! no tool uses one of the names for something else. Values stay raw until they are needed; the texts of an edit never
//! are.

use std::borrow::Cow;

use secateur::LineRange;
use serde::de::{IgnoredAny, MapAccess};

use super::{About, Subject, command, patch, path};
use crate::content;
use crate::json::fields::{self, Fields, OptionalRaw, Raw};
use crate::json::string;

/// How much of a text is decoded: two thousand characters take at most twelve bytes each.
const BEGINNING: usize = 32 * 1024;

/// The members of an input that matter.
#[derive(Clone, Copy, Default)]
pub(super) struct SubjectInput<'a> {
    path: Option<Raw<'a>>,
    paths: Option<Raw<'a>>,
    offset: Option<Raw<'a>>,
    limit: Option<Raw<'a>>,
    first: Option<Raw<'a>>,
    last: Option<Raw<'a>>,
    range: Option<Raw<'a>>,
    line: Option<Raw<'a>>,
    command: Option<Raw<'a>>,
    patch: Option<Raw<'a>>,
    directory: Option<Raw<'a>>,
}

impl<'a> Fields<'a> for SubjectInput<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let member = match key {
            "file_path" | "filePath" | "path" | "absolute_path" | "absolutePath" | "notebook_path"
            | "target_file" | "filename" | "fileName" | "file" | "relative_path" => &mut self.path,
            "files" | "paths" | "file_paths" | "filePaths" => &mut self.paths,
            "offset" => &mut self.offset,
            "limit" => &mut self.limit,
            "start_line" | "startLine" | "start" => &mut self.first,
            "end_line" | "endLine" | "end" => &mut self.last,
            "view_range" | "viewRange" | "line_range" => &mut self.range,
            "line_number" => &mut self.line,
            "command" | "cmd" | "commands" | "script" | "code" => &mut self.command,
            "input" | "patch" | "patchText" | "patch_text" => &mut self.patch,
            "workdir" | "working_directory" | "workingDirectory" | "cwd" | "directory" | "dir_path" => {
                &mut self.directory
            }
            _ => return map.next_value::<IgnoredAny>().map(drop),
        };
        let value: Raw<'a> = map.next_value()?;
        if !fields::is_null(value.text()) {
            *member = Some(value);
        }
        Ok(())
    }
}

impl SubjectInput<'_> {
    /// Whether an editor only shows a file.
    pub(super) fn is_view(&self) -> bool {
        self.command.is_some_and(|command| command.text() == "\"view\"")
    }

    /// The file or files that are shown.
    pub(super) fn read(&self, cwd: Option<&str>) -> About {
        if let Some(spelled) = self.path.string() {
            let (spelled, selected) = selector(&spelled);
            let lines = selected.unwrap_or_else(|| self.lines());
            return path::normal(spelled, cwd).map_or(About::Nothing, |path| About::File { path, lines });
        }
        let mut lines = LineRange::ALL;
        let mut paths = Vec::new();
        for entry in self.paths.elements() {
            let file = entry.object::<SubjectInput<'_>>();
            let spelled = file.map_or(Some(entry), |file| file.path).string();
            lines = file.map_or(LineRange::ALL, |file| file.lines());
            paths.extend(spelled.and_then(|spelled| path::normal(&spelled, cwd)));
        }
        About::files(paths, lines)
    }

    /// The file or files that are changed.
    pub(super) fn edited(&self, cwd: Option<&str>) -> About {
        if let Some(spelled) = self.path.string() {
            return About::files(path::normal(&spelled, cwd), LineRange::ALL);
        }
        if let Some(patch) = self.patch.or(self.command).if_string() {
            return patch::about(patch::escaped(patch.text()), cwd);
        }
        let Self { paths, .. } = *self;
        SubjectInput { paths, ..SubjectInput::default() }.read(cwd)
    }

    /// The command that is run.
    pub(super) fn ran(&self, cwd: Option<&str>) -> Subject {
        let directory = self.directory.string().and_then(|spelled| path::directory(&spelled, cwd));
        let cwd = directory.as_deref().or(cwd);
        let Some(raw) = self.command.or(self.patch) else { return command::judge("", cwd) };
        if raw.is_string() {
            return command::judge_raw(raw.text(), cwd);
        }
        let mut words = Vec::new();
        _ = fields::each(raw.text(), |word: Raw<'_>| {
            words.extend(word.is_string().then(|| beginning(word.text())));
        });
        command::judge_words(&words, cwd)
    }

    /// The requested lines. Invalid ranges mean all lines.
    fn lines(&self) -> LineRange {
        if let Some(range) = self.range {
            let mut ends = Vec::new();
            _ = fields::each(range.text(), |end: Raw<'_>| ends.extend(end.as_i64()));
            return match *ends {
                [first, last] => between(Some(first), Some(last)),
                _ => LineRange::ALL,
            };
        }
        if let Some(line) = self.line.integer() {
            return super::action::window(narrow(line));
        }
        if self.first.is_some() || self.last.is_some() {
            return between(self.first.integer(), self.last.integer());
        }
        let limit = self.limit.integer().filter(|&limit| limit > 0).map(narrow);
        match self.offset.integer() {
            Some(offset) if offset < 0 => LineRange::ending(narrow(offset.saturating_neg())),
            offset => LineRange::starting(offset.map_or(1, narrow), limit),
        }
    }
}

/// From one line to another; without an end, or with one that lies before the beginning, to the last.
fn between(first: Option<i64>, last: Option<i64>) -> LineRange {
    let first = first.map_or(1, narrow).max(1);
    let last = last.map(narrow).filter(|&last| last >= first);
    LineRange { first, last: last.unwrap_or(LineRange::END) }
}

/// A number of lines, at least zero.
fn narrow(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

/// Some agents write the lines behind the path: `src/a.rs:10-20`, `src/a.rs:10`.
fn selector(spelled: &str) -> (&str, Option<LineRange>) {
    let select = || {
        let (path, lines) = spelled.trim_end().rsplit_once(':')?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let first: u32 = first.parse().ok()?;
        let last = if last.is_empty() { LineRange::END } else { last.parse().ok()? };
        (!path.is_empty() && last >= first)
            .then_some((path, LineRange { first: first.max(1), last: last.max(1) }))
    };
    select().map_or((spelled, None), |(path, lines)| (path, Some(lines)))
}

/// Whether a raw string looks as if it held an object.
pub(super) fn holds_object(raw: &str) -> bool {
    content::trimmed_start(raw).starts_with('{')
}

/// The decoded beginning of a raw string; all of it unless it is very long.
pub(super) fn beginning(raw: &str) -> Cow<'_, str> {
    if raw.len() <= BEGINNING {
        return string::decode(raw);
    }
    let mut head = raw.get(..raw.floor_char_boundary(BEGINNING)).unwrap_or_default();
    // Escapes must not be split. The last backslash begins one unless another backslash escapes it.
    if let Some(at) = head.rfind('\\').filter(|at| at + 12 > head.len()) {
        let before = head.get(..at).unwrap_or_default();
        if before.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 0 {
            head = before;
        }
    }
    Cow::Owned(string::decode(&format!("{head}\"")).into_owned())
}
