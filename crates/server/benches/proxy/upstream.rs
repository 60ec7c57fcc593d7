//! A model that answers at once, and does nothing else.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::Duration;

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::conversation::{HOLD, STREAM};

/// How long a stream says nothing after its first event.
const PAUSE: Duration = Duration::from_millis(2);

/// A request for a stream says so before this byte.
const SHORT: usize = 64 << 10;

/// Starts the model on a thread of its own.
pub(crate) fn start(address: SocketAddr) {
    let (ready, started) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = TcpListener::bind(address).await.expect("the model's address");
            ready.send(()).expect("the test waits");
            loop {
                if let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream));
                }
            }
        });
    });
    started.recv().expect("the model starts");
}

async fn serve(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut buffer = vec![0; 256 << 10];
    let mut held = 0;
    loop {
        let head = loop {
            if let Some(end) = memmem::find(&buffer[..held], b"\r\n\r\n") {
                break end + 4;
            }
            match stream.read(&mut buffer[held..]).await {
                Ok(0) | Err(_) => return,
                Ok(read) => held += read,
            }
        };
        let end = head + length(&buffer[..head]);
        // The beginning is kept to be looked at, the rest is forgotten as it comes.
        let mut seen = held;
        while seen < end {
            match stream.read(&mut buffer[seen.min(SHORT)..]).await {
                Ok(0) | Err(_) => return,
                Ok(read) => seen += read,
            }
        }
        let asked = &buffer[head..end.min(SHORT)];
        let done = if memmem::find(asked, HOLD.as_bytes()).is_some() {
            hold(&mut stream).await
        } else if memmem::find(asked, STREAM.as_bytes()).is_some() {
            tell(&mut stream).await
        } else {
            stream.write_all(ANSWER.as_bytes()).await
        };
        if done.is_err() {
            return;
        }
        held = 0;
    }
}

/// The length of a body. Proxies do not send it in chunks here.
fn length(head: &[u8]) -> usize {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    assert!(!text.contains("transfer-encoding"), "{text}");
    let length = text.split("content-length:").nth(1).and_then(|rest| rest.split('\r').next());
    length.and_then(|length| length.trim().parse().ok()).unwrap_or(0)
}

async fn begin(stream: &mut TcpStream) -> std::io::Result<()> {
    const HEAD: &str =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    const START: &str = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",",
        "\"role\":\"assistant\",\"model\":\"bench-model\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,",
        "\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":2000,\"cache_creation_input_tokens\":200,",
        "\"output_tokens\":1}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,",
        "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    );
    stream.write_all(format!("{HEAD}{:x}\r\n{START}\r\n", START.len()).as_bytes()).await
}

/// A stream that goes on after a while.
async fn tell(stream: &mut TcpStream) -> std::io::Result<()> {
    const REST: &str = concat!(
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
        "\"delta\":{\"type\":\"text_delta\",\"text\":\"ok\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",",
        "\"stop_sequence\":null},\"usage\":{\"output_tokens\":7}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    begin(stream).await?;
    sleep(PAUSE).await;
    stream.write_all(format!("{:x}\r\n{REST}\r\n0\r\n\r\n", REST.len()).as_bytes()).await
}

/// A stream that says no more. Ends when the other side goes.
async fn hold(stream: &mut TcpStream) -> std::io::Result<()> {
    begin(stream).await?;
    stream.read_u8().await.map(drop)
}

/// What the model says.
const ANSWER: &str = concat!(
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 268\r\n\r\n",
    "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"bench-model\",",
    "\"content\":[{\"type\":\"text\",\"text\":\"ok\"}],\"stop_reason\":\"end_turn\",\"stop_sequence\":null,",
    "\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":2000,\"cache_creation_input_tokens\":200,",
    "\"output_tokens\":7}}",
);
