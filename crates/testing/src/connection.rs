//! One end of a TCP connection, and HTTP/1.1 messages as they are on it.

use std::future::Future;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One end of a connection.
pub struct Connection {
    /// The socket itself.
    pub socket: TcpStream,
    buffer: Vec<u8>,
}

/// A request or a response, as its bytes came.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HttpMessage {
    /// The first line and the headers, with the line ends but without the empty line.
    pub head: String,
    /// The body, without the marks of its chunks.
    pub body: Vec<u8>,
    /// What follows the last chunk.
    pub trailers: String,
}

impl HttpMessage {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The status of a response.
    pub fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Connection {
    /// Takes over a socket.
    pub fn new(socket: TcpStream) -> Self {
        socket.set_nodelay(true).unwrap();
        Self { socket, buffer: vec![] }
    }

    /// Sends bytes.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        within(self.socket.write_all(bytes.as_ref())).await.unwrap();
    }

    /// Sends a chunk of a chunked body.
    pub async fn chunk(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.send(chunk).await;
    }

    /// Closes the sending side.
    pub async fn close_half(&mut self) {
        self.socket.shutdown().await.unwrap();
    }

    /// Resets the connection.
    pub fn reset(self) {
        self.socket.set_zero_linger().unwrap();
    }

    /// More bytes; false at the end, however it comes.
    async fn more(&mut self) -> bool {
        within(self.socket.read_buf(&mut self.buffer)).await.unwrap_or(0) > 0
    }

    /// Reads exactly this many bytes.
    pub async fn exactly(&mut self, length: usize) -> Vec<u8> {
        while self.buffer.len() < length {
            assert!(self.more().await, "it ends after {:?}", String::from_utf8_lossy(&self.buffer));
        }
        let rest = self.buffer.split_off(length);
        std::mem::replace(&mut self.buffer, rest)
    }

    /// Reads to the end of a mark.
    pub async fn through(&mut self, mark: &str) -> String {
        let mark = mark.as_bytes();
        let mut seen = 0;
        let end = loop {
            let found = self.buffer[seen..].windows(mark.len()).position(|window| window == mark);
            if let Some(at) = found {
                break seen + at + mark.len();
            }
            seen = self.buffer.len().saturating_sub(mark.len());
            assert!(self.more().await, "it ends after {:?}", String::from_utf8_lossy(&self.buffer));
        };
        String::from_utf8(self.exactly(end).await).unwrap()
    }

    /// Reads the head of a message.
    pub async fn head(&mut self) -> HttpMessage {
        let mut head = self.through("\r\n\r\n").await;
        head.truncate(head.len() - 2);
        HttpMessage { head, ..HttpMessage::default() }
    }

    /// Reads one chunk of a body; it is empty at the end.
    pub async fn next_chunk(&mut self) -> Vec<u8> {
        let length = self.through("\r\n").await;
        let length = usize::from_str_radix(length.trim(), 16).unwrap();
        let chunk = self.exactly(length).await;
        if length > 0 {
            self.exactly(2).await;
        }
        chunk
    }

    /// Reads a whole message.
    pub async fn message(&mut self) -> HttpMessage {
        let mut message = self.head().await;
        if message.header("transfer-encoding") == Some("chunked") {
            loop {
                let chunk = self.next_chunk().await;
                if chunk.is_empty() {
                    break;
                }
                message.body.extend(chunk);
            }
            loop {
                let line = self.through("\r\n").await;
                if line == "\r\n" {
                    break;
                }
                message.trailers.push_str(&line);
            }
        } else {
            let length = message.header("content-length").map_or(0, |length| length.parse().unwrap());
            message.body = self.exactly(length).await;
        }
        message
    }

    /// Reads to the end of the connection.
    pub async fn rest(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(&mut self.buffer)
    }
}

/// Waits for a result that must come. The limit only ends a test that would hang; it proves nothing.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("a result within 60 seconds")
}
