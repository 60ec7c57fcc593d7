//! What an agent sends: a history that grows by two messages with each request, all of it each time.

use std::fmt::Write as _;
use std::io::IoSlice;

/// Where conversations go, and where what no proxy knows goes.
pub(crate) const TALK: &str = "/v1/messages";
pub(crate) const OTHER: &str = "/v1/other";

/// Tells the model to answer in events, and whether to finish.
pub(crate) const STREAM: &str = "[stream]";
pub(crate) const HOLD: &str = "[hold]";

/// The mark for the provider's cache, which agents put at the newest message. It moves with each request.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}}]}"#;

/// A message ends so, and the mark goes before it.
const END: &str = "}]}";

/// Tool results of these lengths on average, in a history that begins so long and goes on so often.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub name: &'static str,
    pub bytes: usize,
    result: usize,
    /// How many requests a conversation has, until the next one begins.
    pub requests: usize,
}

/// The conversations that are measured.
pub(crate) const SMALL: Shape = Shape { name: "10 kB", bytes: 6_500, result: 200, requests: 14 };
pub(crate) const MIDDLE: Shape = Shape { name: "1 MB", bytes: 900_000, result: 3_000, requests: 400 };
pub(crate) const LARGE: Shape = Shape { name: "10 MB", bytes: 9_900_000, result: 6_000, requests: 200 };

/// The histories of one shape. They differ in their first message only.
pub(crate) struct History {
    pub shape: Shape,
    messages: String,
    /// Where each request ends in it.
    ends: Vec<usize>,
    tail: String,
    stream: bool,
}

impl History {
    pub(crate) fn new(shape: Shape) -> Self {
        let mut text = Text(0x9e37_79b9_7f4a_7c15);
        let (mut messages, mut ends) = (String::new(), Vec::new());
        let mut turn = 0;
        while ends.len() < shape.requests {
            text.turn(&mut messages, turn, shape.result);
            turn += 1;
            if messages.len() + 1_500 > shape.bytes {
                ends.push(messages.len());
            }
        }
        Self { shape, messages, ends, tail: tail(&mut text, false), stream: false }
    }

    /// The same, with answers in events.
    pub(crate) fn streamed(shape: Shape) -> Self {
        let tail = tail(&mut Text(7), true);
        Self { tail, stream: true, ..Self::new(shape) }
    }

    /// Whether the model is to answer in events.
    pub(crate) fn is_streamed(&self) -> bool {
        self.stream
    }

    /// A request of a conversation: its head, and its body in pieces.
    pub(crate) fn request(&self, path: &str, conversation: &str, nth: usize) -> Request<'_> {
        let opening = format!(
            r#"{{"model":"bench-model","messages":[{{"role":"user","content":[{{"type":"text","text":"Conversation {conversation}: find out why the build\n\tfails, and repair it."}}]}}"#
        );
        let end = self.ends[nth % self.ends.len()];
        let body = &self.messages[..end - END.len()];
        let length = opening.len() + body.len() + MARK.len() + self.tail.len();
        let accept = if self.stream { "text/event-stream" } else { "application/json" };
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: {accept}\r\n\
             x-api-key: sk-bench\r\nanthropic-version: 2023-06-01\r\nuser-agent: bench/1.0\r\n\
             content-length: {length}\r\n\r\n"
        );
        Request { first: head + &opening, body, tail: &self.tail, length }
    }
}

/// A request in pieces, so that no megabytes are copied.
pub(crate) struct Request<'h> {
    first: String,
    body: &'h str,
    tail: &'h str,
    /// Bytes of its body.
    pub length: usize,
}

impl Request<'_> {
    /// What is left of it from this byte on.
    pub(crate) fn slices(&self, from: usize) -> [IoSlice<'_>; 4] {
        let mut skip = from;
        [self.first.as_str(), self.body, MARK, self.tail].map(|piece| {
            let start = skip.min(piece.len());
            skip -= start;
            IoSlice::new(&piece.as_bytes()[start..])
        })
    }

    /// Bytes of all of it.
    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.body.len() + MARK.len() + self.tail.len()
    }

    /// All of it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.slices(0).iter().flat_map(|slice| slice.iter().copied()).collect()
    }
}

/// What comes behind the messages.
fn tail(text: &mut Text, stream: bool) -> String {
    let mut tail = String::from(r#"],"system":[{"type":"text","text":""#);
    text.words(&mut tail, 500);
    tail.push_str(r#""}],"tools":[{"name":"Bash","description":""#);
    text.words(&mut tail, 300);
    tail.push_str(
        r#"","input_schema":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}]"#,
    );
    write!(tail, r#","max_tokens":8192,"stream":{stream}}}"#).expect("a string takes everything");
    tail
}

/// Makes text that looks like what tools print, the same at every run.
struct Text(u64);

impl Text {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }

    /// About so many bytes inside a JSON string, with the escapes that code and logs have.
    fn words(&mut self, out: &mut String, bytes: usize) {
        const WORDS: [&str; 24] = [
            "let",
            "value",
            "= self.parts",
            "error:",
            "expected",
            "src/main.rs:",
            "\\n",
            "\\n    ",
            "\\n\\t",
            "\\\"name\\\":",
            "\\\"path\\\"",
            "C:\\\\Users",
            "fn",
            "impl Iterator",
            "//",
            "é",
            "→",
            "0x7f3a",
            "warning:",
            "unused",
            "variable",
            "{",
            "}",
            "assert_eq!(a, b);",
        ];
        let end = out.len() + bytes;
        while out.len() < end {
            out.push_str(WORDS[self.next(WORDS.len())]);
            out.push(' ');
        }
    }

    /// The model calls a tool, and the tool answers.
    fn turn(&mut self, out: &mut String, turn: usize, result: usize) {
        write!(out, r#",{{"role":"assistant","content":[{{"type":"text","text":"Step {turn}: "#)
            .expect("room");
        self.words(out, 40);
        write!(
            out,
            r#""}},{{"type":"tool_use","id":"toolu_{turn:06}","name":"Bash","input":{{"command":"cargo test step_{turn}"}}}}]}}"#
        )
        .expect("room");
        write!(
            out,
            r#",{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{turn:06}","content":""#
        )
        .expect("room");
        let bytes = result / 2 + self.next(result);
        self.words(out, bytes);
        out.push('"');
        out.push_str(END);
    }
}
