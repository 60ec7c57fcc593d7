//! A credential goes to the provider and nowhere else.

use std::net::SocketAddr;
use std::sync::Arc;

use secateur::Catalogue;
use secateur_store::Store;
use socket2::{Domain, Socket, Type};

use super::own_paths::get;
use crate::process_log::ProcessLog;
use crate::setup::{Proxy, Setup, catalogue, empty_catalogue, engine, use_steady_profile};
use secateur_formats::Wire;
use secateur_testing::Action;
use secateur_testing::Agent;
use secateur_testing::client::ClientResponse;
use secateur_testing::store_home::store_file;

/// Looks like nothing that a redactor would know.
const CANARY: &str = "tweety-sings-in-the-mine";

/// An agent with credentials wherever one can have them.
fn agent(wire: Wire, task: &str) -> Agent {
    let mut agent = Agent::new(wire, task);
    agent.headers = ["x-api-key", "x-goog-api-key", "cookie", "x-custom-auth", "proxy-authorization"]
        .map(|name| format!("{name}: {CANARY}\r\n"))
        .concat();
    agent.headers += &format!("authorization: Bearer {CANARY}\r\n");
    agent.query = format!("key={CANARY}");
    agent
}

fn check(answers: &[ClientResponse]) {
    for answer in answers {
        assert!(!answer.head.contains(CANARY) && !answer.body.contains(CANARY), "{answer:?}");
    }
}

/// A session with everything in it: cuts, summaries, refusals, failures.
async fn session(wire: Wire, path: &str) {
    let engine = engine(path).await;
    let setup = Setup::start_with(Some(10_000), engine, catalogue(30_000), use_steady_profile).await;
    let mut agent = agent(wire, "SCENARIO:long steps=30 bytes=6000");
    let refusal =
        |status: u16| Action::Respond(format!("HTTP/1.1 {status} No\r\ncontent-length: 2\r\n\r\nno"));
    let mut answers = agent.work_for(12, setup.address()).await;
    setup.relay.plan([
        refusal(401),
        refusal(500),
        Action::Respond("canary\r\n".to_owned()),
        Action::Reset(0),
    ]);
    for _ in 0..4 {
        answers.push(agent.ask(setup.address()).await);
    }
    // Summaries that fail in every way, too. They are tried again after a while, so once is enough.
    if wire == Wire::Anthropic {
        setup.relay.plan_summaries([
            refusal(403),
            refusal(529),
            Action::Reset(0),
            Action::Reset(200),
            refusal(400),
        ]);
    }
    answers.extend(agent.work(setup.address()).await.1);
    check(&answers);
    assert!(setup.proxy.counters().overflows > 0, "{wire:?}: there was no refusal");
    assert!(answers.iter().any(ClientResponse::is_flush), "{wire:?}: nothing was cut");
    let debug = format!("{:?}", setup.proxy.counters());
    assert!(!debug.contains(CANARY), "{debug}");
    assert!(!shown(setup.address()).await.contains(CANARY), "{wire:?}: the credential is shown");

    // The provider gets all of them, with a summary as with a request.
    let summaries = setup.relay.take_summaries();
    assert!(!summaries.is_empty(), "{wire:?}: no summary was asked for");
    let requests = setup.relay.take();
    for message in requests.iter().chain(&summaries) {
        for name in ["x-api-key", "x-goog-api-key", "cookie", "x-custom-auth"] {
            assert_eq!(message.header(name), Some(CANARY), "{wire:?}: {name} in {}", message.head);
        }
        assert_eq!(message.header("authorization"), Some(&*format!("Bearer {CANARY}")));
        assert_eq!(message.header("proxy-authorization"), None);
        assert!(message.head.lines().next().unwrap().contains(&format!("key={CANARY}")), "{}", message.head);
        assert!(!String::from_utf8_lossy(&message.body).contains(CANARY));
    }
}

