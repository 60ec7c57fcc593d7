//! Requests that want to fill the memory: whatever becomes of them, nothing of them stays.

#![cfg(target_os = "linux")]

use crate::process::Process;
use secateur_testing::client::post;
use secateur_testing::connection::Connection;

/// How often each is sent before the memory is looked at for the first time, and how often afterwards.
const ROUNDS: [usize; 2] = [20, 100];

/// What may be more afterwards: a quarter of a round for each. A proxy that kept one request of each round would need
/// four times as much.
const MOST_KB: u64 = 100 * 3 * 1_024 / 4;

const MEGABYTE: usize = 1 << 20;

/// Sends bytes that are no request, and hangs up in the middle.
async fn break_off(process: &Process, bytes: String) {
    let mut line = Connection::new(tokio::net::TcpStream::connect(process.address).await.unwrap());
    line.send(bytes).await;
}

async fn round(process: &Process) {
    let brackets = format!(r#"{{"messages":[{{"role":"user","content":{}"#, "[".repeat(MEGABYTE));
    assert_eq!(post(process.address, "/v1/messages", "", &brackets).await.status(), 400);
    let nonsense = "x".repeat(MEGABYTE);
    assert_eq!(post(process.address, "/v1/responses", "", &nonsense).await.status(), 502);
    let foreign = "host: evil.example\r\n";
    assert!([400, 403].contains(&post(process.address, "/v1/messages", foreign, "{}").await.status()));
    let half = format!("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}", 2 * MEGABYTE);
    break_off(process, format!("{half}\r\n\r\n{nonsense}")).await;
    break_off(process, "GET /v1/models HTTP/1.1\nhost: localhost\n\n".to_owned()).await;
    let long = "POST /v1/files HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99999999999999\r\n\r\n";
    break_off(process, long.to_owned()).await;
    assert_eq!(post(process.address, "/api/recall/zzzzzzzz", "", "").await.status(), 405);
}

#[tokio::test]
async fn nothing_stays_of_what_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    // Nothing listens there, so what is passed on is answered at once.
    let process = Process::start(folder.path(), "http://127.0.0.1:1", 100_000);
    let mut memory = Vec::new();
    for rounds in ROUNDS {
        for _ in 0..rounds {
            round(&process).await;
        }
        memory.push(process.memory());
    }
    assert!(memory[1] < memory[0] + MOST_KB, "{memory:?} kB");
}
