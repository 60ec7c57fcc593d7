//! Hooks have their say about pruning and compaction, and cannot do harm.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use secateur::session::{CompactionFailure, Event, Means, TurnState};
use secateur_engine::hooks::{
    CompactionEnding, Hook, HookCall, HookError, HookFacts, HookMoment, HookReason, HookResponse,
};
use secateur_engine::{Engine, Session};
use secateur_formats::Wire;

use super::messages::{shape, turn};
use super::setup::{Author, Listener, answered, ask, engine, hooks, made, open, target};

const WIRE: Wire = Wire::OpenAiChat;

/// A session of three turns with this hook.
async fn with(model: Arc<Author>, hook: Arc<dyn Hook>) -> (Engine, Session) {
    let engine = engine().await.with_model(model).with_hooks(hooks([hook]));
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..3 {
        session.append(turn(WIRE, number, 900)).await.unwrap();
    }
    (engine, session)
}

#[tokio::test]
async fn context_of_hooks_reaches_the_summariser_at_every_attempt() {
    let model = Author::failing(1);
    let hook =
        Listener::new(&[HookMoment::BeforeCompaction, HookMoment::SessionCompacting], |call: &HookCall| {
            HookResponse { context: vec![format!("from {}", call.moment())], ..HookResponse::default() }
        });
    let (_, mut session) = with(model.clone(), hook).await;
    assert_eq!(made(&session.compact(None).await.unwrap()), [Means::Model]);
    assert_eq!(model.questions().len(), 2);
    for question in model.questions() {
        let background = question.split("[begin background").nth(1).unwrap();
        assert!(background.contains("from before_compaction"), "{background}");
        assert!(background.contains("from session.compacting"), "{background}");
    }
}

#[tokio::test]
async fn a_hook_replaces_the_task_and_the_rules_still_hold() {
    let model = Author::new(&[]);
    let hook = Listener::new(&[HookMoment::SessionCompacting], |call: &HookCall| {
        let HookFacts::SessionCompacting { prompt, model, .. } = &call.facts else { panic!() };
        assert!(prompt.contains("## …") && model.as_deref() == Some("author"));
        HookResponse { prompt: Some("Write a haiku.".to_owned()), ..HookResponse::default() }
    });
    let (_, mut session) = with(model.clone(), hook).await;
    session.compact(None).await.unwrap();
    let question = &model.questions()[0];
    assert!(question.contains("Write a haiku.") && !question.contains("## …"), "{question}");
    assert!(question.contains("You have no tools."), "{question}");
}

#[tokio::test]
async fn a_veto_leaves_everything_as_it_is() {
    for moment in [HookMoment::BeforeCompaction, HookMoment::SessionCompacting] {
        let veto =
            |_: &HookCall| HookResponse { veto: Some("not now".to_owned()), ..HookResponse::default() };
        let (_, mut session) = with(Author::new(&[]), Listener::new(&[moment], veto)).await;
        let before = ask(&mut session, &target(100_000)).await.body;
        let reported = session.compact(None).await.unwrap();
        assert!(
            reported.contains(&Event::CompactionRefused { why: CompactionFailure::Vetoed }),
            "{moment}: {reported:?}"
        );
        assert_eq!(ask(&mut session, &target(100_000)).await.body, before);
    }
}

#[tokio::test]
async fn a_hook_keeps_a_result_that_would_be_cut() {
    let hook = Listener::new(&[HookMoment::BeforePrune], |call: &HookCall| {
        let HookFacts::BeforePrune { tokens, parts } = &call.facts else { panic!() };
        assert!(tokens.after.unwrap() < tokens.before);
        assert_eq!(parts[0].tool.as_deref(), Some("read"));
        HookResponse { keep: vec![parts[0].id.clone()], ..HookResponse::default() }
    });
    let engine = engine().await.with_hooks(hooks([hook.clone() as _]));
    let mut session = open(&engine, "opencode", WIRE).await;
    for number in 0..9 {
        session.append(turn(WIRE, number, 40_000)).await.unwrap();
    }
    ask(&mut session, &target(200_000)).await;
    answered(&mut session, 100_000, TurnState::Over).await;
    let count = match &hook.calls.lock().unwrap()[0].facts {
        HookFacts::BeforePrune { parts, .. } => parts.len(),
        other => panic!("{other:?}"),
    };
    let shape = shape(&ask(&mut session, &target(200_000)).await.body);
    assert!(shape.contains("tool call-0: line 0"), "{shape}");
    assert_eq!(shape.matches("[Old tool result content cleared]").count(), count - 1, "{shape}");
}

#[tokio::test]
async fn hooks_learn_how_a_compaction_ended() {
    let hook = Listener::new(&[HookMoment::AfterCompaction], |_| HookResponse::default());
    let (_, mut session) = with(Author::new(&[]), hook.clone()).await;
    session.compact(None).await.unwrap();
    let call = hook.calls.lock().unwrap().pop().unwrap();
    assert_eq!(call.reason, HookReason::Manual);
    let HookFacts::AfterCompaction { tokens, messages, ending } = call.facts else { panic!() };
    assert!(tokens.after.unwrap() < tokens.before);
    assert_eq!((messages.from, messages.to > 4), (2, true));
    let CompactionEnding::Compacted { summary } = ending else { panic!("{ending:?}") };
    assert!(summary.contains("The files were looked at."));
}

#[tokio::test]
async fn hooks_learn_that_a_compaction_failed() {
    let hook =
        Listener::new(&[HookMoment::SessionCompacting, HookMoment::AfterCompaction], |call: &HookCall| {
            HookResponse {
                veto: (call.moment() == HookMoment::SessionCompacting).then(|| "no".to_owned()),
                ..HookResponse::default()
            }
        });
    let (_, mut session) = with(Author::new(&[]), hook.clone()).await;
    session.compact(None).await.unwrap();
    let calls = hook.calls.lock().unwrap();
    let ending = calls.iter().find_map(|call| match &call.facts {
        HookFacts::AfterCompaction { ending, .. } => Some(ending.clone()),
        _ => None,
    });
    assert_eq!(ending, Some(CompactionEnding::Failed { why: "a hook refused it".to_owned() }));
}

/// A hook that never answers.
struct Hanging;

#[async_trait]
impl Hook for Hanging {
    fn name(&self) -> &str {
        "hanging"
    }

    fn wants(&self, _: HookMoment) -> bool {
        true
    }

    fn time_limit(&self) -> Duration {
        Duration::from_millis(20)
    }

    async fn call(&self, _: &HookCall) -> Result<HookResponse, HookError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn hostile_hooks_change_nothing() {
    let plain = with(Author::new(&[]), Listener::new(&[], |_| HookResponse::default())).await;
    let huge = Listener::new(&HookMoment::ALL, |_| HookResponse {
        context: vec!["x".repeat(1_000_000); 100],
        prompt: Some("y".repeat(1_000_000)),
        keep: vec!["no such part".to_owned(); 10_000],
        veto: Some(String::new()),
    });
    let panics = Listener::new(&HookMoment::ALL, |_| panic!("a hook breaks"));
    let mut bodies = Vec::new();
    let (model, wide) = (Author::new(&[]), target(100_000));
    let sessions = [
        plain,
        with(model.clone(), huge).await,
        with(Author::new(&[]), panics).await,
        with(Author::new(&[]), Arc::new(Hanging)).await,
    ];
    for (_, mut session) in sessions {
        assert_eq!(made(&session.compact(None).await.unwrap()), [Means::Model]);
        bodies.push(ask(&mut session, &wide).await.body);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    assert!(model.questions()[0].len() < 30_000, "{}", model.questions()[0].len());
}
