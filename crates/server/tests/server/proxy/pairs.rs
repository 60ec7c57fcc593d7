//! Several proxies on one store: a conversation that goes through all of them is one conversation.

use std::time::Duration;

use secateur_engine::Engine;

use super::failing_store::FailingStore;
use crate::setup::{Proxy, Setup, catalogue, engine, use_steady_profile, with_steady_profile};
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::client::{assert_same, text, without_handles};
use secateur_testing::connection::within;
use secateur_testing::postgres::{create_schema, server_url};
use secateur_testing::store_home::store_file;

const WINDOW: u64 = 12_000;
const TASK: &str = "SCENARIO:long steps=24 bytes=6000";

/// The requests that reach the provider through one proxy alone.
async fn alone(wire: Wire) -> Vec<String> {
    let setup = Setup::start(WINDOW).await;
    Agent::new(wire, TASK).work(setup.address()).await;
    setup.relay.take().iter().map(text).collect()
}

/// What a response adds is stored after it was sent. Waits for that, as a client does that works in between: the other proxy
/// does not know a faster one.
async fn settled(engine: &Engine, before: u64) -> u64 {
    let revision = async || engine.sessions(1).await.unwrap().first().map_or(0, |session| session.revision);
    let wait = async {
        let (mut last, mut quiet) = (before, 0);
        // One look is not enough: an answer and what follows from it are stored one after the other.
        while last == before || quiet < 3 {
            tokio::time::sleep(Duration::from_millis(40)).await;
            let now = revision().await;
            quiet = if now == last { quiet + 1 } else { 0 };
            last = now;
        }
        last
    };
    within(wait).await
}

/// The same agent, whose requests take another way each time.
async fn alternating(wire: Wire, store: &str) {
    let first = engine(store).await;
    let setup = Setup::with_engine(WINDOW, first.clone()).await;
    let second =
        Proxy::start(&setup.relay.url(), engine(store).await, catalogue(WINDOW), use_steady_profile).await;
    let mut agent = Agent::new(wire, TASK);
    let mut bodies = Vec::new();
    let mut revision = 0;
    for number in 0.. {
        // Twice here, once there.
        let to = if number % 3 == 2 { second.address } else { setup.address() };
        let (answer, end) = agent.step(to).await;
        assert_eq!(answer.reason(), "", "{wire:?}, request {number}");
        bodies.push(setup.relay.last_body());
        if number > 0 {
            revision = settled(&first, revision).await;
        }
        if end.is_some() {
            break;
        }
    }
    let sessions = first.sessions(99).await.unwrap();
    assert_eq!(sessions.len(), 1, "{wire:?}: one conversation is one session");
    let operations = async || first.sessions(1).await.unwrap()[0].last_operation;
    let before = operations().await;
    agent.ask(setup.address()).await;
    agent.ask(second.address).await;
    // An answer may tell that there is hardly any room left.
    if operations().await == before {
        let asked: Vec<String> = setup.relay.take().iter().map(text).collect();
        assert_same(&asked[0], &asked[1], &format!("{wire:?}, on both proxies"));
    }
    let expected = alone(wire).await;
    assert_eq!(bodies.len(), expected.len());
    for (number, (body, expected)) in bodies.iter().zip(&expected).enumerate() {
        let (body, expected) = (without_handles(body), without_handles(expected));
        assert_same(&body, &expected, &format!("{wire:?}, request {number}"));
    }
    assert_eq!(setup.model.stats()["violations"], 0);
}

#[tokio::test]
async fn two_proxies_on_one_file_are_as_one() {
    for wire in Wire::ALL {
        let (_folder, path) = store_file();
        alternating(wire, &path).await;
    }
}

#[tokio::test]
async fn two_proxies_on_one_server_are_as_one() {
    let Some(server) = server_url() else { return };
    for wire in Wire::ALL {
        let name = format!("proxy_pairs_{wire:?}").to_lowercase();
        alternating(wire, &create_schema(&server, &name).await).await;
    }
}

/// Both are asked the same at the same time, over and over.
#[tokio::test]
async fn two_proxies_that_race_agree_in_the_end() {
    let (_folder, path) = store_file();
    let setup = Setup::with_engine(WINDOW, engine(&path).await).await;
    let second =
        Proxy::start(&setup.relay.url(), engine(&path).await, catalogue(WINDOW), use_steady_profile).await;
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    loop {
        let (one, other) = tokio::join!(agent.ask(setup.address()), agent.ask(second.address));
        for answer in [&one, &other] {
            assert_eq!((answer.status(), answer.reason()), (200, ""), "{}", answer.head);
        }
        if agent.take(&one).is_some() {
            break;
        }
    }
    setup.relay.take();
    agent.ask(setup.address()).await;
    let first = setup.relay.last_body();
    let answer = agent.ask(second.address).await;
    if !answer.is_flush() {
        assert_same(&first, &setup.relay.last_body(), &answer.head);
    }
    assert_eq!(setup.model.stats()["violations"], 0);
    assert_eq!(setup.model.stats()["malformed"], 0);
}

/// What one proxy stores while the other one looks is as new to that one as it was before. There is room for everything
/// here, so whatever is missing was lost.
#[tokio::test]
async fn what_is_stored_meanwhile_is_not_left_out() {
    const ROOM: u64 = 1_000_000;
    for wire in Wire::ALL {
        let (_folder, path) = store_file();
        let first = engine(&path).await;
        let setup = Setup::with_engine(ROOM, first.clone()).await;
        let store = FailingStore::new(&path).await;
        let other = with_steady_profile(Engine::new(store.clone()));
        let second = Proxy::start(&setup.relay.url(), other, catalogue(ROOM), use_steady_profile).await;
        let mut agent = Agent::new(wire, "SCENARIO:long steps=24 bytes=100");
        agent.work_for(3, setup.address()).await;
        let revision = settled(&first, 0).await;
        agent.step(second.address).await;
        let revision = settled(&first, revision).await;
        agent.step(setup.address()).await;
        let revision = settled(&first, revision).await;

        store.close();
        let meanwhile = async {
            store.is_waited_for().await;
            agent.ask(setup.address()).await;
            settled(&first, revision).await;
            store.open();
        };
        let (answer, ()) = tokio::join!(agent.ask(second.address), meanwhile);
        assert_same(&setup.relay.last_body(), &agent.body(), &format!("{wire:?}: {}", answer.head));
    }
}
