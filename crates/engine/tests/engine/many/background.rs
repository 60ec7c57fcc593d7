//! Summaries that are made while the conversation goes on.

use secateur::Usage;
use secateur::session::TurnState;
use secateur_engine::{Session, Settlement};

use super::model::{SUMMARY, Slow};
use super::script::{ID, ahead, ask, count, create, engine, is_completed, target, turns_of};
use secateur_testing::{StoreHome, on_each_home};

on_each_home!(
    what_is_appended_meanwhile_is_there_after_the_swap,
    what_others_append_meanwhile_is_there_after_the_swap,
    a_request_that_overflows_meanwhile_waits_for_it,
    a_requested_compaction_waits_for_it,
    dropping_the_session_cancels_it,
    an_undo_by_others_cancels_it,
);

/// A session in which a summary was begun.
async fn begin(url: &str, model: &std::sync::Arc<Slow>) -> Session {
    let mut session = create(&ahead(url, model).await).await;
    session.append(turns_of("a", 9)).await.unwrap();
    let request = session.context(&target(4_000)).await.unwrap();
    assert_eq!(model.questions(), 0);
    let usage = Usage { input: request.tokens, ..Usage::default() };
    session.settle(Settlement::Responded { usage, turn: TurnState::Over }).await.unwrap();
    model.asked(1).await;
    session
}

async fn what_is_appended_meanwhile_is_there_after_the_swap(home: StoreHome) {
    let url = home.url.clone();
    let model = Slow::new();
    let mut session = begin(&url, &model).await;
    session.append([ask("later")]).await.unwrap();
    // It fits, so the request does not wait.
    let body = session.context(&target(4_000)).await.unwrap().body;
    assert!(!body.contains(SUMMARY) && body.contains("file a0."));
    model.allow(9);
    let reported = session.wait().await.unwrap();
    assert!(reported.iter().any(is_completed), "{reported:?}");
    let body = session.context(&target(4_000)).await.unwrap().body;
    assert!(body.contains(SUMMARY) && body.contains("later"));
    assert_eq!(session.wait().await.unwrap(), []);
    assert_eq!((model.questions(), count(&session, is_completed).await), (1, 1));
}

async fn what_others_append_meanwhile_is_there_after_the_swap(home: StoreHome) {
    let url = home.url.clone();
    let model = Slow::new();
    let mut session = begin(&url, &model).await;
    let mut other = engine(&url).await.open(ID).await.unwrap();
    other.append([ask("other-0")]).await.unwrap();
    assert!(session.context(&target(4_000)).await.unwrap().body.contains("other-0"));
    other.append([ask("other-1")]).await.unwrap();
    model.allow(9);
    let reported = session.wait().await.unwrap();
    assert!(reported.iter().any(is_completed), "{reported:?}");
    let body = session.context(&target(4_000)).await.unwrap().body;
    assert!(body.contains(SUMMARY) && body.contains("other-0") && body.contains("other-1"));
    assert_eq!(model.questions(), 1);
    assert_eq!(other.context(&target(4_000)).await.unwrap().body, body);
}

async fn a_request_that_overflows_meanwhile_waits_for_it(home: StoreHome) {
    let url = home.url.clone();
    let model = Slow::new();
    let mut session = begin(&url, &model).await;
    session.append(turns_of("b", 12)).await.unwrap();
    let asking = tokio::spawn(async move { (session.context(&target(4_000)).await.unwrap(), session) });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(!asking.is_finished());
    model.allow(9);
    let (request, session) = asking.await.unwrap();
    assert!(request.body.contains(SUMMARY) && request.tokens <= request.usable.unwrap());
    assert!(count(&session, is_completed).await >= 1);
    assert!(!request.body.contains("file a0."));
}

async fn a_requested_compaction_waits_for_it(home: StoreHome) {
    let url = home.url.clone();
    let model = Slow::new();
    let mut session = begin(&url, &model).await;
    let compacting = tokio::spawn(async move { (session.compact(None).await.unwrap(), session) });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(!compacting.is_finished());
    model.allow(9);
    let (reported, mut session) = compacting.await.unwrap();
    assert!(reported.iter().any(is_completed), "{reported:?}");
    assert!(session.context(&target(4_000)).await.unwrap().body.contains(SUMMARY));
}

async fn dropping_the_session_cancels_it(home: StoreHome) {
    let url = home.url.clone();
    let model = Slow::new();
    let session = begin(&url, &model).await;
    let store = secateur_store::open(&url).await.unwrap();
    assert_eq!(store.lease(ID, "another process", 60_000).await.unwrap(), None);
    drop(session);
    while store.lease(ID, "another process", 60_000).await.unwrap().is_none() || model.left() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let session = engine(&url).await.open(ID).await.unwrap();
    assert_eq!((model.questions(), count(&session, is_completed).await), (1, 0));
}

async fn an_undo_by_others_cancels_it(home: StoreHome) {
    let url = home.url.clone();
    let model = Slow::new();
    let mut session = begin(&url, &model).await;
    let mut other = engine(&url).await.open(ID).await.unwrap();
    // Without a model it would make a digest, but the lease is not free before this summary is cancelled.
    let undoing = other.undo(None).await;
    assert!(undoing.is_err(), "there is nothing to undo yet");
    model.allow(1);
    session.wait().await.unwrap();
    session.append(turns_of("b", 8)).await.unwrap();
    let request = session.context(&target(4_000)).await.unwrap();
    let usage = Usage { input: request.tokens, ..Usage::default() };
    session.settle(Settlement::Responded { usage, turn: TurnState::Over }).await.unwrap();
    model.asked(2).await;
    other.undo(None).await.unwrap();
    model.allow(9);
    session.wait().await.unwrap();
    assert_eq!(count(&session, is_completed).await, 1);
    let body = session.context(&target(4_000)).await.unwrap().body;
    assert_eq!(other.context(&target(4_000)).await.unwrap().body, body);
}
