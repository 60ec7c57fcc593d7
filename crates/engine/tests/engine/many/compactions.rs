//! Compactions that others get in the way of.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use secateur::Limits;
use secateur_engine::provider::{Deltas, Finish, LanguageModel, ModelError, ModelRequest, ModelResponse};
use secateur_store::Store;
use tokio::runtime::Handle;

use super::model::{SUMMARY, Slow};
use super::script::{
    ID, ask, count, create, engine, engine_with, is_completed, is_started, target, turns_of,
};
use secateur_testing::{StoreHome, on_each_home};

on_each_home!(
    two_that_overflow_at_once_make_one_compaction,
    what_others_append_meanwhile_costs_no_second_summary,
    an_undo_makes_a_compaction_think_again,
    a_compaction_without_the_lease_is_refused,
    what_one_takes_out_of_the_context_the_others_find,
    a_request_that_is_abandoned_leaves_a_valid_session,
);

async fn two_that_overflow_at_once_make_one_compaction(home: StoreHome) {
    let url = home.url.clone();
    let model = Slow::new();
    let mut one = create(&engine_with(&url, &model).await).await;
    one.append(turns_of("a", 20)).await.unwrap();
    let mut other = engine_with(&url, &model).await.open(ID).await.unwrap();
    let first = tokio::spawn(async move { one.context(&target(3_000)).await.unwrap().body });
    model.asked(1).await;
    let second = tokio::spawn(async move { (other.context(&target(3_000)).await.unwrap().body, other) });
    tokio::time::sleep(Duration::from_millis(100)).await;
    model.allow(9);
    let (second, other) = second.await.unwrap();
    assert_eq!(first.await.unwrap(), second);
    assert!(second.contains(SUMMARY));
    assert_eq!(model.questions(), 1);
    assert_eq!(count(&other, is_completed).await, 1);
}

async fn what_one_takes_out_of_the_context_the_others_find(home: StoreHome) {
    let url = home.url.clone();
    let mut one = create(&engine(&url).await).await;
    one.append(turns_of("a", 20)).await.unwrap();
    let other = engine(&url).await;
    assert_eq!(other.search("A0", Some(ID), 9).await.unwrap(), []);
    one.compact(None).await.unwrap();
    let hits = other.search("A0", Some(ID), 9).await.unwrap();
    assert_eq!(hits.iter().map(|hit| hit.number).collect::<Vec<_>>(), [2, 1], "{hits:?}");
    for hit in hits {
        let recalled = other.recall(&hit.handle, None).await.unwrap();
        assert!(recalled.text.contains("ile a0") && recalled.seq == hit.number, "{recalled:?}");
    }
    one.undo(None).await.unwrap();
    one.redo(None).await.unwrap();
    assert_eq!(other.search("A0", None, 9).await.unwrap().len(), 2);
}

async fn what_others_append_meanwhile_costs_no_second_summary(home: StoreHome) {
    let url = home.url.clone();
    let model = Slow::new();
    let mut one = create(&engine_with(&url, &model).await).await;
    one.append(turns_of("a", 20)).await.unwrap();
    let mut other = engine(&url).await.open(ID).await.unwrap();
    let first = tokio::spawn(async move { (one.context(&target(3_000)).await.unwrap().body, one) });
    model.asked(1).await;
    for number in 0..5 {
        other.append([ask(&format!("other-{number}"))]).await.unwrap();
    }
    model.allow(9);
    let (body, one) = first.await.unwrap();
    assert!(body.contains(SUMMARY) && body.contains("other-0") && body.contains("other-4"), "{body}");
    assert_eq!(model.questions(), 1);
    assert_eq!(count(&one, is_completed).await, 1);
    assert_eq!(other.context(&target(3_000)).await.unwrap().body, body);
}

