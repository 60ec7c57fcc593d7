//! Many at once.

use futures_util::future::join_all;
use secateur::Catalogue;
use secateur_engine::Engine;
use secateur_server::{Server, Settings};
use secateur_testing::connection::{Connection, within};
use tokio::net::TcpStream;

use super::harness::Harness;

const ASK: &str = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";

/// The server is not accepting yet, so all of them wait in the system's queue. One that is full takes no connection.
#[tokio::test]
async fn five_hundred_clients_at_once_are_queued() {
    let longest = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
    if longest.trim().parse().unwrap_or(0) < 501 {
        return;
    }
    let settings = Settings { listen: ([127, 0, 0, 1], 0).into(), ..Settings::default() };
    let engine = Engine::new(secateur_store::open("sqlite::memory:").await.unwrap());
    let server = Server::bind(settings, engine, Catalogue::builtin()).await.unwrap();
    let address = server.local_addr();
    let clients = (0..500).map(|_| within(TcpStream::connect(address)));
    assert!(join_all(clients).await.iter().all(Result::is_ok));
}

#[tokio::test]
async fn a_thousand_streams_flow_side_by_side() {
    let harness = Harness::start().await;
    let mut lines: Vec<(Connection, Connection)> = Vec::new();
    // One after the other, so that it is known who belongs to whom.
    for _ in 0..1000 {
        let mut client = harness.client().await;
        client.send(ASK).await;
        let mut provider = harness.provider().await;
        provider.message().await;
        provider.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
        client.head().await;
        lines.push((client, provider));
    }
    assert_eq!(harness.counters().open, 1000);
    for round in 0..3 {
        let rounds = lines.iter_mut().enumerate().map(async |(number, (client, provider))| {
            let frame = format!("{number} in {round}");
            provider.chunk(&frame).await;
            assert_eq!(client.next_chunk().await, frame.as_bytes());
        });
        join_all(rounds).await;
    }
    let ends = lines.iter_mut().map(async |(client, provider)| {
        provider.send("0\r\n\r\n").await;
        assert_eq!(client.next_chunk().await, b"");
    });
    join_all(ends).await;
    harness.until(|counters| counters.open == 0).await;
}
