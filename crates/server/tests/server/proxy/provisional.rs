//! Stores that are away while a conversation outgrows the model's window: the proxy goes on deciding in memory, no
//! request is refused by the model, and what was decided is stored once the store is back.

use std::sync::Arc;
use std::time::Duration;

use secateur_engine::Engine;
use secateur_formats::Wire;
use secateur_store::{OperationRow, Store};
use secateur_testing::client::assert_same;
use secateur_testing::connection::within;
use secateur_testing::{Agent, StoreHome, on_each_home};

use super::failing_store::{FailingStore, StoreFault};
use super::own_paths::{counter, get};
use crate::setup::{Setup, with_steady_profile};

const WINDOW: u64 = 8_000;

/// Longer than ten windows.
const TASK: &str = "SCENARIO:long steps=60 bytes=6000";

const OUTAGES: [StoreFault; 3] = [StoreFault::Broken, StoreFault::ReadOnly, StoreFault::LosesResponses];

async fn setup(url: &str) -> (Arc<FailingStore>, Setup) {
    let store = FailingStore::new(url).await;
    let setup = Setup::with_engine(WINDOW, with_steady_profile(Engine::new(store.clone()))).await;
    (store, setup)
}

/// The operations of a session.
async fn operations(store: &Arc<dyn Store>, session: &str) -> Vec<OperationRow> {
    store.operations(session, 0, 9_999).await.unwrap()
}

/// Works for this many requests, none of which is refused. Returns how many decided something.
async fn work(agent: &mut Agent, requests: usize, setup: &Setup, what: &str) -> usize {
    let mut decided = 0;
    for _ in 0..requests {
        let (answer, _) = agent.step(setup.address()).await;
        assert_eq!(answer.status(), 200, "{what}: {}{}", answer.head, answer.body);
        decided += usize::from(matches!(answer.outcome(), "pruned" | "compacted"));
    }
    assert_eq!(setup.model.stats()["violations"], 0, "{what}");
    decided
}

/// Waits until the proxy has stored everything.
async fn all_is_stored(setup: &Setup) {
    within(async {
        while counter(&get(setup.address(), "/metrics").await, "secateur_provisional_decisions") != 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

on_each_home!(a_conversation_outgrows_its_window_while_the_store_is_away);

async fn a_conversation_outgrows_its_window_while_the_store_is_away(home: StoreHome) {
    let mut compared = 0;
    for fault in OUTAGES {
        for wire in Wire::ALL {
            let what = format!("{fault:?}, {wire:?}");
            let (store, setup) = setup(&home.url).await;
            // The same history as in the runs before, which the store has; but a fork whose answer is lost would be
            // found as another session.
            let task =
                if fault == StoreFault::LosesResponses { format!("{TASK} {what}") } else { TASK.to_owned() };
            let mut agent = Agent::new(wire, &task);
            work(&mut agent, 20, &setup, &what).await;
            store.set(fault);
            let decided = work(&mut agent, 30, &setup, &what).await;
            assert!(decided > 1, "{what}: {decided} decisions");
            let last = agent.ask(setup.address()).await;
            assert_eq!(last.reason(), "store", "{what}");
            let session = last.header("x-secateur-session").to_owned();
            let expected = setup.relay.last_body();

            store.set(StoreFault::None);
            all_is_stored(&setup).await;
            // All that was decided is in the store, and what is sent is the same as before.
            let answer = agent.ask(setup.address()).await;
            assert_eq!(answer.reason(), "", "{what}");
            // Of decisions whose answers were lost, the proxy learns by loading the session again.
            if answer.outcome() == "replayed" && fault != StoreFault::LosesResponses {
                assert_same(&setup.relay.last_body(), &expected, &what);
                compared += 1;
            }
            assert_eq!(answer.header("x-secateur-session"), session, "{what}");
            let stored = operations(store.behind(), &session).await.len();
            assert!(stored >= decided, "{what}: {stored} of {decided}");
            let (text, _) = agent.work(setup.address()).await;
            assert_eq!(text, "Finished long after 60 steps.", "{what}");
            assert_eq!(setup.model.stats()["violations"], 0, "{what}");
            assert_eq!(setup.model.stats()["malformed"], 0, "{what}");
        }
    }
    assert!(compared > 3, "{compared} conversations needed no new decision");
}

/// A proxy that never saw the conversation, and whose store is away from the beginning.
#[tokio::test]
async fn a_long_history_fits_although_the_store_was_never_there() {
    let (_, whole) = setup("sqlite::memory:").await;
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    work(&mut agent, 40, &whole, "with a store").await;
    let (store, setup) = setup("sqlite::memory:").await;
    store.set(StoreFault::Broken);
    work(&mut agent, 10, &setup, "without a store").await;
    store.set(StoreFault::None);
    let (text, _) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 60 steps.");
    assert_eq!(setup.model.stats()["violations"], 0);
    assert_eq!(setup.model.stats()["malformed"], 0);
}

/// The store fails at every other call, for the whole conversation.
#[tokio::test]
async fn a_store_that_comes_and_goes_costs_no_request() {
    for every in [2, 3, 5, 7] {
        let (store, setup) = setup("sqlite::memory:").await;
        let mut agent = Agent::new(Wire::OpenAiChat, TASK);
        let mut is_done = false;
        while !is_done {
            store.fail_once(every);
            let (answer, text) = agent.step(setup.address()).await;
            assert_eq!(answer.status(), 200, "{}{}", answer.head, answer.body);
            is_done = text.is_some();
        }
        assert_eq!(setup.model.stats()["violations"], 0, "every {every}");
        assert_eq!(setup.model.stats()["malformed"], 0, "every {every}");
    }
}
