//! Any sequence of commits leaves a store in the same state as a plain model.

use std::cell::Cell;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use secateur_store::{
    ClippingSearch, Commit, Forget, Fork, MessageChange, NewClipping, NewOperation, NewStoredMessage, Store,
};
use tokio::runtime::Handle;
use tokio::task::block_in_place;
use uuid::Uuid;

use crate::model::{Model, handle};
use crate::rows::new_session;
use secateur_testing::Backend;
use secateur_testing::store_home::run;

/// A step. Revisions are offsets from the current one, and other numbers are [aimed](aim).
#[derive(Clone, Debug)]
enum Step {
    Commit(Commit),
    Forget(Forget),
    /// Continues in the fork.
    Fork(Fork),
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => (0..5u8).prop_map(|n| vec![n; 3]),
        1 => vec(any::<u8>(), 0..4),
        1 => (0..3u8).prop_map(|n| vec![n; 300]),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c]{1,2}", r#"[{}"'\\é]{1,3}"#]
}

fn message() -> impl Strategy<Value = NewStoredMessage> {
    let id = prop_oneof![9 => any::<u64>().prop_map(|n| n.to_string()), 1 => "[a-d]"];
    (id, weighted(0.1, 0..AIMS), any::<bool>(), any::<i64>(), text(), text(), bytes(), of(bytes())).prop_map(
        |(id, operation, pinned, time, facts, cuts, body, shown)| NewStoredMessage {
            id,
            operation,
            pinned,
            time,
            facts,
            cuts,
            body: body.into(),
            shown,
        },
    )
}

fn change() -> impl Strategy<Value = MessageChange> {
    (0..AIMS, of(text()), of(of(bytes())), of(any::<bool>()), of(any::<bool>()))
        .prop_map(|(seq, cuts, shown, hidden, pinned)| MessageChange { seq, cuts, shown, hidden, pinned })
}

fn operation() -> impl Strategy<Value = NewOperation> {
    (text(), any::<i64>(), text()).prop_map(|(kind, time, data)| NewOperation { kind, time, data })
}

/// Mostly the session's revision.
fn offset() -> impl Strategy<Value = u64> {
    prop_oneof![19 => Just(0), 1 => Just(1), 1 => Just(u64::MAX)]
}

const AIMS: u64 = 60;

/// Maps an arbitrary number to one that mostly exists: 1 to `last`, and sometimes one past it.
fn aim(number: &mut u64, last: u64) {
    *number = if *number == 0 || last == 0 { last + 1 } else { *number % last + 1 };
}

fn aim_commit(commit: &mut Commit, model: &Model) {
    let last = model.session.head + commit.append.len() as u64;
    // Without messages, hardly anything is changed or cut.
    commit.change.retain(|change| last > 0 || change.seq == 0);
    commit.clippings.retain(|clipping| last > 0 || clipping.seq == 0);
    commit.change.iter_mut().for_each(|change| aim(&mut change.seq, last));
    for clipping in &mut commit.clippings {
        aim(&mut clipping.seq, last);
        let new = clipping.seq.checked_sub(model.session.head + 1);
        let new = new.and_then(|at| commit.append.get(at as usize)).map(|new| &new.body);
        let old = model.messages.get(&clipping.seq).and_then(|said| said.original.as_ref());
        clipping.handle =
            handle(new.map(|body| &body[..]).or(old.map(Vec::as_slice)).unwrap_or_default(), clipping.part);
    }
    commit.live_from.iter_mut().for_each(|live_from| aim(live_from, last + 1));
    let last = model.session.last_operation + commit.operations.len() as u64;
    let made_by = commit.append.iter_mut().filter_map(|new| new.operation.as_mut());
    commit.undone.iter_mut().map(|(number, _)| number).chain(made_by).for_each(|number| aim(number, last));
}

fn clipping() -> impl Strategy<Value = NewClipping> {
    (0..AIMS, 0..2u32).prop_map(|(seq, part)| {
        let text = "a word".to_owned();
        NewClipping { seq, part, text, ..NewClipping::default() }
    })
}

fn commit() -> impl Strategy<Value = Commit> {
    let taken = (vec(operation(), 0..2), weighted(0.3, clipping()));
    let rows = (vec(message(), 0..5), vec(change(), 0..3), taken);
    let rest = (vec((0..AIMS, any::<bool>()), 0..2), vec(text(), 0..3), of(text()));
    (offset(), any::<i64>(), rows, rest, weighted(0.3, 0..AIMS), of(text())).prop_map(
        |(
            revision,
            time,
            (append, change, (operations, clippings)),
            (undone, events, state),
            live_from,
            envelope,
        )| Commit {
            revision,
            lease: None,
            time,
            append,
            change,
            operations,
            undone,
            events,
            state,
            live_from,
            envelope,
            clippings: Vec::from_iter(clippings),
        },
    )
}

fn forget() -> impl Strategy<Value = Forget> {
    (offset(), any::<i64>(), vec(0..AIMS, 0..2), vec(0..AIMS, 0..3))
        .prop_map(|(revision, time, gone, cut)| Forget { revision, time, gone, cut, ..Forget::default() })
}

