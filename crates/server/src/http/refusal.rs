//! Answers of our own, for when there is none of the provider's. They look like that provider's errors, as that is
//! what its clients can read.

use http::header::{CONNECTION, HeaderValue};
use http::{Response, StatusCode};
use serde_json::json;

use crate::http::response_body::Answer;
use crate::http::upstream::Failure;
use crate::route::Provider;
use crate::settings::Upstream;

/// There was no answer.
pub(crate) fn failed(provider: Provider, upstream: &Upstream, failure: &Failure) -> Response<Answer> {
    let (status, remedy) = match failure {
        Failure::Silent { .. } => (StatusCode::GATEWAY_TIMEOUT, "try again, or give it more time"),
        Failure::Unreachable { .. } => {
            (StatusCode::BAD_GATEWAY, "see whether its address is right and the network is up")
        }
        Failure::Broken { .. } => (StatusCode::BAD_GATEWAY, "try again"),
    };
    let at = format!("{}{}", if upstream.is_plain() { "http://" } else { "https://" }, upstream.authority());
    refuse(provider, status, &format!("secateur got no answer from {at}: {failure}; {remedy}"))
}

/// The body is longer than anything that may be passed on. Nothing that comes behind it is read.
pub(crate) fn too_long(provider: Provider, most: u64) -> Response<Answer> {
    let message = format!("the body of the request is longer than {most} bytes");
    last(refuse(provider, StatusCode::PAYLOAD_TOO_LARGE, &message))
}

/// The body does not come, or so slowly that it may as well not.
pub(crate) fn too_slow(provider: Provider) -> Response<Answer> {
    last(refuse(provider, StatusCode::REQUEST_TIMEOUT, "the rest of the request did not come"))
}

/// The last answer of a connection.
pub(crate) fn last(mut refusal: Response<Answer>) -> Response<Answer> {
    refusal.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    refusal
}

/// The request is none that can be passed on.
pub(crate) fn refuse(provider: Provider, status: StatusCode, message: &str) -> Response<Answer> {
    let code = status.as_u16();
    let body = match provider {
        Provider::Anthropic => {
            let kind = if status.is_server_error() { "api_error" } else { "invalid_request_error" };
            json!({ "type": "error", "error": { "type": kind, "message": message } })
        }
        Provider::OpenAi => {
            let kind = if status.is_server_error() { "server_error" } else { "invalid_request_error" };
            json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
        }
        Provider::Gemini => {
            let name = match code {
                504 => "DEADLINE_EXCEEDED",
                500.. => "UNAVAILABLE",
                _ => "INVALID_ARGUMENT",
            };
            json!({ "error": { "code": code, "message": message, "status": name } })
        }
    };
    Answer::ours(status, HeaderValue::from_static("application/json"), body.to_string())
}
