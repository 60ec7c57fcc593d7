//! Clients that change their mind, and several at once under one name.

use crate::setup::{Setup, engine};
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::client::assert_same;
use secateur_testing::store_home::store_file;

const WINDOW: u64 = 12_000;

/// An agent and its helpers, all under one key and with the same instructions but for their names, take turns.
#[tokio::test]
async fn helpers_that_take_turns_under_one_key_are_kept_apart() {
    for wire in Wire::ALL {
        let setup = Setup::start(WINDOW).await;
        let mut agents: Vec<Agent> = (0..4)
            .map(|number| {
                let task = format!("SCENARIO:long steps=12 bytes=6000 run=r{number}");
                let mut agent = Agent::new(wire, &task).named(&format!("helper {number}"));
                "x-session-id: the-only-one\r\n".clone_into(&mut agent.headers);
                agent
            })
            .collect();
        let mut texts = Vec::new();
        while !agents.is_empty() {
            let mut going = Vec::new();
            for mut agent in agents {
                let (answer, text) = agent.step(setup.address()).await;
                assert_eq!(answer.reason(), "", "{wire:?}: {}", answer.head);
                // No agent sees what belongs to another one.
                let (sent, own) = (setup.relay.last_body(), agent.body());
                for number in 0..4 {
                    let mark = format!("of long-r{number}");
                    assert!(
                        own.contains(&mark) || !sent.contains(&mark),
                        "{wire:?}: {mark} is in the wrong talk"
                    );
                }
                match text {
                    Some(text) => texts.push(text),
                    None => going.push(agent),
                }
            }
            agents = going;
        }
        assert_eq!(texts, vec!["Finished long after 12 steps."; 4], "{wire:?}");
        let stats = setup.model.stats();
        assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()), "{wire:?}");
    }
}

/// A user who goes back, edits and goes on from there, and another one who goes on where the first has left.
#[tokio::test]
async fn edits_rewinds_and_forks_keep_what_was_decided_before_them() {
    for wire in Wire::ALL {
        let (_folder, path) = store_file();
        let engine = engine(&path).await;
        let setup = Setup::with_engine(WINDOW, engine.clone()).await;
        let mut agent = Agent::new(wire, "SCENARIO:long steps=40 bytes=6000");
        agent.work_for(22, setup.address()).await;
        setup.relay.take();
        agent.ask(setup.address()).await;
        let (whole, was) = (setup.relay.last_body(), agent.clone());

        // Back behind the last answers, and something else from there.
        let mut fork = agent.clone();
        while let Some(item) = fork.items.pop() {
            let is_behind = !is_result(wire, &item) && is_result(wire, fork.items.last().unwrap());
            if is_behind && fork.items.len() + 3 <= agent.items.len() {
                break;
            }
        }
        fork.add_model_text("Enough of that.");
        fork.say("Say only hello. SCENARIO:hello");
        let (answer, text) = fork.step(setup.address()).await;
        assert_eq!(
            (answer.reason(), text.as_deref()),
            ("", Some("Hello from the scripted model.")),
            "{wire:?}"
        );
        let shorter = setup.relay.last_body();
        let shared = whole.bytes().zip(shorter.bytes()).take_while(|(one, other)| one == other).count();
        assert!(answer.is_flush() || shared > 1_000, "{wire:?}: only {shared} bytes are as before");

        // The first one is where it was.
        let answer = was.ask(setup.address()).await;
        assert_same(
            &setup.relay.last_body(),
            &whole,
            &format!("{wire:?}, after a fork, {}", answer.outcome()),
        );

        // An edited message in the middle of history.
        let mut edited = agent.clone();
        let place = edited.items.len() - 5;
        let text = edited.items[place].to_string().replace("lies somewhere", "lies elsewhere");
        edited.items[place] = serde_json::from_str(&text).unwrap();
        let answer = edited.ask(setup.address()).await;
        assert_eq!((answer.status(), answer.reason()), (200, ""), "{wire:?}");
        setup.relay.take();
        let answer = was.ask(setup.address()).await;
        assert_same(
            &setup.relay.last_body(),
            &whole,
            &format!("{wire:?}, after an edit, {}", answer.outcome()),
        );

        // From the very beginning, which all have in common.
        let mut fresh = agent.clone();
        fresh.items.truncate(1);
        let answer = fresh.ask(setup.address()).await;
        assert_eq!((answer.outcome(), answer.reason()), ("unchanged", ""), "{wire:?}");
        assert_same(&setup.relay.last_body(), &fresh.body(), "from the beginning");

        // And all of them go on.
        let (text, _) = agent.work(setup.address()).await;
        assert_eq!(text, "Finished long after 40 steps.", "{wire:?}");
        let stats = setup.model.stats();
        assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()), "{wire:?}");
        let sessions = engine.sessions(99).await.unwrap().len();
        assert!((2..=4).contains(&sessions), "{wire:?}: {sessions} sessions");
    }
}

/// Whether it is the result of a call.
fn is_result(wire: Wire, item: &serde_json::Value) -> bool {
    match wire {
        Wire::Anthropic | Wire::Gemini => item["role"] == "user",
        Wire::OpenAiChat => item["role"] == "tool",
        Wire::OpenAiResponses => item["type"] == "function_call_output",
    }
}