fn fork() -> impl Strategy<Value = Fork> {
    (offset(), any::<i64>(), 0..AIMS, of(text())).prop_map(|(revision, time, at, title)| Fork {
        revision,
        at,
        id: String::new(),
        title,
        time,
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => commit().prop_map(Step::Commit),
        2 => forget().prop_map(Step::Forget),
        1 => fork().prop_map(Step::Fork),
    ];
    vec(step, 1..14)
}

/// Runs the steps in a new session and in its forks. Returns how many were not refused.
async fn follow(store: &Arc<dyn Store>, steps: Vec<Step>) -> usize {
    let session = store.create(new_session(&Uuid::now_v7().to_string())).await.unwrap();
    let mut model = Model { session, ..Model::default() };
    let mut left = vec![];
    let mut taken = 0;
    for step in steps {
        let (id, now) = (&model.session.id.clone(), model.session.revision);
        match step {
            Step::Commit(mut commit) => {
                commit.revision = commit.revision.wrapping_add(now);
                aim_commit(&mut commit, &model);
                let expected = model.commit(&commit).map(|()| {
                    let now = &model.session;
                    (now.revision, now.head, now.last_operation, now.last_event)
                });
                let found = store.commit(id, commit).await;
                let found = found.map(|now| (now.revision, now.head, now.last_operation, now.last_event));
                assert_eq!(found.as_ref().ok(), expected.as_ref().ok(), "{found:?}");
                taken += usize::from(found.is_ok());
            }
            Step::Forget(mut forget) => {
                forget.revision = forget.revision.wrapping_add(now);
                let named = forget.gone.iter_mut().chain(&mut forget.cut);
                named.for_each(|seq| aim(seq, model.session.head));
                let before = model.originals();
                let expected = model.forget(&forget);
                let gone = before.into_iter().zip(model.originals()).filter(|(_, after)| after.is_none());
                let gone: Vec<Vec<u8>> = gone.filter_map(|(before, _)| before).collect();
                left.iter_mut().chain([&mut model]).for_each(|model: &mut Model| model.lose_index(&gone));
                let found = store.forget(id, forget).await;
                let found = found.map(|forgotten| (forgotten.messages, forgotten.bytes));
                assert_eq!(found.as_ref().ok(), expected.as_ref().ok(), "{found:?}");
                taken += usize::from(found.is_ok());
            }
            Step::Fork(mut fork) => {
                // A failing sequence is run again, so the id is not part of it.
                fork.id = Uuid::now_v7().to_string();
                fork.revision = fork.revision.wrapping_add(now);
                aim(&mut fork.at, model.session.head);
                let expected = model.fork(&fork);
                let found = store.fork(id, fork).await;
                let session = expected.as_ref().ok().map(|model| &model.session);
                assert_eq!(found.as_ref().ok(), session, "{found:?}");
                if let Ok(branch) = expected {
                    left.push(std::mem::replace(&mut model, branch));
                    taken += 1;
                }
            }
        }
        compare(store, &model).await;
    }
    // Changes in a fork are not visible in its origin.
    for model in left {
        compare(store, &model).await;
    }
    taken
}

async fn compare(store: &Arc<dyn Store>, model: &Model) {
    let id = model.session.id.as_str();
    let loaded = store.load(id).await.unwrap();
    assert_eq!(loaded.session, model.session);
    assert_eq!(loaded.messages, model.load());
    assert_eq!(store.messages(id, 0, u64::MAX).await.unwrap(), model.all());
    let seqs: Vec<u64> = model.messages.keys().copied().collect();
    assert_eq!(store.originals(id, &seqs).await.unwrap(), model.originals());
    let operations: Vec<_> = model.operations.values().cloned().collect();
    assert_eq!(store.operations(id, 0, usize::MAX).await.unwrap(), operations);
    assert_eq!(store.events(id, 0, usize::MAX).await.unwrap(), model.events);
    // Other sessions may have cut the same content, so more may be found.
    let search = ClippingSearch { words: "word".to_owned(), session: Some(id.to_owned()), limit: usize::MAX };
    let found = store.search(search).await.unwrap();
    for found in &found {
        let original = model.messages[&found.seq].original.as_ref().unwrap();
        assert_eq!(found.handle, handle(original, found.part));
    }
    for (handle, seq) in model.clippings() {
        assert!(found.iter().any(|found| found.handle == handle && found.seq == seq), "{handle} at {seq}");
    }
}

/// Runs many sequences in one store, so that sessions share bodies.
fn check(backend: Backend, cases: u32) {
    run(backend, move |home| async move {
        let store = home.open().await;
        block_in_place(|| {
            let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
            let (taken, seen) = (Cell::new(0), Cell::new(0));
            let result = TestRunner::new(config).run(&steps(), |steps| {
                seen.set(seen.get() + steps.len());
                taken.set(taken.get() + Handle::current().block_on(follow(&store, steps)));
                Ok(())
            });
            if let Err(error) = result {
                panic!("{error}");
            }
            // Otherwise the sequences prove nothing.
            assert!(taken.get() * 5 > seen.get() * 2, "only {taken:?} of {seen:?} steps were not refused");
        });
    });
}

#[test]
fn sqlite_agrees_with_a_model() {
    check(Backend::Memory, ProptestConfig::default().cases);
}

#[test]
fn postgres_agrees_with_a_model() {
    check(Backend::Postgres, 24);
}

#[test]
fn the_simulated_store_agrees_with_a_model() {
    check(Backend::Simulated, ProptestConfig::default().cases);
}
