//! Heads of requests that two programs could read differently.
//!
//! If a gateway in front of this proxy and the proxy itself do not agree where a request ends, somebody can smuggle a
//! second one past the gateway. The parser behind this is lenient in two ways that matter: it takes a line feed alone
//! for the end of a line, and a length beside a transfer coding. So heads are looked over as they come in, and a
//! connection with such a flaw in one is refused whatever the parser makes of it. Bodies are followed to their ends, as
//! the next head is there.

mod chunks;

use std::fmt;

use chunks::Chunks;

/// Lines are compared as far as this.
const LONGEST: usize = 64;

/// Looks over what a client sends.
#[derive(Default)]
pub(crate) struct Strict {
    at: At,
    head: Head,
}

/// Where in what a client sends.
#[derive(Default)]
enum At {
    /// Before a request.
    #[default]
    Start,
    Head,
    /// In a body of which so much is left.
    Body(u64),
    Chunks(Chunks),
    /// Where something else than HTTP/1 is spoken, or the connection has a flaw.
    Beyond,
}

/// A head, as far as it was seen.
#[derive(Default)]
struct Head {
    /// The line at hand, as far as it is of interest, in lower case. Lines of headers without their spaces.
    line: Vec<u8>,
    /// Whether the line at hand has anything on it.
    has_text: bool,
    is_header: bool,
    last: u8,
    length: Option<u64>,
    has_coding: bool,
}

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    BareLineFeed,
    TwoLengths,
    NoLength,
    Chunk,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BareLineFeed => "a line that ends without a carriage return",
            Self::TwoLengths => "a length beside a transfer coding",
            Self::NoLength => "a length that is no number",
            Self::Chunk => "a chunk whose end cannot be told",
        })
    }
}

impl Strict {
    /// Looks over what came next. Says what is wrong with it.
    pub(crate) fn look(&mut self, bytes: &[u8]) -> Option<Flaw> {
        let mut from = 0;
        while let Some(rest @ &[byte, ..]) = bytes.get(from..) {
            let step = match &mut self.at {
                At::Beyond => return None,
                At::Body(left) => {
                    let here = (*left).min(rest.len() as u64);
                    *left -= here;
                    if *left == 0 {
                        self.at = At::Start;
                    }
                    // No more than there are bytes.
                    Ok(here as usize)
                }
                At::Chunks(chunks) => {
                    let here = chunks.pass(rest);
                    if chunks.is_over() {
                        self.at = At::Start;
                    }
                    here
                }
                // Empty lines between requests are allowed.
                At::Start if matches!(byte, b'\r' | b'\n') => Ok(1),
                At::Start => {
                    (self.at, self.head) = (At::Head, Head::default());
                    continue;
                }
                At::Head => self.head.pass(byte).map(|next| {
                    self.at = next.unwrap_or(At::Head);
                    1
                }),
            };
            match step {
                Ok(here) => from += here,
                Err(flaw) => {
                    self.at = At::Beyond;
                    return Some(flaw);
                }
            }
        }
        None
    }
}

impl Head {
    /// Takes in a byte, and says what follows when the head is at its end.
    fn pass(&mut self, byte: u8) -> Result<Option<At>, Flaw> {
        if byte != b'\n' {
            self.has_text |= byte != b'\r';
            let is_space = matches!(byte, b' ' | b'\t' | b'\r');
            if self.line.len() < LONGEST && !(self.is_header && is_space) {
                self.line.push(byte.to_ascii_lowercase());
            }
            self.last = byte;
            return Ok(None);
        }
        if self.last != b'\r' {
            return Err(Flaw::BareLineFeed);
        }
        if !self.has_text {
            return self.end().map(Some);
        }
        let line = std::mem::take(&mut self.line);
        // The opening of HTTP/2.
        if !self.is_header && line == b"pri * http/2.0\r" {
            return Ok(Some(At::Beyond));
        }
        if self.is_header {
            self.note(&line)?;
        }
        (self.is_header, self.has_text, self.last) = (true, false, byte);
        Ok(None)
    }

    fn note(&mut self, line: &[u8]) -> Result<(), Flaw> {
        if let Some(value) = line.strip_prefix(b"content-length:") {
            // One that was not seen to its end might be any number.
            let value = std::str::from_utf8(value).ok().filter(|_| line.len() < LONGEST);
            let length = value.and_then(|value| value.parse().ok());
            self.length = Some(length.ok_or(Flaw::NoLength)?);
        }
        self.has_coding |= line.starts_with(b"transfer-encoding:");
        Ok(())
    }

    fn end(&mut self) -> Result<At, Flaw> {
        match (self.length, self.has_coding) {
            (Some(_), true) => Err(Flaw::TwoLengths),
            (None, true) => Ok(At::Chunks(Chunks::default())),
            (Some(length), false) if length > 0 => Ok(At::Body(length)),
            _ => Ok(At::Start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(text: &str) -> Option<Flaw> {
        let whole = Strict::default().look(text.as_bytes());
        let mut strict = Strict::default();
        let piecewise = text.bytes().find_map(|byte| strict.look(&[byte]));
        assert_eq!(whole, piecewise, "{text:?}");
        whole
    }

    #[test]
    fn proper_requests_pass_one_after_the_other() {
        let get = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        let post = "POST / HTTP/1.1\r\ncontent-length: 4\r\nhost: a\r\n\r\n\n\n\n\n";
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n\n\n\r\n0\r\n\r\n";
        assert_eq!(flaw(&format!("{get}{post}\r\n{get}{post}{chunked}{get}")), None);
        assert_eq!(flaw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\n\0\n"), None);
    }

    #[test]
    fn what_could_be_read_otherwise_is_found_also_in_a_later_request() {
        for before in [
            "",
            "GET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\nab",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2;x\r\n\n\n\r\n0\r\na: b\r\n\r\n",
            "GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length:                    5\r\n\r\n\n\n\n\n\n",
            "POST / HTTP/1.1\r\nContent-Length:\t00000000000000000005 \t \r\n\r\n\n\n\n\n\n",
            "PRI *HTTP/2.0 HTTP/1.1\r\n\r\n",
        ] {
            let bare = Some(Flaw::BareLineFeed);
            assert_eq!(flaw(&format!("{before}GET / HTTP/1.1\nhost: a\r\n\r\n")), bare);
            assert_eq!(flaw(&format!("{before}GET / HTTP/1.1\r\nhost: a\nx: y\r\n\r\n")), bare);
            assert_eq!(flaw(&format!("{before}GET / HTTP/1.1\r\nhost: a\r\n\n")), bare);
            let two = "POST / HTTP/1.1\r\nCONTENT-LENGTH: 4\r\nTransfer-Encoding : chunked\r\n\r\n";
            assert_eq!(flaw(&format!("{before}{two}")), Some(Flaw::TwoLengths));
        }
    }

    #[test]
    fn a_length_that_may_be_any_number_is_a_flaw() {
        for length in ["x", "", "4, 5", &"0".repeat(100), &format!("{}5", "0".repeat(70))] {
            let head = format!("POST / HTTP/1.1\r\ncontent-length: {length}\r\n\r\n");
            assert_eq!(flaw(&head), Some(Flaw::NoLength), "{length}");
        }
    }
}
