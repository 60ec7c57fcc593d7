//! What is forgotten is gone: no byte of the database has a word of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use secateur_engine::{Clock, Engine, EngineError, NewMessage, Session, SessionOptions};
use secateur_formats::Wire;
use secateur_store::{Store, open as open_store};
use secateur_testing::{StoreHome, on_each_home};
use serde_json::json;

use super::messages::{assistant, calls, message, results, user};
use super::setup::{Author, ask, open, set, target};

on_each_home!(
    nothing_of_what_is_forgotten_is_left_in_the_database,
    a_session_goes_on_as_before_when_its_originals_are_forgotten,
    an_equal_result_of_another_session_does_not_keep_what_was_indexed,
    what_is_forgotten_cannot_be_undone_or_redone,
    what_an_undone_compaction_made_stays_until_its_sources_are_forgotten,
);

/// Words that mark where they were said: `zq`, the place, a number.
fn mark(place: &str, number: usize) -> String {
    format!("zq{place}{number:03}qz")
}

/// All marks in these bytes.
fn marks(bytes: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut found = BTreeSet::new();
    for at in text.match_indices("zq").map(|(at, _)| at) {
        let word: String = text[at..].chars().take_while(char::is_ascii_alphanumeric).collect();
        if let Some(end) = word.find("qz") {
            found.insert(word[..end + 2].to_owned());
        }
    }
    found
}

/// A turn with a mark in every kind of place.
fn marked_turn(wire: Wire, number: usize) -> Vec<NewMessage> {
    let at = |place: &str| mark(place, number);
    let (bash, edit) = (format!("bash-{number}"), format!("edit-{number}"));
    let command = json!({"command": format!("make {} --quiet", at("command")), "description": at("input")});
    let change = json!({"file_path": format!("/srv/{}/lib.rs", at("path")), "old_string": at("old"),
        "new_string": format!("{} ", at("new")).repeat(60)});
    let output = format!(
        "{}\nerror[E0308]: {}\n{}\nTraceback: {}\n",
        format!("{} ", at("result")).repeat(200),
        at("error"),
        format!("line of {number}\n").repeat(60),
        at("trace"),
    );
    let mut turn = vec![user(wire, &format!("Please mend {}. {}", at("user"), "Go on. ".repeat(30)))];
    if wire == Wire::Anthropic {
        let data = format!("iVBORw0KGgo{}", at("media"));
        turn.push(assistant(wire, &at("reply")));
        turn.push(message(&json!({"role": "user", "content": [{"type": "text", "text": at("caption")},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]})));
        turn.push(message(&json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": at("thinking"), "signature": "c2ln"},
            {"type": "tool_use", "id": bash, "name": "bash", "input": command},
            {"type": "tool_use", "id": edit, "name": "edit", "input": change}]})));
    } else {
        turn.extend(calls(wire, &[(&bash, "bash", command), (&edit, "edit", change)]));
    }
    turn.extend(results(wire, &[(&bash, "bash", &output), (&edit, "edit", &at("done"))]));
    turn.push(assistant(wire, &format!("I did {}.", at("answer"))));
    turn
}

async fn engine_at(home: &StoreHome) -> (Engine, Arc<dyn Store>) {
    let store = open_store(&home.url).await.unwrap();
    let engine = Engine::new(Arc::clone(&store)).with_clock(Clock::at(1_700_000_000_000));
    (engine.with_model(Author::new(&[])), store)
}

const WINDOW: i64 = 14_000;

/// A long session that was cut and compacted several times, and cut since.
async fn worn(engine: &Engine, wire: Wire) -> Session {
    let mut session = open(engine, "balanced", wire).await;
    for number in 0..48 {
        session.append(marked_turn(wire, number)).await.unwrap();
        ask(&mut session, &target(WINDOW)).await;
        if number % 12 == 11 {
            session.compact(None).await.unwrap();
        }
    }
    for number in 48..56 {
        session.append(marked_turn(wire, number)).await.unwrap();
        ask(&mut session, &target(WINDOW)).await;
    }
    session
}

/// Every mark that the store still returns in a body.
async fn marks_in_bodies(store: &Arc<dyn Store>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for session in store.sessions(99).await.unwrap() {
        let seqs: Vec<u64> = (1..=session.head).collect();
        for message in store.messages(&session.id, 0, u64::MAX).await.unwrap() {
            found.extend(marks(&message.body));
        }
        for original in store.originals(&session.id, &seqs).await.unwrap().into_iter().flatten() {
            found.extend(marks(&original));
        }
    }
    found
}

