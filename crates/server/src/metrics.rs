//! Counters of what passed through: for the end of `serve`, and for Prometheus.
//!
//! Every name begins with `secateur_`. Nothing of a conversation's content is in any of them, and the values of each
//! label are a short list that is known beforehand.

pub(crate) mod conversation_figures;
mod labels;
mod log_limit;
pub(crate) mod recent;
mod recorders;
pub(crate) mod savings;
mod snapshot;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use secateur::session::Event;
use secateur::{Reason, Usage};

use crate::outcome::{CacheMiss, CompactionOutcome, Denial, ExchangeReport, Outcome, PassReason};
use labels::{CUT_REASONS, OCCASIONS, UNRECORDED, cut_reason_label, occasion_label};
use log_limit::LogLimits;
pub(crate) use recorders::Recorders;
pub use snapshot::Snapshot;

/// Counters with one label.
type Labelled = Family<[(&'static str, &'static str); 1], Counter>;

/// Counters with two.
type TwiceLabelled = Family<[(&'static str, &'static str); 2], Counter>;

/// The counters. Each is exact, but several read at one moment need not add up.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Counter,
    denied: Labelled,
    log_limits: LogLimits,
    conversations: Labelled,
    passed_through: Labelled,
    responses: Labelled,
    conversation_bytes: Labelled,
    upstream_bytes: Counter,
    response_bytes: Counter,
    overflows: Counter,
    thinking_refusals: Counter,
    failures: Counter,
    open: Gauge<u64, AtomicU64>,
    store_ready: Gauge<u64, AtomicU64>,
    provisional: Gauge<u64, AtomicU64>,
    provisional_ends: Labelled,
    deleted_sessions: Counter,
    deleted_bytes: Counter,
    reports: Counter,
    tokens: Labelled,
    cuts: TwiceLabelled,
    cache_misses: Labelled,
    compactions: Labelled,
    breakers: Labelled,
    altered_bytes: Counter,
    planning: Histogram,
    waiting: Histogram,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("secateur");
        let seconds = || Histogram::new(exponential_buckets(0.0005, 4.0, 10));
        let (planning, waiting) = (seconds(), seconds());
        let help = "Time from a whole request to what is sent in its place";
        registry.register_with_unit("planning", help, Unit::Seconds, planning.clone());
        let help = "Time from sending a request to the head of the provider's response";
        registry.register_with_unit("waiting", help, Unit::Seconds, waiting.clone());
        let open = Gauge::default();
        registry.register("open_responses", "Responses that are being sent now", open.clone());
        let store_ready = Gauge::default();
        registry.register("store_ready", "Whether the store can be written: 1 or 0", store_ready.clone());
        let provisional = Gauge::default();
        let help = "Decisions in memory that the store could not take yet";
        registry.register("provisional_decisions", help, provisional.clone());
        let mut one = |name: &str, help: &str| {
            let counter = Counter::default();
            registry.register(name, help, counter.clone());
            counter
        };
        let requests = one("requests", "Requests that arrived");
        let upstream_bytes = one("upstream_bytes", "Bytes of bodies sent to providers");
        let response_bytes = one("response_bytes", "Bytes of bodies sent to clients");
        let overflows =
            one("hidden_overflows", "Overflows that the proxy solved, so that no client saw them");
        let thinking_refusals = one(
            "hidden_thinking_refusals",
            "Refusals of bound thinking that the proxy solved, so that no client saw them",
        );
        let failures = one("failures", "Requests that no provider answered");
        let reports = one("reports", "Responses with usage in them");
        let deleted_sessions = one("deleted_sessions", "Sessions that retention deleted");
        let deleted_bytes = one("deleted_bytes", "Bytes of the store that retention freed");
        let altered_bytes = one("altered_bytes", "Bytes changed outside of cut ranges; always 0");
        // All values exist from the beginning, at 0, so that what has not happened yet can be seen.
        let mut by =
            |name: &str, help: &str, label: &'static str, values: &mut dyn Iterator<Item = &'static str>| {
                let family = Labelled::default();
                for value in values {
                    drop(family.get_or_create(&[(label, value)]));
                }
                registry.register(name, help, family.clone());
                family
            };
        let help = "Tokens: fresh, cached and output as providers counted them; saved as estimated";
        let tokens = by("tokens", help, "kind", &mut ["fresh", "cached", "output", "saved"].into_iter());
        let help = "Decisions that the store could not take at once, by what became of them";
        let provisional_ends = by("provisional_ends", help, "end", &mut ["stored", "dropped"].into_iter());
        let help = "Prompts of which the provider had less than half in its cache, by reason";
        let misses = &mut CacheMiss::ALL.iter().map(|miss| miss.as_str());
        let cache_misses = by("cache_misses", help, "reason", misses);
        let help = "How often summarisers were paused after failures, and tried again";
        let breakers = by("breaker", help, "state", &mut ["opened", "closed"].into_iter());
        let help = "Bytes of requests with a conversation, before and after";
        let conversation_bytes =
            by("conversation_bytes", help, "stage", &mut ["received", "sent"].into_iter());
        let help = "Requests with a conversation, by what was done to them";
        let outcomes = &mut Outcome::ALL.iter().map(|outcome| outcome.as_str());
        let conversations = by("conversation_requests", help, "outcome", outcomes);
        let help = "Requests with a conversation that were not managed as usual, by reason";
        let reasons = &mut PassReason::ALL.iter().map(|reason| reason.as_str());
        let passed_through = by("passthroughs", help, "reason", reasons);
        let help = "Responses to requests with a conversation, by class of their status";
        let responses = by("responses", help, "status", &mut ["1xx", "2xx", "3xx", "4xx", "5xx"].into_iter());
        let denials = &mut Denial::ALL.iter().map(|denial| denial.as_str());
        let denied = by("denied", "Requests that were not let in, by reason", "reason", denials);
        let endings = &mut CompactionOutcome::ALL.iter().map(|ending| ending.as_str());
        let compactions = by("compactions", "Compactions by outcome", "outcome", endings);
        let cuts = TwiceLabelled::default();
        for occasion in OCCASIONS {
            for reason in CUT_REASONS.iter().chain([&UNRECORDED]) {
                drop(cuts.get_or_create(&[("occasion", occasion), ("reason", reason)]));
            }
        }
        registry.register("cuts", "Cuts that were made, by occasion and reason", cuts.clone());
        Self {
            store_ready,
            provisional,
            provisional_ends,
            deleted_sessions,
            deleted_bytes,
            denied,
            log_limits: LogLimits::default(),
            conversations,
            passed_through,
            responses,
            conversation_bytes,
            tokens,
            cuts,
            cache_misses,
            compactions,
            breakers,
            registry,
            requests,
            upstream_bytes,
            response_bytes,
            overflows,
            thinking_refusals,
            failures,
            open,
            reports,
            altered_bytes,
            planning,
            waiting,
        }
    }
}

