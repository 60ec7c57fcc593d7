//! Responses that report an overflow, at once or as their first content.
//!
//! A stream of the Responses API begins with events without content: created, queued, in progress. Only then may the
//! provider report that the prompt is too long, when status 200 was sent long before. So where a request fills more than
//! half of the window, those few events are held back until another one comes. Every other stream is passed on from its
//! first byte.

use http::header::CONTENT_ENCODING;
use http::{Response, StatusCode};
use secateur_engine::provider::{ReportedOverflow, read_overflow};
use secateur_formats::response::{Documents, Framing};
use serde_json::Value;

use crate::http::content_decoding;
use crate::http::response_body::ProviderStream;

/// The longest refusal that is read.
const MAX_REFUSAL: usize = 64 << 10;

/// The most bytes that are held back.
const MAX_HELD: usize = 256 << 10;

/// The overflow that a response reports, if it does.
pub(super) async fn find(response: &mut Response<ProviderStream>) -> Option<ReportedOverflow> {
    if response.status().is_success() {
        let message = failure(response).await?;
        return read_overflow(StatusCode::BAD_REQUEST.as_u16(), &message);
    }
    let status = response.status().as_u16();
    let body = response.body_mut().peek(MAX_REFUSAL).await.unwrap_or_default();
    let message = content_decoding::whole(&body, response.headers(), MAX_REFUSAL).unwrap_or_default();
    read_overflow(status, &String::from_utf8_lossy(&message))
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
