//! Everything that was done can be undone and done again, in any order.

use proptest::prelude::*;
use secateur::session::TurnState;
use secateur_engine::{Engine, NewMessage, Session};
use secateur_formats::Wire;

use super::messages::{shape, text_of, turn, user};
use super::setup::{Author, answered, ask, engine, open, refused, set, target};

const WIRE: Wire = Wire::OpenAiChat;

/// Something that happens to a session.
#[derive(Clone, Debug)]
enum Step {
    Append { size: usize },
    Pin,
    Request { window: i64 },
    Report { tokens: i64, turn: TurnState },
    Refuse,
    Compact,
    Undo(usize),
    Redo(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let turn = prop_oneof![Just(TurnState::Open), Just(TurnState::Over)];
    prop_oneof![
        6 => (50usize..4_000).prop_map(|size| Step::Append { size }),
        1 => Just(Step::Pin),
        4 => prop_oneof![Just(3_000i64), Just(5_000), Just(200_000)].prop_map(|window| Step::Request { window }),
        2 => (100i64..6_000, turn).prop_map(|(tokens, turn)| Step::Report { tokens, turn }),
        1 => Just(Step::Refuse),
        2 => Just(Step::Compact),
        2 => (0usize..20).prop_map(Step::Undo),
        1 => (0usize..20).prop_map(Step::Redo),
        1 => Just(Step::Reopen),
    ]
}

/// Numbers of operations that are undone, or that are not.
async fn operations(engine: &Engine, session: &Session, undone: bool) -> Vec<u64> {
    let rows = engine.operations(session.id(), 0, 1_000).await.unwrap();
    rows.iter().filter(|row| row.undone == undone).map(|row| row.number).collect()
}

async fn play(profile: &str, steps: Vec<Step>, order: Vec<u32>) {
    // Requests that only look must not cut.
    let values = match profile {
        "balanced" => {
            "compaction.prune_at = [\"overflow\"]\nrent.least_chars = 100\nrent.ages = { other = 1, read = 1 }"
        }
        _ => "watermark = { protect = 300, minimum = 100 }",
    };
    let engine = set(engine().await, values).with_model(Author::new(&[]));
    let mut session = open(&engine, profile, WIRE).await;
    let mut said = vec![r#"{"role":"system","content":"Be brief."}"#.to_owned()];
    let mut append = Vec::new();
    for (number, step) in steps.into_iter().enumerate() {
        match step {
            Step::Append { size } => append = turn(WIRE, number, size),
            Step::Pin => append = vec![NewMessage { pinned: true, ..user(WIRE, &text_of(number, 100)) }],
            Step::Request { window } => drop(session.context(&target(window)).await),
            Step::Report { tokens, turn } => drop(answered(&mut session, tokens, turn).await),
            Step::Refuse => drop(refused(&mut session, None).await),
            Step::Compact => drop(session.compact(None).await.unwrap()),
            Step::Undo(which) => {
                let numbers = operations(&engine, &session, false).await;
                if !numbers.is_empty() {
                    session.undo(Some(numbers[which % numbers.len()])).await.unwrap();
                }
            }
            Step::Redo(which) => {
                let numbers = operations(&engine, &session, true).await;
                if !numbers.is_empty() {
                    session.redo(Some(numbers[which % numbers.len()])).await.unwrap();
                }
            }
            Step::Reopen => session = engine.open(session.id()).await.unwrap(),
        }
        said.extend(append.iter().map(|message| message.json.to_string()));
        session.append(std::mem::take(&mut append)).await.unwrap();
        assert!(session.live_messages().is_sound());
    }
    // A new process sees what this one sees.
    let mut other = engine.open(session.id()).await.unwrap();
    let wide = target(10_000_000);
    let shown = session.context(&wide).await.unwrap().body;
    assert_eq!(shape(&other.context(&wide).await.unwrap().body), shape(&shown));

    // Undone in any order, everything is there again, and nothing else.
    let done = operations(&engine, &session, false).await;
    let mut shuffled: Vec<(u32, u64)> = order.into_iter().cycle().zip(done.iter().copied()).collect();
    shuffled.sort_unstable();
    for (_, number) in &shuffled {
        session.undo(Some(*number)).await.unwrap();
    }
    let whole = format!(r#"{{"model":"model","messages":[{}]}}"#, said.join(","));
    let undone = session.context(&wide).await.unwrap();
    assert_eq!(shape(&undone.body), shape(&whole));
    assert_eq!(undone.body, whole);

    // Done again in any order, it is as it was.
    for (_, number) in shuffled.iter().rev() {
        session.redo(Some(*number)).await.unwrap();
    }
    let again = session.context(&wide).await.unwrap().body;
    assert_eq!(shape(&again), shape(&shown));
    assert_eq!(again, shown);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn undoing_everything_gives_the_bytes_back_and_redoing_everything_the_others(
        profile in prop_oneof![
            Just("balanced"), Just("opencode"), Just("qwery"), Just("opencode@2026-01"), Just("qwery@2026-02"),
        ],
        steps in prop::collection::vec(step(), 1..30),
        order in prop::collection::vec(any::<u32>(), 1..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(profile, steps, order));
    }
}

#[tokio::test]
async fn undoing_a_clear_shows_what_the_cap_left() {
    let engine = set(engine().await, "compaction = { caps = { \"*\" = 500 } }");
    let mut session = open(&engine, "balanced", WIRE).await;
    session.append(turn(WIRE, 0, 9_000)).await.unwrap();
    let wide = target(200_000);
    let capped = ask(&mut session, &wide).await.body;
    assert!(capped.len() < 3_000, "{}", capped.len());
    session.append([user(WIRE, "And more.")]).await.unwrap();
    refused(&mut session, Some(300_000)).await;
    let numbers = operations(&engine, &session, false).await;
    assert!(!numbers.is_empty());
    for number in numbers.into_iter().skip(1).rev() {
        session.undo(Some(number)).await.unwrap();
    }
    let body = session.context(&target(10_000_000)).await.unwrap().body;
    assert!(body.len() < 3_200, "the cap still holds: {}", shape(&body));
}
