//! Tenants behind one proxy: none gets a byte of another, on any path, on either store.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use secateur_engine::Engine;
use secateur_formats::Wire;
use secateur_server::{AccessToken, Settings, TenantToken};
use secateur_testing::client::{ClientResponse, text};
use secateur_testing::connection::{Connection, HttpMessage, within};
use secateur_testing::{Agent, StoreHome, on_each_home};
use serde_json::Value;
use tokio::net::TcpStream;

use crate::api::requests::ask;
use crate::proxy::failing_store::{FailingStore, StoreFault};
use crate::setup::{Setup, catalogue, use_steady_profile, with_steady_profile};

on_each_home!(
    the_same_history_of_two_tenants_is_two_conversations,
    no_path_shows_a_tenant_anything_of_another,
    a_conversation_survives_another_credential,
    a_restart_keeps_tenants_apart,
);

const WINDOW: u64 = 8_000;
const TASK: &str = "SCENARIO:long steps=30 bytes=4000";

/// The text of a token.
fn word(tenant: &str) -> String {
    format!("the-token-of-{tenant}-of-some-length")
}

fn use_tenants(settings: &mut Settings) {
    use_steady_profile(settings);
    let token = |tenant: &str, is_operator| {
        let token = AccessToken::new(&word(tenant)).unwrap();
        TenantToken { token, tenant: tenant.to_owned(), is_operator }
    };
    settings.tokens = vec![token("anna", false), token("bert", false), token("olga", true)];
}

async fn start(engine: Engine) -> Setup {
    Setup::start_with(Some(WINDOW), engine, catalogue(WINDOW), use_tenants).await
}

async fn start_on(home: &StoreHome) -> Setup {
    start(with_steady_profile(Engine::new(home.open().await))).await
}

/// An agent of a tenant, with a key for the provider.
fn agent_of(tenant: &str, key: &str) -> Agent {
    of(Agent::new(Wire::Anthropic, TASK), tenant, key)
}

fn of(agent: Agent, tenant: &str, key: &str) -> Agent {
    Agent { headers: format!("x-secateur-token: {}\r\nx-api-key: {key}\r\n", word(tenant)), ..agent }
}

/// Works until something was compacted; returns the last response.
async fn work_until_compacted(agent: &mut Agent, to: SocketAddr) -> ClientResponse {
    loop {
        let (answer, end) = agent.step(to).await;
        if answer.outcome() == "compacted" {
            return answer;
        }
        assert!(end.is_none(), "nothing was compacted: {}", answer.head);
    }
}

async fn ask_as(tenant: &str, to: SocketAddr, method: &str, path: &str) -> HttpMessage {
    let length = if method == "POST" { "content-length: 0\r\n" } else { "" };
    ask(to, method, path, &format!("x-secateur-token: {}\r\n{length}", word(tenant))).await
}

async fn get_as(tenant: &str, to: SocketAddr, path: &str) -> Value {
    let answer = ask_as(tenant, to, "GET", path).await;
    assert_eq!(answer.status(), 200, "{path}: {}", answer.text());
    serde_json::from_str(answer.text()).unwrap()
}

