//! The material of a summary: a conversation as labelled pieces of plain text.
//!
//! ```text
//! user: make the test pass
//! assistant: I look at it first.
//! tool call bash: {"command":"cargo test"}
//! tool result (bash, failed): running 3 tests
//!   test sums ... FAILED
//! ```
//!
//! A summariser needs to know who said what, not how a provider spells it. Tools write most and matter least, so they
//! are trimmed harder than people. Thinking is left out: its results were said or done.

use std::collections::{HashMap, VecDeque};

use secateur::{Action, Name, Outline, PLACEHOLDER, PartIx, PartKind, Role, ToolStatus};
use secateur_formats::{Rendering, Transcript};

use super::piece::{RedactFn, SummaryPiece, Voice};

/// The pieces of a conversation, in order. Of results in `cuts`, and of those that were cut in the transcript, only
/// the placeholder is shown: a summary should not know more than the model did.
///
/// ```
/// use secateur::Measures;
/// use secateur_engine::summary::gather;
///
/// let request = br#"{"messages":[{"role":"user","content":"Hi"}]}"#;
/// let transcript = secateur_formats::read(request, &Measures::default())?;
/// assert_eq!(gather(&transcript, &[], &str::to_owned).len(), 1);
/// # Ok::<(), secateur_formats::ReadError>(())
/// ```
pub fn gather(
    transcript: &Transcript<'_>,
    cuts: &[Rendering<'_>],
    redact: &RedactFn<'_>,
) -> Vec<SummaryPiece> {
    let cuts = cuts.iter().filter(|cut| cut.action == Action::Clear);
    let cuts: HashMap<PartIx, &str> = cuts.map(|cut| (cut.part, cut.placeholder)).collect();
    let mut pairs = CallPairs::default();
    let outline = &transcript.outline;
    let piece = |part: PartIx| {
        let (voice, label) = describe(outline, part)?;
        let call = match voice {
            Voice::Call => Some(pairs.open(outline.call(part))),
            Voice::Result => pairs.close(outline.call(part)),
            Voice::User => pairs.give_up(),
            Voice::Assistant | Voice::Note | Voice::Summary => None,
        };
        let cut = cuts.get(&part).copied().or(outline.is_cut(part).then_some(PLACEHOLDER));
        let text = match cut {
            Some(cut) => transcript.placeholder(part, cut).into_owned(),
            None => text_of(transcript, part)?,
        };
        let piece = SummaryPiece::new(voice, &label, &text, outline.owner(part).0, redact);
        Some(match call {
            Some(call) => piece.of_call(call),
            None => piece,
        })
    };
    outline.parts().filter_map(piece).collect()
}

/// Who speaks in a part; none if a summary does not need it.
fn describe(outline: &Outline, part: PartIx) -> Option<(Voice, String)> {
    let message = outline.owner(part);
    let said = |voice, label: &str| Some((voice, label.to_owned()));
    let tool = outline.tool(part);
    match (outline.kind(part), outline.role(message)) {
        (PartKind::Call, _) => {
            Some((Voice::Call, format!("tool call {}", tool.unwrap_or("of an unknown tool"))))
        }
        (PartKind::Result, _) => {
            let state = match outline.status(part) {
                ToolStatus::Pending | ToolStatus::Running => Some("unfinished"),
                _ => outline.is_failure(part).then_some("failed"),
            };
            let notes: Vec<&str> = tool.into_iter().chain(state).collect();
            let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
            Some((Voice::Result, format!("tool result{notes}")))
        }
        // Instructions are not part of what happened; they stay where they are.
        (PartKind::Text | PartKind::Media, Role::System) => None,
        (PartKind::Text, _) if outline.is_summary_part(part) => said(Voice::Summary, "earlier summary"),
        (PartKind::Text, _) if outline.is_injected(part) => said(Voice::Note, "program"),
        (PartKind::Text | PartKind::Media, Role::User) => said(Voice::User, "user"),
        (PartKind::Text | PartKind::Media, Role::Assistant) => said(Voice::Assistant, "assistant"),
        (PartKind::Text | PartKind::Media, Role::Tool | Role::Other) => said(Voice::Note, "program"),
        (PartKind::Reasoning | PartKind::Signature | PartKind::Compaction | PartKind::Other, _) => None,
    }
}

/// The text of a part with a note on its media; none if there is nothing to show.
fn text_of(transcript: &Transcript<'_>, part: PartIx) -> Option<String> {
    let outline = &transcript.outline;
    let mut text = transcript.text_of(part).trim().to_owned();
    let kind = outline.kind(part);
    let media = if kind == PartKind::Media { outline.images(part).max(1) } else { outline.images(part) };
    if media > 0 {
        let gap = if text.is_empty() { "" } else { "\n" };
        // Media that are referred to by path or URL have no text to show.
        text = if kind == PartKind::Media { String::new() } else { text + gap };
        text += &format!("[{media} image or other file, not shown]");
    }
    match kind {
        _ if !text.is_empty() => Some(text),
        PartKind::Call => Some("(no input)".to_owned()),
        PartKind::Result => Some("(no output)".to_owned()),
        _ => None,
    }
}

/// Which result belongs to which call. Ids may be missing, and some agents reuse them.
#[derive(Default)]
struct CallPairs {
    count: u32,
    named: HashMap<Name, u32>,
    nameless: VecDeque<u32>,
}

impl CallPairs {
    fn open(&mut self, id: Name) -> u32 {
        self.count = self.count.saturating_add(1);
        if id.is_some() {
            self.named.insert(id, self.count);
        } else {
            self.nameless.push_back(self.count);
        }
        self.count
    }

    fn close(&mut self, id: Name) -> Option<u32> {
        if id.is_some() { self.named.remove(&id) } else { self.nameless.pop_front() }
    }

    /// A user message: a call without an id that has no result by now was interrupted.
    fn give_up(&mut self) -> Option<u32> {
        self.nameless.clear();
        None
    }
}

#[cfg(test)]
mod tests;
