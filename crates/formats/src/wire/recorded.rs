//! Requests that were recorded with their method, path and headers.
//!
//! Proxies and test benches write requests as `{method, path, headers, body}` with the body as one string.

use crate::json::Raw;
use crate::json::fields::{object, raw_fields};

raw_fields!(
    /// The members of a recorded request.
    Recorded { method: "method", path: "path", body: "body" }
);

/// The body of a recorded request; none if the bytes are something else.
///
/// ```
/// use secateur_formats::recorded_body;
///
/// let recorded = br#"{"method":"POST","path":"/v1/messages","body":"{\"model\":\"m\"}"}"#;
/// assert_eq!(recorded_body(recorded).as_deref(), Some(r#"{"model":"m"}"#));
/// assert_eq!(recorded_body(br#"{"model":"m"}"#), None);
/// ```
pub fn recorded_body(bytes: &[u8]) -> Option<String> {
    if !may_be_recorded(bytes) {
        return None;
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let recorded = object::<Recorded<'_>>(text.trim()).ok()??;
    recorded.method.and(recorded.path)?;
    recorded.body.and_then(Raw::as_str).map(std::borrow::Cow::into_owned)
}

/// Whether the beginning of a file looks like a recorded request. This is cheap, and saves reading every other file.
pub fn may_be_recorded(beginning: &[u8]) -> bool {
    const ENOUGH: usize = 1 << 12;
    let beginning = beginning.trim_ascii_start();
    let beginning = beginning.get(..ENOUGH).unwrap_or(beginning);
    let holds = |name: &[u8]| beginning.windows(name.len()).any(|window| window == name);
    beginning.starts_with(b"{") && holds(b"\"method\"") && holds(b"\"path\"")
}
