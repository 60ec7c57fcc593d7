//! Requests that come compressed.
//!
//! They are unpacked to be read. If nothing in them is changed they go on as they came; if something is, they go on in
//! the clear, which every provider takes.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, HeaderMap};
use hyper::Request;

use crate::conversation::Note;
use crate::http::upstream::Head;
use crate::http::upstream_body::Outgoing;
use crate::usage::decode;

/// The body of a request as it came, if it came compressed.
pub(crate) struct Packed(Option<Bytes>);

impl Packed {
    /// Gives a body in the clear. One that cannot be unpacked stays as it is; nobody will understand it.
    pub(crate) fn open(headers: &HeaderMap, body: Bytes, most: u64) -> (Self, Bytes) {
        if !headers.contains_key(CONTENT_ENCODING) {
            return (Self(None), body);
        }
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let plain = match decode::whole(&body, headers, most) {
            Some(Cow::Owned(plain)) => Bytes::from(plain),
            Some(Cow::Borrowed(_)) | None => return (Self(None), body),
        };
        (Self(Some(body)), plain)
    }

    /// Whether it was unpacked.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// The request with a body that was made of the one in the clear.
    pub(crate) fn wrap(&self, mut head: Head, body: Vec<Bytes>, note: &mut Note) -> Request<Outgoing> {
        let Some(original) = &self.0 else { return head.with_whole(body) };
        note.bytes_in = original.len() as u64;
        if note.cuts + note.replaced == 0 {
            note.bytes_out = note.bytes_in;
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

    fn packed(text: &str) -> (HeaderMap, Bytes) {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        (headers, encoder.finish().unwrap().into())
    }

    fn head(headers: HeaderMap) -> Head {
        let (parts, ()) = Request::new(()).into_parts();
        Head::new(parts, headers, &"http://127.0.0.1:1".parse().unwrap()).unwrap()
    }

    #[test]
    fn what_is_not_changed_goes_on_packed_and_what_is_changed_in_the_clear() {
        let (headers, body) = packed("a text");
        let (packed, plain) = Packed::open(&headers, body.clone(), 100);
        assert_eq!(plain, "a text");
        let same = packed.wrap(head(headers.clone()), vec![plain], &mut Note::default());
        assert_eq!(same.headers()[CONTENT_ENCODING], "gzip");
        assert_eq!(same.body().size_hint().exact(), Some(body.len() as u64));
        let cut =
            packed.wrap(head(headers), vec![Bytes::from("cut")], &mut Note { cuts: 1, ..Note::default() });
        assert!(!cut.headers().contains_key(CONTENT_ENCODING));
        assert_eq!(cut.body().size_hint().exact(), Some(3));
    }

    #[test]
    fn what_cannot_be_unpacked_stays() {
        let (headers, body) = packed(&"long ".repeat(1000));
        assert_eq!(Packed::open(&headers, body.clone(), 100).1, body, "it would be too long");
        let other = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("rot13"))]);
        assert_eq!(Packed::open(&other, Bytes::from("xyz"), 100).1, "xyz");
    }
}
