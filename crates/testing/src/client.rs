//! A client that takes whatever it gets: a whole response, half of one, or none.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::connection::{HttpMessage, within};

/// A response, as far as it came.
#[derive(Debug, Default)]
pub struct ClientResponse {
    /// The first line and the headers; empty if there was no response.
    pub head: String,
    /// The body, without the marks of its chunks.
    pub body: String,
    /// Whether it came to its end.
    pub is_whole: bool,
}

impl ClientResponse {
    /// The status; 0 without a response.
    pub fn status(&self) -> u16 {
        self.head.split(' ').nth(1).map_or(0, |status| status.parse().unwrap())
    }

    /// The value of a header, empty without one.
    pub fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value.trim())
    }

    /// The outcome that the proxy reports.
    pub fn outcome(&self) -> &str {
        self.header("x-secateur-outcome")
    }

    /// The reason that the proxy reports.
    pub fn reason(&self) -> &str {
        self.header("x-secateur-reason")
    }

    /// Whether the proxy changed the history with this request, so that less of it is in the provider's cache.
    pub fn is_flush(&self) -> bool {
        matches!(self.outcome(), "pruned" | "compacted")
    }

    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let Some((head, rest)) = text.split_once("\r\n\r\n") else { return Self::default() };
        let mut response = Self { head: format!("{head}\r\n"), ..Self::default() };
        if response.header("transfer-encoding") == "chunked" {
            (response.body, response.is_whole) = unchunked(rest);
        } else {
            response.is_whole = response.header("content-length").parse() == Ok(rest.len());
            rest.clone_into(&mut response.body);
        }
        response
    }
}

/// The bytes of a chunked body, and whether there was a last chunk.
fn unchunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((length, behind)) = rest.split_once("\r\n") {
        let Ok(length) = usize::from_str_radix(length, 16) else { return (body, false) };
        if length == 0 {
            return (body, true);
        }
        let Some(chunk) = behind.get(..length) else {
            return (body + behind, false);
        };
        body += chunk;
        rest = behind.get(length + 2..).unwrap_or_default();
    }
    (body, false)
}

/// The bytes of a request. The connection ends with it.
pub fn request(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}

/// Sends a request and takes what comes.
pub async fn post(to: SocketAddr, path: &str, headers: &str, body: &str) -> ClientResponse {
    exchange(to, request(path, headers, body)).await
}

/// Sends the bytes of a request and takes what comes.
pub async fn exchange(to: SocketAddr, request: String) -> ClientResponse {
    let asking = async {
        let mut socket = TcpStream::connect(to).await?;
        socket.write_all(request.as_bytes()).await?;
        let mut bytes = Vec::new();
        // What came before a connection broke is there.
        let _ = socket.read_to_end(&mut bytes).await;
        Ok::<_, std::io::Error>(bytes)
    };
    ClientResponse::read(&within(asking).await.unwrap_or_default())
}

/// The text of a message's body.
pub fn text(message: &HttpMessage) -> String {
    String::from_utf8(message.body.clone()).unwrap()
}

/// A request with the same letters in place of its handles, which differ from store to store.
pub fn without_handles(body: &str) -> String {
    let mut pieces = body.split("recall ");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (handle, _) = piece.split_once(" brings ").unwrap_or_default();
        let is_handle = !handle.is_empty() && handle.bytes().all(|letter| letter.is_ascii_lowercase());
        plain.push_str("recall ");
        plain.push_str(&if is_handle {
            piece.replacen(handle, &"x".repeat(handle.len()), 1)
        } else {
            piece.to_owned()
        });
    }
    plain
}

/// Asserts that two bodies are equal. If not, only the bytes near the first difference are shown: bodies are long.
#[track_caller]
pub fn assert_same(one: &str, other: &str, what: &str) {
    if one != other {
        let at = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
        let near = |text: &str| {
            let bytes = text.as_bytes();
            let part = &bytes[at.saturating_sub(150)..(at + 250).min(bytes.len())];
            String::from_utf8_lossy(part).into_owned()
        };
        panic!(
            "{what}: after {at} bytes of {} and {}:\n{}\n{}",
            one.len(),
            other.len(),
            near(one),
            near(other)
        );
    }
}
