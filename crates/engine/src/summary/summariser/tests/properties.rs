//! What holds for any conversation and any model.

use proptest::prelude::*;

use secateur::Limits;

use super::super::call_budget::CallBudget;
use super::super::{CALLS, LEAST_BUDGET};
use super::{Outcome, Script, SummaryInput, answer, ended, run};
use crate::provider::{Finish, ModelError, ModelRequest};
use crate::summary::{SummaryPiece, TokenRuler, Voice};

const SECRETS: [&str; 3] = ["sk-live-0123456789", "ghp_abcdefghij", "пароль密碼\u{1f511}"];

fn redact(text: &str) -> String {
    SECRETS.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[redacted]"))
}

/// Any text, perhaps with a credential in it, perhaps long.
fn any_text() -> impl Strategy<Value = String> {
    let secret = prop::option::of(prop::sample::select(&SECRETS[..]));
    ("(\\PC|\n|漢|\u{20000}){0,8}", secret, 0usize..150).prop_map(|(text, secret, count)| {
        let text = text + secret.unwrap_or_default();
        text.repeat(count)
    })
}

fn any_pieces() -> impl Strategy<Value = Vec<SummaryPiece>> {
    let voices = [Voice::User, Voice::Assistant, Voice::Call, Voice::Result, Voice::Note];
    let piece = (prop::sample::select(voices.to_vec()), any_text(), any::<bool>(), prop::option::of(0u32..5));
    prop::collection::vec(piece, 1..25).prop_map(|raw| {
        let mut message = 0;
        let piece = |(voice, text, is_next, call): (Voice, String, bool, Option<u32>)| {
            message += u32::from(is_next);
            let piece = SummaryPiece::new(voice, &format!("label {text}"), &text, message, &redact);
            if let Some(call) = call { piece.of_call(call) } else { piece }
        };
        raw.into_iter().map(piece).collect()
    })
}

/// What a model does with one question.
fn any_outcome() -> impl Strategy<Value = Outcome> {
    let finish =
        prop::sample::select(vec![Finish::Complete, Finish::Length, Finish::Filtered, Finish::Other]);
    prop_oneof![
        6 => any_text().prop_map(|text| answer(&format!("x{text}"))),
        1 => (any_text(), finish).prop_map(|(text, finish)| ended(&text, finish)),
        2 => (prop::option::of(0u64..20_000), prop::option::of(0u64..20_000))
            .prop_map(|(tokens, limit)| Err(ModelError::Overflow { used: tokens, limit })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_provider_says_the_next_question_is_smaller(
        context in 0i64..1 << 40,
        budget in any::<u64>(),
        asked in 1u64..1 << 40,
        tokens in prop::option::of(prop_oneof![0u64..1 << 40, any::<u64>()]),
        limit in prop::option::of(prop_oneof![0u64..1 << 40, any::<u64>()]),
    ) {
        let limits = Limits { context, ..Limits::default() };
        let mut room = CallBudget::new(limits, budget);
        room.shrink(limits, asked, tokens, limit);
        prop_assert!(room.question < asked);
    }

    #[test]
    fn every_question_fits_none_holds_a_credential_and_there_is_an_end(
        pieces in any_pieces(),
        extra in prop::collection::vec(prop::option::of(any_text()), 4),
        carry in "\\PC{0,20}",
        window in prop_oneof![1_000i64..6_000, 0i64..40_000],
        budget in 0u64..2_000,
        ratio in 0.5f64..8.0,
        outcomes in prop::collection::vec(any_outcome(), 1..6),
    ) {
        let script = |number: usize, _: &ModelRequest<'_>| outcomes[number % outcomes.len()].clone();
        let model = Script::new(window, script);
        let job = SummaryInput {
            pieces: &pieces,
            previous: extra[0].as_deref(),
            focus: extra[1].as_deref(),
            context: extra[2].as_deref(),
            task: extra[3].as_deref(),
            carry: &[&carry],
            budget,
            chars_per_token: ratio,
            redact: &redact,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let outcome = runtime.block_on(run(&model, &job));

        let ruler = TokenRuler::new(ratio);
        let asked = model.asked();
        prop_assert!(asked.len() <= CALLS as usize);
        for asked in asked.iter() {
            let tokens = ruler.tokens(&asked.system) + ruler.tokens(&asked.text) + asked.max_tokens;
            prop_assert!(window == 0 || i64::try_from(tokens).unwrap() <= window);
            for secret in SECRETS {
                prop_assert!(!asked.system.contains(secret) && !asked.text.contains(secret));
            }
        }
        if let Ok(summary) = outcome {
            prop_assert!(!summary.text.trim().is_empty());
            prop_assert!(ruler.tokens(&summary.text) <= budget.max(LEAST_BUDGET));
            prop_assert!(SECRETS.iter().all(|secret| !summary.text.contains(secret)));
            prop_assert_eq!(summary.calls as usize, asked.len());
        }
    }
}
