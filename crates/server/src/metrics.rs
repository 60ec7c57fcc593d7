//! What passed through, counted: for the end of `serve`, and for whoever watches many of them.
//!
//! Every name begins with `secateur_`. Nothing of what was said is in any of them, and no label has more values than a
//! few that are known beforehand.

pub(crate) mod conversation_figures;
mod labels;
mod log_limit;
pub(crate) mod recent;
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
use secateur::session::{Event, Means};
use secateur::{Reason, Usage};

use crate::conversation::Note;
use labels::{CAUSES, DENIED, DID, OCCASIONS, OUTCOMES, REASONS, name, outcome, reason};
use log_limit::Complaints;
pub use snapshot::Snapshot;

/// One label and what it says.
type Label = [(&'static str, &'static str); 1];

/// Counters with a label.
type By = Family<Label, Counter>;

/// Counters with two.
type ByBoth = Family<[(&'static str, &'static str); 2], Counter>;

/// Counters, each for itself: what is read of them at one moment need not add up.
#[derive(Debug)]
pub(crate) struct Tally {
    registry: Registry,
    requests: Counter,
    denied: By,
    complaints: Complaints,
    talks: By,
    passed: By,
    answers: By,
    asked_bytes: By,
    sent_bytes: Counter,
    answered_bytes: Counter,
    overflows: Counter,
    failures: Counter,
    open: Gauge<u64, AtomicU64>,
    reports: Counter,
    tokens: By,
    cuts: ByBoth,
    misses: By,
    compactions: By,
    breakers: By,
    altered_bytes: Counter,
    planning: Histogram,
    waiting: Histogram,
}

impl Default for Tally {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("secateur");
        let seconds = || Histogram::new(exponential_buckets(0.0005, 4.0, 10));
        let (planning, waiting) = (seconds(), seconds());
        let long = "Time from a whole request to what is sent in its place";
        registry.register_with_unit("planning", long, Unit::Seconds, planning.clone());
        let long = "Time from sending a request to the head of the provider's answer";
        registry.register_with_unit("waiting", long, Unit::Seconds, waiting.clone());
        let open = Gauge::default();
        registry.register("open_answers", "Answers that are on their way now", open.clone());
        let mut one = |name: &str, help: &str| {
            let counter = Counter::default();
            registry.register(name, help, counter.clone());
            counter
        };
        let requests = one("requests", "Requests that came");
        let sent_bytes = one("upstream_bytes", "Bytes of bodies that went to providers");
        let answered_bytes = one("answer_bytes", "Bytes of bodies that went to clients");
        let overflows = one("hidden_overflows", "Refusals of a prompt as too long that no client saw");
        let failures = one("failures", "Requests that no provider answered");
        let reports = one("reports", "Answers that said how many tokens they took");
        let altered_bytes = one("altered_bytes", "Bytes that were changed outside of cuts; always 0");
        // All values are there from the beginning, at 0: what has not happened yet can be seen, too.
        let mut by = |name: &str, help: &str, label: &'static str, values: &[&'static str]| {
            let family = By::default();
            for value in values {
                drop(family.get_or_create(&[(label, value)]));
            }
            registry.register(name, help, family.clone());
            family
        };
        let long = "Tokens: fresh, cached and output as providers counted them; saved as estimated";
        let tokens = by("tokens", long, "kind", &["fresh", "cached", "output", "saved"]);
        let long = "Prompts of which the provider had less than half in its cache, by cause";
        let misses =
            by("cache_misses", long, "cause", &["first", "cut", "model", "client", "expired", "provider"]);
        let long = "How often summarisers were left alone after failures, and tried again";
        let breakers = by("breaker", long, "state", &["opened", "closed"]);
        let long = "Bytes of requests with a conversation, before and after";
        let asked_bytes = by("conversation_bytes", long, "stage", &["received", "sent"]);
        let long = "Requests with a conversation, by what was done to them";
        let talks = by("conversation_requests", long, "did", &DID);
        let long = "Requests with a conversation that were not managed, by cause";
        let passed = by("passthroughs", long, "cause", &CAUSES);
        let long = "Answers to requests with a conversation, by class of their status";
        let answers = by("answers", long, "status", &["1xx", "2xx", "3xx", "4xx", "5xx"]);
        let denied = by("denied", "Requests that were not let in, by reason", "reason", &DENIED);
        let compactions = by("compactions", "Compactions by outcome", "outcome", &OUTCOMES);
        let cuts = ByBoth::default();
        for (occasion, reason) in OCCASIONS.iter().flat_map(|one| REASONS.map(|other| (name(*one), other))) {
            drop(cuts.get_or_create(&[("occasion", occasion), ("reason", reason)]));
        }
        registry.register("cuts", "Cuts that were made, by occasion and reason", cuts.clone());
        Self {
            denied,
            complaints: Complaints::default(),
            talks,
            passed,
            answers,
            asked_bytes,
            tokens,
            cuts,
            misses,
            compactions,
            breakers,
            registry,
            requests,
            sent_bytes,
            answered_bytes,
            overflows,
            failures,
            open,
            reports,
            altered_bytes,
            planning,
            waiting,
        }
    }
}