async fn an_undo_makes_a_compaction_think_again(home: StoreHome) {
    let url = home.url.clone();
    let model = Slow::new();
    let mut one = create(&engine_with(&url, &model).await).await;
    one.append(turns_of("a", 20)).await.unwrap();
    model.allow(1);
    one.compact(None).await.unwrap();
    one.append(turns_of("b", 20)).await.unwrap();
    let mut other = engine(&url).await.open(ID).await.unwrap();
    let first = tokio::spawn(async move { (one.context(&target(3_000)).await.unwrap(), one) });
    model.asked(2).await;
    let undone = other.undo(None).await.unwrap();
    model.allow(9);
    let (request, one) = first.await.unwrap();
    assert!(request.tokens <= request.usable.unwrap());
    let operations = other_operations(one.id(), &engine(&url).await.store().clone()).await;
    let compactions = operations.iter().filter(|(_, kind, _)| kind == "compact");
    assert!(compactions.clone().all(|(number, _, is_undone)| *is_undone == (*number == undone)));
    assert_eq!(compactions.count(), 2);
    assert_eq!(other.context(&target(3_000)).await.unwrap().body, request.body);
    assert_eq!(other.recall("1").await.unwrap().text, "Please look at file a0.");
}

/// Numbers and kinds of the operations of a session, and whether they are undone.
async fn other_operations(id: &str, store: &Arc<dyn Store>) -> Vec<(u64, String, bool)> {
    let rows = store.operations(id, 0, 1_000).await.unwrap();
    rows.into_iter().map(|row| (row.number, row.kind, row.undone)).collect()
}

/// A model during whose first answer nothing else happens in its process, until another process has taken the lease.
struct Stalled {
    store: Arc<dyn Store>,
    questions: AtomicUsize,
}

#[async_trait]
impl LanguageModel for Stalled {
    fn name(&self) -> &str {
        "stalled"
    }

    fn limits(&self) -> Limits {
        Limits { context: 100_000, ..Limits::default() }
    }

    async fn send(&self, _: &ModelRequest<'_>, _: &mut Deltas<'_>) -> Result<ModelResponse, ModelError> {
        if self.questions.fetch_add(1, Ordering::Relaxed) == 0 {
            let take = || async { self.store.lease(ID, "another process", 50).await.unwrap() };
            tokio::task::block_in_place(|| while Handle::current().block_on(take()).is_none() {});
        }
        Ok(ModelResponse { text: SUMMARY.to_owned(), finish: Finish::Complete, usage: None })
    }
}

async fn a_compaction_without_the_lease_is_refused(home: StoreHome) {
    let url = home.url.clone();
    let store = secateur_store::open(&url).await.unwrap();
    let model = Arc::new(Stalled { store, questions: AtomicUsize::new(0) });
    let engine = engine_with(&url, &model).await.with_lease(Duration::from_millis(5));
    let mut session = create(&engine).await;
    session.append(turns_of("a", 20)).await.unwrap();
    // In a task, because the model blocks its thread.
    let asking = tokio::spawn(async move { (session.context(&target(3_000)).await.unwrap().body, session) });
    let (body, session) = asking.await.unwrap();
    assert!(body.contains(SUMMARY));
    assert_eq!(model.questions.load(Ordering::Relaxed), 2);
    assert_eq!(count(&session, is_started).await, 2);
    assert_eq!(count(&session, is_completed).await, 1);
}

async fn a_request_that_is_abandoned_leaves_a_valid_session(home: StoreHome) {
    let url = home.url.clone();
    let model = Slow::new();
    let mut session = create(&engine_with(&url, &model).await).await;
    session.append(turns_of("a", 20)).await.unwrap();
    let small = target(3_000);
    tokio::select! {
        outcome = session.context(&small) => panic!("{outcome:?}"),
        () = model.asked(1) => {}
    }
    assert_eq!(model.left(), 1);
    session.append([ask("later")]).await.unwrap();
    model.allow(9);
    let body = session.context(&target(3_000)).await.unwrap().body;
    assert!(body.contains(SUMMARY) && body.contains("later"));
    assert_eq!((model.questions(), count(&session, is_completed).await), (2, 1));
}
