//! A database server that is killed under the proxy.

use crate::setup::{Setup, engine};
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::client::assert_same;
use secateur_testing::postgres::create_schema;
use secateur_testing::postgres_server::{PostgresServer, ServerEnd};

const WINDOW: u64 = 8_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_and_restarted_delays_no_request() {
    let Some(database) = PostgresServer::start().await else { return };
    let url = create_schema(&database.url, "proxy").await;
    let engine = engine(&url).await;
    let setup = Setup::with_engine(WINDOW, engine.clone()).await;
    let mut agent = Agent::new(Wire::Anthropic, "SCENARIO:long steps=44 bytes=4000");
    while agent.step(setup.address()).await.0.outcome() != "compacted" {}
    for end in [ServerEnd::Killed, ServerEnd::Stopped, ServerEnd::Killed] {
        // What is said while the database works is the measure.
        agent.work_for(3, setup.address()).await;
        let (before, expected) = loop {
            let session = engine.sessions(1).await.unwrap().remove(0);
            setup.relay.take();
            let answer = agent.ask(setup.address()).await;
            let operations = engine.operations(&session.id, 0, 999).await.unwrap();
            if !answer.is_flush() && operations.len() as u64 == session.last_operation {
                break ((session.id, operations), setup.relay.last_body());
            }
        };

        database.stop(end);
        let answer = agent.ask(setup.address()).await;
        assert_eq!(answer.status(), 200, "{}", answer.head);
        assert_same(&setup.relay.last_body(), &expected, &format!("without a database, {}", answer.head));
        let stranger = Agent::new(Wire::OpenAiChat, "SCENARIO:hello");
        assert_eq!(stranger.ask(setup.address()).await.status(), 200);
        assert_same(&setup.relay.last_body(), &stranger.body(), "a stranger");

        database.restart();
        let after = engine.operations(&before.0, 0, 999).await;
        // The first connections of the pool may be those of the dead.
        let after = match after {
            Ok(after) => after,
            Err(_) => engine.operations(&before.0, 0, 999).await.unwrap(),
        };
        assert_eq!(after, before.1, "what was done is as it was");
        let answer = agent.ask(setup.address()).await;
        assert_same(&setup.relay.last_body(), &expected, &format!("with a database again, {}", answer.head));
    }
    let (text, answers) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 44 steps.");
    assert!(answers.iter().all(|answer| answer.reason().is_empty()));
    assert_eq!(setup.model.stats()["violations"], 0);
    assert_eq!(setup.model.stats()["malformed"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_outgrows_its_window_while_the_server_is_away() {
    let Some(database) = PostgresServer::start().await else { return };
    let url = create_schema(&database.url, "away").await;
    let setup = Setup::with_engine(WINDOW, engine(&url).await).await;
    let mut agent = Agent::new(Wire::Anthropic, "SCENARIO:long steps=60 bytes=6000");
    agent.work_for(10, setup.address()).await;
    for end in [ServerEnd::Killed, ServerEnd::Stopped] {
        database.stop(end);
        let answers = agent.work_for(18, setup.address()).await;
        assert!(answers.iter().all(|answer| answer.status() == 200), "{end:?}");
        assert!(answers.iter().all(|answer| answer.reason() == "store"), "{end:?}");
        assert!(answers.iter().any(|answer| answer.outcome() == "compacted"), "{end:?}");
        database.restart();
        agent.work_for(4, setup.address()).await;
    }
    let (text, _) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 60 steps.");
    assert_eq!(setup.model.stats()["violations"], 0);
    assert_eq!(setup.model.stats()["malformed"], 0);
}
