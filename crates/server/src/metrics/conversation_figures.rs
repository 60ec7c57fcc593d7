//! One conversation in figures.

use std::time::{SystemTime, UNIX_EPOCH};

use secateur::Usage;
use serde::Serialize;
use utoipa::ToSchema;

use super::savings::Savings;
use crate::outcome::{ExchangeReport, Outcome};

/// A conversation in figures, since this proxy was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[schema(as = Figures)]
pub(crate) struct ConversationFigures {
    /// The session's id.
    pub session: String,
    /// The model of the last request.
    pub model: String,
    /// Its window in tokens; 0 if unknown.
    pub window: i64,
    /// Whether nothing is known about the window, so that its size is assumed.
    pub is_window_assumed: bool,
    /// Tokens of the last prompt, as the provider counted them; 0 if it did not.
    pub tokens: i64,
    /// What was done to the last request: `unchanged`, `replayed`, `pruned`, `compacted` or `passed-through`.
    #[schema(value_type = String)]
    pub outcome: Outcome,
    /// The last outcome that changed what is sent, `pruned` or `compacted`; empty if there was none.
    pub operation: &'static str,
    /// When its last request was answered, in milliseconds since 1970.
    pub time: i64,
    /// What was saved in it.
    #[serde(flatten)]
    pub savings: Savings,
}

impl ConversationFigures {
    /// Adds a request that was answered, and what it saved.
    pub(crate) fn add(&mut self, report: &ExchangeReport, usage: Option<&Usage>, saved: &Savings) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
        self.session = report.session.clone().unwrap_or_default();
        self.model.clone_from(&report.model);
        self.window = report.window;
        self.is_window_assumed = report.is_window_assumed;
        self.tokens = usage.map_or(self.tokens, Usage::context);
        self.outcome = report.outcome;
        if report.outcome.is_new_decision() {
            self.operation = report.outcome.as_str();
        }
        self.time = i64::try_from(now).unwrap_or(i64::MAX);
        self.savings.add(saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::savings::SentRequest;

    #[test]
    fn figures_have_the_last_outcome_and_the_sum_of_all_savings() {
        let report =
            |outcome| ExchangeReport { outcome, session: Some("s".to_owned()), ..ExchangeReport::default() };
        let saved = Savings::of(SentRequest { bytes_in: 100, bytes_out: 60, ..SentRequest::default() });
        let usage = Usage { input: 7, ..Usage::default() };
        let mut figures = ConversationFigures::default();
        figures.add(&report(Outcome::Pruned), Some(&usage), &saved);
        figures.add(&report(Outcome::Replayed), None, &saved);
        assert_eq!((figures.outcome, figures.operation), (Outcome::Replayed, "pruned"));
        assert_eq!((figures.tokens, figures.savings.requests, figures.savings.tokens_saved), (7, 2, 20));
    }
}
