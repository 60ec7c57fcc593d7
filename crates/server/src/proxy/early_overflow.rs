//! Answers that say that the prompt was too long, at once or after they began well.
//!
//! A stream of the Responses kind opens with events that say nothing: created, queued, in progress. Only then does the
//! provider say that the prompt does not fit, with status 200 long sent. Where that may happen, because a request fills
//! more than half of the window, those few events are held back until something else comes; every other stream is passed
//! on from its first byte.

use http::header::CONTENT_ENCODING;
use http::{Response, StatusCode};
use secateur_engine::provider::{ReportedOverflow, read_overflow};
use serde_json::Value;

use crate::http::response_body::Stream;
use crate::usage::decode;

/// How much of a refusal is looked at.
const MOST_SAID: usize = 64 << 10;

/// The most that is held back.
const MOST: usize = 256 << 10;

/// Whether a refusal says that the prompt is too long.
pub(crate) async fn refused(answer: &mut Response<Stream>) -> Option<ReportedOverflow> {
    if answer.status().is_success() {
        let said = failure(answer).await?;
        return read_overflow(StatusCode::BAD_REQUEST.as_u16(), &said);
    }
    let status = answer.status().as_u16();
    let said = answer.body_mut().peek(MOST_SAID).await.unwrap_or_default();
    let said = decode::whole(&said, answer.headers(), MOST_SAID).unwrap_or_default();
    read_overflow(status, &String::from_utf8_lossy(&said))
}

/// What a stream says that fails before it has said anything; none if it says something.
async fn failure(answer: &mut Response<Stream>) -> Option<String> {
    if answer.headers().contains_key(CONTENT_ENCODING) {
        return None;
    }
    let mut seen: Vec<u8> = Vec::new();
    let mut from = 0;
    while seen.len() < MOST {
        seen.extend_from_slice(&answer.body_mut().read_ahead().await?);
        while let Some(end) = end_of_event(seen.get(from..)?) {
            match judge(seen.get(from..from + end)?) {
                Opening::Nothing => from += end,
                Opening::Failure(said) => return Some(said),
                Opening::Beginning => return None,
            }
        }
    }
    None
}

/// What the first event of a stream is.
#[derive(Debug, PartialEq)]
enum Opening {
    Nothing,
    Failure(String),
    Beginning,
}

/// Where the first event ends: behind its blank line.
fn end_of_event(seen: &[u8]) -> Option<usize> {
    let unix = memchr::memmem::find(seen, b"\n\n").map(|at| at + 2);
    let dos = memchr::memmem::find(seen, b"\r\n\r\n").map(|at| at + 4);
    unix.into_iter().chain(dos).min()
}

fn judge(event: &[u8]) -> Opening {
    let text = String::from_utf8_lossy(event);
    let data: String = text.lines().filter_map(|line| line.strip_prefix("data:")).collect();
    let Ok(data) = serde_json::from_str::<Value>(&data) else { return Opening::Nothing };
    match data["type"].as_str().unwrap_or_default() {
        "response.created" | "response.queued" | "response.in_progress" => Opening::Nothing,
        "response.failed" => Opening::Failure(data["response"]["error"].to_string()),
        "error" => Opening::Failure(data.to_string()),
        _ => Opening::Beginning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_nothing_is_passed_over() {
        let event = |data: &str| judge(format!("event: x\ndata: {data}\n\n").as_bytes());
        assert_eq!(event(r#"{"type":"response.created","response":{}}"#), Opening::Nothing);
        assert_eq!(judge(b": a comment\n\n"), Opening::Nothing);
        assert_eq!(event(r#"{"type":"response.output_item.added"}"#), Opening::Beginning);
        let failed = r#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded"}}}"#;
        assert_eq!(event(failed), Opening::Failure(r#"{"code":"context_length_exceeded"}"#.to_owned()));
    }

    #[test]
    fn events_end_with_a_blank_line_of_either_kind() {
        assert_eq!(end_of_event(b"data: 1\n\ndata: 2"), Some(9));
        assert_eq!(end_of_event(b"data: 1\r\n\r\n"), Some(11));
        assert_eq!(end_of_event(b"data: 1\n"), None);
    }
}
