//! Rows of the store that are damaged while a conversation goes on. The client sends every original again, so each
//! request is managed and fits: what is damaged is mended, or left behind in its session.

use std::collections::BTreeSet;

use secateur_formats::Wire;
use secateur_testing::client::text;
use secateur_testing::{Agent, StoreHome, on_each_home};
use serde_json::Value;

use crate::setup::{Setup, engine};

const WINDOW: u64 = 8_000;
const TASK: &str = "SCENARIO:long steps=44 bytes=6000";

/// Gives each of these messages the value of the one before it; the first gets that of the last.
macro_rules! exchange {
    ($column:literal, $which:literal) => {
        concat!(
            "CREATE TABLE spare AS SELECT session, seq, ",
            $column,
            ", ROW_NUMBER() OVER (ORDER BY session, seq) AS place \
             FROM messages WHERE ",
            $which,
            ";
             UPDATE messages SET ",
            $column,
            " = (SELECT other.",
            $column,
            " FROM spare JOIN spare other ON other.place = \
             CASE spare.place WHEN 1 THEN (SELECT MAX(place) FROM spare) ELSE spare.place - 1 END \
             WHERE spare.session = messages.session AND spare.seq = messages.seq) WHERE ",
            $which,
            ";
             DROP TABLE spare"
        )
    };
}
/// What is damaged, and how.
const DAMAGES: [(&str, &str); 9] = [
    ("bodies of another length", "UPDATE bodies SET size = size + 1"),
    (
        "all bodies are the same",
        "UPDATE bodies SET bytes = (SELECT bytes FROM bodies ORDER BY digest LIMIT 1)",
    ),
    ("facts that are no JSON", "UPDATE messages SET facts = '{'"),
    ("cuts that are no JSON", "UPDATE messages SET cuts = '[{' WHERE cuts <> ''"),
    ("states that are no JSON", "UPDATE sessions SET state = '['"),
    (
        "bodies of other messages",
        "UPDATE messages SET body = (SELECT digest FROM bodies ORDER BY digest LIMIT 1)",
    ),
    ("shown bodies of other messages", exchange!("shown", "shown IS NOT NULL")),
    ("facts of other messages", exchange!("facts", "operation IS NULL")),
    ("cuts of other messages", exchange!("cuts", "cuts <> ''")),
];

on_each_home!(
    a_conversation_goes_on_although_its_rows_are_damaged,
    a_proxy_that_finds_damaged_rows_goes_on_from_what_the_client_sends,
    one_damaged_body_costs_no_request_and_is_mended,
);

/// Works for this many requests, each of which is managed and fits.
async fn work(agent: &mut Agent, requests: usize, (setup, home): (&Setup, &StoreHome), what: &str) {
    for answer in agent.work_for(requests, setup.address()).await {
        assert_eq!(answer.status(), 200, "{what}: {}{}", answer.head, answer.body);
        assert_ne!(answer.outcome(), "passed-through", "{what}: {}", answer.head);
    }
    assert_eq!(setup.model.stats()["violations"], 0, "{what}");
    assert_eq!(setup.model.stats()["malformed"], 0, "{what}");
    check_sent(agent, setup, home, what).await;
}

/// The results of tools in a request, whichever wire it has.
fn results(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap();
    let blocks = messages.iter().flat_map(|message| {
        let is_result = |block: &&Value| block["type"] == "tool_result" || block["role"] == "tool";
        let blocks: Vec<&Value> =
            message["content"].as_array().into_iter().flatten().chain([message]).collect();
        blocks.into_iter().filter(is_result)
    });
    let text = |block: &Value| match &block["content"] {
        Value::String(text) => text.clone(),
        content => content[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    blocks.map(text).collect()
}

/// The model was sent the results that the agent has sent, or placeholders, and those bring back nothing else.
async fn check_sent(agent: &Agent, setup: &Setup, home: &StoreHome, what: &str) {
    let said = results(&serde_json::from_str(&agent.body()).unwrap());
    let engine = engine(&home.url).await;
    let mut handles = BTreeSet::new();
    for request in setup.relay.take() {
        for sent in results(&serde_json::from_str(&text(&request)).unwrap()) {
            match sent.split_once("recall ").and_then(|(_, rest)| rest.split_once(" brings ")) {
                Some((handle, _)) => _ = handles.insert(handle.to_owned()),
                None => assert!(said.contains(&sent), "{what}: the model was sent another result: {sent}"),
            }
        }
    }
    for handle in handles {
        if let Ok(recalled) = engine.recall(&handle, None).await {
            assert!(said.contains(&recalled.text), "{what}: {handle} brings back another result");
        }
    }
}

async fn finish(mut agent: Agent, setup: &Setup, what: &str) {
    let (text, _) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 44 steps.", "{what}");
    assert_eq!(setup.model.stats()["violations"], 0, "{what}");
}

async fn a_conversation_goes_on_although_its_rows_are_damaged(home: StoreHome) {
    for (what, sql) in DAMAGES {
        let setup = Setup::with_engine(WINDOW, engine(&home.url).await).await;
        let mut agent = Agent::new(Wire::Anthropic, &format!("{TASK} {what}"));
        work(&mut agent, 20, (&setup, &home), what).await;
        home.run_sql(sql).await;
        work(&mut agent, 10, (&setup, &home), what).await;
        finish(agent, &setup, what).await;
    }
}

async fn a_proxy_that_finds_damaged_rows_goes_on_from_what_the_client_sends(home: StoreHome) {
    for (what, sql) in DAMAGES {
        let before = Setup::with_engine(WINDOW, engine(&home.url).await).await;
        let mut agent = Agent::new(Wire::OpenAiChat, &format!("{TASK} {what}"));
        work(&mut agent, 20, (&before, &home), what).await;
        drop(before);
        home.run_sql(sql).await;
        let setup = Setup::with_engine(WINDOW, engine(&home.url).await).await;
        work(&mut agent, 10, (&setup, &home), what).await;
        finish(agent, &setup, what).await;
    }
}

/// A single body, as one flipped bit would leave it, in a conversation that a new proxy takes over.
async fn one_damaged_body_costs_no_request_and_is_mended(home: StoreHome) {
    let before = Setup::with_engine(WINDOW, engine(&home.url).await).await;
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    work(&mut agent, 12, (&before, &home), "before").await;
    drop(before);
    let newest = "SELECT body FROM messages WHERE operation IS NULL AND cuts = '' ORDER BY seq DESC LIMIT 1";
    home.run_sql(&format!("UPDATE bodies SET size = size + 1 WHERE digest = ({newest})")).await;
    let setup = Setup::with_engine(WINDOW, engine(&home.url).await).await;
    work(&mut agent, 10, (&setup, &home), "after").await;
    drop(setup);
    let engine = engine(&home.url).await;
    let session = engine.sessions(1).await.unwrap().remove(0);
    let seqs: Vec<u64> = (1..=session.head).collect();
    let originals = engine.store().originals(&session.id, &seqs).await.unwrap();
    assert!(originals.iter().all(Option::is_some), "every original of {} is there", session.id);
}
