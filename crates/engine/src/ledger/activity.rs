//! What was done: files, commands, errors, and other uses of tools.

use secateur::LineRange;
use serde::{Deserialize, Serialize};

use super::bounded_list::{LedgerEntry, key, salted};
use super::call_status::CallStatus;
use super::clean_text::{cut, one_line, weight};

/// A file that was read or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FileActivity {
    /// The key of the whole path, of which only the end may be kept.
    pub(super) key: u64,
    pub(super) path: String,
    pub(super) reads: u32,
    pub(super) changes: u32,
    /// The lines that were read last, if not all.
    pub(super) lines: Option<(u32, u32)>,
}

impl FileActivity {
    /// The longest path that is kept whole.
    pub(super) const LONGEST: usize = 240;

    /// A line range as it is kept.
    pub(super) fn range(lines: LineRange) -> Option<(u32, u32)> {
        // The last lines of a file are counted from its end, whose number is unknown.
        let is_known = lines != LineRange::ALL && lines.first < LineRange::END / 2;
        is_known.then_some((lines.first, lines.last))
    }
}

impl LedgerEntry for FileActivity {
    const MOST: usize = 96;
    const WEIGHT: usize = 11_000;

    fn key(&self) -> Option<u64> {
        Some(self.key)
    }

    fn weight(&self) -> usize {
        weight(&self.path)
    }

    fn absorb(&mut self, later: Self) {
        self.reads = self.reads.saturating_add(later.reads);
        self.changes = self.changes.saturating_add(later.changes);
        if later.reads > 0 {
            self.lines = later.lines;
        }
    }

    fn worth(&self) -> u32 {
        u32::from(self.changes > 0)
    }
}

/// A command that was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CommandActivity {
    /// The key of the whole command, of which only the first line may be kept.
    pub(super) key: u64,
    pub(super) text: String,
    pub(super) runs: u32,
    /// The last known status.
    pub(super) outcome: CallStatus,
}

impl CommandActivity {
    /// The longest command that is kept whole.
    pub(super) const LONGEST: usize = 240;

    /// A command without a leading `cd`.
    fn stepped(command: &str) -> &str {
        let step = command.strip_prefix("cd ").and_then(|steps| steps.split_once("&&"));
        step.filter(|(folder, _)| !folder.contains([';', '|'])).map_or(command, |(_, rest)| rest).trim()
    }

    /// A command in one short line: most run in the project's folder, so an absolute path to it is left out, and of a
    /// script the first line is shown.
    pub(super) fn shown(command: &str) -> String {
        let first = command.lines().next().unwrap_or_default();
        let is_far = first.starts_with("cd /") || first.starts_with("cd \"/") || first.starts_with("cd ~");
        let first = one_line(if is_far { Self::stepped(first) } else { first });
        match command.trim_end().lines().count() {
            0 | 1 => cut(&first, Self::LONGEST),
            lines => format!("{} … (+{} lines)", cut(&first, Self::LONGEST - 24), lines - 1),
        }
    }

    /// What identifies a command: neither where it ran nor how much of its output was shown. Of a script only the
    /// first line counts, since scripts are rarely repeated exactly. Also returns whether a pipe hides the command's
    /// exit code.
    pub(super) fn essence(command: &str) -> (&str, bool) {
        let mut rest = Self::stepped(command.lines().next().unwrap_or_default());
        let mut is_masked = false;
        loop {
            let trimmed = rest.trim_end().trim_end_matches("2>&1").trim_end();
            let pipe = trimmed.rsplit_once('|').filter(|(_, last)| {
                let mut words = last.split_whitespace();
                matches!(words.next(), Some("tail" | "head" | "cat"))
                    && words.all(|word| word.bytes().all(is_plain))
            });
            match pipe {
                Some((before, _)) if !before.ends_with('|') && !before.trim().is_empty() => {
                    is_masked = true;
                    rest = before;
                }
                _ => return (trimmed, is_masked),
            }
        }
    }
}

/// What the options of such a program consist of.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'=')
}

impl LedgerEntry for CommandActivity {
    const MOST: usize = 32;
    const WEIGHT: usize = 6_000;

    fn key(&self) -> Option<u64> {
        Some(self.key)
    }

    fn weight(&self) -> usize {
        weight(&self.text)
    }

    fn absorb(&mut self, later: Self) {
        self.runs = self.runs.saturating_add(later.runs);
        self.text = later.text;
        if later.outcome != CallStatus::Unknown {
            self.outcome = later.outcome;
        }
    }
}

/// What was attempted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ToolAction {
    /// Running a command.
    #[default]
    Run,
    /// Changing a file.
    Change,
    /// Reading a file.
    Read,
    /// Using another tool.
    Use,
}

impl ToolAction {
    /// The key of an error: reading a file does not resolve a failed change of it.
    pub(super) fn key(self, subject: u64) -> u64 {
        let name = match self {
            Self::Run => "run",
            Self::Change => "change",
            Self::Read => "read",
            Self::Use => "use",
        };
        salted(subject, name)
    }
}

/// An error that was not resolved yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OpenError {
    /// The key of what must succeed, a [`ToolAction::key`].
    pub(super) key: u64,
    pub(super) deed: ToolAction,
    /// The command, path or tool.
    pub(super) subject: String,
    pub(super) outcome: CallStatus,
    /// The most informative lines of the result.
    pub(super) text: String,
}

impl OpenError {
    /// The longest text: eight lines of usual length.
    pub(super) const LONGEST: usize = 800;
}

impl LedgerEntry for OpenError {
    /// Of more open errors than this, one usually matters and the others follow from it.
    const MOST: usize = 8;
    const WEIGHT: usize = 6_000;

    fn key(&self) -> Option<u64> {
        Some(self.key)
    }

    fn weight(&self) -> usize {
        weight(&self.subject) + weight(&self.text)
    }

    fn absorb(&mut self, later: Self) {
        *self = later;
    }

    /// A file that could not be read was mostly looked for in the wrong place.
    fn worth(&self) -> u32 {
        u32::from(self.deed != ToolAction::Read)
    }
}

/// A page, a sub-agent or another tool, and what it was used for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct UseCount {
    pub(super) text: String,
    pub(super) times: u32,
}

impl UseCount {
    /// The longest text that is kept whole.
    pub(super) const LONGEST: usize = 200;

    /// Used once, for this.
    pub(super) fn once(text: String) -> Self {
        Self { text, times: 1 }
    }
}

impl LedgerEntry for UseCount {
    const MOST: usize = 12;
    const WEIGHT: usize = 2_000;

    fn key(&self) -> Option<u64> {
        Some(key(&self.text))
    }

    fn weight(&self) -> usize {
        weight(&self.text)
    }

    fn absorb(&mut self, later: Self) {
        self.times = self.times.saturating_add(later.times);
    }
}

/// A tool that has succeeded, which resolves its earlier errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ProvenTool(pub(super) u64);

impl LedgerEntry for ProvenTool {
    /// More tools than any agent has.
    const MOST: usize = 32;
    const WEIGHT: usize = 32 * super::bounded_list::OVERHEAD;

    fn key(&self) -> Option<u64> {
        Some(self.0)
    }

    fn weight(&self) -> usize {
        0
    }
}
