use super::{ReplacedHistory, SummaryCandidate, SummaryFlaw, check};
use crate::provider::Finish;
use crate::summary::TokenRuler;

fn against() -> ReplacedHistory<'static> {
    ReplacedHistory {
        tokens: 50_000,
        least_saving: 1_000,
        budget: 2_000,
        carried: &[],
        ruler: TokenRuler::new(4.0),
        credentials: &|_| 0,
    }
}

fn flaw(text: &str) -> Option<SummaryFlaw> {
    check(&SummaryCandidate { text, finish: Finish::Complete }, &against()).err()
}

const GOOD: &str = "## Done\nThe parser reads nested lists.\n\n## Next\nWrite the tests.";

#[test]
fn a_plain_summary_passes() {
    assert_eq!(flaw(GOOD), None);
}

#[test]
fn a_blank_summary_is_empty() {
    assert_eq!(flaw(""), Some(SummaryFlaw::Empty));
    assert_eq!(flaw(" \n\t\u{a0}"), Some(SummaryFlaw::Empty));
}

#[test]
fn an_answer_that_did_not_end_is_unfinished() {
    for finish in [Finish::Length, Finish::Filtered, Finish::Other] {
        let flaw = check(&SummaryCandidate { text: GOOD, finish }, &against()).unwrap_err();
        assert!(matches!(flaw, SummaryFlaw::Unfinished { .. }), "{flaw}");
    }
}

#[test]
fn the_budget_is_the_most() {
    // Words that differ, so that nothing looks like a loop.
    let words = |count: usize| (0..count).map(|number| format!("w{number:06}.")).collect::<String>();
    assert_eq!(flaw(&words(1_000)), None);
    let tokens = 2_002;
    assert_eq!(flaw(&words(1_001)), Some(SummaryFlaw::TooLong { tokens, budget: 2_000 }));
}

#[test]
fn a_summary_must_save_what_makes_it_worth_while() {
    let text = "abcd".repeat(25);
    let candidate = SummaryCandidate { text: &text, finish: Finish::Complete };
    let judge =
        |tokens, least_saving| check(&candidate, &ReplacedHistory { tokens, least_saving, ..against() });
    assert_eq!(judge(125, 100), Ok(()));
    assert_eq!(judge(124, 100), Err(SummaryFlaw::NoSaving { tokens: 25, replaced: 124, least_saving: 100 }));
    assert_eq!(judge(26, 0), Ok(()));
    assert!(judge(25, 0).is_err(), "a summary as large as what it replaces");
    assert!(judge(0, u64::MAX).is_err());
}

#[test]
fn a_credential_is_counted_and_never_shown() {
    let against = ReplacedHistory { credentials: &|text| text.matches("sk-").count(), ..against() };
    let candidate = SummaryCandidate { text: "The key is sk-abc, then sk-def.", finish: Finish::Complete };
    let flaw = check(&candidate, &against).unwrap_err();
    assert_eq!(flaw, SummaryFlaw::Credential { count: 2 });
    assert!(!flaw.to_string().contains("sk-"));
}

#[test]
fn carried_texts_survive_word_for_word_but_for_white_space() {
    let text = "## Preferences\nNever push\n  to main. Ask before deleting.";
    let candidate = SummaryCandidate { text, finish: Finish::Complete };
    let judge = |carried| check(&candidate, &ReplacedHistory { carried, ..against() });
    assert_eq!(judge(&["Never push to\nmain.", "Ask before deleting.", ""]), Ok(()));
    let lost = SummaryFlaw::Lost { lost: 2, carried: 3, first: 2 };
    assert_eq!(judge(&["Never push to main.", "never push", "main. Ask after"]), Err(lost));
}

#[test]
fn a_line_that_comes_a_hundred_times_is_a_runaway() {
    let line = |count: usize| {
        let rest: String = (0..200).map(|number| format!("step {number}\n")).collect();
        "- the same line\n".repeat(count) + &rest
    };
    assert_eq!(flaw(&line(99)), None);
    assert_eq!(flaw(&line(100)), Some(SummaryFlaw::Runaway { times: 100 }));
}

#[test]
fn a_text_that_ends_in_a_loop_is_a_runaway_without_any_line_end() {
    let loops = |stretch: &str, count| flaw(&format!("{GOOD} {}", stretch.repeat(count)));
    assert!(matches!(loops("and then ", 150), Some(SummaryFlaw::Runaway { .. })));
    assert!(matches!(loops("然後", 200), Some(SummaryFlaw::Runaway { .. })));
    assert!(matches!(loops("!", 1_500), Some(SummaryFlaw::Runaway { .. })));
    assert_eq!(loops("-", 80), None);
    assert_eq!(loops("and then ", 5), None);
}

#[test]
fn a_refusal_is_short_and_begins_like_one() {
    assert_eq!(flaw("I'm sorry, but I can't help with that."), Some(SummaryFlaw::Refusal));
    assert_eq!(flaw("I cannot summarise this conversation."), Some(SummaryFlaw::Refusal));
    assert_eq!(flaw("I cannot find a bug in it, the user said.\n## Next\nLook again."), None);
    assert_eq!(flaw("The assistant said: I cannot do this."), None);
}

#[test]
fn the_question_is_no_answer() {
    let echo = "You have no tools. ModelResponse with the record alone, as text; do not call tools or imitate calls.";
    assert_eq!(flaw(echo), Some(SummaryFlaw::Echo));
}

#[test]
fn a_flaw_is_data_with_numbers() {
    let flaw = SummaryFlaw::TooLong { tokens: 3, budget: 2 };
    let json = serde_json::to_string(&flaw).unwrap();
    assert_eq!(json, r#"{"flaw":"too-long","tokens":3,"budget":2}"#);
    assert_eq!(serde_json::from_str::<SummaryFlaw>(&json).unwrap(), flaw);
    assert_eq!(flaw.to_string(), "the summary has 3 tokens, 2 allowed");
}
