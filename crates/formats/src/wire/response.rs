//! Reads the response of a provider, streamed or whole, as it arrives.
//!
//! ```text
//! bytes ──Documents──▶ JSON documents ──the wire's `response`──▶ ResponseEvent, ResponseEvent …
//!         (one SSE event, one element of a list, or all)
//! ```
//!
//! Bytes come in chunks of any size. At most one document is held at a time, and none that is longer than allowed. Text
//! is handed out as the JSON that it is: a reader that only wants token counts does not pay for decoding it.
//!
//! ```
//! use secateur_formats::Wire;
//! use secateur_formats::response::{Framing, ResponseEvent, ResponseReader};
//!
//! let stream = b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n";
//! let mut text = String::new();
//! let mut reader = ResponseReader::new(Wire::OpenAiChat, Framing::Detect, 1 << 20);
//! reader.push(stream, &mut |event| {
//!     if let ResponseEvent::Text(more) = event {
//!         text += &more.as_str().unwrap_or_default();
//!     }
//! });
//! assert_eq!((text.as_str(), reader.has_ended()), ("Hi", true));
//! ```

mod documents;

use secateur::Usage;
use secateur::session::{ProviderReport, TurnState};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::json::Raw;
use crate::wire_spec::Wire;

pub use documents::{Documents, Framing};

/// Something that a response says.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseEvent<'e> {
    /// More of the model's text, without its thinking. Always a JSON string; [`Raw::as_str`] decodes it.
    Text(Raw<'e>),
    /// The model refuses, in words that are not part of its text.
    Refusal,
    /// The model calls a tool.
    ToolCall(ToolRunner),
    /// More of the input of a tool call.
    ToolInput,
    /// The tokens that the provider has counted so far. Replaces earlier counts.
    Usage(Usage),
    /// What the provider did to the request before its model saw it. Replaces earlier reports.
    ProviderEdited(ProviderReport),
    /// Why the model stopped. The last one counts.
    Finish {
        /// Why.
        reason: FinishReason,
        /// Whether the turn goes on with another request.
        turn: TurnState,
    },
    /// The provider reports an error, in the form of an error response.
    Error(Value),
    /// A document that is not what the wire promises, and why.
    Unreadable(String),
    /// The provider says that nothing more comes.
    End,
}

/// Where a tool is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolRunner {
    /// At the client, which sends the result with its next request.
    Client,
    /// At the provider, which goes on with the result in the same response.
    Provider,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// It was done.
    Complete,
    /// It reached the limit for its output, or the end of its window.
    Length,
    /// The provider or the model held something back.
    Filtered,
    /// To call a tool.
    ToolCall,
    /// The provider failed.
    Failed,
    /// For another reason.
    Other,
}

/// Reads the response to one request.
pub struct ResponseReader {
    wire: Wire,
    documents: Documents,
    state: ResponseState,
}

/// What has been read of a response so far.
#[derive(Default)]
struct ResponseState {
    usage: Usage,
    provider: ProviderReport,
    has_text: bool,
    has_finished: bool,
    has_begun: bool,
    has_ended: bool,
}

/// One JSON document of a response.
#[derive(Clone, Copy)]
pub(crate) struct ResponseDocument<'e> {
    pub(crate) text: &'e str,
    /// Whether it is all of the response.
    pub(crate) is_whole: bool,
}

/// Where a wire puts the events of a document.
pub(crate) struct EventSink<'t> {
    state: &'t mut ResponseState,
    take: &'t mut TakeEvent<'t>,
}

/// Receives the events of a response.
pub type TakeEvent<'t> = dyn FnMut(ResponseEvent<'_>) + 't;

impl ResponseReader {
    /// A reader for the response to a request of this wire. A streamed document of more than `max_event` bytes is
    /// skipped.
    pub fn new(wire: Wire, framing: Framing, max_event: usize) -> Self {
        Self { wire, documents: Documents::new(framing, max_event), state: ResponseState::default() }
    }

    /// Reads more of the response.
    pub fn push(&mut self, bytes: &[u8], take: &mut TakeEvent<'_>) {
        let Self { wire, documents, state } = self;
        documents.push(bytes, &mut |document| state.read(*wire, document, false, take));
    }

    /// Reads what is left at the end of the response. The last event of a stream may lack its blank line.
    pub fn finish(&mut self, take: &mut TakeEvent<'_>) {
        let Self { wire, documents, state } = self;
        let is_whole = documents.is_whole();
        documents.finish(&mut |document| state.read(*wire, document, is_whole, take));
        if documents.is_stream() {
            return;
        }
        if documents.breaks_off() || !state.has_begun {
            take(ResponseEvent::Unreadable("the text breaks off".to_owned()));
        } else if documents.is_list() && !state.has_finished {
            take(ResponseEvent::Finish { reason: FinishReason::Other, turn: TurnState::Open });
        }
    }

    /// Whether anything of the response could be read.
    pub fn has_begun(&self) -> bool {
        self.state.has_begun
    }

    /// Whether the provider said that nothing more comes.
    pub fn has_ended(&self) -> bool {
        self.state.has_ended
    }

    /// Whether a document was longer than allowed and therefore skipped.
    pub fn has_skipped(&self) -> bool {
        self.documents.has_skipped()
    }
}

