//! What is counted as what.

use secateur::Occasion;
use secateur::session::CompactionFailure;

use super::*;

#[test]
fn an_unknown_cause_counts_as_another_and_an_open_answer_only_while_it_is() {
    let tally = Arc::new(Tally::default());
    let passed = |cause| Note { did: "passed", cause: Some(cause), ..Note::default() };
    tally.talked(&passed("large"), 200);
    tally.talked(&passed("never heard of"), 529);
    let open = tally.open();
    let snapshot = tally.snapshot();
    assert_eq!((snapshot.talks, snapshot.passed), (2, vec![("large", 1), ("other", 1)]));
    assert_eq!(snapshot.open, 1);
    drop(open);
    assert_eq!(tally.snapshot().open, 0);
}

#[test]
fn what_happened_is_told_by_occasion_and_outcome() {
    let tally = Tally::default();
    let occasion = Occasion::Overflow;
    let reasons = BTreeMap::from([(Reason::Pressure, 4), (Reason::TooLong, 1)]);
    let happened = vec![
        Event::Pruned { occasion, cuts: 7, reasons, before: 9, after: 1 },
        Event::CompactionFailed {
            task: 1,
            means: Means::Model,
            attempt: 1,
            why: CompactionFailure::Cancelled,
        },
        Event::BreakerOpened { failures: 3 },
    ];
    tally.happened(&mut Note { happened, ..Note::default() });
    let text = tally.text();
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
