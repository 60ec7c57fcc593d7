//! What holds for every client, whatever it says and takes back.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::agent::{Agent, process};
use crate::outcome::PassReason;

/// Something that a client does between two requests.
#[derive(Clone, Debug)]
enum Deed {
    /// A tool is called, with a result of so many bytes.
    Step(usize),
    /// The user says something of so many words.
    Say(usize),
    /// The client goes back so many messages.
    Back(usize),
    /// The last message is repeated in other words.
    Reword,
    /// The process is started anew.
    Restart,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        6 => (10usize..9_000).prop_map(Deed::Step),
        2 => (1usize..2_000).prop_map(Deed::Say),
        1 => (1usize..12).prop_map(Deed::Back),
        1 => Just(Deed::Reword),
        1 => Just(Deed::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_client_does_its_own_words_stay(deeds in prop::collection::vec(deed(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(deeds));
    }
}

async fn play(deeds: Vec<Deed>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db").display().to_string();
    let mut conversations = process(&path, 30_000).await;
    let mut agent = Agent::new("The task.");
    for (at, deed) in deeds.into_iter().enumerate() {
        match deed {
            Deed::Step(bytes) => agent.step(bytes),
            Deed::Say(words) => agent.say(&format!("Number {at}. {}", "word ".repeat(words))),
            Deed::Back(count) => {
                // An odd number is left, so that the user has the last word.
                let left = agent.messages.len().saturating_sub(count * 2).max(1);
                agent.messages.truncate(left);
            }
            Deed::Reword => {
                if agent.messages.len() > 1 {
                    let last = agent.messages.last_mut().unwrap();
                    if last["content"][0]["type"] == "text" {
                        *last = json!({"role": "user", "content": [{"type": "text", "text": format!("Or rather {at}.")}]});
                    }
                }
            }
            Deed::Restart => conversations = process(&path, 30_000).await,
        }
        let sent = agent.ask(&conversations).await;
        assert!(matches!(sent.report.reason, None | Some(PassReason::NoRoom)), "{:?}", sent.report);
        check(&agent, &sent.messages());
        sent.answer().await;
    }
}

/// Everything that is sent is the client's, in the client's order, but for cuts and one summary.
fn check(agent: &Agent, sent: &[Value]) {
    let body: Value = serde_json::from_str(&agent.body()).unwrap();
    let mut said = body["messages"].as_array().unwrap().iter();
    let mut strange = 0;
    for message in sent {
        let is_cut = message.to_string().contains("[cut: ") || message.to_string().contains("truncated");
        let found = said.clone().any(|own| own == message);
        if found {
            said.by_ref().find(|own| *own == message);
        } else if !is_cut {
            strange += 1;
        }
    }
    assert!(strange <= 1, "{strange} messages of {} are nobody's", sent.len());
    assert_eq!(sent.first(), body["messages"].get(0), "the task stays first");
}
