//! What is answered.

use secateur_engine::{Clock, SessionOptions};
use serde_json::Value;

use super::requests::{all, ask, get, settled, working};
use crate::setup::{Setup, engine};

const WINDOW: u64 = 12_000;

#[tokio::test]
async fn the_document_lists_every_path() {
    let setup = Setup::start(WINDOW).await;
    let document = get(setup.address(), "/api/openapi.json").await;
    let paths = document["paths"].as_object().unwrap().iter().flat_map(|(path, item)| {
        item.as_object().unwrap().keys().map(move |method| format!("{method} {path}"))
    });
    let mut paths: Vec<String> = paths.collect();
    paths.sort();
    let known = [
        "get /api/configuration",
        "get /api/conversations",
        "get /api/openapi.json",
        "get /api/recall/{handle}",
        "get /api/runs/{name}",
        "get /api/search",
        "get /api/sessions",
        "get /api/sessions/{id}",
        "get /api/sessions/{id}/events",
        "get /api/sessions/{id}/operations",
        "get /api/sessions/{id}/outline",
        "get /api/sessions/{id}/plan",
        "get /api/sessions/{id}/recall/{name}",
        "get /api/sessions/{id}/verdicts",
        "post /api/sessions/{id}/operations/{number}/redo",
        "post /api/sessions/{id}/operations/{number}/undo",
    ];
    assert_eq!(paths, known);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(document["components"]["schemas"]["Problem"]["type"], "object");
}

#[tokio::test]
async fn a_session_can_be_seen_from_all_sides_and_no_look_changes_it() {
    let setup = Setup::start(WINDOW).await;
    let to = setup.address();
    let (agent, id) = working(&setup, 24).await;
    setup.relay.take();
    let session = settled(to, &id).await;
    assert_eq!((&session["id"], &session["wire"]), (&Value::from(id.clone()), &"anthropic".into()));
    assert_eq!((&session["model"], &session["window"]), (&"scripted".into(), &WINDOW.into()));
    assert_eq!(get(to, "/api/sessions").await["items"][0], session);

    let path = |what: &str| format!("/api/sessions/{id}/{what}");
    let outline = all(to, &path("outline"), 3).await;
    assert_eq!(outline, all(to, &path("outline"), 500).await);
    assert_eq!(outline.last().unwrap()["number"], session["messages"]);
    // Facts, and nothing of what was said.
    assert!(outline.iter().any(|message| message["role"] == "assistant"));
    assert!(!serde_json::to_string(&outline).unwrap().contains("lies somewhere"));

    let operations = all(to, &path("operations"), 1).await;
    assert_eq!(operations.len() as u64, session["operations"].as_u64().unwrap());
    let prune = operations.iter().find(|operation| operation["kind"] == "prune").unwrap();
    let name = prune["cuts"][0]["name"].as_str().unwrap();
    let parts = outline.iter().flat_map(|message| message["parts"].as_array().unwrap());
    let part = parts.clone().find(|part| part["name"] == name).unwrap();
    assert_eq!(part["cuts"][0]["operation"], prune["number"]);

    // The original is there, word for word.
    let recalled = get(to, &path(&format!("recall/{name}"))).await;
    let seq = recalled["message"].as_u64().unwrap();
    assert_eq!(format!("{seq}.0"), name);
    assert!(recalled["text"].as_str().unwrap().contains("lies somewhere"));
    let result = &recalled["original"]["content"][0];
    assert!(agent.items.iter().any(|item| item["content"][0]["content"] == result["content"]));
    let by_call = get(to, &path(&format!("recall/{}", part["call"].as_str().unwrap()))).await;
    assert_eq!(by_call["message"], recalled["message"]);

    let verdicts = all(to, &path("verdicts"), 7).await;
    assert!(verdicts.iter().any(|row| row["name"] == name && row["reason"] == "already-cut"), "{verdicts:?}");
    let alive = outline.iter().filter(|message| message["alive"] == true);
    let alive: usize = alive.map(|message| message["parts"].as_array().unwrap().len()).sum();
    assert_eq!(verdicts.len(), alive);
    let plan = get(to, &path("plan")).await;
    let cut: Vec<&Value> =
        verdicts.iter().filter(|row| row["verdict"] == "cut").map(|row| &row["name"]).collect();
    let planned: Vec<&Value> = plan["cuts"].as_array().unwrap().iter().map(|cut| &cut["name"]).collect();
    assert_eq!(cut, planned);
    assert_eq!(plan["idle"].is_null(), !planned.is_empty(), "{plan}");
    assert!(plan["tokens"].as_i64().unwrap() > 0 && plan["usable"].as_i64().unwrap() > 0, "{plan}");

    let events = all(to, &path("events"), 2).await;
    assert_eq!(events.len() as u64, session["events"].as_u64().unwrap());
    assert!(events.iter().any(|reported| reported["event"]["type"] == "pruned"), "{events:?}");

    assert_eq!(get(to, &format!("/api/sessions/{id}")).await, session);
    assert!(setup.relay.take().is_empty(), "something of this reached the provider");
}

#[tokio::test]
async fn the_list_of_sessions_is_read_page_by_page() {
    let clock = Clock::at(1_000);
    let engine = engine("sqlite::memory:").await.with_clock(clock.clone());
    let setup = Setup::with_engine(WINDOW, engine.clone()).await;
    // Some of them are as old as others.
    for (time, id) in [(1_000, "a"), (2_000, "b/\u{e9} ?"), (2_000, "c"), (2_000, "d"), (3_000, "e")] {
        clock.set(time);
        engine.create(SessionOptions { id: Some(id.to_owned()), ..SessionOptions::default() }).await.unwrap();
    }
    let whole = all(setup.address(), "/api/sessions", 500).await;
    let ids: Vec<&Value> = whole.iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, ["e", "d", "c", "b/\u{e9} ?", "a"]);
    for limit in 1..6 {
        assert_eq!(all(setup.address(), "/api/sessions", limit).await, whole, "in pages of {limit}");
    }
    let odd = get(setup.address(), "/api/sessions/b%2F%C3%A9%20%3F").await;
    assert_eq!(odd, whole[3]);
}

#[tokio::test]
async fn the_configuration_is_shown_with_where_it_came_from() {
    let setup = Setup::start(WINDOW).await;
    let shown = get(setup.address(), "/api/configuration").await;
    let of = |key: &str| {
        let settings = shown["settings"].as_array().unwrap().iter();
        settings.clone().find(|setting| setting["key"] == key).unwrap().clone()
    };
    assert_eq!((&of("profile")["value"], &of("profile")["origin"]), (&"steady".into(), &"program".into()));
    assert_eq!(of("serve.anthropic")["value"], setup.relay.url());
}

#[tokio::test]
async fn a_head_is_asked_for_without_its_body() {
    let setup = Setup::start(WINDOW).await;
    let mut line =
        secateur_testing::Connection::new(tokio::net::TcpStream::connect(setup.address()).await.unwrap());
    line.send("HEAD /api/sessions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await;
    let head = String::from_utf8(line.rest().await).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    // Beside it the proxy is what it was.
    let answer = ask(setup.address(), "GET", "/apis", "").await;
    assert_ne!(answer.header("content-type"), Some("application/problem+json"));
}