impl ResponseState {
    fn read(&mut self, wire: Wire, document: &[u8], is_whole: bool, take: &mut TakeEvent<'_>) {
        if document.trim_ascii().is_empty() {
            return;
        }
        let mut sink = EventSink { state: self, take };
        let read = match simdutf8::basic::from_utf8(document) {
            Ok(text) => (wire.code().read_response)(ResponseDocument { text, is_whole }, &mut sink),
            Err(_) => Err("it is not UTF-8".to_owned()),
        };
        match read {
            Ok(()) => self.has_begun = true,
            Err(reason) => take(ResponseEvent::Unreadable(reason)),
        }
    }
}

impl<'e> ResponseDocument<'e> {
    /// Whether it is the mark that ends the streams of OpenAI.
    pub(crate) fn is_done_mark(self) -> bool {
        self.text.trim_ascii() == "[DONE]"
    }

    /// Reads it, or says why it cannot be read.
    pub(crate) fn parse<T: Deserialize<'e>>(self) -> Result<T, String> {
        serde_json::from_str(self.text).map_err(|error| error.to_string())
    }
}

impl EventSink<'_> {
    /// More of the model's text.
    pub(crate) fn text(&mut self, text: Raw<'_>) -> Result<(), String> {
        if !text.is_string() {
            return Err("a text is not a string".to_owned());
        }
        if text.text() != "\"\"" {
            self.state.has_text = true;
            (self.take)(ResponseEvent::Text(text));
        }
        Ok(())
    }

    /// Whether any text came before.
    pub(crate) fn has_text(&self) -> bool {
        self.state.has_text
    }

    /// The model refuses.
    pub(crate) fn refusal(&mut self) {
        (self.take)(ResponseEvent::Refusal);
    }

    /// The model calls a tool.
    pub(crate) fn tool_call(&mut self, runner: ToolRunner) {
        (self.take)(ResponseEvent::ToolCall(runner));
    }

    /// More of a tool call's input.
    pub(crate) fn tool_input(&mut self) {
        (self.take)(ResponseEvent::ToolInput);
    }

    /// The provider's counts, if it gives any. `count` makes them out of its object and of the counts so far.
    pub(crate) fn usage(&mut self, reported: Option<&Value>, count: fn(&Value, Usage) -> Usage) {
        if let Some(reported) = reported.filter(|reported| reported.is_object()) {
            self.state.usage = count(reported, self.state.usage);
            (self.take)(ResponseEvent::Usage(self.state.usage));
        }
    }

    /// What the provider did to the request, if it says so. A stream may say it in two parts.
    pub(crate) fn provider_edited(&mut self, report: Option<ProviderReport>) {
        if let Some(report) = report {
            let known = &mut self.state.provider;
            known.cleared_results = known.cleared_results.max(report.cleared_results);
            known.cleared_tokens = known.cleared_tokens.max(report.cleared_tokens);
            known.dropped_blocks = known.dropped_blocks.max(report.dropped_blocks);
            (self.take)(ResponseEvent::ProviderEdited(*known));
        }
    }

    /// The model stops.
    pub(crate) fn finish(&mut self, reason: FinishReason, turn: TurnState) {
        self.state.has_finished = true;
        (self.take)(ResponseEvent::Finish { reason, turn });
    }

    /// Ends a response that came whole. If it does not say why it ends, only that is missing.
    pub(crate) fn finish_whole(&mut self, turn: TurnState) {
        if !self.state.has_finished {
            self.finish(FinishReason::Other, turn);
        }
    }

    /// The provider reports an error.
    pub(crate) fn error(&mut self, body: Value) {
        (self.take)(ResponseEvent::Error(body));
    }

    /// The error that a document has as a member, in the form of an error response. Says whether there is one.
    pub(crate) fn error_member(&mut self, error: Option<Raw<'_>>) -> bool {
        let Some(error) = error.filter(|error| is_filled(Some(*error))) else { return false };
        let error: Value = serde_json::from_str(error.text()).unwrap_or_default();
        self.error(json!({ "error": error }));
        true
    }

    /// The document lacks something.
    pub(crate) fn unreadable(&mut self, reason: &str) {
        (self.take)(ResponseEvent::Unreadable(reason.to_owned()));
    }

    /// Nothing more comes.
    pub(crate) fn end(&mut self) {
        self.state.has_ended = true;
        (self.take)(ResponseEvent::End);
    }
}

/// Whether a value says something: some servers send empty lists, objects and texts for what is not there.
pub(crate) fn is_filled(value: Option<Raw<'_>>) -> bool {
    value.is_some_and(|raw| {
        let inner = raw.text().strip_prefix(['[', '{', '"']);
        let inner = inner.and_then(|inner| inner.strip_suffix([']', '}', '"'])).unwrap_or(raw.text());
        !inner.trim_ascii().is_empty()
    })
}

/// The number at a place of the provider's counts; 0 if there is none.
pub(crate) fn tokens(reported: &Value, pointer: &str) -> i64 {
    count(reported, pointer).unwrap_or(0)
}

/// The number at a place of the provider's counts.
pub(crate) fn count(reported: &Value, pointer: &str) -> Option<i64> {
    reported.pointer(pointer).and_then(Value::as_i64).filter(|&count| count >= 0)
}