/// All that a store has, as text: bodies lie compressed in its file, so the bytes of that say little.
async fn contents(store: &Arc<dyn Store>) -> String {
    let mut all = String::new();
    let mut handles: Vec<String> = Vec::new();
    for session in store.sessions(999).await.unwrap() {
        all += &format!("{session:?}");
        let messages = store.messages(&session.id, 0, u64::MAX).await.unwrap();
        let seqs: Vec<u64> = messages.iter().map(|message| message.seq).collect();
        let originals = store.originals(&session.id, &seqs).await.unwrap().into_iter().flatten();
        for body in messages.iter().map(|message| message.body.clone()).chain(originals) {
            all += &String::from_utf8_lossy(&body);
        }
        for message in &messages {
            all += &format!("{} {} {}\n", message.id, message.facts, message.cuts);
            let body = String::from_utf8_lossy(&message.body).into_owned();
            let named = body.split(" characters; recall ").skip(1).filter_map(|rest| rest.split(' ').next());
            handles.extend(named.map(str::to_owned));
        }
        let operations = store.operations(&session.id, 0, 9_999).await.unwrap();
        let events = store.events(&session.id, 0, 9_999).await.unwrap();
        assert!(!operations.is_empty() && !events.is_empty(), "{session:?}");
        all += &format!("{operations:?}{events:?}");
    }
    assert!(!handles.is_empty(), "nothing was clipped");
    for handle in handles {
        let clippings = store.clippings(&handle).await.unwrap();
        assert!(!clippings.is_empty(), "{handle}");
        all += &format!("{clippings:?}");
    }
    all
}

/// What the proxy shows on its own paths.
async fn shown(to: SocketAddr) -> String {
    let mut all = String::new();
    for path in ["/metrics", "/api/sessions", "/api/configuration"] {
        all += &get(to, path).await;
    }
    all
}

#[tokio::test]
async fn a_credential_is_in_no_file_no_log_and_no_answer() {
    let log = ProcessLog::start();
    let (folder, path) = store_file();
    for wire in Wire::ALL {
        session(wire, &path).await;
    }
    let kept = contents(engine(&path).await.store()).await;
    assert!(kept.contains("lies somewhere"), "what was said is there");
    assert!(!kept.contains(CANARY), "the credential is in the store");

    // A provider that is not there, and one that does not respond.
    let taken = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    taken.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let closed = taken.local_addr().unwrap().as_socket().unwrap();
    let engine = engine(&path).await;
    let proxy = Proxy::start(&format!("http://{closed}"), engine, Catalogue::builtin(), |_| {}).await;
    let store = crate::setup::engine(&path).await;
    let impatient = |settings: &mut secateur_server::Settings| {
        settings.patience = std::time::Duration::from_millis(300);
    };
    let silent = Setup::start_with(None, store, empty_catalogue(), impatient).await;
    for wire in Wire::ALL {
        let answer = agent(wire, "SCENARIO:hello").ask(proxy.address).await;
        assert_eq!(answer.status(), 502);
        check(&[answer]);
        silent.relay.plan([Action::Stall(0)]);
        let answer = agent(wire, "SCENARIO:hello").ask(silent.address()).await;
        assert_eq!(answer.status(), 504);
        check(&[answer]);
    }
    drop((proxy, silent));

    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let file = entry.unwrap().path();
        let bytes = std::fs::read(&file).unwrap();
        let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
        assert!(!found, "the credential is in {}", file.display());
    }
    let log = log.text();
    assert!(log.contains("secateur_server"), "there is a log");
    // The log of the whole process, with that of the tests' own clients and models: lines of ours alone count.
    let ours = log.lines().filter(|line| line.contains("secateur"));
    if let Some(line) = ours.into_iter().find(|line| line.contains(CANARY)) {
        panic!("the credential is in the log: {line}");
    }
    let found = log.lines().find(|line| line.contains(CANARY));
    assert_eq!(found, None, "a library logs the credential");
}
