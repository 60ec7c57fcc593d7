//! A census: what a session consists of, counted over its whole history.
//!
//! Everything in the history counts, also what was compacted or abandoned. For what is still in the context, see
//! [`Transcript::context`](crate::Transcript::context).

use std::collections::BTreeMap;

use secateur::{Category, Name, Outline, PartIx, PartKind, Role, ToolStatus, Unit};
use serde::Serialize;

use crate::format::Format;
use crate::tables::Set;

/// The counts of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Census {
    /// Texts of users and of the model, and tool results.
    pub messages: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool results.
    pub tool_results: u64,
    /// Results that name a call that does not exist.
    pub unpaired_results: u64,
    /// Calls without a result.
    pub unanswered_calls: u64,
    /// Results that report an error or a failed command.
    pub errors: u64,
    /// Images and other media.
    pub images: u64,
    /// Compactions.
    pub compactions: u64,
    /// Model calls whose usage was recorded.
    pub api_calls_with_usage: u64,
    /// The largest context that a provider reported.
    pub peak_context_tokens: u64,
    /// Input of all calls, cached or not.
    pub sum_input_tokens: u64,
    /// Output of all calls.
    pub sum_output_tokens: u64,
    /// Input read from the provider's cache.
    pub sum_cache_read: u64,
    /// Input written to the provider's cache.
    pub sum_cache_write: u64,
    /// Code points by category; only what occurs.
    pub chars: BTreeMap<&'static str, u64>,
}

impl Census {
    /// Counts an outline that was read from this format.
    pub fn of(outline: &Outline, format: Format) -> Self {
        let mut census = Self::default();
        census.count_parts(outline, format);
        census.count_pairs(outline, format);
        for call in outline.model_calls() {
            let positive = |tokens: i64| u64::try_from(tokens).unwrap_or(0);
            let (usage, context) = (call.usage, positive(call.usage.context()));
            census.api_calls_with_usage += 1;
            census.peak_context_tokens = census.peak_context_tokens.max(context);
            census.sum_input_tokens += context;
            census.sum_output_tokens += positive(usage.output);
            census.sum_cache_read += positive(usage.cache_read);
            census.sum_cache_write += positive(usage.cache_write);
        }
        if format == Format::TauBench {
            // A run is a plain list of chat messages, and its length is what users count.
            census.messages = outline.message_count() as u64;
        }
        census
    }

    fn count_parts(&mut self, outline: &Outline, format: Format) {
        let mut in_history = false;
        for part in outline.parts() {
            let (kind, category) = (outline.kind(part), outline.category(part));
            // Codex replaces its history by one record of many messages: they count as one, and so does the mark.
            let is_history = format == Format::Codex && category == Category::Summary;
            let is_message = match kind {
                PartKind::Text => category != Category::System && !(is_history && in_history),
                PartKind::Result => is_result(outline, part),
                PartKind::Compaction => format == Format::Codex,
                _ => false,
            };
            in_history = is_history;
            self.messages += u64::from(is_message);
            self.tool_calls += u64::from(kind == PartKind::Call);
            self.tool_results += u64::from(is_result(outline, part));
            self.compactions += u64::from(kind == PartKind::Compaction);
            self.errors += u64::from(kind == PartKind::Result && outline.is_failure(part));
            self.images += outline.images(part);
            let counts = matches!(kind, PartKind::Text | PartKind::Reasoning | PartKind::Call)
                || is_result(outline, part);
            if counts {
                *self.chars.entry(category.name()).or_default() += outline.size(part, Unit::CodePoints);
            }
        }
    }

    fn count_pairs(&mut self, outline: &Outline, format: Format) {
        let named = |part: PartIx| Some(outline.call(part)).filter(|id| id.is_some());
        let is_call = |&part: &PartIx| outline.kind(part) == PartKind::Call;
        let is_result = |&part: &PartIx| is_result(outline, part);
        let calls: Set<Name> = outline.parts().filter(is_call).filter_map(named).collect();
        let results: Set<Name> = outline.parts().filter(is_result).filter_map(named).collect();
        let orphans = outline.parts().filter(is_result).filter_map(named).filter(|id| !calls.contains(id));
        self.unpaired_results = orphans.count() as u64;
        self.unanswered_calls = calls.difference(&results).count() as u64;
        if format == Format::SweAgent && calls.is_empty() {
            // Actions are text in this format, and the next message is their result.
            let last = outline.messages().next_back();
            self.unanswered_calls = u64::from(last.is_some_and(|last| outline.role(last) == Role::Assistant));
        }
    }
}

/// Whether a part is a tool's result. Where one record holds call and result, the result of a running tool is not there
/// yet.
fn is_result(outline: &Outline, part: PartIx) -> bool {
    outline.kind(part) == PartKind::Result
        && !matches!(outline.status(part), ToolStatus::Pending | ToolStatus::Running)
}