impl Metrics {
    /// A request arrived.
    pub(crate) fn request(&self) {
        self.requests.inc();
    }

    /// A request was refused. The log says so, too.
    pub(crate) fn denied(&self, denial: Denial) {
        self.log_limits.denied(denial);
        self.denied.get_or_create(&[("reason", denial.as_str())]).inc();
    }

    /// There is no memory to read a request. It is counted when it is answered.
    pub(crate) fn busy(&self) {
        self.log_limits.busy();
    }

    /// A request with a conversation was answered with this status.
    pub(crate) fn conversation_answered(&self, report: &ExchangeReport, status: u16) {
        self.conversations.get_or_create(&[("outcome", report.outcome.as_str())]).inc();
        if let Some(reason) = report.reason {
            self.passed_through.get_or_create(&[("reason", reason.as_str())]).inc();
        }
        let class = match status {
            ..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        self.responses.get_or_create(&[("status", class)]).inc();
        self.conversation_bytes.get_or_create(&[("stage", "received")]).inc_by(report.bytes_in);
        self.conversation_bytes.get_or_create(&[("stage", "sent")]).inc_by(report.bytes_out);
    }

    /// A request was prepared. Takes its events out of the report, as each is counted once.
    pub(crate) fn prepared(&self, report: &mut ExchangeReport) {
        self.altered_bytes.inc_by(report.altered);
        self.count_events(&std::mem::take(&mut report.events));
    }

    /// Sets whether the store can be written.
    pub(crate) fn set_store_ready(&self, is_ready: bool) {
        self.store_ready.set(u64::from(is_ready));
    }

    /// Counts decisions in memory that the store could not take yet, in place of those that were counted before.
    pub(crate) fn recount_provisional(&self, before: u64, now: u64) {
        self.provisional.inc_by(now);
        self.provisional.dec_by(before);
    }

    /// Counts such decisions that were stored later, or dropped.
    pub(crate) fn count_provisional_ends(&self, stored: u64, dropped: u64) {
        for (end, count) in [("stored", stored), ("dropped", dropped)] {
            if count > 0 {
                self.provisional_ends.get_or_create(&[("end", end)]).inc_by(count);
            }
        }
    }

    /// Counts sessions that retention deleted, and the bytes that it freed.
    pub(crate) fn count_deleted(&self, sessions: u64, bytes: u64) {
        self.deleted_sessions.inc_by(sessions);
        self.deleted_bytes.inc_by(bytes);
    }

    /// Counts events of a conversation, whether they belong to a request or not.
    pub(crate) fn count_events(&self, events: &[Event]) {
        for event in events {
            let breaker = |state| {
                self.breakers.get_or_create(&[("state", state)]).inc();
            };
            match event {
                Event::Pruned { occasion, cuts, reasons, .. } => {
                    self.count_cuts(occasion_label(*occasion), *cuts, reasons);
                }
                Event::BreakerOpened { .. } => breaker("opened"),
                Event::BreakerClosed => breaker("closed"),
                _ => {}
            }
            if let Some(outcome) = CompactionOutcome::of_event(event) {
                self.compactions.get_or_create(&[("outcome", outcome.as_str())]).inc();
            }
        }
    }

    fn count_cuts(&self, occasion: &'static str, cuts: u32, reasons: &BTreeMap<Reason, u32>) {
        let add = |reason, cuts: u32| {
            self.cuts.get_or_create(&[("occasion", occasion), ("reason", reason)]).inc_by(u64::from(cuts));
        };
        reasons.iter().for_each(|(reason, cuts)| add(cut_reason_label(*reason), *cuts));
        // A process of an older version may have made them without recording why.
        add(UNRECORDED, reasons.values().fold(cuts, |left, counted| left.saturating_sub(*counted)));
    }

    /// How long it took to prepare a request.
    pub(crate) fn planned(&self, took: Duration) {
        self.planning.observe(took.as_secs_f64());
    }

    /// How long the head of a provider's response took.
    pub(crate) fn waited(&self, took: Duration) {
        self.waiting.observe(took.as_secs_f64());
    }

    /// A provider found less than half of a prompt in its cache.
    pub(crate) fn cache_missed(&self, miss: CacheMiss) {
        self.cache_misses.get_or_create(&[("reason", miss.as_str())]).inc();
    }

    /// Bytes were sent to a provider.
    pub(crate) fn sent_upstream(&self, bytes: u64) {
        self.upstream_bytes.inc_by(bytes);
    }

    /// The proxy solved a refusal that was about thinking.
    pub(crate) fn thinking_refused(&self) {
        self.thinking_refusals.inc();
    }

    /// The proxy solved an overflow.
    pub(crate) fn overflow(&self) {
        self.overflows.inc();
    }

    /// A provider did not answer.
    pub(crate) fn failure(&self) {
        self.failures.inc();
    }

    /// Tokens that were not sent because of cuts.
    pub(crate) fn saved(&self, tokens: u64) {
        self.tokens.get_or_create(&[("kind", "saved")]).inc_by(tokens);
    }

    /// A provider reported its usage.
    pub(crate) fn usage(&self, usage: &Usage) {
        let add = |kind: &'static str, tokens: i64| {
            self.tokens.get_or_create(&[("kind", kind)]).inc_by(u64::try_from(tokens).unwrap_or(0));
        };
        self.reports.inc();
        add("fresh", usage.input.saturating_add(usage.cache_write));
        add("cached", usage.cache_read);
        add("output", usage.output.saturating_add(usage.reasoning));
    }

    /// A response begins. It counts as open while the guard lives.
    pub(crate) fn open_response(self: &Arc<Self>) -> OpenResponse {
        self.open.inc();
        OpenResponse(Arc::clone(self))
    }

    /// All of them in the text format of Prometheus.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// A response that is being sent, counted as open while this lives.
#[derive(Debug)]
pub(crate) struct OpenResponse(Arc<Metrics>);

impl OpenResponse {
    /// Bytes of it were sent to the client.
    pub(crate) fn sent(&self, bytes: usize) {
        self.0.response_bytes.inc_by(bytes as u64);
    }
}

impl Drop for OpenResponse {
    fn drop(&mut self) {
        self.0.open.dec();
    }
}

#[cfg(test)]
mod tests;
