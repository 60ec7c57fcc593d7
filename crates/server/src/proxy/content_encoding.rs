//! Compressed requests.
//!
//! They are decompressed to be read. An unchanged request is sent as it came; a changed one is sent uncompressed, which
//! every provider accepts.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, HeaderMap};
use hyper::Request;

use crate::http::content_decoding;
use crate::http::request_body::UpstreamBody;
use crate::http::upstream::RequestHead;
use crate::outcome::{ExchangeReport, Outcome};
use crate::quota::MemoryShare;

/// The compressed body of a request, if it came compressed.
pub(super) struct CompressedOriginal(Option<Bytes>);

impl CompressedOriginal {
    /// Whether a body with these headers came compressed.
    pub(super) fn is_in(headers: &HeaderMap) -> bool {
        headers.contains_key(CONTENT_ENCODING)
    }

    /// The original of a body that did not come compressed.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// Decompresses a body to at most this many bytes, as far as there is memory for it. A body that cannot be
    /// decompressed stays as it is. May take long.
    pub(super) fn decode(
        headers: &HeaderMap,
        body: Bytes,
        most: u64,
        memory: &mut MemoryShare,
    ) -> (Self, Bytes) {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let claim = |bytes: usize| memory.grow(bytes as u64).is_ok();
        let plain = match content_decoding::whole(&body, headers, most, claim) {
            Some(Cow::Owned(plain)) => Bytes::from(plain),
            Some(Cow::Borrowed(_)) | None => return (Self(None), body),
        };
        (Self(Some(body)), plain)
    }

    /// The request with a body that was made from the decompressed one. The report counts decompressed bytes, if
    /// they could be read.
    pub(super) fn request(
        &self,
        mut head: RequestHead,
        body: Vec<Bytes>,
        report: &mut ExchangeReport,
    ) -> Request<UpstreamBody> {
        let Some(original) = &self.0 else { return head.with_whole(body) };
        if report.outcome == Outcome::PassedThrough {
            (report.bytes_in, report.bytes_out) = (original.len() as u64, original.len() as u64);
        }
        if report.cuts + report.replaced == 0 {
            return head.with_whole(vec![original.clone()]);
        }
        head.headers.remove(CONTENT_ENCODING);
        head.with_whole(body)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use http::HeaderValue;
    use hyper::body::Body;

    use super::*;
    use crate::quota::{ClientKey, Quotas};
    use crate::settings::Settings;

    fn memory() -> MemoryShare {
        let client = ClientKey::of(([127, 0, 0, 1], 1).into());
        Quotas::of(&Settings::default()).client(&client).memory()
    }

    fn compressed(text: &str) -> (HeaderMap, Bytes) {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        (headers, encoder.finish().unwrap().into())
    }

    fn head(headers: HeaderMap) -> RequestHead {
        let (parts, ()) = Request::new(()).into_parts();
        RequestHead::new(parts, headers, &"http://127.0.0.1:1".parse().unwrap()).unwrap()
    }

    #[test]
    fn an_unchanged_request_stays_compressed_and_a_changed_one_does_not() {
        let (headers, body) = compressed("a text");
        let (original, plain) = CompressedOriginal::decode(&headers, body.clone(), 100, &mut memory());
        assert_eq!(plain, "a text");
        let same = original.request(head(headers.clone()), vec![plain], &mut ExchangeReport::default());
        assert_eq!(same.headers()[CONTENT_ENCODING], "gzip");
        assert_eq!(same.body().size_hint().exact(), Some(body.len() as u64));
        let cut = original.request(
            head(headers),
            vec![Bytes::from("cut")],
            &mut ExchangeReport { cuts: 1, ..ExchangeReport::default() },
        );
        assert!(!cut.headers().contains_key(CONTENT_ENCODING));
        assert_eq!(cut.body().size_hint().exact(), Some(3));
    }

    #[test]
    fn what_cannot_be_decompressed_stays_as_it_is() {
        let (headers, body) = compressed(&"long ".repeat(1000));
        assert_eq!(
            CompressedOriginal::decode(&headers, body.clone(), 100, &mut memory()).1,
            body,
            "it would be too long"
        );
        let other = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("rot13"))]);
        assert_eq!(CompressedOriginal::decode(&other, Bytes::from("xyz"), 100, &mut memory()).1, "xyz");
    }
}
