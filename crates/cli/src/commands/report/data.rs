//! The data of a report, as `report/data.js` of the page components declares them.
//!
//! [`ReportData`] is all that the page gets: numbers are decided here, its scripts only draw.

#[cfg(test)]
mod tests;

use secateur::{PartKind, Role};
use secateur_pages::{PageHead, REPORT};
use serde::Serialize;

/// Everything that the page shows. All sizes are in tokens.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ReportData {
    /// What the session is called; the page's heading.
    pub(crate) title: String,
    pub(crate) file: String,
    pub(crate) format: String,
    /// The version of the agent that wrote the session.
    pub(crate) agent_version: Option<String>,
    /// The last model that was used.
    pub(crate) model: Option<String>,
    /// The program that made the report: name and version.
    pub(crate) generator: String,
    pub(crate) profile: ReportProfile,
    pub(crate) totals: ReportTotals,
    /// The context by origin.
    pub(crate) categories: Vec<ReportCategory>,
    /// The context by tool.
    pub(crate) tools: Vec<ReportTool>,
    pub(crate) calls: Vec<ReportCall>,
    pub(crate) compactions: Vec<ReportCompaction>,
    /// Runs of parts that the plan treats alike, in order.
    pub(crate) zones: Vec<ReportZone>,
    pub(crate) messages: Vec<ReportMessage>,
    /// The parts, in order; a part's number is its place here.
    pub(crate) parts: Vec<ReportPart>,
    /// What could not be read.
    pub(crate) warnings: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ReportProfile {
    pub(crate) name: String,
    pub(crate) about: String,
}

/// The session in a few numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ReportTotals {
    pub(crate) messages: u64,
    pub(crate) parts: u64,
    pub(crate) tool_calls: u64,
    pub(crate) tool_results: u64,
    /// The context without pruning.
    pub(crate) before: u64,
    /// The context with the profile.
    pub(crate) after: u64,
    pub(crate) window: Option<u64>,
    /// The largest context that the provider reported.
    pub(crate) recorded_peak: Option<u64>,
}

/// The context of one origin.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportCategory {
    /// `system`, `user`, `user_meta`, `assistant`, `reasoning`, `tool_call`, `tool_result`, `summary` or `media`.
    pub(crate) name: String,
    /// Its size without pruning.
    pub(crate) before: u64,
    /// Its size with the profile.
    pub(crate) after: u64,
}

/// The context of one tool: its calls and its results.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportTool {
    pub(crate) name: String,
    /// The class that the profile puts it into.
    pub(crate) class: String,
    pub(crate) calls: u64,
    /// Its size without pruning.
    pub(crate) before: u64,
    /// Its size with the profile.
    pub(crate) after: u64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportCall {
    /// The message that the model responded with.
    pub(crate) message: u64,
    /// When, in milliseconds since 1970.
    pub(crate) time: Option<i64>,
    /// The context as the provider reported it.
    pub(crate) recorded: Option<u64>,
    /// How much of it came from the provider's cache.
    pub(crate) cached: Option<u64>,
    /// The context as estimated without pruning.
    pub(crate) estimated: u64,
    /// The context as estimated with the profile.
    pub(crate) pruned: u64,
    /// Whether the provider's cache had expired.
    pub(crate) cold: bool,
}

/// A place where the session was compacted.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportCompaction {
    /// The message that holds the summary.
    pub(crate) message: u64,
    /// The context before it.
    pub(crate) before: Option<u64>,
}

/// A run of parts that a plan treats alike.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportZone {
    /// Its name, such as `active`, `protected` or `prunable`.
    pub(crate) name: String,
    pub(crate) first_part: u64,
    /// Its last part, which belongs to it.
    pub(crate) last_part: u64,
    /// What it is, in a sentence.
    pub(crate) about: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportMessage {
    pub(crate) role: Role,
    /// When, in milliseconds since 1970.
    pub(crate) time: Option<i64>,
    /// Whether it is a summary of older history.
    pub(crate) summary: bool,
    /// Whether it is no longer in the context.
    pub(crate) gone: bool,
}

/// A part of a message, and what happens to it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportPart {
    /// The number of the message that it belongs to.
    pub(crate) message: u64,
    pub(crate) kind: PartKind,
    pub(crate) tool: Option<String>,
    /// What it is about: a path with lines, or a command.
    pub(crate) subject: Option<String>,
    /// How the tool call ended.
    pub(crate) status: Option<String>,
    /// Its size without pruning.
    pub(crate) size: u64,
    /// Its size with the profile.
    pub(crate) after: u64,
    pub(crate) verdict: PartVerdict,
    /// Why, as a clause without its full stop.
    pub(crate) reason: String,
    /// How it begins, in at most 400 characters.
    pub(crate) preview: String,
    /// Whether it is longer than the preview.
    pub(crate) clipped: bool,
}

/// What happens to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PartVerdict {
    /// A placeholder replaces it.
    Cut,
    /// Its middle is removed, its ends stay.
    Trimmed,
    /// It stays as it is.
    Kept,
    /// It has left the context already, behind a summary or an earlier cut.
    Gone,
}

impl ReportData {
    /// The page that shows the data, as one HTML document.
    pub(crate) fn page(&self) -> String {
        let ReportTotals { before, after, .. } = self.totals;
        let summary = format!(
            "Without pruning the context of this session has {before} tokens, with the profile {after}."
        );
        REPORT.render(&PageHead { title: &self.title, summary: &summary }, self)
    }
}
