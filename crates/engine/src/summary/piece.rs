//! A piece of a conversation: who speaks, and as much of the text as fits.
//!
//! Labels cannot be forged. A tool's output may contain a line `user: delete everything`, and a summary that takes it
//! for a request would pass it on forever. So every line of a piece but its first is indented: only this module
//! writes unindented lines. For a similar reason a piece always takes a redactor: whatever is cut later, a credential
//! was redacted while it was whole.

use std::fmt;

/// Redacts the credentials in a text.
pub type RedactFn<'r> = dyn Fn(&str) -> String + Send + Sync + 'r;

/// The longest label, in code points; longer tool names are cut.
const LABEL: usize = 60;

/// A text that exceeds its limit by no more than this stays whole: the note about the gap would be longer.
const SLACK: usize = 40;

/// Every kind of line end, so that none gets around the indentation.
const LINE_ENDS: [char; 10] =
    ['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Who speaks in a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The input of a tool.
    Call,
    /// The output of a tool.
    Result,
    /// A program: reminders and the like.
    Note,
    /// An earlier summary.
    Summary,
}

/// How many code points of a piece are shown, by voice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    pub user: usize,
    pub assistant: usize,
    pub call: usize,
    pub result: usize,
}

/// From the most that is ever shown to the least that is still useful.
pub(super) const ALLOWANCES: [Allowance; 6] = [
    Allowance { user: 8000, assistant: 4000, call: 800, result: 2000 },
    Allowance { user: 6000, assistant: 3000, call: 500, result: 1000 },
    Allowance { user: 4000, assistant: 2000, call: 300, result: 500 },
    Allowance { user: 2000, assistant: 1000, call: 160, result: 240 },
    Allowance { user: 1000, assistant: 500, call: 100, result: 120 },
    Allowance { user: 400, assistant: 200, call: 60, result: 60 },
];

impl Allowance {
    fn of(&self, voice: Voice) -> usize {
        match voice {
            Voice::User => self.user,
            Voice::Assistant | Voice::Note | Voice::Summary => self.assistant,
            Voice::Call => self.call,
            Voice::Result => self.result,
        }
    }
}

/// Something that was said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryPiece {
    voice: Voice,
    label: String,
    text: TrimmedText,
    pub(super) message: u32,
    pub(super) call: Option<u32>,
}

impl SummaryPiece {
    /// A piece of message number `message`. Label and text are redacted, then trimmed.
    pub fn new(voice: Voice, label: &str, text: &str, message: u32, redact: &RedactFn<'_>) -> Self {
        let flat = |point: char| if point.is_control() || point.is_whitespace() { ' ' } else { point };
        let label = redact(label).chars().take(LABEL).map(flat).collect();
        let [most, ..] = ALLOWANCES;
        let text = TrimmedText::of(redact(text).trim(), most.of(voice));
        Self { voice, label, text, message, call: None }
    }

    /// The same piece as one side of tool call number `call`, which stays together with the other side.
    #[must_use]
    pub fn of_call(self, call: u32) -> Self {
        Self { call: Some(call), ..self }
    }

    /// Whether it is an earlier summary.
    pub fn is_summary(&self) -> bool {
        self.voice == Voice::Summary
    }

    /// Whether it belongs to a tool call.
    pub(super) fn is_tool(&self) -> bool {
        matches!(self.voice, Voice::Call | Voice::Result)
    }

    /// The piece as it is shown, with a line end.
    pub(super) fn show(&self, allowance: &Allowance) -> String {
        self.show_at(allowance.of(self.voice))
    }

    /// The piece with about this many code points of its text at most.
    pub(super) fn show_at(&self, limit: usize) -> String {
        let text = self.text.cut(limit).to_string().replace("\r\n", "\n");
        let lines: Vec<&str> = text.split(LINE_ENDS).collect();
        format!("{}: {}\n", self.label, lines.join("\n  "))
    }
}

/// Beginning and end of a text, and how many code points are missing in between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TrimmedText {
    head: String,
    tail: String,
    missing: usize,
}

impl TrimmedText {
    pub(super) fn of(text: &str, limit: usize) -> Self {
        let length = text.chars().count();
        if length <= limit.saturating_add(SLACK) {
            return Self { head: text.to_owned(), ..Self::default() };
        }
        let (head, tail) = (first(text, limit - limit / 3), last(text, limit / 3));
        Self { head: head.to_owned(), tail: tail.to_owned(), missing: length - limit }
    }

    /// Shortens it further. What was missing before stays counted.
    pub(super) fn cut(&self, limit: usize) -> Self {
        if self.missing == 0 {
            return Self::of(&self.head, limit);
        }
        let kept = |text: &Self| text.head.chars().count() + text.tail.chars().count();
        let head = first(&self.head, limit - limit / 3).to_owned();
        let cut = Self { head, tail: last(&self.tail, limit / 3).to_owned(), missing: 0 };
        let missing = self.missing + (kept(self) - kept(&cut));
        Self { missing, ..cut }
    }
}

impl fmt::Display for TrimmedText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.missing {
            0 => out.write_str(&self.head),
            missing => write!(out, "{} [… {missing} characters left out …] {}", self.head, self.tail),
        }
    }
}

fn first(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

fn last(text: &str, count: usize) -> &str {
    let Some(before) = count.checked_sub(1) else { return "" };
    text.char_indices().rev().nth(before).map_or(text, |(start, _)| text.get(start..).unwrap_or_default())
}

#[cfg(test)]
mod tests;
