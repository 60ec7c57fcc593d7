//! Rows for tests.

use std::sync::Arc;

use secateur_store::{Commit, NewOperation, NewSession, NewStoredMessage, SessionRow, Store, StoredMessage};

pub(crate) fn new_session(id: &str) -> NewSession {
    NewSession {
        id: id.to_owned(),
        wire: "anthropic".to_owned(),
        profile: "balanced".to_owned(),
        title: Some("Mend the pump".to_owned()),
        envelope: r#"{"model":"m"}"#.to_owned(),
        state: r#"{"phase":"idle"}"#.to_owned(),
        time: 1_000,
    }
}

pub(crate) fn message(id: &str, body: &[u8]) -> NewStoredMessage {
    NewStoredMessage {
        id: id.to_owned(),
        time: 1_500,
        facts: format!(r#"{{"about":"{id}"}}"#),
        body: body.to_vec().into(),
        ..NewStoredMessage::default()
    }
}

pub(crate) fn operation(kind: &str) -> NewOperation {
    NewOperation { kind: kind.to_owned(), time: 1_600, data: format!(r#"{{"did":"{kind}"}}"#) }
}

/// A commit of messages.
pub(crate) fn says(revision: u64, append: Vec<NewStoredMessage>) -> Commit {
    Commit { revision, time: 2_000, append, ..Commit::default() }
}

/// A session with these messages, each of which has its id as its body.
pub(crate) async fn session_of(store: &Arc<dyn Store>, id: &str, messages: &[&str]) -> SessionRow {
    store.create(new_session(id)).await.unwrap();
    let append = messages.iter().map(|id| message(id, id.as_bytes())).collect();
    store.commit(id, says(0, append)).await.unwrap();
    store.session(id).await.unwrap()
}

/// The bodies of messages as text.
pub(crate) fn texts(messages: &[StoredMessage]) -> Vec<String> {
    messages.iter().map(|message| String::from_utf8(message.body.clone()).unwrap()).collect()
}

/// The loaded messages as text.
pub(crate) async fn loaded_texts(store: &Arc<dyn Store>, id: &str) -> Vec<String> {
    texts(&store.load(id).await.unwrap().messages)
}

/// Everything that a store returns about a session, to compare before and after.
pub(crate) async fn everything(store: &Arc<dyn Store>, id: &str) -> String {
    let session = store.session(id).await.unwrap();
    let messages = store.messages(id, 0, u64::MAX).await.unwrap();
    let seqs: Vec<u64> = (0..=session.head + 1).collect();
    let originals = store.originals(id, &seqs).await.unwrap();
    let operations = store.operations(id, 0, usize::MAX).await.unwrap();
    let events = store.events(id, 0, usize::MAX).await.unwrap();
    format!("{session:?}\n{messages:?}\n{originals:?}\n{operations:?}\n{events:?}")
}
