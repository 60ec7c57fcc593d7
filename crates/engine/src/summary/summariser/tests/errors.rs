//! Models that refuse, break off, say too much or nothing.

use super::super::{CALLS, OVERFLOWS, SummaryError, SummaryInput};
use super::{Outcome, Script, answer, assert_fitting, conversation, ended, job, run, said};
use crate::provider::{Finish, ModelError, ModelRequest};
use crate::summary::TokenRuler;

#[tokio::test]
async fn reported_numbers_correct_the_estimate() {
    // The model counts two characters a token where four are assumed.
    let real = TokenRuler::new(2.0);
    let script = move |_: usize, question: &ModelRequest<'_>| {
        let tokens = real.tokens(question.system) + real.tokens(question.text);
        match tokens + question.max_tokens {
            ..=10_000 => answer("## Done\nAll."),
            _ => Err(ModelError::Overflow { used: Some(tokens), limit: Some(10_000) }),
        }
    };
    let pieces = conversation(40_000);
    let model = Script::new(10_000, script);
    let summary = run(&model, &job(&pieces)).await.unwrap();
    assert_eq!(summary.calls, summary.chunks + 1, "one refusal teaches the ratio");
    assert_eq!(summary.left_out, 0);
}

#[tokio::test]
async fn a_limit_that_is_smaller_than_the_window_replaces_it() {
    let script = |_: usize, question: &ModelRequest<'_>| {
        let tokens =
            TokenRuler::new(4.0).tokens(question.text) + TokenRuler::new(4.0).tokens(question.system);
        if tokens + question.max_tokens <= 8_000 {
            return answer("## Done\nAll.");
        }
        Err(ModelError::Overflow { used: Some(tokens + question.max_tokens), limit: Some(8_000) })
    };
    let pieces = conversation(40_000);
    // The window is unknown, and the answer that fits the assumed one would fill the real one.
    let model = Script::new(0, script);
    let summary = run(&model, &SummaryInput { budget: 6_000, ..job(&pieces) }).await.unwrap();
    assert!(summary.chunks > 1);
    assert!(summary.calls <= summary.chunks + 2, "{summary:?}");
}

#[tokio::test]
async fn without_numbers_each_refusal_halves_the_question() {
    let script = |number: usize, _: &ModelRequest<'_>| match number {
        0..3 => Err(ModelError::Overflow { used: None, limit: None }),
        _ => answer("## Done\nAll."),
    };
    let pieces = conversation(100_000);
    let model = Script::new(200_000, script);
    let summary = run(&model, &job(&pieces)).await.unwrap();
    let sizes: Vec<usize> = model.asked().iter().take(4).map(|asked| asked.text.len()).collect();
    assert!(sizes.windows(2).all(|pair| pair[1] * 10 < pair[0] * 6), "{sizes:?}");
    assert_eq!(summary.calls, summary.chunks + 3);
}

