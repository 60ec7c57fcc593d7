//! Rounds: the order of calls, and how responses are merged.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secateur_engine::hooks::{
    Hook, HookCall, HookError, HookMoment, HookOutcome, HookResponse, HooksVerdict, MAX_CONTEXT,
    MAX_CONTEXTS, MAX_CONTEXTS_TOTAL, MAX_ID, MAX_KEEP, MAX_PROMPT, MAX_VETO,
};

use super::{call, failure, list};

pub(crate) type Answer = fn() -> Result<HookResponse, HookError>;

/// A hook in Rust with a fixed response.
pub(crate) struct Fixed(pub(crate) &'static str, pub(crate) Answer);

#[async_trait]
impl Hook for Fixed {
    fn name(&self) -> &str {
        self.0
    }

    fn wants(&self, moment: HookMoment) -> bool {
        moment != HookMoment::Autocontinue
    }

    async fn call(&self, _: &HookCall) -> Result<HookResponse, HookError> {
        (self.1)()
    }
}

/// A hook in Rust that never responds.
struct Hangs;

#[async_trait]
impl Hook for Hangs {
    fn name(&self) -> &str {
        "hangs"
    }

    fn wants(&self, _: HookMoment) -> bool {
        true
    }

    fn time_limit(&self) -> Duration {
        Duration::from_millis(30)
    }

    async fn call(&self, _: &HookCall) -> Result<HookResponse, HookError> {
        std::future::pending().await
    }
}

async fn ask_all(moment: HookMoment, answers: &[(&'static str, Answer)]) -> HooksVerdict {
    list(answers.iter().map(|&(name, answer)| Arc::new(Fixed(name, answer)) as Arc<dyn Hook>))
        .ask(call(moment))
        .await
}

async fn ask_one(moment: HookMoment, answer: Answer) -> HooksVerdict {
    ask_all(moment, &[("one", answer)]).await
}

pub(crate) fn context(texts: &[&str]) -> HookResponse {
    HookResponse { context: texts.iter().map(|&text| text.to_owned()).collect(), ..HookResponse::default() }
}

#[tokio::test]
async fn no_hooks_give_an_empty_verdict() {
    assert_eq!(list([]).ask(call(HookMoment::BeforePrune)).await, HooksVerdict::default());
}

#[tokio::test]
async fn only_hooks_of_the_moment_are_called() {
    let hooks = list([Arc::new(Fixed("one", || panic!("asked"))) as Arc<dyn Hook>]);
    assert!(hooks.wants(HookMoment::BeforePrune) && !hooks.wants(HookMoment::Autocontinue));
    assert_eq!(hooks.ask(call(HookMoment::Autocontinue)).await, HooksVerdict::default());
}

#[tokio::test]
async fn contexts_add_up_in_order_and_the_last_prompt_wins() {
    let verdict = ask_all(
        HookMoment::SessionCompacting,
        &[
            ("one", || Ok(HookResponse { prompt: Some("first".to_owned()), ..context(&["a", " "]) })),
            ("two", || Ok(HookResponse { prompt: Some("second".to_owned()), ..context(&["b"]) })),
            ("blank", || {
                Ok(HookResponse {
                    prompt: Some(" \n".to_owned()),
                    veto: Some(String::new()),
                    ..context(&["a"])
                })
            }),
        ],
    )
    .await;
    assert_eq!(
        verdict.response,
        HookResponse { prompt: Some("second".to_owned()), ..context(&["a", "b", "a"]) }
    );
    let answered = HookOutcome::Answered { curtailed: 0 };
    assert!(verdict.asked.iter().all(|asked| asked.outcome == answered), "{verdict:?}");
}

#[tokio::test]
async fn the_first_veto_ends_the_round() {
    let verdict = ask_all(
        HookMoment::BeforeCompaction,
        &[
            ("notes", || Ok(context(&["a"]))),
            ("no", || Ok(HookResponse { veto: Some("one\u{7}".to_owned()), ..HookResponse::default() })),
            ("later", || panic!("asked")),
        ],
    )
    .await;
    assert_eq!(verdict.response, HookResponse { veto: Some("one".to_owned()), ..context(&["a"]) });
    assert_eq!(verdict.vetoed_by(), Some("no"));
    assert_eq!(verdict.asked.len(), 2);
}

#[tokio::test]
async fn a_panic_is_a_failure_and_the_round_goes_on() {
    let verdict = ask_all(
        HookMoment::BeforeCompaction,
        &[("bad", || panic!("with contents")), ("good", || Ok(context(&["a"])))],
    )
    .await;
    assert_eq!(verdict.asked[0].outcome, HookOutcome::Failed { why: "the hook panicked".to_owned() });
    assert_eq!(verdict.response, context(&["a"]));
}

#[tokio::test]
async fn an_error_of_ones_own_is_a_failure_without_its_message() {
    let verdict = ask_one(HookMoment::BeforePrune, || Err(HookError::own("with contents"))).await;
    assert_eq!(failure(&verdict), "the hook failed");
}

#[tokio::test]
async fn a_hook_in_rust_that_hangs_is_given_up() {
    let verdict = list([Arc::new(Hangs) as Arc<dyn Hook>]).ask(call(HookMoment::Autocontinue)).await;
    assert_eq!(failure(&verdict), "no response within 30 ms");
}

#[tokio::test]
async fn control_characters_go_and_line_breaks_stay() {
    let verdict = ask_one(HookMoment::SessionCompacting, || {
        let text = "a\u{1b}[31m\tb\r\nc\u{0}\u{7f}\u{85}ü🦀";
        Ok(HookResponse { prompt: Some(text.to_owned()), ..context(&[text]) })
    })
    .await;
    assert_eq!(verdict.response.context, ["a[31m\tb\ncü🦀"]);
    assert_eq!(verdict.response.prompt.as_deref(), Some("a[31m\tb\ncü🦀"));
}

#[tokio::test]
async fn long_texts_are_cut_and_what_must_be_whole_is_left_off() {
    let verdict = ask_one(HookMoment::SessionCompacting, || {
        Ok(HookResponse {
            prompt: Some("p".repeat(MAX_PROMPT + 1)),
            ..context(&[&"ü".repeat(MAX_CONTEXT + 1), "b"])
        })
    })
    .await;
    assert_eq!(verdict.response, context(&[&"ü".repeat(MAX_CONTEXT), "b"]));
    assert_eq!(verdict.asked[0].outcome, HookOutcome::Answered { curtailed: 2 });

    let verdict = ask_one(HookMoment::SessionCompacting, || {
        Ok(HookResponse {
            prompt: Some("ü".repeat(MAX_PROMPT)),
            veto: Some("v".repeat(MAX_VETO + 1)),
            ..HookResponse::default()
        })
    })
    .await;
    assert_eq!(verdict.response.prompt, Some("ü".repeat(MAX_PROMPT)));
    assert_eq!(verdict.response.veto, Some("v".repeat(MAX_VETO)));

    let verdict = ask_one(HookMoment::BeforePrune, || {
        Ok(HookResponse { keep: vec!["k".repeat(MAX_ID + 1), "k".repeat(MAX_ID)], ..HookResponse::default() })
    })
    .await;
    assert_eq!(verdict.response.keep, ["k".repeat(MAX_ID)]);
    assert_eq!(verdict.asked[0].outcome, HookOutcome::Answered { curtailed: 1 });
}

#[tokio::test]
async fn a_round_is_bounded_for_all_hooks() {
    let many =
        || Ok(HookResponse { context: vec!["x".to_owned(); MAX_CONTEXTS - 1], ..HookResponse::default() });
    let verdict = ask_all(HookMoment::BeforeCompaction, &[("one", many), ("two", many)]).await;
    assert_eq!(verdict.response.context.len(), MAX_CONTEXTS);
    assert_eq!(verdict.asked[1].outcome, HookOutcome::Answered { curtailed: MAX_CONTEXTS - 2 });

    let long =
        || Ok(HookResponse { context: vec!["ü".repeat(MAX_CONTEXT - 1); 3], ..HookResponse::default() });
    let verdict = ask_all(HookMoment::BeforeCompaction, &[("one", long), ("two", long)]).await;
    let lengths: Vec<_> = verdict.response.context.iter().map(|text| text.chars().count()).collect();
    assert_eq!(lengths.iter().sum::<usize>(), MAX_CONTEXTS_TOTAL, "{lengths:?}");
    assert_eq!(verdict.asked[1].outcome, HookOutcome::Answered { curtailed: 2 });

    let keeps = || Ok(HookResponse { keep: vec!["k".to_owned(); MAX_KEEP - 1], ..HookResponse::default() });
    let verdict = ask_all(HookMoment::BeforePrune, &[("one", keeps), ("two", keeps)]).await;
    assert_eq!(verdict.response.keep.len(), MAX_KEEP);
}

#[test]
fn every_text_can_be_redacted_and_ids_stay() {
    let reply = HookResponse {
        context: vec!["c".to_owned()],
        prompt: Some("p".to_owned()),
        veto: Some("v".to_owned()),
        keep: vec!["k".to_owned()],
    };
    let expected = HookResponse {
        context: vec!["<c>".to_owned()],
        prompt: Some("<p>".to_owned()),
        veto: Some("<v>".to_owned()),
        keep: vec!["k".to_owned()],
    };
    assert_eq!(reply.map_texts(|text| format!("<{text}>")), expected);
}

#[tokio::test]
async fn what_each_hook_did_fits_into_an_event() {
    let mut verdict = ask_all(
        HookMoment::BeforeCompaction,
        &[
            ("quiet", || Ok(HookResponse::default())),
            ("bad", || Err(HookError::own("x"))),
            ("notes", || Ok(HookResponse { prompt: Some("p".to_owned()), ..context(&["a"]) })),
            ("no", || Ok(HookResponse { veto: Some("v".to_owned()), ..HookResponse::default() })),
        ],
    )
    .await;
    verdict.asked.iter_mut().for_each(|asked| asked.took_ms = 7);
    let lines: Vec<_> = verdict.asked.iter().map(|asked| serde_json::to_string(asked).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"hook":"quiet","took_ms":7,"outcome":"silent"}
    {"hook":"bad","took_ms":7,"outcome":"failed","why":"the hook failed"}
    {"hook":"notes","took_ms":7,"outcome":"answered","curtailed":1}
    {"hook":"no","took_ms":7,"outcome":"vetoed"}
    "#);
}
