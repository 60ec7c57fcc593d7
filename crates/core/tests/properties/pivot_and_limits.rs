//! What stays visible after a compaction, and when a conversation overflows.

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use secateur::{
    Comparison, Exhausted, Given, Limits, MessageFacts, MessageIx, Outline, OverflowRule, PivotRule,
    PivotStart, Reserve, Role, Tail, Term, Unfinished, Usage,
};

use crate::config;
use crate::outlines::{Message, build, messages};
use crate::policies::BUILTIN;

fn pivot_rule() -> impl Strategy<Value = PivotRule> {
    let start = select(vec![PivotStart::Marker, PivotStart::AfterMarker, PivotStart::Summary]);
    let tail = select(vec![Tail::Dropped, Tail::Kept]);
    let unfinished = select(vec![Unfinished::Pivots, Unfinished::Ignored]);
    (start, any::<bool>(), tail, unfinished).prop_map(|(start, failed_summary_counts, tail, unfinished)| {
        PivotRule { start, failed_summary_counts, tail, unfinished }
    })
}

/// Histories that consist of little but compactions, complete or not, with few ids between them.
fn compactions() -> impl Strategy<Value = Vec<Message>> {
    const IDS: [&str; 4] = ["m1", "m2", "m3", "m4"];
    let id = || prop::option::weighted(0.9, select(&IDS));
    let role = select(vec![Role::User, Role::User, Role::Assistant, Role::Assistant, Role::Tool]);
    let flag = |probability| prop::bool::weighted(probability);
    let flags = (flag(0.5), flag(0.8), flag(0.2), flag(0.6));
    let facts = (role, id(), id(), prop::option::of(select(&IDS)), flags);
    let message = facts.prop_map(|(role, id, parent, tail, (summary, finished, failed, marker))| Message {
        facts: MessageFacts {
            role,
            id,
            parent,
            summary: summary && role == Role::Assistant,
            finished,
            failed,
            marker,
            tail,
            ..MessageFacts::default()
        },
        parts: Vec::new(),
        report: None,
    });
    prop_oneof![1 => messages(), 3 => prop::collection::vec(message, 0..12)]
}

fn given() -> impl Strategy<Value = Given> {
    select(vec![Given::Never, Given::Present, Given::NonZero, Given::Positive])
}

/// A rule of a builtin profile, or any that a profile could hold.
fn overflow_rule() -> impl Strategy<Value = OverflowRule> {
    let builtin = (0..BUILTIN.len()).prop_map(|index| BUILTIN[index].overflow.clone());
    prop_oneof![1 => builtin, 3 => drawn_rule()]
}

fn drawn_rule() -> impl Strategy<Value = OverflowRule> {
    let every = vec![Term::Input, Term::Output, Term::CacheRead, Term::CacheWrite, Term::Reasoning];
    let terms = subsequence(every, 0..=5);
    let reserve = select(vec![Reserve::Nothing, Reserve::FromInput, Reserve::FromEither, Reserve::FromBoth]);
    let exhausted = select(vec![Exhausted::Compare, Exhausted::Zero, Exhausted::Overflow]);
    let comparison = select(vec![Comparison::MoreThan, Comparison::AtLeast]);
    let givens = (given(), given(), given(), given(), given());
    let reserved = (prop::option::of(tokens()), 0..=i64::MAX);
    (any::<bool>(), terms, givens, 1..=i64::MAX, reserve, reserved, exhausted, comparison, any::<bool>())
        .prop_map(
            |(auto, terms, givens, output_cap, reserve, reserved, exhausted, comparison, empty_fits)| {
                OverflowRule {
                    auto,
                    terms,
                    total: givens.0,
                    output_cap,
                    output_limit: givens.1,
                    input_limit: givens.2,
                    context_limit: givens.3,
                    reserve,
                    reserved: reserved.0,
                    reserved_limit: givens.4,
                    reserved_default: reserved.1,
                    exhausted,
                    comparison,
                    empty_fits,
                }
            },
        )
}

/// A number of tokens as a provider may report it, true or not.
fn tokens() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => 0..300_000i64,
        1 => -10..10i64,
        1 => any::<i64>(),
        1 => select(vec![i64::MIN, i64::MAX]),
    ]
}

fn limits() -> impl Strategy<Value = Limits> {
    (tokens(), prop::option::of(tokens()), prop::option::of(tokens()))
        .prop_map(|(context, input, output)| Limits { context, input, output })
}

fn usage() -> impl Strategy<Value = Usage> {
    (tokens(), tokens(), tokens(), tokens(), tokens(), prop::option::weighted(0.3, tokens())).prop_map(
        |(input, output, reasoning, cache_read, cache_write, total)| Usage {
            input,
            output,
            reasoning,
            cache_read,
            cache_write,
            total,
            ..Usage::default()
        },
    )
}

fn flat(ranges: Vec<Range<u32>>) -> Vec<u32> {
    ranges.into_iter().flatten().collect()
}

/// Which system's `filterCompacted` is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Filter {
    /// OpenCode of January 2026: the marker is taken.
    OpenCode,
    /// OpenCode of August 2026: failed summaries do not count, and a marker may name a tail that stays.
    OpenCodeWithTail,
    /// Qwery of February 2026: the marker is not taken.
    Qwery,
}

