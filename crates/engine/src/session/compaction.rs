//! What a session has in memory about the compaction that it is making.

use secateur::session::{Seq, Trigger};

use super::background::BackgroundSummary;
use super::summary_job::PreparedSummary;
use crate::hooks::MessageRange;

/// What a session has in memory about the compaction that it is making.
#[derive(Default)]
pub(crate) struct CompactionState {
    /// The summary that is ready to replace messages.
    pub prepared: Option<PreparedSummary>,
    /// The summary that is being made while the conversation goes on.
    pub background: Option<BackgroundSummary>,
    /// The end of a summary from the background is being stored.
    pub is_storing_end: bool,
    /// What the caller wants the summary to pay attention to.
    pub focus: Option<String>,
    /// What hooks want the summariser to know.
    pub hook_context: Vec<String>,
    pub scope: CompactionScope,
}

/// What a compaction is about, for hooks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompactionScope {
    pub trigger: Trigger,
    pub messages: MessageRange,
}

impl Default for CompactionScope {
    fn default() -> Self {
        Self { trigger: Trigger::Usage, messages: MessageRange::default() }
    }
}

/// The range of numbers from the first of these messages to the last.
pub(crate) fn span(seqs: &[Seq]) -> MessageRange {
    let (from, to) = (seqs.iter().min(), seqs.iter().max());
    MessageRange { from: from.copied().unwrap_or(0), to: to.map_or(0, |last| last + 1) }
}