#[tokio::test]
async fn a_model_that_always_overflows_is_given_up() {
    for (tokens, limit) in
        [(None, None), (Some(1), Some(1_000_000)), (Some(u64::MAX), Some(1)), (Some(0), Some(0))]
    {
        let model =
            Script::new(200_000, |_, _: &ModelRequest<'_>| Err(ModelError::Overflow { used: tokens, limit }));
        for pieces in [conversation(20_000), vec![said("short", 0)]] {
            let before = model.asked().len();
            let error = run(&model, &job(&pieces)).await.unwrap_err();
            assert!(matches!(error, SummaryError::Overflow { attempts: 1..=5, .. }), "{error}");
            let asked = model.asked();
            let sizes: Vec<usize> = asked[before..].iter().map(|asked| asked.text.len()).collect();
            assert!(sizes.len() <= OVERFLOWS as usize + 1);
            assert!(sizes.windows(2).all(|pair| pair[1] < pair[0]), "each round makes progress: {sizes:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_is_asked_for_once_more_and_briefer() {
    let script = |number: usize, _: &ModelRequest<'_>| match number {
        0 => ended("## Done\nA lot and", Finish::Length),
        _ => answer("## Done\nA lot."),
    };
    let pieces = [said("hello", 0)];
    let model = Script::new(200_000, script);
    let summary = run(&model, &job(&pieces)).await.unwrap();
    assert_eq!((summary.text.as_str(), summary.calls), ("## Done\nA lot.", 2));
    assert!(model.asked()[0].text.contains("at most 180 words"));
    assert!(model.asked()[1].text.contains("at most 90 words"));
    assert!(model.asked()[1].text.contains("Be much briefer."));
    assert!(!model.asked()[1].text.contains("A lot and"));
}

#[tokio::test]
async fn a_model_that_always_answers_too_long_is_given_up() {
    let long = "a word ".repeat(1_000);
    for finish in [Finish::Length, Finish::Complete] {
        let model = Script::new(200_000, |_, _: &ModelRequest<'_>| ended(&long, finish));
        let pieces = conversation(10_000);
        let error = run(&model, &job(&pieces)).await.unwrap_err();
        match finish {
            Finish::Length => {
                insta::assert_snapshot!(error, @"the response of model scripted was cut off at its limit of 1624 tokens, even after a briefer one was requested; raise compaction.summary in the profile");
            }
            _ => {
                insta::assert_snapshot!(error, @"the summary has 1750 tokens, 300 allowed, even after a briefer one was requested");
            }
        }
        assert_eq!(model.asked().len(), 2);
    }
}

#[tokio::test]
async fn a_summary_that_is_a_little_too_long_is_shortened_in_the_end() {
    let pieces = conversation(40_000);
    let long = "a word ".repeat(200);
    let script = |_: usize, question: &ModelRequest<'_>| {
        answer(if question.text.contains("The record below is too long.") { "## Done\nAll." } else { &long })
    };
    let model = Script::new(8_000, script);
    let summary = run(&model, &job(&pieces)).await.unwrap();
    assert_eq!(summary.text, "## Done\nAll.");
    assert_eq!(summary.calls, summary.chunks + 1);
    assert!(!model.asked().last().unwrap().text.contains("[begin conversation"));

    let stubborn = Script::new(8_000, |_, _: &ModelRequest<'_>| answer(&long));
    let error = run(&stubborn, &job(&pieces)).await.unwrap_err();
    assert!(matches!(error, SummaryError::TooLong { tokens: 350, budget: 300 }), "{error}");
    assert_fitting(&model, TokenRuler::new(4.0));
}

#[tokio::test]
async fn the_worst_of_models_is_asked_no_more_often_than_promised() {
    // Each first attempt is cut, four of the second ones do not fit, the summary has to be shortened in the end.
    let long = "a word ".repeat(200);
    let script = |number: usize, question: &ModelRequest<'_>| match number {
        _ if !question.text.contains("Be much briefer.") => ended("cut", Finish::Length),
        _ if question.text.contains("The record below is too long.") => answer("## Done\nAll."),
        0..8 => Err(ModelError::Overflow { used: None, limit: None }),
        _ => answer(&long),
    };
    let pieces = conversation(100_000);
    let model = Script::new(60_000, script);
    let summary = run(&model, &job(&pieces)).await.unwrap();
    assert!(summary.chunks > 1);
    assert_eq!(summary.calls, 2 * (summary.chunks + OVERFLOWS + 1));
    assert!(summary.calls <= CALLS);
}

#[tokio::test]
async fn nothing_a_filter_and_a_failure_each_have_an_error() {
    let pieces = [said("hello", 0)];
    let outcome = async |outcome: Outcome| {
        let model = Script::new(200_000, |_, _: &ModelRequest<'_>| outcome.clone());
        let error = run(&model, &job(&pieces)).await.unwrap_err();
        assert_eq!(model.asked().len(), 1);
        error
    };
    assert!(matches!(outcome(answer(" \n ")).await, SummaryError::Empty { .. }));
    for finish in [Finish::Filtered, Finish::Other] {
        let error = outcome(ended("text", finish)).await;
        assert!(matches!(error, SummaryError::Unfinished { .. }), "{error}");
    }
    let error = outcome(Err(ModelError::CalledTool)).await;
    assert_eq!(error.to_string(), format!("model scripted gave no summary: {}", ModelError::CalledTool));
}
