//! The pivot: which messages are still sent after a compaction.
//!
//! A compaction leaves two messages: a *marker* that asked for it, and the *summary*. Once the summary is
//! complete, what came before is no longer sent. The systems differ in where the rest begins, in whether a
//! failed summary counts, and in whether recent turns from before the marker stay verbatim after the
//! summary. Nothing is deleted: a pivot is a view.
//!
//! The scan goes from the newest message back to the pivot and no further, so its cost does not depend on
//! the length of the session.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::names::Name;
use crate::outline::{MessageIx, Outline, Role};

/// The text of a marker.
pub const MARKER: &str = "What did we do so far?";

/// Where the visible history begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PivotStart {
    /// With the marker of the last completed compaction.
    Marker,
    /// After the marker of the last completed compaction.
    AfterMarker,
    /// With the last summary, finished or not.
    Summary,
}

/// What happens to recent turns from before the marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tail {
    /// They are dropped with the rest.
    Dropped,
    /// Those from the marker's tail on are kept, after the summary.
    Kept,
}

/// What an incomplete summary does to the tail that its marker names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unfinished {
    /// It hides what lies before the tail, like a complete one.
    Pivots,
    /// Nothing: a pivot moves only once its summary is complete.
    Ignored,
}

/// How a system pivots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PivotRule {
    /// Where the visible history begins.
    pub start: PivotStart,
    /// Whether a summary that ended in an error completes a compaction.
    pub failed_summary_counts: bool,
    /// Recent turns from before the marker.
    pub tail: Tail,
    /// With a tail: what an incomplete summary does.
    pub unfinished: Unfinished,
}

/// The usual view: a single range.
fn suffix(range: Range<u32>) -> Vec<Range<u32>> {
    std::iter::once(range).collect()
}

impl PivotRule {
    /// The messages that are sent, as ranges of message numbers, in the order in which the model sees them.
    pub fn visible(&self, outline: &Outline) -> Vec<Range<u32>> {
        let end = outline.message_count() as u32;
        if self.start == PivotStart::Summary {
            return suffix(outline.summaries().last().map_or(0, |message| message.0)..end);
        }
        let start = self.begin(outline);
        let reordered = match self.tail {
            Tail::Dropped => None,
            Tail::Kept => self.reorder(outline, start..end),
        };
        reordered.unwrap_or_else(|| suffix(start..end))
    }

    /// The oldest message that is still visible.
    fn begin(&self, outline: &Outline) -> u32 {
        let mut completed: Vec<Name> = Vec::new();
        let mut retained = Name::NONE;
        for message in outline.messages().rev() {
            let id = outline.id(message);
            if retained.is_some() {
                if id == retained {
                    return message.0;
                }
                continue;
            }
            if outline.role(message) == Role::User && outline.is_marker(message) && completed.contains(&id) {
                match (self.tail, outline.tail(message)) {
                    (Tail::Kept, tail) if tail.is_some() && tail != id => retained = tail,
                    _ if self.start == PivotStart::AfterMarker => return message.0 + 1,
                    _ => return message.0,
                }
            } else if self.completes(outline, message) {
                completed.push(outline.parent(message));
            }
        }
        0
    }

    /// Whether this message is a summary that completes the compaction of its parent.
    fn completes(&self, outline: &Outline, message: MessageIx) -> bool {
        outline.is_summary(message)
            && outline.is_finished(message)
            && outline.parent(message).is_some()
            && (self.failed_summary_counts || !outline.is_failed(message))
    }

    /// Marker and summary first, then the tail, then the rest. What lies before the tail is not visible.
    fn reorder(&self, outline: &Outline, visible: Range<u32>) -> Option<Vec<Range<u32>>> {
        let all = || visible.clone().map(MessageIx);
        let marker = all().rev().find(|&message| {
            outline.role(message) == Role::User
                && outline.is_marker(message)
                && outline.tail(message).is_some()
        })?;
        let tail = all().find(|&message| outline.id(message) == outline.tail(marker))?;
        let summary = all().find(|&message| {
            message > marker
                && outline.is_summary(message)
                && outline.parent(message) == outline.id(marker)
                && (self.unfinished == Unfinished::Pivots || self.completes(outline, message))
        })?;
        let rest = summary.0 + 1..visible.end;
        (tail < marker).then(|| vec![marker.0..summary.0 + 1, tail.0..marker.0, rest])
    }
}
