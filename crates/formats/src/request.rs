//! The requests that agents send to model providers, as sessions: one module per wire format.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

use secateur::Measures;

use crate::transcript::Transcript;
use crate::wire::Wire;

/// Reads a request body.
pub(crate) fn read<'a>(wire: Wire, text: &'a str, measures: &Measures) -> Transcript<'a> {
    match wire {
        Wire::Anthropic => anthropic::read(text, measures),
        Wire::OpenAiChat => openai_chat::read(text, measures),
        Wire::OpenAiResponses => openai_responses::read(text, measures),
        Wire::Gemini => gemini::read(text, measures),
    }
}
