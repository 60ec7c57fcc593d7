//! What is counted where.

use secateur::Occasion;
use secateur::session::{CompactionFailure, Means};

use super::*;
use crate::outcome::PassReason;

#[test]
fn reasons_are_counted_and_a_response_is_open_only_while_it_is_sent() {
    let metrics = Arc::new(Metrics::default());
    metrics.conversation_answered(&ExchangeReport::passed_through(PassReason::Large, 0), 200);
    metrics.conversation_answered(&ExchangeReport::passed_through(PassReason::Store, 0), 529);
    let open = metrics.open_response();
    let snapshot = metrics.snapshot();
    assert_eq!(snapshot.conversation_requests, 2);
    assert_eq!(snapshot.passed_through, vec![("large", 1), ("store", 1)]);
    assert_eq!(snapshot.open, 1);
    drop(open);
    assert_eq!(metrics.snapshot().open, 0);
}

#[test]
fn events_are_counted_by_occasion_and_outcome() {
    let metrics = Metrics::default();
    let occasion = Occasion::Overflow;
    let reasons = BTreeMap::from([(Reason::Pressure, 4), (Reason::TooLong, 1)]);
    metrics.count_events(&[
        Event::Pruned { occasion, cuts: 7, reasons, before: 9, after: 1 },
        Event::CompactionFailed {
            task: 1,
            means: Means::Model,
            attempt: 1,
            why: CompactionFailure::Cancelled,
        },
        Event::BreakerOpened { failures: 3 },
    ]);
    let text = metrics.text();
    for line in [
        "secateur_cuts_total{occasion=\"overflow\",reason=\"pressure\"} 4",
        "secateur_cuts_total{occasion=\"overflow\",reason=\"too-long\"} 1",
        "secateur_cuts_total{occasion=\"overflow\",reason=\"other\"} 2",
        "secateur_cuts_total{occasion=\"turn-end\",reason=\"rent\"} 0",
        "secateur_compactions_total{outcome=\"cancelled\"} 1",
        "secateur_breaker_total{state=\"opened\"} 1",
        "secateur_altered_bytes_total 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
