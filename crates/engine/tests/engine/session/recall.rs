//! What was cut can be fetched back by what stands in its place, and searched.

use std::collections::HashMap;

use secateur::Measures;
use secateur_engine::{Engine, EngineError, NewMessage, Session, SessionOptions};
use secateur_formats::{HandleKey, Wire, earlier_handle};
use secateur_testing::{StoreHome, on_each_home};
use serde_json::{Value, json};

use super::messages::{calls, message, results, text_of, turn, user};
use super::setup::{ask, engine, open, set, target};

/// The handles that a request names.
fn handles(body: &str) -> Vec<String> {
    let named = body.split("recall ").skip(1).filter_map(|rest| rest.split_once(" brings "));
    named.map(|(handle, _)| handle.to_owned()).collect()
}

/// A command that is run, and what it prints.
fn command(wire: Wire, number: usize) -> Vec<NewMessage> {
    let call = format!("call-{number}");
    let mut said = vec![user(wire, "Go on.")];
    said.extend(calls(wire, &[(&call, "bash", json!({"command": format!("./run {number}")}))]));
    said.extend(results(wire, &[(&call, "bash", &text_of(number, 6_000))]));
    said
}

/// A session of this wire in which results were cut, and the request that shows it.
async fn cut(engine: &Engine, wire: Wire) -> (Session, String) {
    let mut session = open(engine, "balanced", wire).await;
    for number in 0..10 {
        session.append(command(wire, number)).await.unwrap();
    }
    let body = ask(&mut session, &target(14_000)).await.body;
    (session, body)
}

#[tokio::test]
async fn every_placeholder_names_what_brings_its_content_back() {
    for wire in Wire::ALL {
        let engine = engine().await;
        let (mut session, body) = cut(&engine, wire).await;
        let handles = handles(&body);
        assert!(handles.len() > 2, "{wire}: {body}");
        for (number, handle) in handles.iter().enumerate() {
            let recalled = engine.recall(handle, None).await.unwrap();
            assert_eq!(recalled.text, text_of(number, 6_000), "{wire}");
            assert_eq!(recalled.session, session.id());
            assert_eq!(recalled.tool.as_deref(), Some("bash"), "{wire}");
            assert_eq!(recalled.subject.as_deref(), Some(format!("./run {number}").as_str()), "{wire}");
        }
        // A compaction takes the placeholders away, and not what they stand for.
        session.compact(None).await.unwrap();
        let body = ask(&mut session, &target(14_000)).await.body;
        assert!(!body.contains(&handles[0]), "{wire}: {body}");
        for (number, handle) in handles.iter().enumerate() {
            assert_eq!(session.recall(handle).await.unwrap().text, text_of(number, 6_000), "{wire}");
        }
    }
}

#[tokio::test]
async fn calls_without_ids_are_distinguished() {
    let engine = engine().await;
    let mut session = open(&engine, "balanced", Wire::Gemini).await;
    let say = |parts: Value, role: &str| message(&json!({"role": role, "parts": parts}));
    for number in 0..10 {
        let call = json!({"name": "bash", "args": {"command": format!("./run {number}")}});
        let answer = json!({"name": "bash", "response": {"output": text_of(number, 6_000)}});
        session.append([user(Wire::Gemini, "Go on.")]).await.unwrap();
        session.append([say(json!([{"functionCall": call}]), "model")]).await.unwrap();
        session.append([say(json!([{"functionResponse": answer}]), "user")]).await.unwrap();
    }
    let handles = handles(&ask(&mut session, &target(14_000)).await.body);
    assert!(handles.len() > 2);
    for (number, handle) in handles.iter().enumerate() {
        assert_eq!(engine.recall(handle, None).await.unwrap().text, text_of(number, 6_000));
    }
}

