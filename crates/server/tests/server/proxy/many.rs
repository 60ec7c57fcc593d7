//! Many at once.

use futures_util::future::join_all;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::setup::{Setup, engine};
use secateur_formats::Wire;
use secateur_testing::Action;
use secateur_testing::Agent;
use secateur_testing::client::request;
use secateur_testing::connection::Connection;

/// What this process takes, in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[tokio::test]
async fn two_hundred_conversations_at_once_are_all_finished() {
    let engine = engine("sqlite::memory:").await;
    let setup = Setup::with_engine(2_000, engine.clone()).await;
    let agents = (0..200).map(|number| {
        let task = format!("SCENARIO:long steps=3 bytes=2500 run=r{number}");
        let to = setup.address();
        async move {
            let mut agent = Agent::new(Wire::ALL[number % 4], &task);
            agent.streams = number % 3 == 0;
            let (text, answers) = agent.work(to).await;
            assert_eq!(text, "Finished long after 3 steps.");
            assert!(answers.iter().all(|answer| answer.reason().is_empty()));
            answers.iter().filter(|answer| answer.is_flush()).count()
        }
    });
    let flushes: usize = join_all(agents).await.into_iter().sum();
    assert!(flushes >= 200, "{flushes}");
    let stats = setup.model.stats();
    assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()));
    assert_eq!(engine.sessions(999).await.unwrap().len(), 200);
    assert_eq!(setup.proxy.counters().open, 0);
}

/// A thousand answers that are open at the same time, each of a conversation of its own.
#[tokio::test]
async fn a_thousand_open_streams_take_little_memory() {
    let setup = Setup::start(12_000).await;
    setup.relay.plan(std::iter::repeat_n(Action::Stall(400), 1_000));
    let before = resident();
    let mut lines = Vec::new();
    let mut agent = Agent::new(Wire::Anthropic, "").streaming();
    for number in 0..1_000 {
        agent.items.clear();
        agent.say(&format!("SCENARIO:long steps=1 bytes=100 run=r{number}"));
        let body = agent.body();
        let mut socket = TcpStream::connect(setup.address()).await.unwrap();
        socket.write_all(request(&agent.path(), "", &body).as_bytes()).await.unwrap();
        let mut line = Connection::new(socket);
        assert_eq!(line.head().await.status(), 200);
        lines.push(line);
    }
    assert_eq!(setup.proxy.counters().open, 1_000);
    // Both sides of four connections each and the model are in this process, too.
    let taken = resident().saturating_sub(before);
    println!("{} MB", taken >> 20);
    assert!(taken < 600 << 20, "{} MB", taken >> 20);
    drop(lines);
    let wait = async {
        while setup.proxy.counters().open > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    secateur_testing::within(wait).await;
    // The next one is served as ever.
    let (text, _) = Agent::new(Wire::OpenAiChat, "SCENARIO:hello").work(setup.address()).await;
    assert_eq!(text, "Hello from the scripted model.");
}
