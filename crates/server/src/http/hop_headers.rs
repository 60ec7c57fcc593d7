//! Headers that belong to one connection, not to the request or response.

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING, UPGRADE,
};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

/// Headers about the connection. `Trailer` is not one of them: it is about the body.
const HOP_HEADERS: [HeaderName; 8] = [
    CONNECTION,
    KEEP_ALIVE,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    PROXY_CONNECTION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Removes the headers of the connection. All others keep their order.
///
/// `TE: trailers` stays, because trailers are passed on. `Expect: 100-continue` goes, because the proxy answers it.
pub(crate) fn strip(headers: HeaderMap) -> HeaderMap {
    if !HOP_HEADERS.iter().any(|name| headers.contains_key(name)) && !headers.contains_key(EXPECT) {
        return headers;
    }
    let named: Vec<HeaderName> = tokens(&headers, &CONNECTION)
        .filter_map(|name| HeaderName::from_bytes(name.as_bytes()).ok())
        .filter(|name| *name != TE)
        .collect();
    // A length beside a transfer coding is not the body's.
    let has_coding = headers.contains_key(TRANSFER_ENCODING);
    let trailers = tokens(&headers, &TE).any(|token| token.eq_ignore_ascii_case("trailers"));
    let mut kept = HeaderMap::with_capacity(headers.len());
    let mut last = None;
    // Removing headers one by one would change the order of the others.
    for (name, value) in headers {
        last = name.or(last);
        let Some(name) = &last else { continue };
        let is_expectation = *name == EXPECT && value.as_bytes().eq_ignore_ascii_case(b"100-continue");
        let is_length = has_coding && *name == CONTENT_LENGTH;
        if !HOP_HEADERS.contains(name) && !named.contains(name) && !is_expectation && !is_length {
            kept.append(name, value);
        }
    }
    if trailers {
        kept.insert(TE, HeaderValue::from_static("trailers"));
    }
    kept
}

/// Whether a request has a transfer coding that the proxy does not know: any but `chunked`.
pub(crate) fn has_unknown_coding(headers: &HeaderMap) -> bool {
    let values = headers.get_all(TRANSFER_ENCODING).into_iter();
    values.map(|value| value.to_str().unwrap_or_default()).flat_map(|value| value.split(',')).any(|coding| {
        let coding = coding.trim();
        !coding.is_empty() && !coding.eq_ignore_ascii_case("chunked")
    })
}

/// The protocol that the connection is to be upgraded to, if any.
pub(crate) fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let wanted = tokens(headers, &CONNECTION).any(|token| token.eq_ignore_ascii_case("upgrade"));
    headers.get(UPGRADE).filter(|_| wanted).cloned()
}

fn tokens<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).into_iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(headers: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        map
    }

    #[test]
    fn headers_of_the_connection_go_and_the_others_keep_their_order() {
        let headers = map(&[
            ("a", "1"),
            ("connection", "close, X-Mine"),
            ("b", "2"),
            ("x-mine", "3"),
            ("a", "4"),
            ("keep-alive", "timeout=5"),
            ("te", "gzip, trailers"),
            ("trailer", "x-sum"),
            ("expect", "100-continue"),
            ("transfer-encoding", "chunked"),
            ("c", "5"),
        ]);
        let kept =
            map(&[("a", "1"), ("b", "2"), ("a", "4"), ("trailer", "x-sum"), ("c", "5"), ("te", "trailers")]);
        let list = |map: HeaderMap| map.iter().map(|(n, v)| (n.clone(), v.clone())).collect::<Vec<_>>();
        assert_eq!(list(strip(headers)), list(kept));
    }

    #[test]
    fn a_length_beside_a_transfer_coding_goes_with_it() {
        let both = map(&[("content-length", "3"), ("a", "1"), ("transfer-encoding", "chunked")]);
        assert_eq!(strip(both), map(&[("a", "1")]));
        let alone = map(&[("content-length", "3"), ("connection", "close")]);
        assert_eq!(strip(alone), map(&[("content-length", "3")]));
    }

    #[test]
    fn chunked_is_the_only_known_coding() {
        let is_unknown = |value| has_unknown_coding(&map(&[("transfer-encoding", value)]));
        assert!(!is_unknown("chunked") && !is_unknown("Chunked ") && !has_unknown_coding(&HeaderMap::new()));
        assert!(is_unknown("gzip, chunked") && is_unknown("gzip") && is_unknown("chunked;q=1"));
    }

    #[test]
    fn an_upgrade_must_be_wanted_in_both_headers() {
        assert_eq!(upgrade(&map(&[("upgrade", "websocket")])), None);
        assert!(upgrade(&map(&[("connection", "keep-alive, Upgrade"), ("upgrade", "websocket")])).is_some());
    }
}