const UNREFERENCED: &str = "SELECT COUNT(*) FROM bodies WHERE digest NOT IN \
    (SELECT body FROM messages WHERE body IS NOT NULL UNION SELECT shown FROM messages WHERE shown IS NOT NULL)";

async fn nothing_of_what_is_forgotten_is_left_in_the_database(home: StoreHome) {
    for wire in [Wire::Anthropic, Wire::OpenAiChat, Wire::Gemini] {
        let (engine, store) = engine_at(&home).await;
        let mut session = worn(&engine, wire).await;
        let body = ask(&mut session, &target(WINDOW)).await.body;
        let shown = marks(body.as_bytes());
        let all: BTreeSet<String> = (0..56)
            .flat_map(|number| marked_turn(wire, number))
            .flat_map(|said| marks(said.json.as_bytes()))
            .collect();
        let hidden: BTreeSet<String> = all.difference(&shown).cloned().collect();
        assert!(hidden.len() > 300, "{wire}: {} of {} are not shown", hidden.len(), all.len());

        let forgotten = session.forget(i64::MAX).await.unwrap();
        assert!(forgotten.messages > 150, "{wire}: {forgotten:?}");
        engine.shrink_store().await.unwrap();
        let left: Vec<String> = marks(&home.raw_bytes().await).intersection(&hidden).cloned().collect();
        assert_eq!(left, [""; 0], "{wire}: in the database");
        let left: Vec<String> = marks_in_bodies(&store).await.intersection(&hidden).cloned().collect();
        assert_eq!(left, [""; 0], "{wire}: in bodies");
        assert_eq!(home.query_number(UNREFERENCED).await, 0, "{wire}");
        for word in hidden.iter().take(40) {
            assert_eq!(engine.search(word, None, 9).await.unwrap(), [], "{wire}");
        }
        assert_eq!(ask(&mut session, &target(WINDOW)).await.body, body, "{wire}: what is shown stays");
        // The next session begins with the same words.
        store.retention().unwrap().delete(session.id(), i64::MAX).await.unwrap();
        while !store.retention().unwrap().sweep(1_000).await.unwrap().is_done {}
    }
}

