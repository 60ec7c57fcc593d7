//! A client that takes whatever it gets: a whole answer, half of one, or none.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::play::{Message, within};

/// What came back.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The first line and the headers; empty if there was no answer.
    pub head: String,
    /// The body, without the marks of its chunks.
    pub body: String,
    /// Whether it came to its end.
    pub is_whole: bool,
}

impl Answer {
    /// The status; 0 without an answer.
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).map_or(0, |status| status.parse().unwrap())
    }

    /// The value of a header, empty without one.
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value.trim())
    }

    /// What the proxy says that it did.
    pub(crate) fn outcome(&self) -> &str {
        self.header("x-secateur-outcome")
    }

    /// Why it did less than it might have.
    pub(crate) fn reason(&self) -> &str {
        self.header("x-secateur-reason")
    }

    /// Whether the proxy changed its mind about the history, so that the provider's cache is of less use.
    pub(crate) fn is_flush(&self) -> bool {
        matches!(self.outcome(), "pruned" | "compacted")
    }

    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let Some((head, rest)) = text.split_once("\r\n\r\n") else { return Self::default() };
        let mut answer = Self { head: format!("{head}\r\n"), ..Self::default() };
        if answer.header("transfer-encoding") == "chunked" {
            (answer.body, answer.is_whole) = unchunked(rest);
        } else {
            answer.is_whole = answer.header("content-length").parse() == Ok(rest.len());
            rest.clone_into(&mut answer.body);
        }
        answer
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
pub(crate) fn request(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}

/// Sends a request and takes what comes.
pub(crate) async fn post(to: SocketAddr, path: &str, headers: &str, body: &str) -> Answer {
    exchange(to, request(path, headers, body)).await
}

/// Sends the bytes of a request and takes what comes.
pub(crate) async fn exchange(to: SocketAddr, request: String) -> Answer {
    let asking = async {
        let mut socket = TcpStream::connect(to).await?;
        socket.write_all(request.as_bytes()).await?;
        let mut bytes = Vec::new();
        // What came before a connection broke is there.
        let _ = socket.read_to_end(&mut bytes).await;
        Ok::<_, std::io::Error>(bytes)
    };
    Answer::read(&within(asking).await.unwrap_or_default())
}

/// The text of a message's body.
pub(crate) fn text(message: &Message) -> String {
    String::from_utf8(message.body.clone()).unwrap()
}

/// That two bodies are the same. If not, only the place is shown where they part: bodies are long.
#[track_caller]
pub(crate) fn same(one: &str, other: &str, what: &str) {
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
