//! Responses that refuse a request for a reason that the proxy can do something about, at once or as their first content.
//!
//! A stream of the Responses API begins with events without content: created, queued, in progress. Only then may the
//! provider report that the prompt is too long, when status 200 was sent long before. So where a request fills more than
//! half of the window, those few events are held back until another one comes. Every other stream is passed on from its
//! first byte.

use http::header::CONTENT_ENCODING;
use http::{Response, StatusCode};
use secateur_engine::provider::{ReportedOverflow, read_overflow};
use secateur_formats::Wire;
use secateur_formats::response::{Documents, Framing};
use secateur_formats::thinking::ThinkingRefusal;
use serde_json::Value;

use crate::http::content_decoding;
use crate::http::response_body::ProviderStream;

/// The longest refusal that is read.
const MAX_REFUSAL: usize = 64 << 10;

/// The most bytes that are held back.
const MAX_HELD: usize = 256 << 10;

/// A refusal that another request may avoid.
#[derive(Clone, Copy, Debug)]
pub(super) enum EarlyRefusal {
    /// The request is too long.
    TooLong(ReportedOverflow),
    /// Its thinking does not belong to what stands before it, or the provider does not know what was added because of
    /// that.
    Thinking(ThinkingRefusal),
}

/// The refusal that a response to a request of this wire is, if it is one of these.
pub(super) async fn find(wire: Wire, response: &mut Response<ProviderStream>) -> Option<EarlyRefusal> {
    if response.status().is_success() {
        let message = failure(response).await?;
        return read_overflow(StatusCode::BAD_REQUEST.as_u16(), &message).map(EarlyRefusal::TooLong);
    }
    let status = response.status();
    let body = response.body_mut().peek(MAX_REFUSAL).await.unwrap_or_default();
    let message =
        content_decoding::whole(&body, response.headers(), MAX_REFUSAL, |_| true).unwrap_or_default();
    let message = String::from_utf8_lossy(&message);
    let thinking = || ThinkingRefusal::read(&message).map(EarlyRefusal::Thinking);
    let may_be_thinking = wire == Wire::Anthropic && status == StatusCode::BAD_REQUEST;
    let overflow = read_overflow(status.as_u16(), &message).map(EarlyRefusal::TooLong);
    overflow.or_else(|| thinking().filter(|_| may_be_thinking))
}

/// The error of a stream that fails before it has content; none if it has content.
async fn failure(response: &mut Response<ProviderStream>) -> Option<String> {
    if response.headers().contains_key(CONTENT_ENCODING) {
        return None;
    }
    let (mut documents, mut seen) = (Documents::new(Framing::Events, MAX_HELD), 0);
    while seen < MAX_HELD {
        let ahead = response.body_mut().read_ahead().await?;
        seen += ahead.len();
        let mut first = FirstEvent::Empty;
        documents.push(&ahead, &mut |event| {
            if first == FirstEvent::Empty {
                first = classify(event);
            }
        });
        match first {
            FirstEvent::Empty => {}
            FirstEvent::Failure(message) => return Some(message),
            FirstEvent::Content => return None,
        }
    }
    None
}

/// What an event at the beginning of a stream is.
#[derive(Debug, PartialEq)]
enum FirstEvent {
    Empty,
    Failure(String),
    Content,
}

fn classify(event: &[u8]) -> FirstEvent {
    let Ok(data) = serde_json::from_slice::<Value>(event) else { return FirstEvent::Empty };
    match data["type"].as_str().unwrap_or_default() {
        "response.created" | "response.queued" | "response.in_progress" => FirstEvent::Empty,
        "response.failed" => FirstEvent::Failure(data["response"]["error"].to_string()),
        "error" => FirstEvent::Failure(data.to_string()),
        _ => FirstEvent::Content,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_without_content_are_skipped() {
        let event = |data: &str| classify(data.as_bytes());
        assert_eq!(event(r#"{"type":"response.created","response":{}}"#), FirstEvent::Empty);
        assert_eq!(event("no JSON"), FirstEvent::Empty);
        assert_eq!(event(r#"{"type":"response.output_item.added"}"#), FirstEvent::Content);
        let failed = r#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded"}}}"#;
        assert_eq!(event(failed), FirstEvent::Failure(r#"{"code":"context_length_exceeded"}"#.to_owned()));
    }
}
