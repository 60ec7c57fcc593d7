//! Where it is recorded what a request cost and saved.

use std::sync::Arc;

use secateur::Usage;

use super::Metrics;
use super::conversation_figures::ConversationFigures;
use super::recent::RecentByName;
use super::savings::{Savings, SentRequest};
use crate::outcome::{ExchangeReport, PromptEffect};

/// Where it is recorded what a request cost and saved.
#[derive(Clone, Default)]
pub(crate) struct Recorders {
    pub metrics: Arc<Metrics>,
    pub runs: Arc<RecentByName<Savings>>,
    pub conversations: Arc<RecentByName<ConversationFigures>>,
}

impl Recorders {
    /// With counters that others share.
    pub(crate) fn over(metrics: Arc<Metrics>) -> Self {
        Self { metrics, ..Self::default() }
    }

    /// Records a request that was answered, with the run of an agent that it belongs to, and what became of its prompt.
    pub(crate) fn record(
        &self,
        report: &ExchangeReport,
        run: Option<&str>,
        usage: Option<&Usage>,
        effect: Option<&PromptEffect>,
    ) {
        let &ExchangeReport { bytes_in, bytes_out, window, .. } = report;
        if let Some(miss) = effect.and_then(|effect| effect.miss) {
            self.metrics.cache_missed(miss);
        }
        if let Some(usage) = usage {
            self.metrics.usage(usage);
        }
        let whole = effect.map(|effect| effect.whole);
        let rewritten = effect.map_or(0, |effect| effect.rewritten);
        let summaries = effect.map_or(&[][..], |effect| &effect.summaries);
        let prices = report.prices.as_ref();
        let sent = SentRequest { bytes_in, bytes_out, usage, whole, rewritten, summaries, prices, window };
        let saved = Savings::of(sent);
        self.metrics.saved(saved.tokens_saved);
        if let Some(session) = &report.session {
            self.conversations.update(session, |figures| figures.add(report, usage, &saved));
        }
        if let Some(run) = run {
            self.runs.update(run, |savings| savings.add(&saved));
        }
    }
}
