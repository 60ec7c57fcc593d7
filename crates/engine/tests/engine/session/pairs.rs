//! A call and its result stay together, whatever goes.

use secateur::session::TurnState;
use secateur_formats::Wire;
use serde_json::json;

use super::messages::{assistant, calls, results, shape, text_of, turn, user};
use super::setup::{Author, UNPRUNED, answered, ask, engine, made, open, set, target};

#[tokio::test]
async fn parallel_calls_stay_one_batch_wherever_the_line_is_drawn() {
    for wire in Wire::ALL {
        let mut compactions = 0;
        for window in [2_500, 3_000, 3_700, 4_500, 6_000] {
            let engine = set(engine().await, UNPRUNED).with_model(Author::new(&[]));
            let mut session = open(&engine, "balanced", wire).await;
            for step in 0..24 {
                if step % 4 == 0 {
                    session.append([user(wire, &format!("Task {step}."))]).await.unwrap();
                }
                let ids = [format!("{step}-a"), format!("{step}-b"), format!("{step}-c")];
                let [a, b, c] = ids.each_ref().map(String::as_str);
                let read = |id| (id, "read", json!({"path": "src/lib.rs"}));
                session.append(calls(wire, &[read(a), read(b), read(c)])).await.unwrap();
                let (text, short) = (text_of(step, 700), text_of(step, 70));
                let found = [(a, "read", text.as_str()), (b, "read", short.as_str()), (c, "read", "none")];
                session.append(results(wire, &found)).await.unwrap();
                let request = ask(&mut session, &target(window)).await;
                // Gemini wants a summary and the calls behind it in one turn.
                let is_joined = wire == Wire::Gemini;
                assert!(
                    request.repaired.is_empty() || is_joined,
                    "{wire} {window} {step}
{:?}",
                    request.repaired
                );
                compactions += made(&request.events).len();
                let count = |text: &str| shape(&request.body).matches(text).count();
                assert_eq!(count(" calls ") + count("\ncalls "), count(" tool "), "{}", shape(&request.body));
            }
        }
        assert!(compactions > 5, "{wire}: {compactions}");
    }
}

#[tokio::test]
async fn calls_that_wait_for_their_results_survive_a_compaction() {
    for wire in Wire::ALL {
        let engine = engine().await.with_model(Author::new(&[]));
        let mut session = open(&engine, "balanced", wire).await;
        for number in 0..3 {
            session.append(turn(wire, number, 1_500)).await.unwrap();
        }
        session.append([user(wire, "Now look at two more.")]).await.unwrap();
        ask(&mut session, &target(4_000)).await;
        let waiting = [("w-1", "read", json!({})), ("w-2", "read", json!({}))];
        session.append(calls(wire, &waiting)).await.unwrap();
        let reported = answered(&mut session, 3_900, TurnState::Open).await;
        assert_eq!(made(&reported).len(), 1, "{wire}: {reported:?}");
        let found = [("w-1", "read", "one"), ("w-2", "read", "two")];
        session.append(results(wire, &found)).await.unwrap();
        let request = ask(&mut session, &target(4_000)).await;
        assert_eq!(request.repaired, []);
        let shape = shape(&request.body);
        assert!(shape.contains("w-1: one") && shape.contains("w-2: two"), "{shape}");
        assert!(!shape.contains("Please go on"), "the results say what comes next\n{shape}");
    }
}

#[tokio::test]
async fn an_interrupted_call_gets_a_result_and_an_event() {
    for wire in Wire::ALL {
        let engine = engine().await;
        let mut session = open(&engine, "balanced", wire).await;
        session.append([user(wire, "Look at it.")]).await.unwrap();
        session.append(calls(wire, &[("c-1", "read", json!({})), ("c-2", "read", json!({}))])).await.unwrap();
        session.append(results(wire, &[("c-1", "read", "found")])).await.unwrap();
        session.append([user(wire, "Stop. Do something else.")]).await.unwrap();
        let request = ask(&mut session, &target(100_000)).await;
        assert!(wire == Wire::Gemini || !request.repaired.is_empty(), "{wire}");
        assert!(shape(&request.body).contains("c-1: found"), "{}", shape(&request.body));
        // And it is no obstacle to a compaction.
        session.append([assistant(wire, "Of course.")]).await.unwrap();
        session.append(turn(wire, 7, 3_000)).await.unwrap();
        assert_eq!(made(&session.compact(None).await.unwrap()).len(), 1, "{wire}");
        ask(&mut session, &target(100_000)).await;
    }
}
