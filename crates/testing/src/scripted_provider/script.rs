//! What the server does with a request.

use std::fmt::Write;
use std::time::Duration;

use secateur_formats::Wire;

/// What the server does with one request: a status and headers, then steps.
#[derive(Clone, Debug)]
pub struct Script {
    /// The status of the answer.
    pub status: u16,
    /// Its headers, beside those of the connection.
    pub headers: Vec<(String, String)>,
    /// What happens then, one after the other. After the last step the answer is ended properly.
    pub steps: Vec<Step>,
}

/// A step of a script. The status and the headers are sent before the first step that sends anything.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends these bytes as one chunk.
    Chunk(Vec<u8>),
    /// Waits, with the client waiting too.
    Pause(Duration),
    /// Sends these bytes again and again, with a gap in between, until the client hangs up.
    Drip {
        /// What is sent each time.
        bytes: Vec<u8>,
        /// The time in between.
        gap: Duration,
    },
    /// Does nothing until the client hangs up.
    Stall,
    /// Closes the connection in the middle of the answer.
    Cut,
}

impl Script {
    /// A stream of events, in one chunk.
    pub fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/event-stream", body)
    }

    /// A good answer, streamed as this wire does it.
    pub fn answer(wire: Wire, text: &str) -> Self {
        Self::stream(super::answer(wire, text))
    }

    /// A good answer in one piece.
    pub fn whole(wire: Wire, text: &str) -> Self {
        Self::json(super::whole(wire, text))
    }

    /// An answer of JSON.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "application/json", body)
    }

    /// An answer with this status.
    pub fn refusal(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::new(status, "application/json", body)
    }

    /// Not a byte, for ever.
    pub fn silence() -> Self {
        Self { steps: vec![Step::Stall], ..Self::stream("") }
    }

    /// A connection that is closed before anything is said.
    pub fn disconnect() -> Self {
        Self { steps: vec![Step::Cut], ..Self::stream("") }
    }

    fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Self { status, headers, steps: vec![Step::Chunk(body.into())] }
    }

    /// The same with one more header, or with another value for one that is there.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with one more step.
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The same with its bytes sent in two pieces, split at this offset.
    pub fn split(mut self, at: usize) -> Self {
        let bytes = self.bytes();
        let (head, tail) = bytes.split_at(at);
        self.steps = vec![Step::Chunk(head.to_vec()), Step::Chunk(tail.to_vec())];
        self
    }

    /// The same, byte by byte.
    pub fn bytewise(mut self) -> Self {
        self.steps = self.bytes().into_iter().map(|byte| Step::Chunk(vec![byte])).collect();
        self
    }

    /// All bytes that are sent in chunks.
    pub fn bytes(&self) -> Vec<u8> {
        let chunks = self.steps.iter().filter_map(|step| match step {
            Step::Chunk(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        chunks.flatten().copied().collect()
    }

    pub(super) fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} Scripted\r\n", self.status);
        head.push_str("transfer-encoding: chunked\r\nconnection: close\r\n");
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head + "\r\n"
    }
}