/// The walk of `filterCompacted`, newest message first, as a loop that takes one message after the other.
fn taken(outline: &Outline, filter: Filter) -> Vec<MessageIx> {
    let with_tail = filter == Filter::OpenCodeWithTail;
    let mut taken = Vec::new();
    let mut completed = Vec::new();
    let mut until = None;
    for message in outline.messages().rev() {
        let id = outline.id(message);
        let is_end =
            until.is_none() && is_marker(outline, message) && id.is_some() && completed.contains(&id);
        if is_end && filter == Filter::Qwery {
            break;
        }
        taken.push(message);
        if is_end {
            until = Some(outline.tail(message)).filter(|tail| with_tail && tail.is_some());
            if until.is_none() {
                break;
            }
        }
        if until == Some(id) {
            break;
        }
        let failed = with_tail && outline.is_failed(message);
        if is_summary(outline, message) && outline.is_finished(message) && !failed {
            completed.push(outline.parent(message));
        }
    }
    taken.reverse();
    taken
}

/// August's OpenCode moves the tail behind the summary.
fn reordered(outline: &Outline, taken: &[MessageIx]) -> Option<Vec<MessageIx>> {
    let has_tail = |message: &MessageIx| is_marker(outline, *message) && outline.tail(*message).is_some();
    let marker = taken.iter().rposition(has_tail)?;
    let tail = taken.iter().position(|&message| outline.id(message) == outline.tail(taken[marker]))?;
    let answers = |message: &MessageIx| {
        is_summary(outline, *message) && outline.parent(*message) == outline.id(taken[marker])
    };
    let summary = marker + 1 + taken[marker + 1..].iter().position(answers)?;
    (tail < marker).then(|| [&taken[marker..=summary], &taken[tail..marker], &taken[summary + 1..]].concat())
}

fn is_marker(outline: &Outline, message: MessageIx) -> bool {
    outline.role(message) == Role::User && outline.is_marker(message)
}

fn is_summary(outline: &Outline, message: MessageIx) -> bool {
    outline.role(message) == Role::Assistant && outline.is_summary(message)
}

proptest! {
    #![proptest_config(config())]

    /// The ranges lie within the outline and no message is in two of them; the newest is in one.
    #[test]
    fn visible_messages_are_seen_once(messages in compactions(), rule in pivot_rule()) {
        let outline = build(&messages);
        let count = outline.message_count() as u32;
        let ranges = rule.visible(&outline);
        prop_assert!(ranges.iter().all(|range| range.start <= range.end && range.end <= count), "{ranges:?}");
        let mut seen = flat(ranges);
        seen.sort_unstable();
        prop_assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
        prop_assert_eq!(seen.last().copied(), count.checked_sub(1));
    }

    /// Without a tail, what is visible is one stretch up to the newest message.
    #[test]
    fn without_a_tail_the_rest_is_one_stretch(messages in compactions(), rule in pivot_rule()) {
        let outline = build(&messages);
        let ranges = PivotRule { tail: Tail::Dropped, ..rule }.visible(&outline);
        prop_assert_eq!(ranges.len(), 1);
        prop_assert_eq!(ranges[0].end as usize, outline.message_count());
        if rule.start == PivotStart::Marker && ranges[0].start > 0 {
            prop_assert!(outline.is_marker(MessageIx(ranges[0].start)));
        }
    }

    #[test]
    fn opencode_and_qwery_pivot_as_they_shipped(messages in compactions()) {
        let outline = build(&messages);
        for (name, filter) in [
            ("opencode@2026-01", Filter::OpenCode),
            ("opencode@2026-08", Filter::OpenCodeWithTail),
            ("qwery@2026-02", Filter::Qwery),
        ] {
            let rule = BUILTIN.iter().find(|profile| profile.name == name).unwrap().pivot;
            let plain = taken(&outline, filter);
            let moved = reordered(&outline, &plain).filter(|_| filter == Filter::OpenCodeWithTail);
            let expected: Vec<u32> = moved.unwrap_or(plain).iter().map(|message| message.0).collect();
            prop_assert_eq!(flat(rule.visible(&outline)), expected, "{}", name);
        }
    }

    /// Any numbers can be judged, and the outcome says what it rests on.
    #[test]
    fn any_numbers_can_be_judged(rule in overflow_rule(), usage in usage(), limits in limits()) {
        let outcome = rule.judge(&usage, &limits);
        prop_assert_eq!(outcome.count, rule.count(&usage));
        prop_assert_eq!(outcome.usable, rule.usable(&limits));
        prop_assert!(!outcome.overflow || rule.auto && outcome.usable.is_some());
    }

    /// More of anything never turns an overflow into none. A total is either there or not: a provider that
    /// begins to report one may well count less.
    #[test]
    fn more_usage_never_fits_better(
        rule in overflow_rule(),
        usage in usage(),
        limits in limits(),
        more in prop::array::uniform6(0..=i64::MAX),
    ) {
        // Zero and less may count as not given, so that the terms are added up in its place.
        let usage = Usage { total: usage.total.map(|total| total.max(1)), ..usage };
        let total = usage.total.map(|total| total.saturating_add(more[5]));
        let larger = Usage {
            input: usage.input.saturating_add(more[0]),
            output: usage.output.saturating_add(more[1]),
            reasoning: usage.reasoning.saturating_add(more[2]),
            cache_read: usage.cache_read.saturating_add(more[3]),
            cache_write: usage.cache_write.saturating_add(more[4]),
            total,
            ..usage
        };
        prop_assert!(!rule.judge(&usage, &limits).overflow || rule.judge(&larger, &limits).overflow);
    }

    /// Under a rule that waits, nothing is hidden before a summary is complete.
    #[test]
    fn a_pivot_waits_for_its_summary(rule in pivot_rule(), messages in compactions()) {
        let rule = PivotRule { start: PivotStart::Marker, unfinished: Unfinished::Ignored, ..rule };
        let outline = build(&messages);
        let complete = outline.summaries().iter().any(|&summary| {
            outline.is_finished(summary) && (rule.failed_summary_counts || !outline.is_failed(summary))
        });
        if !complete {
            let all = 0..outline.message_count() as u32;
            prop_assert_eq!(rule.visible(&outline), [all]);
        }
    }
}
