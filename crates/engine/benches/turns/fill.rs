//! Fills a store with a long past, quickly: the engine makes a few turns, and they are written again and again under
//! other names, thousands in a commit.

use secateur_engine::{Engine, SessionOptions};
use secateur_store::{Commit, NewOperation, NewStoredMessage, open};

use crate::Outcome;
use crate::case::{ID, take_turns, turn};

/// The most messages in a commit.
const BATCH: u64 = 5_000;

/// There is one operation, and some events, per this many messages.
const STRETCH: usize = 60;

/// The name that is replaced in what the engine made.
const NAME: &str = "x0000000";

/// How many turns follow the compacted past, so that the context is that of a session at work.
const TURNS: u32 = 60;

/// Fills a store.
pub(crate) async fn fill(url: &str, messages: u64) -> Outcome<()> {
    let store = open(url).await?;
    let engine = Engine::new(store.clone());
    let mut model =
        engine.create(SessionOptions { id: Some("model".to_owned()), ..SessionOptions::default() }).await?;
    model.append(turn(NAME)).await?;
    take_turns(&mut model, "model", TURNS).await?;
    let pattern = store.messages("model", 1, 5).await?;
    let operation = store.operations("model", 0, 1).await?;
    let event = store.events("model", 0, 1).await?;

    engine.create(SessionOptions { id: Some(ID.to_owned()), ..SessionOptions::default() }).await?;
    let past = messages.saturating_sub(u64::from(TURNS) * 4);
    let (mut revision, mut written) = (0, 0);
    while written < past {
        let size = BATCH.min(past - written);
        let turns = (written..written + size).step_by(4);
        let append: Vec<NewStoredMessage> = turns
            .flat_map(|number| {
                let name = format!("y{number:07}");
                pattern.iter().map(move |row| NewStoredMessage {
                    id: row.id.replace(NAME, &name),
                    time: row.time,
                    facts: row.facts.replace(NAME, &name),
                    body: String::from_utf8_lossy(&row.body).replace(NAME, &name).into(),
                    ..NewStoredMessage::default()
                })
            })
            .take(usize::try_from(size)?)
            .collect();
        let stretches = append.len() / STRETCH;
        let operations = operation.iter().cycle().take(stretches);
        let new = |kind: &String, time, data: &String| NewOperation {
            kind: kind.clone(),
            time,
            data: data.clone(),
        };
        written += size;
        let commit = Commit {
            revision,
            append,
            operations: operations.map(|row| new(&row.kind, row.time, &row.data)).collect(),
            events: event.iter().cycle().take(3 * stretches).map(|row| row.data.clone()).collect(),
            live_from: Some(written + 1),
            ..Commit::default()
        };
        revision = store.commit(ID, commit).await?.revision;
    }
    take_turns(&mut engine.open(ID).await?, "fill", TURNS).await
}
