//! What must be true of a session whatever happened to its writers.

use std::collections::HashSet;

use secateur_engine::Engine;
use secateur_formats::lint::lint;
use secateur_store::StoredMessage;

use crate::script::{Batch, companions, said, target};

/// How many originals are fetched one by one.
const RECALLS: usize = 12;

/// Checks a session of one writer. `kept` is everything that was acknowledged, in order; afterwards it is everything
/// that is there, because that must stay.
pub(crate) async fn check(engine: &Engine, id: &str, kept: &mut Vec<String>, turn: &str) {
    let rows = rows(engine, id).await;
    let spoken: Vec<&StoredMessage> = rows.iter().filter(|row| row.operation.is_none()).collect();
    let ids: Vec<String> = spoken.iter().map(|row| row.id.clone()).collect();
    assert!(ids.starts_with(kept), "acknowledged {kept:?}, but kept {ids:?}");
    // What was not acknowledged is at most one batch, and whole.
    let rest = &ids[kept.len()..];
    assert!(rest.is_empty() || rest == companions(&rest[0]), "half of something: {rest:?}");
    let seqs: Vec<u64> = spoken.iter().map(|row| row.seq).collect();
    let originals = engine.store().originals(id, &seqs).await.unwrap();
    for (row, original) in spoken.iter().zip(originals) {
        assert_eq!(String::from_utf8(original.unwrap()).unwrap(), said(&row.id), "{}", row.id);
    }

    let mut session = engine.open(id).await.unwrap();
    let live_from = engine.session_row(id).await.unwrap().live_from;
    let changed = spoken.iter().filter(|row| row.seq < live_from || !row.cuts.is_empty());
    for row in changed.rev().take(RECALLS) {
        let recalled = session.recall(&row.seq.to_string()).await.unwrap();
        assert_eq!(String::from_utf8(recalled.body).unwrap(), said(&row.id));
    }
    // It goes on, and what is appended twice is stored once.
    for _ in 0..2 {
        session.append(Batch::Ask.messages(turn)).await.unwrap();
        let request = session.context(&target()).await.unwrap();
        assert!(request.tokens <= request.usable.unwrap(), "{} tokens", request.tokens);
        assert_eq!(lint(request.wire, &request.body), []);
    }
    kept.extend_from_slice(rest);
    kept.extend(Batch::Ask.ids(turn));
}

/// All messages of a session: without gaps, without doubles.
async fn rows(engine: &Engine, id: &str) -> Vec<StoredMessage> {
    let head = engine.session_row(id).await.unwrap().head;
    let rows = engine.store().messages(id, 1, head + 1).await.unwrap();
    assert!(rows.iter().map(|row| row.seq).eq(1..=head), "there are gaps");
    let ids: HashSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids.len(), rows.len(), "something is there twice");
    rows
}