async fn a_session_goes_on_as_before_when_its_originals_are_forgotten(home: StoreHome) {
    for wire in [Wire::Anthropic, Wire::OpenAiChat] {
        let (engine, store) = engine_at(&home).await;
        let mut session = worn(&engine, wire).await;
        let body = ask(&mut session, &target(WINDOW)).await.body;
        session.forget(i64::MAX).await.unwrap();
        // Another process loads it.
        let mut other = engine.open(session.id()).await.unwrap();
        assert_eq!(ask(&mut other, &target(WINDOW)).await.body, body, "{wire}");
        let (before, after) = (session.plan(0).0, engine.view(session.id()).await.unwrap().plan(0).0);
        assert_eq!(before, after, "{wire}: all processes decide the same");
        // The facts that a session needs are still there.
        let facts = store.facts(session.id(), 0, 9_999).await.unwrap();
        assert!(facts.iter().all(|message| message.facts.contains(r#""sizes""#)), "{wire}");
        assert!(facts.iter().any(|message| message.facts.contains(r#""call":"bash-0""#)), "{wire}");
        // It is cut and compacted again, and the summary continues the one that is shown.
        for number in 60..72 {
            other.append(marked_turn(wire, number)).await.unwrap();
            ask(&mut other, &target(WINDOW)).await;
        }
        other.compact(None).await.unwrap();
        let next = ask(&mut other, &target(WINDOW)).await.body;
        assert!(next.contains(&mark("user", 71)), "{wire}: {next}");
        // A second time there is little to do, and nothing breaks.
        other.forget(i64::MAX).await.unwrap();
        assert_eq!(ask(&mut other, &target(WINDOW)).await.body, next, "{wire}");
        assert_eq!(other.forget(i64::MAX).await.unwrap().messages, 0, "{wire}");
    }
}

async fn an_equal_result_of_another_session_does_not_keep_what_was_indexed(home: StoreHome) {
    let (engine, _) = engine_at(&home).await;
    let wire = Wire::Gemini;
    let mut ids = Vec::new();
    for number in 0..2 {
        let mut session = open(&engine, "balanced", wire).await;
        // Gemini's results need no id, so equal results are equal messages.
        let call = json!({"functionCall": {"name": "bash", "args": {"command": mark("command", number)}}});
        let result =
            json!({"functionResponse": {"name": "bash", "response": {"output": "the same ".repeat(80)}}});
        session.append([user(wire, "Go on.")]).await.unwrap();
        session.append([message(&json!({"role": "model", "parts": [call]}))]).await.unwrap();
        session.append([message(&json!({"role": "user", "parts": [result]}))]).await.unwrap();
        session.append([assistant(wire, "Done."), user(wire, "Thanks.")]).await.unwrap();
        session.compact(None).await.unwrap();
        ids.push(session.id().to_owned());
    }
    let word = mark("command", 0);
    assert!(!engine.search(&word, None, 9).await.unwrap().is_empty());
    // Nothing of the first session is shown but its summary, which goes with the second compaction.
    let mut session = engine.open(&ids[0]).await.unwrap();
    let body = ask(&mut session, &target(WINDOW)).await.body;
    session.forget(i64::MAX).await.unwrap();
    engine.shrink_store().await.unwrap();
    assert_eq!(engine.search(&word, None, 9).await.unwrap(), []);
    let index = home.query_number("SELECT COUNT(*) FROM clippings WHERE facts LIKE '%zqcommand000qz%'").await;
    assert_eq!(index, 0, "{body}");
    // The other session still has its own.
    let other = engine.view(&ids[1]).await.unwrap();
    assert!(other.recall("3").await.unwrap().text.contains("the same"));
}

/// A session with one compaction.
async fn compacted(home: &StoreHome) -> (Engine, Session) {
    let (engine, _) = engine_at(home).await;
    let engine = set(engine, "compaction = { prune = false }");
    let mut session = open(&engine, "balanced", Wire::OpenAiChat).await;
    for number in 0..6 {
        session.append(marked_turn(Wire::OpenAiChat, number)).await.unwrap();
    }
    ask(&mut session, &target(200_000)).await;
    session.compact(None).await.unwrap();
    (engine, session)
}

async fn what_is_forgotten_cannot_be_undone_or_redone(home: StoreHome) {
    let (_, mut session) = compacted(&home).await;
    session.forget(i64::MAX).await.unwrap();
    let refused = session.undo(None).await;
    assert!(matches!(refused, Err(EngineError::Forgotten { .. })), "{refused:?}");
    assert!(refused.unwrap_err().to_string().contains("was forgotten"));
    ask(&mut session, &target(200_000)).await;
}

async fn what_an_undone_compaction_made_stays_until_its_sources_are_forgotten(home: StoreHome) {
    let (_, mut session) = compacted(&home).await;
    let body = ask(&mut session, &target(200_000)).await.body;
    let number = session.undo(None).await.unwrap();
    session.forget(i64::MAX).await.unwrap();
    session.redo(Some(number)).await.unwrap();
    assert_eq!(ask(&mut session, &target(200_000)).await.body, body);
    // Undone, then replaced by another compaction, whose sources are the same.
    session.undo(Some(number)).await.unwrap();
    session.compact(None).await.unwrap();
    session.forget(i64::MAX).await.unwrap();
    let refused = session.undo(None).await;
    assert!(matches!(refused, Err(EngineError::Forgotten { .. })), "{refused:?}");
    ask(&mut session, &target(200_000)).await;
}

#[tokio::test]
async fn a_fork_still_finds_what_its_parent_forgot() {
    let engine = super::setup::engine().await;
    let options = SessionOptions { wire: Wire::OpenAiChat, ..SessionOptions::default() };
    let mut session = engine.follow_new(options).unwrap();
    let named = |(at, message): (usize, NewMessage)| NewMessage { id: Some(format!("m{at}")), ..message };
    let messages = (0..12).flat_map(|number| marked_turn(Wire::OpenAiChat, number));
    let seqs = session.take(messages.enumerate().map(named)).await.unwrap();
    session.fit(&target(WINDOW), 100).await.unwrap();
    let word = mark("result", 0);
    assert_eq!(engine.search(&word, Some(session.id()), 9).await.unwrap().len(), 1);
    let fork = session.fork(seqs[3]).await.unwrap();
    engine.view(session.id()).await.unwrap().forget(i64::MAX).await.unwrap();
    assert_eq!(engine.search(&word, Some(session.id()), 9).await.unwrap(), []);
    assert_eq!(engine.search(&word, Some(fork.id()), 9).await.unwrap().len(), 1);
}