#[tokio::test]
async fn a_cut_input_brings_the_input_back_and_not_the_result() {
    let wire = Wire::Anthropic;
    let engine = set(engine().await, "rent = { inputs = { age = 1, least_chars = 400 } }");
    let mut session = open(&engine, "frugal", wire).await;
    let script = "print('long')\n".repeat(400);
    for number in 0..6 {
        let (id, input) = (format!("c-{number}"), json!({"path": format!("{number}.py"), "content": script}));
        session.append([user(wire, "Go on.")]).await.unwrap();
        session.append(calls(wire, &[(&id, "write", input)])).await.unwrap();
        session.append(results(wire, &[(&id, "write", "written")])).await.unwrap();
    }
    let body = ask(&mut session, &target(8_000)).await.body;
    let handles = handles(&body);
    assert!(!handles.is_empty() && body.contains(r#"{"cut":"[cut: write "#), "{body}");
    let recalled = engine.recall(&handles[0], None).await.unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&recalled.text).unwrap(),
        json!({"path": "0.py", "content": script})
    );
}

#[tokio::test]
async fn what_was_trimmed_or_cut_for_one_request_comes_back_too() {
    let wire = Wire::OpenAiChat;
    let engine = engine().await;
    let mut session = open(&engine, "balanced", wire).await;
    session.append([user(wire, "Read the log.")]).await.unwrap();
    session.append(calls(wire, &[("c-1", "bash", json!({"command": "cat log"}))])).await.unwrap();
    let log = text_of(1, 400_000);
    session.append(results(wire, &[("c-1", "bash", &log)])).await.unwrap();
    let body = ask(&mut session, &target(20_000)).await.body;
    let handles = handles(&body);
    assert_eq!(handles.len(), 1, "{body}");
    assert_eq!(engine.recall(&handles[0], None).await.unwrap().text, log);
    // What is not in the index is looked for in the sessions changed last: by the call's id, and by its handle.
    session.append(turn(wire, 7, 300)).await.unwrap();
    let body = ask(&mut session, &target(20_000)).await.body;
    let key = HandleKey::new(engine.store().handle_key().unwrap());
    let handle = key.letters(&text_of(7, 300))[..16].to_owned();
    // The names of files have a key that everyone knows. They bring nothing back.
    let format = secateur_formats::Format::Request(wire);
    let transcript = secateur_formats::read_as(body.as_bytes(), format, &Measures::default()).unwrap();
    let public = transcript.handle(transcript.find_part("call-7").unwrap());
    assert!(matches!(engine.recall(&public, None).await, Err(EngineError::NotCut { .. })));
    for name in ["call-7", &handle] {
        assert_eq!(engine.recall(name, None).await.unwrap().text, text_of(7, 300), "{name}");
        assert_eq!(session.recall(name).await.unwrap().text, text_of(7, 300), "{name}");
    }
}

#[tokio::test]
async fn several_sessions_know_the_same_handle() {
    let engine = engine().await;
    let (first, body) = cut(&engine, Wire::Anthropic).await;
    let (second, _) = cut(&engine, Wire::OpenAiChat).await;
    let handle = &handles(&body)[0];
    for id in [first.id(), second.id()] {
        assert_eq!(engine.recall(handle, Some(id)).await.unwrap().session, id);
    }
    // One that never had it is served from another: the text is the same.
    let third = open(&engine, "balanced", Wire::Anthropic).await;
    assert_eq!(engine.recall(handle, Some(third.id())).await.unwrap().text, text_of(0, 6_000));
    assert!(matches!(engine.recall("zzzzzzzz", None).await, Err(EngineError::NotCut { .. })));
    let nothing = engine.recall("zzzzzzzz", Some(third.id())).await;
    assert!(matches!(nothing, Err(EngineError::NotFound { .. })));
    assert!(matches!(engine.recall("1", None).await, Err(EngineError::NotCut { .. })), "whose message 1?");
}

