//! Error responses of the proxy. They have the form of the provider's errors, which its clients can read.

use http::header::{CONNECTION, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use serde_json::json;

use super::response_body::ProxyResponseBody;
use super::upstream::UpstreamError;
use crate::route::Provider;
use crate::settings::Upstream;

/// The provider did not answer.
pub(crate) fn failed(
    provider: Provider,
    upstream: &Upstream,
    error: &UpstreamError,
) -> Response<ProxyResponseBody> {
    let (status, fix) = match error {
        UpstreamError::Timeout { .. } => (StatusCode::GATEWAY_TIMEOUT, "try again, or allow more time"),
        UpstreamError::Unreachable { .. } => (StatusCode::BAD_GATEWAY, "check its address and the network"),
        UpstreamError::Broken { .. } => (StatusCode::BAD_GATEWAY, "try again"),
    };
    let at = format!("{}{}", if upstream.is_plain() { "http://" } else { "https://" }, upstream.authority());
    refuse(provider, status, &format!("secateur got no response from {at}: {error}; {fix}"))
}

/// The body is too long to be passed on. The rest of the connection is not read.
pub(crate) fn too_long(provider: Provider, most: u64) -> Response<ProxyResponseBody> {
    let message = format!("the body of the request is longer than {most} bytes");
    last(refuse(provider, StatusCode::PAYLOAD_TOO_LARGE, &message))
}

/// The body does not arrive, or too slowly.
pub(crate) fn too_slow(provider: Provider) -> Response<ProxyResponseBody> {
    last(refuse(provider, StatusCode::REQUEST_TIMEOUT, "the rest of the request did not arrive in time"))
}

/// The body is not framed as HTTP demands. Where the next request begins is not known.
pub(crate) fn malformed(provider: Provider) -> Response<ProxyResponseBody> {
    last(refuse(provider, StatusCode::BAD_REQUEST, "the body of the request has a malformed chunk"))
}

/// Too many bodies of the same client are being read and decided.
pub(crate) fn too_many_bodies(provider: Provider, most: usize) -> Response<ProxyResponseBody> {
    let message = format!("the proxy already reads {most} bodies of this client; try again in a moment");
    let mut refusal = refuse(provider, StatusCode::TOO_MANY_REQUESTS, &message);
    refusal.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    last(refusal)
}

/// Marks a response as the last of its connection.
pub(crate) fn last(mut refusal: Response<ProxyResponseBody>) -> Response<ProxyResponseBody> {
    refusal.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    refusal
}

/// An error response in the form of this provider.
pub(crate) fn refuse(provider: Provider, status: StatusCode, message: &str) -> Response<ProxyResponseBody> {
    let code = status.as_u16();
    let body = match provider {
        Provider::Anthropic => {
            let kind = match code {
                429 => "rate_limit_error",
                500.. => "api_error",
                _ => "invalid_request_error",
            };
            json!({ "type": "error", "error": { "type": kind, "message": message } })
        }
        Provider::OpenAi => {
            let kind = match code {
                429 => "rate_limit_exceeded",
                500.. => "server_error",
                _ => "invalid_request_error",
            };
            json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
        }
        Provider::Gemini => {
            let name = match code {
                429 => "RESOURCE_EXHAUSTED",
                504 => "DEADLINE_EXCEEDED",
                500.. => "UNAVAILABLE",
                _ => "INVALID_ARGUMENT",
            };
            json!({ "error": { "code": code, "message": message, "status": name } })
        }
    };
    ProxyResponseBody::own(status, HeaderValue::from_static("application/json"), body.to_string())
}
