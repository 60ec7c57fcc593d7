//! What is said in these tests, and by whom.

use std::sync::Arc;
use std::time::Duration;

use secateur::session::Event;
use secateur::{Layer, Limits, Profiles};
use secateur_engine::provider::LanguageModel;
use secateur_engine::{Engine, NewMessage, Session, SessionOptions, Target};
use serde_json::json;

/// The session that all of them work on.
pub(crate) const ID: &str = "s";

/// Long enough that no process on a busy machine loses it by accident, short enough to wait for its end.
pub(crate) const LEASE: Duration = Duration::from_secs(1);

/// An engine with connections of its own.
pub(crate) async fn engine(url: &str) -> Engine {
    Engine::new(secateur_store::open(url).await.unwrap()).with_lease(LEASE)
}

/// An engine with connections of its own and a model that all may share.
pub(crate) async fn engine_with<M: LanguageModel + 'static>(url: &str, model: &Arc<M>) -> Engine {
    engine(url).await.with_model(Arc::<M>::clone(model))
}

/// An engine that summarises in the background once a part of the window is full.
pub(crate) async fn ahead<M: LanguageModel + 'static>(url: &str, model: &Arc<M>) -> Engine {
    let layer = Layer::set("test", "compaction.background", toml::Value::String("30%".to_owned()));
    engine_with(url, model).await.with_profiles(Profiles::builtin(), vec![layer])
}

/// The session, created by the first process.
pub(crate) async fn create(engine: &Engine) -> Session {
    engine.create(SessionOptions { id: Some(ID.to_owned()), ..SessionOptions::default() }).await.unwrap()
}

/// A model with a window of this many tokens.
pub(crate) fn target(context: i64) -> Target {
    let limits = Limits { context, output: Some(500), ..Limits::default() };
    Target { limits, ..Target::new("model", context) }
}

/// What a user says.
pub(crate) fn ask(id: &str) -> NewMessage {
    let json = json!({"role": "user", "content": format!("Please look at file {id}.")}).to_string();
    NewMessage { id: Some(id.to_owned()), json: json.into(), pinned: false }
}

/// Turns with responses of some length, without tool results that could be cut instead.
pub(crate) fn turns_of(name: &str, turns: u32) -> Vec<NewMessage> {
    let turn = |number: u32| {
        let words = format!("File {name}{number} is fine. ").repeat(30);
        let answer = json!({"role": "assistant", "content": words}).to_string();
        [ask(&format!("{name}{number}")), NewMessage::json(answer)]
    };
    (0..turns).flat_map(turn).collect()
}

/// How many events of a session are of this sort.
pub(crate) async fn count(session: &Session, is: fn(&Event) -> bool) -> usize {
    session.events(0, 10_000).await.unwrap().iter().filter(|reported| is(&reported.event)).count()
}

pub(crate) fn is_completed(event: &Event) -> bool {
    matches!(event, Event::CompactionCompleted { .. })
}

pub(crate) fn is_started(event: &Event) -> bool {
    matches!(event, Event::CompactionStarted { .. })
}