#[tokio::test]
async fn what_left_the_context_is_searched_and_nothing_else() {
    for wire in Wire::ALL {
        let engine = engine().await;
        let mut session = open(&engine, "balanced", wire).await;
        session.append([user(wire, "Remember the word quixotic.")]).await.unwrap();
        let mut said = vec![user(wire, "Look at lib.rs.")];
        said.extend(calls(wire, &[("c-1", "read", json!({"path": "src/lib.rs"}))]));
        let found = format!("{}\nfn prune_all() {{}} // xylophone\n{}", "x ".repeat(300), "y ".repeat(300));
        said.extend(results(wire, &[("c-1", "read", &found)]));
        session.append(said).await.unwrap();
        assert_eq!(engine.search("xylophone", None, 9).await.unwrap(), [], "{wire}: it is in the context");
        for number in 0..4 {
            session.append(turn(wire, number, 300)).await.unwrap();
        }
        session.compact(None).await.unwrap();
        let hits = engine.search("Xylophone prune_all", Some(session.id()), 9).await.unwrap();
        assert_eq!(hits.len(), 1, "{wire}: {hits:?}");
        let hit = &hits[0];
        assert_eq!(
            (hit.tool.as_deref(), hit.subject.as_deref()),
            (Some("read"), Some("src/lib.rs")),
            "{wire}"
        );
        assert!(hit.snippet.contains("fn prune_all() {} // xylophone"), "{wire}: {}", hit.snippet);
        assert_eq!(hit.session, session.id());
        assert_eq!(engine.recall(&hit.handle, None).await.unwrap().text, found, "{wire}");
        // By what it was about as well; the call itself says no more than that.
        assert_eq!(engine.search("read src/lib.rs", None, 9).await.unwrap()[0].handle, hit.handle, "{wire}");
        assert_eq!(engine.search("path src/lib.rs", None, 9).await.unwrap(), [], "{wire}");
        // What people said left it, too.
        assert_eq!(engine.search("quixotic", None, 9).await.unwrap().len(), 1, "{wire}");
        // Nothing of it is left once it is forgotten.
        session.forget(i64::MAX).await.unwrap();
        assert_eq!(engine.search("xylophone", None, 9).await.unwrap(), [], "{wire}");
        let gone = engine.recall(&hit.handle, Some(session.id())).await;
        assert!(matches!(gone, Err(EngineError::NotFound { .. })), "{wire}: {gone:?}");
    }
}

#[tokio::test]
async fn a_follower_and_its_branch_find_the_same() {
    let engine = engine().await;
    let mut session =
        engine.follow_new(SessionOptions { wire: Wire::OpenAiChat, ..SessionOptions::default() }).unwrap();
    let named = |(at, message): (usize, NewMessage)| NewMessage { id: Some(format!("m{at}")), ..message };
    let messages = (0..12).flat_map(|number| turn(Wire::OpenAiChat, number, 9_000));
    let seqs = session.take(messages.enumerate().map(named)).await.unwrap();
    session.fit(&secateur_engine::Target::new("m", 30_000), 100).await.unwrap();
    let hits = engine.search("line 0", Some(session.id()), 9).await.unwrap();
    assert!(hits.iter().any(|hit| hit.tool.as_deref() == Some("read")), "{hits:?}");
    let fork = session.fork(seqs[3]).await.unwrap();
    let shared = engine.search("line 0", Some(fork.id()), 9).await.unwrap();
    assert_eq!(
        shared.iter().map(|hit| &hit.handle).collect::<Vec<_>>(),
        hits.iter().map(|hit| &hit.handle).collect::<Vec<_>>()
    );
    assert_eq!(engine.recall(&hits[0].handle, Some(fork.id())).await.unwrap().session, fork.id());
}

on_each_home!(
    a_handle_that_another_text_has_is_longer,
    a_handle_of_several_texts_brings_none_of_them_back,
    an_index_that_names_the_wrong_text_is_not_believed,
);

/// Another text that has the first letters of this one is played by a row of the index: none can be found.
async fn a_handle_that_another_text_has_is_longer(home: StoreHome) {
    let engine = Engine::new(home.open().await);
    let (first, body) = cut(&engine, Wire::Anthropic).await;
    let handle = handles(&body)[0].clone();
    assert_eq!(handle.len(), 12);
    let other = format!("{handle}{}", "z".repeat(36));
    home.run_sql(&format!("UPDATE clippings SET letters = '{other}' WHERE handle = '{handle}'")).await;
    let (mut second, body) = cut(&engine, Wire::OpenAiChat).await;
    let longer = handles(&body)[0].clone();
    assert_eq!((longer.len(), &longer[..12]), (16, handle.as_str()), "{body}");
    let recalled = engine.recall(&longer, None).await.unwrap();
    assert_eq!((recalled.session.as_str(), recalled.text), (second.id(), text_of(0, 6_000)));
    // The name stays the same for ever: in the next request, for another process, and after an undo that is undone.
    let body = ask(&mut second, &target(14_000)).await.body;
    assert_eq!(handles(&body)[0], longer);
    let again = Engine::new(home.open().await);
    let mut opened = again.open(second.id()).await.unwrap();
    assert_eq!(handles(&ask(&mut opened, &target(14_000)).await.body)[0], longer);
    let number = opened.undo(None).await.unwrap();
    opened.redo(Some(number)).await.unwrap();
    assert_eq!(handles(&ask(&mut opened, &target(14_000)).await.body)[0], longer);
    drop(first);
}

