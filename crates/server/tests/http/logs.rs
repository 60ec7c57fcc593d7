//! What is secret stays out of the log.

use std::io::Write;
use std::sync::{Arc, Mutex};

use tracing::Level;
use tracing::subscriber::set_global_default;

use crate::play::Play;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_key_and_no_content_is_ever_logged() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(move || writer.clone());
    // For the other tests, too: whether something is logged is remembered for the whole process.
    set_global_default(subscriber.finish()).unwrap();
    let play = Play::start().await;
    let answers = [
        "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nset-cookie: canary\r\n\r\ncanary",
        "HTTP/1.1 400 No\r\ncontent-length: 6\r\n\r\ncanary",
        "HTTP/1.1 200 OK\r\ncanary\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\ncanary",
    ];
    for path in ["/v1/messages", "/v1/models/canary-free:generateContent", "/v1/files"] {
        for answer in answers {
            let mut client = play.client().await;
            client
                .send(format!(
                    "POST {path}?key=canary HTTP/1.1\r\nhost: x\r\nx-api-key: canary\r\nauthorization: Bearer canary\r\n\
                     x-goog-api-key: canary\r\ncookie: canary\r\nconnection: close\r\ncontent-length: 10\r\n\r\n{{\"canary\"}}"
                ))
                .await;
            let mut provider = play.provider().await;
            assert!(provider.message().await.head.contains("Bearer canary"));
            provider.send(answer).await;
            drop(provider);
            client.head().await;
            client.rest().await;
        }
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("/v1/messages"), "there is a log: {log}");
    let log = log.replace("canary-free", "");
    assert!(!log.contains("canary"), "{log}");
}
