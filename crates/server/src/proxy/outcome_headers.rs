//! What was done to a request, as headers of its answer.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::conversation::Note;

const DID: HeaderName = HeaderName::from_static("x-secateur-did");
const SESSION: HeaderName = HeaderName::from_static("x-secateur-session");
const CUTS: HeaderName = HeaderName::from_static("x-secateur-cuts");
const REPLACED: HeaderName = HeaderName::from_static("x-secateur-replaced");
const CAUSE: HeaderName = HeaderName::from_static("x-secateur-cause");
const BYTES: HeaderName = HeaderName::from_static("x-secateur-bytes");

/// A request that goes on as it came, and why.
pub(crate) fn passed(cause: &'static str, bytes: u64) -> Note {
    Note { did: "passed", cause: Some(cause), bytes_in: bytes, bytes_out: bytes, ..Note::default() }
}

/// Writes it on an answer.
pub(crate) fn write(note: &Note, headers: &mut HeaderMap) {
    headers.insert(DID, HeaderValue::from_static(note.did));
    if let Some(session) = note.session.as_deref().and_then(|session| HeaderValue::from_str(session).ok()) {
        headers.insert(SESSION, session);
    }
    if let Some(cause) = note.cause {
        headers.insert(CAUSE, HeaderValue::from_static(cause));
    }
    headers.insert(CUTS, note.cuts.into());
    headers.insert(REPLACED, note.replaced.into());
    if let Ok(bytes) = HeaderValue::from_str(&format!("{}/{}", note.bytes_in, note.bytes_out)) {
        headers.insert(BYTES, bytes);
    }
}
