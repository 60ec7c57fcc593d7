//! Reading a request's body whole.

use std::time::Instant;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_TYPE, TRAILER};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

use crate::http::memory_budget::Held;
use crate::settings::Settings;

/// The most memory that is taken on a client's word alone.
const TRUSTED: u64 = 16 << 20;

/// What came of it.
pub(crate) enum Collected {
    /// All of it.
    Whole(Bytes),
    /// It is too long: what was read, and the rest.
    Long(Vec<Bytes>, Incoming),
    /// There is no room for it: the same.
    Busy(Vec<Bytes>, Incoming),
    /// The client broke off.
    Broken,
    /// The client fell silent, or speaks so slowly that it may as well.
    Silent,
}

/// Reads a body, if it is not too long and there is room for it. Its bytes are copied once at most.
pub(crate) async fn collect(mut body: Incoming, settings: &Settings, held: &mut Held) -> Collected {
    let (most, began) = (settings.most_body, Instant::now());
    let hint = body.size_hint();
    if hint.lower() > most {
        return Collected::Long(vec![], body);
    }
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while !body.is_end_stream() {
        let read = (first.len() + all.len()) as u64;
        let most_waited = settings.pace().left(began.elapsed(), read).min(settings.patience);
        let frame = match timeout(most_waited, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => return Collected::Broken,
            Err(_) => return Collected::Silent,
        };
        let Ok(data) = frame.into_data() else { continue };
        if held.grow(data.len() as u64).is_err() {
            return Collected::Busy(vec![first, all.into(), data], body);
        }
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            if all.is_empty() {
                let expected = hint.lower().min(TRUSTED).max((first.len() + data.len()) as u64);
                all.reserve_exact(usize::try_from(expected).unwrap_or(0));
                all.extend_from_slice(&first);
                first = Bytes::new();
            }
            all.extend_from_slice(&data);
        }
        let read = (first.len() + all.len()) as u64;
        if read > most {
            let read = if all.is_empty() { first } else { Bytes::from(all) };
            return Collected::Long(vec![read], body);
        }
    }
    Collected::Whole(if all.is_empty() { first } else { Bytes::from(all) })
}

/// Why the body of a request cannot be read.
pub(crate) fn unreadable(headers: &HeaderMap) -> Option<&'static str> {
    // A body with a signature must not be changed, and one with trailers has no known end.
    let signed = ["content-md5", "content-digest", "digest", "repr-digest"];
    if headers.contains_key(TRAILER) || signed.iter().any(|name| headers.contains_key(*name)) {
        return Some("signed");
    }
    let kind = headers.get(CONTENT_TYPE)?.to_str().unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_json = kind.is_empty()
        || kind.eq_ignore_ascii_case("application/json")
        || kind.eq_ignore_ascii_case("text/json")
        || kind.to_ascii_lowercase().ends_with("+json");
    (!is_json).then_some("type")
}