/// Waits until what was said last is stored.
async fn settle(tenant: &str, to: SocketAddr, session: &str) {
    let mut last = Value::Null;
    loop {
        let now = get_as(tenant, to, &format!("/api/sessions/{session}")).await;
        if now == last {
            return;
        }
        last = now;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The key that a request reached the provider with.
fn key(request: &HttpMessage) -> &str {
    request.header("x-api-key").unwrap_or_default()
}

async fn the_same_history_of_two_tenants_is_two_conversations(home: StoreHome) {
    let setup = start_on(&home).await;
    let to = setup.address();
    let mut anna = agent_of("anna", "key-of-anna");
    let annas = work_until_compacted(&mut anna, to).await.header("x-secateur-session").to_owned();
    settle("anna", to, &annas).await;
    assert_eq!(anna.ask(to).await.outcome(), "replayed");
    let sent_for_anna = setup.relay.last_body();
    for summary in setup.relay.take_summaries() {
        assert_eq!(key(&summary), "key-of-anna");
    }
    setup.relay.take();

    // Bert sends the very same history. It is new for him: nothing is repeated that was decided for her.
    let mut bert = of(anna.clone(), "bert", "key-of-bert");
    let answer = bert.ask(to).await;
    assert_ne!(answer.header("x-secateur-session"), annas);
    assert_ne!(answer.outcome(), "replayed", "{}", answer.head);
    let written = setup.relay.take_summaries();
    assert!(written.iter().all(|summary| key(summary) == "key-of-bert"), "her model writes nothing for him");
    if answer.outcome() == "compacted" {
        assert!(!written.is_empty(), "his summary is written by his model");
    }
    for request in setup.relay.take() {
        assert_eq!(key(&request), "key-of-bert");
    }
    let berts = answer.header("x-secateur-session").to_owned();
    bert.step(to).await;
    settle("bert", to, &berts).await;

    // For her nothing has changed.
    assert_eq!(anna.ask(to).await.outcome(), "replayed");
    assert_eq!(setup.relay.last_body(), sent_for_anna);
    assert_eq!(setup.relay.take_summaries().len(), 0);
    for (tenant, own) in [("anna", &annas), ("bert", &berts)] {
        let sessions = get_as(tenant, to, "/api/sessions").await;
        let ids: Vec<_> = sessions["items"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect();
        assert_eq!(ids, [Value::from(own.as_str())], "{tenant}");
    }
}

/// What placeholders name.
fn handles(body: &str) -> Vec<String> {
    let behind = body.split("; recall ").skip(1);
    behind.map(|rest| rest.split(' ').next().unwrap().to_owned()).collect()
}

async fn no_path_shows_a_tenant_anything_of_another(home: StoreHome) {
    let setup = start_on(&home).await;
    let to = setup.address();
    let mut anna = agent_of("anna", "key-of-anna").named("Rumpelstilzchen");
    anna.headers.push_str("x-session-id: the-secret-title\r\n");
    anna.say("Rumpelstilzchen spins straw into gold");
    let annas = work_until_compacted(&mut anna, to).await.header("x-secateur-session").to_owned();
    settle("anna", to, &annas).await;
    let cut: Vec<String> = setup.relay.take().iter().flat_map(|request| handles(&text(request))).collect();
    let handle = cut.first().expect("something was cut");
    // She has all of it.
    let original = get_as("anna", to, &format!("/api/recall/{handle}")).await;
    let original = original["text"].as_str().unwrap();
    let term = original.split(|sign: char| !sign.is_alphanumeric()).max_by_key(|term| term.len()).unwrap();
    let words = format!("/api/search?words={term}");
    let words = words.as_str();
    assert!(!get_as("anna", to, words).await["items"].as_array().unwrap().is_empty(), "{words}");
    assert_eq!(get_as("anna", to, "/api/conversations").await["items"][0]["session"], annas.as_str());

    // For Bert it does not exist: each answer is the same as for what never was.
    let never = "0".repeat(annas.len());
    let paths = [
        ("GET", "/api/sessions/ID"),
        ("GET", "/api/sessions/ID/outline"),
        ("GET", "/api/sessions/ID/plan"),
        ("GET", "/api/sessions/ID/verdicts"),
        ("GET", "/api/sessions/ID/operations"),
        ("POST", "/api/sessions/ID/operations/1/undo"),
        ("POST", "/api/sessions/ID/operations/1/redo"),
        ("GET", "/api/sessions/ID/events"),
        ("GET", "/api/sessions/ID/recall/HANDLE"),
        ("GET", "/api/sessions/ID/recall/1"),
        ("GET", "WORDS&session=ID"),
        ("GET", "/api/recall/HANDLE"),
    ];
    for (method, path) in paths {
        let ask_for =
            |id: &str, name: &str| path.replace("WORDS", words).replace("ID", id).replace("HANDLE", name);
        let foreign = ask_as("bert", to, method, &ask_for(&annas, handle)).await;
        let nothing = ask_as("bert", to, method, &ask_for(&never, "zzzzzzzz")).await;
        assert_eq!((foreign.status(), nothing.status()), (404, 404), "{path}: {}", foreign.text());
        let foreign = foreign.text().replace(&annas, &never).replace(handle.as_str(), "zzzzzzzz");
        assert_eq!(foreign, nothing.text(), "{path}");
    }
    let stream = format!("x-secateur-token: {}\r\naccept: text/event-stream\r\n", word("bert"));
    assert_eq!(ask(to, "GET", &format!("/api/sessions/{annas}/events"), &stream).await.status(), 404);
    for path in ["/api/sessions", words, "/api/conversations"] {
        assert_eq!(get_as("bert", to, path).await["items"], Value::Array(Vec::new()), "{path}");
    }
    // The rest says nothing of her either.
    for path in ["/api/configuration", "/api/openapi.json", "/healthz", "/readyz", "/metrics", "/api/runs/r"]
    {
        let answer = ask_as("bert", to, "GET", path).await;
        for foreign in ["anna", "olga", "umpelstilzchen", "secret-title", annas.as_str(), handle.as_str()] {
            assert!(!answer.text().contains(foreign), "{foreign} in {path}: {}", answer.text());
        }
    }
    let metrics = ask_as("bert", to, "GET", "/metrics").await;
    assert_eq!((metrics.status(), metrics.text().contains("secateur_")), (403, false), "{}", metrics.text());

    // An operator sees all, with its tenant; labels of metrics name none.
    let all = get_as("olga", to, "/api/sessions").await;
    assert_eq!((&all["items"][0]["id"], &all["items"][0]["tenant"]), (&annas.clone().into(), &"anna".into()));
    assert_eq!(get_as("olga", to, "/api/conversations").await["items"][0]["session"], annas.as_str());
    assert_eq!(ask_as("olga", to, "GET", &format!("/api/recall/{handle}")).await.status(), 200);
    let metrics = ask_as("olga", to, "GET", "/metrics").await;
    assert!(metrics.text().contains("secateur_requests_total"), "{}", metrics.text());
    for name in ["anna", "bert", "olga", annas.as_str()] {
        assert!(!metrics.text().contains(name), "{name}: {}", metrics.text());
    }
    let undo = format!("/api/sessions/{annas}/operations/1/undo");
    assert_eq!(ask_as("olga", to, "POST", &undo).await.status(), 200);
    let operations = get_as("anna", to, &format!("/api/sessions/{annas}/operations")).await;
    assert_eq!(operations["items"][0]["undone"], true, "{operations}");
}

async fn a_conversation_survives_another_credential(home: StoreHome) {
    let setup = start_on(&home).await;
    let to = setup.address();
    let mut anna = agent_of("anna", "her-first-key");
    let session = work_until_compacted(&mut anna, to).await.header("x-secateur-session").to_owned();
    assert_eq!(anna.ask(to).await.outcome(), "replayed");
    let before = setup.relay.last_body();
    // Another key, and then an access token that is renewed.
    for header in
        ["x-api-key: her-second-key", "authorization: Bearer renewed-1", "authorization: Bearer renewed-2"]
    {
        anna.headers = format!("x-secateur-token: {}\r\n{header}\r\n", word("anna"));
        let answer = anna.ask(to).await;
        assert_eq!((answer.outcome(), answer.header("x-secateur-session")), ("replayed", session.as_str()));
        assert_eq!(setup.relay.last_body(), before);
    }
    // The same key does not make Bert her.
    let bert = of(anna.clone(), "bert", "her-first-key");
    assert_ne!(bert.ask(to).await.header("x-secateur-session"), session);
}

async fn a_restart_keeps_tenants_apart(home: StoreHome) {
    let setup = start_on(&home).await;
    let mut anna = agent_of("anna", "key-of-anna");
    let session =
        work_until_compacted(&mut anna, setup.address()).await.header("x-secateur-session").to_owned();
    settle("anna", setup.address(), &session).await;
    let restarted = start_on(&home).await;
    let to = restarted.address();
    let answer = anna.ask(to).await;
    assert_eq!((answer.outcome(), answer.header("x-secateur-session")), ("replayed", session.as_str()));
    let bert = of(anna.clone(), "bert", "key-of-bert");
    assert_ne!(bert.ask(to).await.header("x-secateur-session"), session);
}

/// Two runs with the same name, of two tenants.
#[tokio::test]
async fn runs_and_figures_are_those_of_a_tenant() {
    let setup =
        start(with_steady_profile(Engine::new(secateur_store::open("sqlite::memory:").await.unwrap()))).await;
    let to = setup.address();
    for (tenant, requests) in [("anna", 3), ("bert", 1)] {
        let mut agent = agent_of(tenant, "key");
        agent.headers.push_str("x-session-id: same\r\n");
        let path = format!("/run:work{}", agent.path());
        for _ in 0..requests {
            let answer = secateur_testing::client::post(to, &path, &agent.headers, &agent.body()).await;
            assert_eq!(answer.status(), 200, "{}", answer.body);
        }
    }
    for (tenant, requests) in [("anna", 3), ("bert", 1)] {
        assert_eq!(get_as(tenant, to, "/api/runs/work").await["requests"], requests, "{tenant}");
        let conversations = get_as(tenant, to, "/api/conversations").await;
        let conversations = conversations["items"].as_array().unwrap();
        assert_eq!(conversations.len(), 1, "{tenant}");
        assert_eq!(conversations[0]["requests"], requests, "{tenant}");
    }
    assert_eq!(get_as("olga", to, "/api/conversations").await["items"].as_array().unwrap().len(), 2);
    assert_eq!(ask_as("olga", to, "GET", "/api/runs/other").await.status(), 404);
}

/// A stream of events ends with the session of its tenant: what happens to others wakes no one up.
#[tokio::test]
async fn a_stream_tells_only_what_happens_to_its_tenant() {
    let setup =
        start(with_steady_profile(Engine::new(secateur_store::open("sqlite::memory:").await.unwrap()))).await;
    let to = setup.address();
    let (mut anna, mut bert) = (agent_of("anna", "key"), agent_of("bert", "key"));
    let annas = work_until_compacted(&mut anna, to).await.header("x-secateur-session").to_owned();
    settle("anna", to, &annas).await;
    let known = get_as("anna", to, &format!("/api/sessions/{annas}")).await["events"].as_u64().unwrap();
    let mut line = Connection::new(TcpStream::connect(to).await.unwrap());
    let token = word("anna");
    line.send(format!(
        "GET /api/sessions/{annas}/events?after={known} HTTP/1.1\r\nhost: localhost\r\n\
         accept: text/event-stream\r\nx-secateur-token: {token}\r\n\r\n"
    ))
    .await;
    assert_eq!(line.head().await.status(), 200);
    let berts = work_until_compacted(&mut bert, to).await.header("x-secateur-session").to_owned();
    settle("bert", to, &berts).await;
    assert_eq!(
        ask_as("anna", to, "POST", &format!("/api/sessions/{annas}/operations/1/undo")).await.status(),
        200
    );
    // The first that it tells is her own, although his came before.
    let told = loop {
        let chunk = String::from_utf8(within(line.next_chunk()).await).unwrap();
        if !chunk.starts_with(':') {
            break chunk;
        }
    };
    assert!(told.contains(&format!("id: {}", known + 1)), "{told}");
    assert!(!told.contains(&berts), "{told}");
}

/// A view for a tenant is limited and fails like the store that it is a view of.
#[tokio::test]
async fn views_fail_with_their_store() {
    let store = FailingStore::new("sqlite::memory:").await;
    let setup = start(with_steady_profile(Engine::new(Arc::clone(&store) as _))).await;
    let to = setup.address();
    let mut anna = agent_of("anna", "key");
    work_until_compacted(&mut anna, to).await;
    assert!(store.calls() > 0, "the view of a tenant goes through the store in front");
    for fault in [StoreFault::Broken, StoreFault::Stuck] {
        store.set(fault);
        let answer = anna.ask(to).await;
        assert_eq!(answer.status(), 200, "{fault:?}: {}", answer.body);
    }
}
