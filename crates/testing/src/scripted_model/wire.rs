//! What differs between the wires: paths, names of fields, and how each refuses a request.

use secateur_formats::Wire;
use serde_json::{Value, json};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// A response of the model.
    Response,
    /// The number of tokens.
    Count,
}

/// Which it is, by the path of a request.
pub(super) fn of_path(path: &str) -> Option<(Wire, Ask)> {
    let path = path.trim_end_matches('/');
    if path.ends_with("/messages/count_tokens") {
        Some((Wire::Anthropic, Ask::Count))
    } else if path.ends_with("/messages") {
        Some((Wire::Anthropic, Ask::Response))
    } else if path.ends_with("/chat/completions") {
        Some((Wire::OpenAiChat, Ask::Response))
    } else if path.ends_with("/responses") {
        Some((Wire::OpenAiResponses, Ask::Response))
    } else if path.ends_with(":countTokens") {
        Some((Wire::Gemini, Ask::Count))
    } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
        Some((Wire::Gemini, Ask::Response))
    } else {
        None
    }
}

/// The name of the list of messages.
pub(super) fn messages_field(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic | Wire::OpenAiChat => "messages",
        Wire::OpenAiResponses => "input",
        Wire::Gemini => "contents",
    }
}

/// The name of the instructions that are no message.
pub(super) fn system_field(wire: Wire) -> &'static str {
    match wire {
        // Here they are messages.
        Wire::OpenAiChat | Wire::Anthropic => "system",
        Wire::OpenAiResponses => "instructions",
        Wire::Gemini => "systemInstruction",
    }
}

/// That a request does not fit.
pub(super) fn overflow(wire: Wire, tokens: u64, window: u64) -> Value {
    match wire {
        Wire::Anthropic => refusal(wire, &format!("prompt is too long: {tokens} tokens > {window} maximum")),
        Wire::OpenAiChat => json!({ "error": {
            "message": format!(
                "This model's maximum context length is {window} tokens. However, your messages resulted in \
                 {tokens} tokens. Please reduce the length of the messages."
            ),
            "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded",
        } }),
        Wire::OpenAiResponses => json!({ "error": {
            "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded",
        } }),
        Wire::Gemini => refusal(
            wire,
            &format!(
                "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
            ),
        ),
    }
}

/// That something is wrong with a request.
pub(super) fn refusal(wire: Wire, message: &str) -> Value {
    match wire {
        Wire::Anthropic => {
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } })
        }
        Wire::OpenAiChat | Wire::OpenAiResponses => json!({ "error": {
            "message": message, "type": "invalid_request_error", "param": messages_field(wire), "code": null,
        } }),
        Wire::Gemini => {
            json!({ "error": { "code": 400, "message": message, "status": "INVALID_ARGUMENT" } })
        }
    }
}