impl Tally {
    pub(crate) fn request(&self) {
        self.requests.inc();
    }

    /// A request is refused. Whoever watches the log hears of it, too.
    pub(crate) fn denied(&self, reason: &'static str) {
        self.complaints.refused(reason);
        self.denied.get_or_create(&[("reason", reason)]).inc();
    }

    /// There is no room to read a request. It is counted when it is answered.
    pub(crate) fn busy(&self) {
        self.complaints.busy();
    }

    /// A request with a conversation was answered with this status.
    pub(crate) fn talked(&self, note: &Note, status: u16) {
        self.talks.get_or_create(&[("did", note.did)]).inc();
        if let Some(cause) = note.cause {
            let known = CAUSES.iter().find(|known| **known == cause).unwrap_or(&"other");
            self.passed.get_or_create(&[("cause", known)]).inc();
        }
        let class = match status {
            ..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        self.answers.get_or_create(&[("status", class)]).inc();
        self.asked_bytes.get_or_create(&[("stage", "received")]).inc_by(note.bytes_in);
        self.asked_bytes.get_or_create(&[("stage", "sent")]).inc_by(note.bytes_out);
    }

    /// What happened to a conversation on the way. Each event is counted once, so they are taken out.
    pub(crate) fn happened(&self, note: &mut Note) {
        self.altered_bytes.inc_by(note.altered);
        self.count(&std::mem::take(&mut note.happened));
    }

    /// What happened to a conversation, on the way of a request or apart from any.
    pub(crate) fn count(&self, events: &[Event]) {
        for event in events {
            let compaction = |outcome| {
                self.compactions.get_or_create(&[("outcome", outcome)]).inc();
            };
            let breaker = |state| {
                self.breakers.get_or_create(&[("state", state)]).inc();
            };
            match event {
                Event::Pruned { occasion, cuts, reasons, .. } => self.pruned(name(*occasion), *cuts, reasons),
                Event::CompactionCompleted { means: Means::Model, .. } => compaction("summary"),
                Event::CompactionCompleted { means: Means::Digest, .. } => compaction("digest"),
                Event::CompactionFailed { why, .. } | Event::CompactionRefused { why } => {
                    compaction(outcome(why));
                }
                Event::BreakerOpened { .. } => breaker("opened"),
                Event::BreakerClosed => breaker("closed"),
                _ => {}
            }
        }
    }

    fn pruned(&self, occasion: &'static str, cuts: u32, reasons: &BTreeMap<Reason, u32>) {
        let add = |reason, cuts: u32| {
            self.cuts.get_or_create(&[("occasion", occasion), ("reason", reason)]).inc_by(u64::from(cuts));
        };
        reasons.iter().for_each(|(why, cuts)| add(reason(*why), *cuts));
        // A process of an older version may have made them, and not said why.
        add("other", reasons.values().fold(cuts, |left, told| left.saturating_sub(*told)));
    }

    pub(crate) fn planned(&self, took: Duration) {
        self.planning.observe(took.as_secs_f64());
    }

    pub(crate) fn waited(&self, took: Duration) {
        self.waiting.observe(took.as_secs_f64());
    }

    pub(crate) fn missed(&self, cause: &'static str) {
        self.misses.get_or_create(&[("cause", cause)]).inc();
    }

    pub(crate) fn sent(&self, bytes: u64) {
        self.sent_bytes.inc_by(bytes);
    }

    pub(crate) fn answered(&self, bytes: usize) {
        self.answered_bytes.inc_by(bytes as u64);
    }

    pub(crate) fn overflow(&self) {
        self.overflows.inc();
    }

    pub(crate) fn failure(&self) {
        self.failures.inc();
    }

    pub(crate) fn saved(&self, tokens: u64) {
        self.tokens.get_or_create(&[("kind", "saved")]).inc_by(tokens);
    }

    pub(crate) fn usage(&self, usage: &Usage) {
        let add = |kind: &'static str, tokens: i64| {
            self.tokens.get_or_create(&[("kind", kind)]).inc_by(u64::try_from(tokens).unwrap_or(0));
        };
        self.reports.inc();
        add("fresh", usage.input.saturating_add(usage.cache_write));
        add("cached", usage.cache_read);
        add("output", usage.output.saturating_add(usage.reasoning));
    }

    pub(crate) fn open(self: &Arc<Self>) -> Open {
        self.open.inc();
        Open(Arc::clone(self))
    }

    /// All of them as Prometheus reads them.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // A string takes everything.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// An answer on its way, counted for as long as this lives.
#[derive(Debug)]
pub(crate) struct Open(Arc<Tally>);

impl Open {
    pub(crate) fn tally(&self) -> &Arc<Tally> {
        &self.0
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.dec();
    }
}

#[cfg(test)]
mod tests;
