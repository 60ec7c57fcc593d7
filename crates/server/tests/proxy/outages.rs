//! A database server that is killed under the proxy.

use crate::agent::{Agent, Wire};
use crate::client::same;
use crate::database::{End, Server};
use crate::place::schema;
use crate::stage::{Stage, engine};

const WINDOW: u64 = 8_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_and_comes_back_holds_nobody_up() {
    let Some(database) = Server::start().await else { return };
    let url = schema(&database.url, "proxy").await;
    let engine = engine(&url).await;
    let stage = Stage::with(WINDOW, engine.clone()).await;
    let mut agent = Agent::new(Wire::Anthropic, "SCENARIO:long steps=44 bytes=4000");
    while agent.step(stage.address()).await.0.outcome() != "compacted" {}
    for end in [End::Killed, End::Stopped, End::Killed] {
        // What is said while the database works is the measure.
        agent.work_for(3, stage.address()).await;
        let (before, expected) = loop {
            let session = engine.sessions(1).await.unwrap().remove(0);
            stage.tap.take();
            let answer = agent.ask(stage.address()).await;
            let operations = engine.operations(&session.id, 0, 999).await.unwrap();
            if !answer.is_flush() && operations.len() as u64 == session.last_operation {
                break ((session.id, operations), stage.tap.last());
            }
        };

        database.stop(end);
        let answer = agent.ask(stage.address()).await;
        assert_eq!(answer.status(), 200, "{}", answer.head);
        same(&stage.tap.last(), &expected, &format!("without a database, {}", answer.head));
        let stranger = Agent::new(Wire::Chat, "SCENARIO:hello");
        assert_eq!(stranger.ask(stage.address()).await.status(), 200);
        same(&stage.tap.last(), &stranger.body(), "a stranger");

        database.start_again();
        let after = engine.operations(&before.0, 0, 999).await;
        // The first connections of the pool may be those of the dead.
        let after = match after {
            Ok(after) => after,
            Err(_) => engine.operations(&before.0, 0, 999).await.unwrap(),
        };
        assert_eq!(after, before.1, "what was done is as it was");
        let answer = agent.ask(stage.address()).await;
        same(&stage.tap.last(), &expected, &format!("with a database again, {}", answer.head));
    }
    let (text, answers) = agent.work(stage.address()).await;
    assert_eq!(text, "Finished long after 44 steps.");
    assert!(answers.iter().all(|answer| answer.reason().is_empty()));
    assert_eq!(stage.model.stats()["violations"], 0);
    assert_eq!(stage.model.stats()["malformed"], 0);
}
