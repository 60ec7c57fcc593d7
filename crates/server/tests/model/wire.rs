//! The four languages, and how each refuses a request.

use serde_json::{Value, json};

/// Whose language a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// Chat Completions.
    Chat,
    /// Responses.
    Responses,
    /// Gemini.
    Gemini,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// An answer.
    Answer,
    /// The number of tokens.
    Count,
}

impl Wire {
    /// Which it is, by the path of a request.
    pub(super) fn of(path: &str) -> Option<(Self, Ask)> {
        let path = path.trim_end_matches('/');
        if path.ends_with("/messages/count_tokens") {
            Some((Self::Anthropic, Ask::Count))
        } else if path.ends_with("/messages") {
            Some((Self::Anthropic, Ask::Answer))
        } else if path.ends_with("/chat/completions") {
            Some((Self::Chat, Ask::Answer))
        } else if path.ends_with("/responses") {
            Some((Self::Responses, Ask::Answer))
        } else if path.ends_with(":countTokens") {
            Some((Self::Gemini, Ask::Count))
        } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            Some((Self::Gemini, Ask::Answer))
        } else {
            None
        }
    }

    /// The name of the list of messages.
    pub(super) fn messages(self) -> &'static str {
        match self {
            Self::Anthropic | Self::Chat => "messages",
            Self::Responses => "input",
            Self::Gemini => "contents",
        }
    }

    /// The name of the instructions that are no message.
    pub(super) fn system(self) -> &'static str {
        match self {
            // Here they are messages.
            Self::Chat | Self::Anthropic => "system",
            Self::Responses => "instructions",
            Self::Gemini => "systemInstruction",
        }
    }

    /// That a request does not fit.
    pub(super) fn overflow(self, tokens: u64, window: u64) -> Value {
        match self {
            Self::Anthropic => {
                self.refusal(&format!("prompt is too long: {tokens} tokens > {window} maximum"))
            }
            Self::Chat => json!({ "error": {
                "message": format!(
                    "This model's maximum context length is {window} tokens. However, your messages resulted in \
                     {tokens} tokens. Please reduce the length of the messages."
                ),
                "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded",
            } }),
            Self::Responses => json!({ "error": {
                "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
                "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded",
            } }),
            Self::Gemini => self.refusal(&format!(
                "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
            )),
        }
    }

    /// That something is wrong with a request.
    pub(super) fn refusal(self, message: &str) -> Value {
        match self {
            Self::Anthropic => {
                json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } })
            }
            Self::Chat | Self::Responses => json!({ "error": {
                "message": message, "type": "invalid_request_error", "param": self.messages(), "code": null,
            } }),
            Self::Gemini => {
                json!({ "error": { "code": 400, "message": message, "status": "INVALID_ARGUMENT" } })
            }
        }
    }
}
