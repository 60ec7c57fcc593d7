//! A database that is killed while clients use it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use secateur_engine::{EngineError, Session, SessionOptions};
use secateur_store::StoreError;
use tokio::task::{JoinSet, spawn_blocking};

use crate::check::check;
use crate::script::{Batch, Random, engine, target};
use secateur_testing::postgres::create_schema;
use secateur_testing::postgres_server::{PostgresServer, ServerEnd};

const OUTAGES: u64 = 10;
const CLIENTS: u64 = 3;

/// What a client and the test tell each other.
#[derive(Default)]
struct Watch {
    kept: AtomicU64,
    errors: AtomicU64,
    is_over: AtomicBool,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_of_a_killed_server_lose_nothing_and_go_on() {
    let Some(server) = PostgresServer::start().await else { return };
    let url = create_schema(&server.url, "test").await;
    let watch = Arc::new(Watch::default());
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(work(url.clone(), client, Arc::clone(&watch)));
    }
    let server = Arc::new(server);
    let mut random = Random::new(1);
    for outage in 0..OUTAGES {
        // Until they are at work again.
        let reached = watch.kept.load(Ordering::Relaxed) + 2 * CLIENTS;
        while watch.kept.load(Ordering::Relaxed) < reached {
            assert_eq!(clients.len() as u64, CLIENTS);
            if let Some(ended) = clients.try_join_next() {
                panic!("a client ended: {:?}", ended.map(|_| ()));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(Duration::from_micros(random.below(20_000))).await;
        let end = if outage % 2 == 0 { ServerEnd::Stopped } else { ServerEnd::Killed };
        let server = Arc::clone(&server);
        spawn_blocking(move || {
            server.stop(end);
            server.restart();
        })
        .await
        .unwrap();
    }
    watch.is_over.store(true, Ordering::Relaxed);
    for (id, mut kept) in clients.join_all().await {
        check(&engine(&url).await, &id, &mut kept, "afterwards").await;
    }
    let errors = watch.errors.load(Ordering::Relaxed);
    println!("{} batches kept, {errors} errors", watch.kept.load(Ordering::Relaxed));
    assert!(errors >= OUTAGES, "{errors}");
}

/// Works with one and the same session until it is over. Gives its id and what was acknowledged.
async fn work(url: String, client: u64, watch: Arc<Watch>) -> (String, Vec<String>) {
    let id = format!("s{client}");
    let opening = SessionOptions { id: Some(id.clone()), ..SessionOptions::default() };
    let mut session = engine(&url).await.create(opening).await.unwrap();
    let mut random = Random::new(client + 77);
    let mut kept = Vec::new();
    for step in 0.. {
        let turn = format!("{client}-{step}");
        while let Err(error) = do_something(&mut session, &turn, &mut random, &mut kept, &watch).await {
            assert!(matches!(error, EngineError::Store(StoreError::Database { .. })), "{error:?}");
            let said = format!("{error} {error:?}");
            assert!(said.contains("cannot ") && !said.contains("postgres://"), "{said}");
            watch.errors.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if watch.is_over.load(Ordering::Relaxed) {
            break;
        }
    }
    (id, kept)
}

/// A process that is not sure whether something arrived repeats it.
async fn do_something(
    session: &mut Session,
    turn: &str,
    random: &mut Random,
    kept: &mut Vec<String>,
    watch: &Watch,
) -> Result<(), EngineError> {
    let ids = Batch::Turn.ids(turn);
    if kept.last() != ids.last() {
        session.append(Batch::Turn.messages(turn)).await?;
        kept.extend(ids);
        watch.kept.fetch_add(1, Ordering::Relaxed);
    }
    match random.below(8) {
        0 => drop(session.compact(None).await?),
        1 => match session.undo(None).await {
            Err(EngineError::CannotUndo { .. }) => {}
            outcome => drop(outcome?),
        },
        _ => drop(session.context(&target()).await?),
    }
    Ok(())
}