/// Two texts that had the same handle in an earlier version. They are found in a second.
fn colliding() -> [String; 2] {
    let mut seen: HashMap<String, u32> = HashMap::new();
    for number in 0.. {
        let text = |number: u32| format!("result number {number}");
        if let Some(earlier) = seen.insert(earlier_handle(&text(number)), number) {
            return [text(earlier), text(number)];
        }
    }
    unreachable!("eight letters have fewer values than there are numbers")
}

async fn a_handle_of_several_texts_brings_none_of_them_back(home: StoreHome) {
    let engine = Engine::new(home.open().await);
    let texts = colliding();
    let texts = texts.each_ref().map(String::as_str);
    let handle = earlier_handle(texts[0]);
    let mut ids = Vec::new();
    for text in texts {
        let wire = Wire::Anthropic;
        let mut session = open(&engine, "balanced", wire).await;
        let mut said = vec![user(wire, "Go on.")];
        said.extend(calls(wire, &[("c-1", "bash", json!({"command": "./run"}))]));
        said.extend(results(wire, &[("c-1", "bash", text)]));
        session.append(said).await.unwrap();
        for number in 0..4 {
            session.append(turn(wire, number, 300)).await.unwrap();
        }
        session.compact(None).await.unwrap();
        ids.push(session.id().to_owned());
    }
    // As the earlier version has stored it.
    let letters = texts.map(|text| HandleKey::new(engine.store().handle_key().unwrap()).letters(text));
    for letters in letters {
        home.run_sql(&format!(
            "UPDATE clippings SET handle = '{handle}', letters = NULL WHERE letters = '{letters}'"
        ))
        .await;
    }
    let error = engine.recall(&handle, None).await.unwrap_err();
    let EngineError::Ambiguous { candidates, .. } = &error else { panic!("{error}") };
    let mut named: Vec<&str> = candidates.iter().map(|candidate| candidate.session.as_str()).collect();
    named.sort_unstable();
    let mut expected: Vec<&str> = ids.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(named, expected);
    assert!(
        candidates.iter().all(|candidate| candidate.subject.as_deref() == Some("./run")),
        "{candidates:?}"
    );
    assert!(texts.iter().all(|text| !error.to_string().contains(text)), "no text is shown: {error}");
    // The session tells which is meant.
    for (id, text) in ids.iter().zip(texts) {
        assert_eq!(engine.recall(&handle, Some(id)).await.unwrap().text, text);
    }
    // The id of a call that is in several sessions is no better.
    assert!(matches!(engine.recall("c-1", None).await, Err(EngineError::Ambiguous { .. })));
    assert_eq!(engine.recall("c-1", Some(&ids[0])).await.unwrap().text, texts[0]);
}

async fn an_index_that_names_the_wrong_text_is_not_believed(home: StoreHome) {
    let engine = Engine::new(home.open().await);
    let (session, body) = cut(&engine, Wire::Anthropic).await;
    let handles = handles(&body);
    let (one, other) = (&handles[0], &handles[1]);
    home.run_sql(&format!(
        "UPDATE clippings SET handle = CASE handle WHEN '{one}' THEN '{other}' ELSE '{one}' END \
         WHERE handle IN ('{one}', '{other}')"
    ))
    .await;
    for id in [None, Some(session.id())] {
        assert_eq!(engine.recall(one, id).await.unwrap().text, text_of(0, 6_000));
        assert_eq!(engine.recall(other, id).await.unwrap().text, text_of(1, 6_000));
    }
}
