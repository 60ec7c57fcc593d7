//! What was done: files, commands, errors, and everything else that a tool was used for.

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
    /// The lines that were read last, if they were not all.
    pub(super) lines: Option<(u32, u32)>,
}

impl FileActivity {
    /// The longest path that is kept whole.
    pub(super) const LONGEST: usize = 240;

    /// Lines as they are kept.
    pub(super) fn range(lines: LineRange) -> Option<(u32, u32)> {
        // The last lines of a file are counted back from its end, of which nobody knows the number.
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
    /// How it ended the last time that anything tells about.
    pub(super) outcome: CallStatus,
}

impl CommandActivity {
    /// The longest command that is kept whole.
    pub(super) const LONGEST: usize = 240;

    /// A command without the step into a folder before it.
    fn stepped(command: &str) -> &str {
        let step = command.strip_prefix("cd ").and_then(|steps| steps.split_once("&&"));
        step.filter(|(folder, _)| !folder.contains([';', '|'])).map_or(command, |(_, rest)| rest).trim()
    }

    /// A command in one line, and as short as is useful: nearly all are run in the folder of the project, so an absolute
    /// path to it is left out, and of a script the first line is shown.
    pub(super) fn shown(command: &str) -> String {
        let first = command.lines().next().unwrap_or_default();
        let is_far = first.starts_with("cd /") || first.starts_with("cd \"/") || first.starts_with("cd ~");
        let first = one_line(if is_far { Self::stepped(first) } else { first });
        match command.trim_end().lines().count() {
            0 | 1 => cut(&first, Self::LONGEST),
            lines => format!("{} … (+{} lines)", cut(&first, Self::LONGEST - 24), lines - 1),
        }
    }

    /// What makes a command the same as another: not where it was run, nor how much of its output was shown. Of a script
    /// only its first line counts, since none is run twice to the letter. Also whether another program than the
    /// command itself ended last.
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

/// What failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Action {
    /// Running a command.
    #[default]
    Run,
    /// Changing a file.
    Change,
    /// LedgerBuilder a file.
    Read,
    /// Using another tool.
    UseCount,
}

impl Action {
    /// The key of an error: a change of a file that failed is not made good by reading it.
    pub(super) fn key(self, subject: u64) -> u64 {
        let name = match self {
            Self::Run => "run",
            Self::Change => "change",
            Self::Read => "read",
            Self::UseCount => "use",
        };
        salted(subject, name)
    }
}

/// An error that nothing has made good yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OpenError {
    /// What would have to succeed, as a [`Action::key`].
    pub(super) key: u64,
    pub(super) deed: Action,
    /// The command, path or tool.
    pub(super) subject: String,
    pub(super) outcome: CallStatus,
    /// The telling lines of the answer.
    pub(super) text: String,
}

impl OpenError {
    /// The longest excerpt: eight lines of common length.
    pub(super) const LONGEST: usize = 800;
}

impl LedgerEntry for OpenError {
    /// Somebody with more open errors than this has one that matters and many that follow from it.
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
        u32::from(self.deed != Action::Read)
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

/// A tool that has worked, so that an earlier error of it counts as made good.
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

    fn absorb(&mut self, _later: Self) {}
}
