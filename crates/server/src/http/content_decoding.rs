//! Decodes compressed bodies for reading. What is passed on stays as it came.

use std::borrow::Cow;
use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use zstd::stream::raw::DParameter;

/// HTTP does not allow larger zstd windows than 8 MiB.
const MAX_WINDOW_LOG: u32 = 23;

/// How many bytes are decoded at once.
const AT_ONCE: usize = 8 << 10;

/// Decodes what is written to it, and writes the result to another writer.
pub(crate) enum Decoder<W: Write> {
    Plain(W),
    Gzip(Box<MultiGzDecoder<W>>),
    Deflate(Box<ZlibDecoder<W>>),
    Brotli(Box<DecompressorWriter<W>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, W>>),
}

impl<W: Write> Decoder<W> {
    /// A decoder for a body with these headers; none if the encoding is not known.
    pub(crate) fn new(to: W, headers: &HeaderMap) -> Option<Self> {
        let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
        let encoding = encodings.next().map_or(Some(""), |value| value.to_str().ok())?;
        if encodings.next().is_some() {
            return None;
        }
        Some(match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Self::Plain(to),
            "gzip" | "x-gzip" => Self::Gzip(Box::new(MultiGzDecoder::new(to))),
            "deflate" => Self::Deflate(Box::new(ZlibDecoder::new(to))),
            "br" => Self::Brotli(Box::new(DecompressorWriter::new(to, AT_ONCE))),
            "zstd" => {
                let mut decoder = zstd::stream::raw::Decoder::new().ok()?;
                decoder.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG)).ok()?;
                Self::Zstd(Box::new(zstd::stream::write::Decoder::with_decoder(to, decoder)))
            }
            _ => return None,
        })
    }

    /// Decodes more, and writes all that is complete.
    pub(crate) fn write(&mut self, data: &[u8]) -> io::Result<()> {
        let to: &mut dyn Write = match self {
            Self::Plain(to) => return to.write_all(data),
            Self::Gzip(to) => to,
            Self::Deflate(to) => to,
            Self::Brotli(to) => to,
            Self::Zstd(to) => to,
        };
        to.write_all(data)?;
        to.flush()
    }

    pub(crate) fn get_ref(&self) -> &W {
        match self {
            Self::Plain(to) => to,
            Self::Gzip(to) => to.get_ref(),
            Self::Deflate(to) => to.get_ref(),
            Self::Brotli(to) => to.get_ref(),
            Self::Zstd(to) => to.get_ref(),
        }
    }

    pub(crate) fn get_mut(&mut self) -> &mut W {
        match self {
            Self::Plain(to) => to,
            Self::Gzip(to) => to.get_mut(),
            Self::Deflate(to) => to.get_mut(),
            Self::Brotli(to) => to.get_mut(),
            Self::Zstd(to) => to.get_mut(),
        }
    }
}

/// A whole body, decoded; none if it cannot be decoded or is longer than `most`. `claim` is told how many more bytes are
/// needed before they are, and may refuse them.
pub(crate) fn whole<'b>(
    body: &'b [u8],
    headers: &HeaderMap,
    most: usize,
    claim: impl FnMut(usize) -> bool,
) -> Option<Cow<'b, [u8]>> {
    let mut decoder = Decoder::new(Bounded { bytes: vec![], most, claim }, headers)?;
    if matches!(decoder, Decoder::Plain(_)) {
        return Some(Cow::Borrowed(body));
    }
    decoder.write(body).ok()?;
    Some(Cow::Owned(std::mem::take(&mut decoder.get_mut().bytes)))
}

/// Bytes up to a limit.
struct Bounded<C> {
    bytes: Vec<u8>,
    most: usize,
    claim: C,
}

impl<C: FnMut(usize) -> bool> Write for Bounded<C> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + data.len() > self.most || !(self.claim)(data.len()) {
            return Err(io::Error::other("the body is too long"));
        }
        self.bytes.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
