//! The code of the wires: how the providers' APIs write requests and responses.
//!
//! One folder for each wire, with the same four files:
//!
//! * `request` reads a request body as a [`Transcript`](crate::Transcript), and writes the request for a text;
//! * `render` writes any session as a request;
//! * `lint` says what the provider would reject in a request;
//! * `response` reads a response, streamed or whole.
//!
//! The modules of those names beside the folders hold what all wires share. What differs in data rather than in code
//! (names, paths, headers, limits) is in the table of [`wire_spec`](crate::wire_spec). A new wire is a new folder, its
//! line in [`Wire::code`], and a variant of [`Wire`] with its row in that table.

pub(crate) mod anthropic;
mod code;
mod detect;
mod gemini;
pub mod lint;
mod openai_chat;
mod openai_responses;
mod recorded;
pub(crate) mod render;
pub(crate) mod request;
pub mod response;

pub use anthropic::thinking;
use code::WireCode;
pub use recorded::{may_be_recorded, recorded_body};
pub use request::TextRequest;
use serde_json::Value;

use crate::wire_spec::Wire;

impl Wire {
    /// The code of the wire.
    pub(crate) fn code(self) -> &'static WireCode {
        match self {
            Wire::Anthropic => &anthropic::CODE,
            Wire::OpenAiChat => &openai_chat::CODE,
            Wire::OpenAiResponses => &openai_responses::CODE,
            Wire::Gemini => &gemini::CODE,
        }
    }

    /// The wire of a request body; none if it is not a request.
    ///
    /// ```
    /// use secateur_formats::Wire;
    ///
    /// let body = r#"{"model":"m","system":"be brief","messages":[{"role":"user","content":"hi"}]}"#;
    /// assert_eq!(Wire::detect(body), Some(Wire::Anthropic));
    /// assert_eq!(Wire::detect(r#"{"sessionId":"s1","messages":[]}"#), None);
    /// ```
    pub fn detect(body: &str) -> Option<Wire> {
        detect::detect(body)
    }

    /// The body of a request for a text.
    pub fn text_request(self, request: &TextRequest<'_>) -> Value {
        (self.code().write_text_request)(request)
    }
}

#[cfg(test)]
mod tests;
