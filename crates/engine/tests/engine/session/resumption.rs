//! The work goes on where it was interrupted, and only there.

use secateur::session::{Event, TurnState};
use secateur_engine::hooks::{HookFacts, HookMoment, HookResponse};
use secateur_engine::{Engine, Session};
use secateur_formats::Wire;

use super::messages::{assistant, shape, turn, user};
use super::setup::{Author, Listener, answered, ask, engine, hooks, made, open, target};

const WIRE: Wire = Wire::OpenAiChat;
const WINDOW: i64 = 60_000;

/// A session in which the model has just said something and the next request will not fit.
async fn full(engine: &Engine, profile: &str) -> Session {
    let mut session = open(engine, profile, WIRE).await;
    for number in 0..4 {
        session.append(turn(WIRE, number, 30_000)).await.unwrap();
    }
    session.append([user(WIRE, "Now mend what is broken.")]).await.unwrap();
    ask(&mut session, &target(WINDOW)).await;
    session.append([assistant(WIRE, "I begin with the parser, then")]).await.unwrap();
    session
}

#[tokio::test]
async fn a_model_that_was_cut_off_is_asked_to_continue() {
    let engine = engine().await.with_model(Author::new(&[]));
    let mut session = full(&engine, "balanced").await;
    let reported = answered(&mut session, WINDOW - 100, TurnState::Open).await;
    assert_eq!(made(&reported).len(), 1);
    insta::assert_snapshot!(shape(&ask(&mut session, &target(WINDOW)).await.body), @"
    00 system: Be brief.
    01 user: What did we do so far?
    02 assistant: This is a record of the conversation so far, made to save ro … (536 chars)
    03 assistant: File 2 is fine.
    04 user: Please look at file 3.
    05 assistant calls call-3
    06 tool call-3: line 3 | line 3 | line 3 | line 3 | line 3 | line 3 | line 3 … (30002 chars)
    07 assistant: File 3 is fine.
    08 user: Now mend what is broken.
    09 assistant: I begin with the parser, then
    10 user: Please go on with what you were doing. If nothing is left to do, say so.
    ");
}

#[tokio::test]
async fn a_model_that_is_done_is_left_in_peace() {
    let engine = engine().await.with_model(Author::new(&[]));
    let mut session = full(&engine, "balanced").await;
    let reported = answered(&mut session, WINDOW - 100, TurnState::Over).await;
    assert_eq!(made(&reported).len(), 1);
    session.append([user(WIRE, "Thanks. And now?")]).await.unwrap();
    let shape = shape(&ask(&mut session, &target(WINDOW)).await.body);
    assert!(!shape.contains("Please go on"), "{shape}");
    assert!(shape.ends_with("user: Thanks. And now?\n"), "{shape}");
}

#[tokio::test]
async fn there_is_no_resume_message_after_a_requested_compaction() {
    for profile in ["balanced", "opencode", "openclaw", "openagentic", "qwery"] {
        let engine = engine().await.with_model(Author::new(&[]));
        let mut session = full(&engine, profile).await;
        assert_eq!(made(&session.compact(None).await.unwrap()).len(), 1, "{profile}");
        let resumes = session.profile().compaction.resume.clone().unwrap_or("Please go on".to_owned());
        assert!(!ask(&mut session, &target(WINDOW)).await.body.contains(&resumes), "{profile}");
    }
}

#[tokio::test]
async fn a_hook_may_want_to_ask_first() {
    let veto = |_: &_| HookResponse { veto: Some("ask the user".to_owned()), ..HookResponse::default() };
    let hook = Listener::new(&[HookMoment::Autocontinue], veto);
    let engine = engine().await.with_model(Author::new(&[])).with_hooks(hooks([hook.clone() as _]));
    let mut session = full(&engine, "balanced").await;
    let reported = answered(&mut session, WINDOW - 100, TurnState::Open).await;
    assert_eq!(made(&reported).len(), 1, "the compaction itself is not the matter");
    let request = ask(&mut session, &target(WINDOW)).await;
    assert!(!request.body.contains("Please go on"), "{}", shape(&request.body));
    let calls = hook.calls.lock().unwrap();
    assert!(matches!(&calls[..], [call] if matches!(&call.facts, HookFacts::Autocontinue { message }
        if message.starts_with("Please go on"))));
}

#[tokio::test]
async fn the_users_request_stays_although_the_work_on_it_fills_the_window() {
    let engine = engine().await.with_model(Author::new(&[]));
    let mut session = open(&engine, "balanced", WIRE).await;
    session.append([user(WIRE, "Find out who calls `frobnicate`, and nothing else.")]).await.unwrap();
    let mut reported: Vec<Event> = Vec::new();
    for number in 0..24 {
        let steps = turn(WIRE, number, 1_500).into_iter().skip(1);
        session.append(steps.take(2)).await.unwrap();
        let request = ask(&mut session, &target(4_000)).await;
        assert!(request.body.contains("who calls `frobnicate`"), "{}", shape(&request.body));
        reported.extend(request.events);
    }
    assert!(made(&reported).len() >= 2, "{reported:?}");
    insta::assert_snapshot!(shape(&ask(&mut session, &target(4_000)).await.body), @"
    00 system: Be brief.
    01 user: What did we do so far?
    02 assistant: This is a record of the conversation so far, made to save ro … (446 chars)
    03 user: Find out who calls `frobnicate`, and nothing else.
    04 assistant calls call-19
    05 tool call-19: line 19 | line 19 | line 19 | line 19 | line 19 | line 19 |  … (1720 chars)
    06 assistant calls call-20
    07 tool call-20: line 20 | line 20 | line 20 | line 20 | line 20 | line 20 |  … (1720 chars)
    08 assistant calls call-21
    09 tool call-21: line 21 | line 21 | line 21 | line 21 | line 21 | line 21 |  … (1720 chars)
    10 assistant calls call-22
    11 tool call-22: line 22 | line 22 | line 22 | line 22 | line 22 | line 22 |  … (1720 chars)
    12 assistant calls call-23
    13 tool call-23: line 23 | line 23 | line 23 | line 23 | line 23 | line 23 |  … (1720 chars)
    ");
}
