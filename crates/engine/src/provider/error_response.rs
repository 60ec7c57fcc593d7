//! What an error response of a provider means.
//!
//! Providers agree on statuses more than on bodies. So the status decides; the body helps where a status has two
//! meanings (429: wait, or pay a bill), where it is misused, and within a stream, which has none.

use std::time::Duration;

use serde_json::Value;

use super::ModelError;
use super::overflow::{ReportedOverflow, read_overflow};
use super::secret::SecretFilter;

/// Names of errors and their usual statuses.
const NAMES: [(&str, u16); 21] = [
    ("invalid_request_error", 400),
    ("invalid_prompt", 400),
    ("authentication_error", 401),
    ("invalid_api_key", 401),
    ("billing_error", 402),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("model_not_found", 404),
    ("request_too_large", 413),
    ("exceed_context_size_error", 400),
    ("context_length_exceeded", 400),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("too_many_requests", 429),
    ("insufficient_quota", 429),
    ("server_error", 500),
    ("api_error", 500),
    ("internal_server_error", 500),
    ("service_unavailable", 503),
    ("timeout_error", 504),
    ("overloaded_error", 529),
];

/// Errors with status 429 that waiting does not solve.
const UNPAID: [&str; 3] = ["insufficient_quota", "billing_hard_limit_reached", "credit_balance"];

/// The meaning of a response with this status and body.
pub(super) fn judge(
    status: u16,
    body: &str,
    retry_after: Option<Duration>,
    secrets: &SecretFilter,
) -> ModelError {
    if let Some(ReportedOverflow { used, limit }) = read_overflow(status, body) {
        return ModelError::Overflow { used, limit };
    }
    let read = serde_json::from_str(body).unwrap_or(Value::Null);
    let names = names(&read);
    let message = secrets.clean(message(&read).unwrap_or(body));
    let message = if message.is_empty() { "no reason given".to_owned() } else { message };
    match status {
        _ if names.contains(&"overloaded_error") => ModelError::Server { status: 529, retry_after, message },
        429 if names.iter().any(|name| UNPAID.contains(name)) => ModelError::Refused { status, message },
        429 => ModelError::RateLimited { retry_after, message },
        500.. => ModelError::Server { status, retry_after, message },
        _ => ModelError::Refused { status, message },
    }
}

/// The meaning of an error within a stream.
pub(super) fn judge_event(body: &Value, secrets: &SecretFilter) -> ModelError {
    judge(status_of(body).unwrap_or(500), &body.to_string(), None, secrets)
}

/// The status that a body names, as a number or by the name of the error.
fn status_of(body: &Value) -> Option<u16> {
    let error = error_of(body);
    let number = ["code", "status", "status_code"].into_iter().find_map(|key| {
        let value = error.get(key)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number).ok().filter(|status| (400..600).contains(status))
    });
    let named = || {
        let names = names(body);
        NAMES.into_iter().find_map(|(name, status)| names.contains(&name).then_some(status))
    };
    number.or_else(named)
}

/// The names that a body gives to its error.
fn names(body: &Value) -> Vec<&str> {
    let error = error_of(body);
    ["type", "code", "status"].into_iter().filter_map(|key| error.get(key)?.as_str()).collect()
}

/// The message for people.
fn message(body: &Value) -> Option<&str> {
    let error = error_of(body);
    let said = |value: &'_ Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    let keys = ["message", "msg", "detail", "error", "error_description"];
    let found = keys.into_iter().find_map(|key| error.get(key).filter(|value| said(value)));
    found.or(Some(error)).and_then(Value::as_str)
}

/// The error object: in its own field, in a list, or the body itself.
fn error_of(body: &Value) -> &Value {
    let body = body.get(0).unwrap_or(body);
    match body.get("error") {
        Some(error @ Value::Object(_)) => error,
        _ => body,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(status: u16, body: &Value) -> ModelError {
        judge(status, &body.to_string(), None, &SecretFilter::new([]))
    }

    #[test]
    fn the_status_decides() {
        let body = json!({ "error": { "message": "no" } });
        let message = "no".to_owned();
        for status in [400, 401, 402, 403, 404, 408, 409, 422] {
            assert_eq!(judged(status, &body), ModelError::Refused { status, message: message.clone() });
        }
        for status in [500, 502, 503, 504, 529] {
            let error = judged(status, &body);
            assert!(error.is_worth_retrying(), "{status}");
            assert_eq!(error, ModelError::Server { status, retry_after: None, message: message.clone() });
        }
        for status in [501, 505, 520] {
            assert!(!judged(status, &body).is_worth_retrying(), "{status}");
        }
        assert_eq!(judged(429, &body), ModelError::RateLimited { retry_after: None, message });
    }

    #[test]
    fn a_bill_is_not_paid_by_waiting() {
        let body = json!({ "error": { "message": "check your plan", "code": "insufficient_quota" } });
        assert!(!judged(429, &body).is_worth_retrying());
    }

    #[test]
    fn an_overload_is_known_by_its_name() {
        let body =
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
        assert!(matches!(judged(400, &body), ModelError::Server { status: 529, .. }));
        assert!(matches!(judge_event(&body, &SecretFilter::new([])), ModelError::Server { status: 529, .. }));
    }

    #[test]
    fn messages_are_found_wherever_they_are() {
        for body in [
            json!({ "error": { "message": "here" } }),
            json!([{ "error": { "message": "here", "code": 400 } }]),
            json!({ "error": "here" }),
            json!({ "message": "here", "type": "x" }),
            json!({ "detail": "here" }),
            json!("here"),
        ] {
            let ModelError::Refused { message, .. } = judged(404, &body) else { panic!("{body}") };
            assert_eq!(message, "here", "{body}");
        }
        for (body, expected) in [("<h1>gone</h1>", "<h1>gone</h1>"), ("", "no reason given")] {
            let ModelError::Refused { message, .. } = judge(404, body, None, &SecretFilter::new([])) else {
                panic!("{body}")
            };
            assert_eq!(message, expected);
        }
    }

    #[test]
    fn an_error_in_a_stream_has_the_status_that_it_names() {
        for (body, status) in [
            (json!({ "error": { "code": 502, "message": "m" } }), 502),
            (json!({ "error": { "code": "503", "message": "m" } }), 503),
            (json!({ "error": { "code": "server_error", "message": "m" } }), 500),
            (json!({ "type": "error", "code": "server_error", "message": "m" }), 500),
            (json!({ "error": { "message": "m" } }), 500),
            (json!({ "error": { "type": "authentication_error", "message": "m" } }), 401),
        ] {
            let error = judge_event(&body, &SecretFilter::new([]));
            let (ModelError::Server { status: judged, .. } | ModelError::Refused { status: judged, .. }) =
                error
            else {
                panic!("{body}")
            };
            assert_eq!(judged, status, "{body}");
        }
    }
}
