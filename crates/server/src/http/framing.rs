//! Finds requests whose end two programs could see in different places.
//!
//! If a gateway in front of this proxy and the proxy disagree about where a request ends, a client can smuggle a second
//! request past the gateway. The HTTP parser is lenient in two ways that matter: it accepts a bare line feed as the end
//! of a line, and a length beside a transfer coding. So heads are checked as they arrive, and a connection with such a
//! flaw is refused whatever the parser makes of it. Bodies are followed to their ends, because the next head begins
//! there.

mod chunks;

use std::fmt;

use chunks::Chunks;

/// Only this much of a line is compared.
const LONGEST: usize = 64;

/// Checks what a client sends.
#[derive(Default)]
pub(crate) struct FramingCheck {
    at: FramingState,
    head: HeadScan,
}

/// The position in what a client sends.
#[derive(Default)]
enum FramingState {
    /// Before a request.
    #[default]
    Start,
    Head,
    /// In a body with this many bytes left.
    Body(u64),
    Chunks(Chunks),
    /// The protocol is not HTTP/1, or a flaw was found.
    Beyond,
}

/// The head so far.
#[derive(Default)]
struct HeadScan {
    /// The beginning of the current line, in lower case. Header lines without their spaces.
    line: Vec<u8>,
    /// Whether the current line is not empty.
    has_text: bool,
    is_header: bool,
    last: u8,
    length: Option<u64>,
    has_coding: bool,
}

/// What makes a request ambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramingFlaw {
    BareLineFeed,
    TwoLengths,
    NoLength,
    Chunk,
}

impl fmt::Display for FramingFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BareLineFeed => "a line ends without a carriage return",
            Self::TwoLengths => "it has a length and a transfer coding",
            Self::NoLength => "its length is not a number",
            Self::Chunk => "a chunk is malformed",
        })
    }
}

impl FramingCheck {
    /// Checks the next bytes. Returns the flaw in them, if there is one, and how many bytes before it are sound.
    pub(crate) fn check(&mut self, bytes: &[u8]) -> Option<(FramingFlaw, usize)> {
        let mut from = 0;
        while let Some(rest @ &[byte, ..]) = bytes.get(from..) {
            let step = match &mut self.at {
                FramingState::Beyond => return None,
                FramingState::Body(left) => {
                    let here = (*left).min(rest.len() as u64);
                    *left -= here;
                    if *left == 0 {
                        self.at = FramingState::Start;
                    }
                    // FramingState most the length of a slice.
                    Ok(here as usize)
                }
                FramingState::Chunks(chunks) => {
                    let here = chunks.pass(rest);
                    if chunks.is_over() {
                        self.at = FramingState::Start;
                    }
                    here
                }
                // Empty lines between requests are allowed.
                FramingState::Start if matches!(byte, b'\r' | b'\n') => Ok(1),
                FramingState::Start => {
                    (self.at, self.head) = (FramingState::Head, HeadScan::default());
                    continue;
                }
                FramingState::Head => self.head.pass(byte).map(|next| {
                    self.at = next.unwrap_or(FramingState::Head);
                    1
                }),
            };
            match step {
                Ok(here) => from += here,
                Err(flaw) => {
                    self.at = FramingState::Beyond;
                    return Some((flaw, from));
                }
            }
        }
        None
    }
}

impl HeadScan {
    /// Takes in a byte. FramingState the end of the head, returns what follows it.
    fn pass(&mut self, byte: u8) -> Result<Option<FramingState>, FramingFlaw> {
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
            return Err(FramingFlaw::BareLineFeed);
        }
        if !self.has_text {
            return self.end().map(Some);
        }
        let line = std::mem::take(&mut self.line);
        // The preface of HTTP/2.
        if !self.is_header && line == b"pri * http/2.0\r" {
            return Ok(Some(FramingState::Beyond));
        }
        if self.is_header {
            self.note(&line)?;
        }
        (self.is_header, self.has_text, self.last) = (true, false, byte);
        Ok(None)
    }

    fn note(&mut self, line: &[u8]) -> Result<(), FramingFlaw> {
        if let Some(value) = line.strip_prefix(b"content-length:") {
            // A value that was cut off could be any number.
            let value = std::str::from_utf8(value).ok().filter(|_| line.len() < LONGEST);
            let length = value.and_then(|value| value.parse().ok());
            self.length = Some(length.ok_or(FramingFlaw::NoLength)?);
        }
        self.has_coding |= line.starts_with(b"transfer-encoding:");
        Ok(())
    }

    fn end(&mut self) -> Result<FramingState, FramingFlaw> {
        match (self.length, self.has_coding) {
            (Some(_), true) => Err(FramingFlaw::TwoLengths),
            (None, true) => Ok(FramingState::Chunks(Chunks::default())),
            (Some(length), false) if length > 0 => Ok(FramingState::Body(length)),
            _ => Ok(FramingState::Start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaw(text: &str) -> Option<FramingFlaw> {
        let whole = FramingCheck::default().check(text.as_bytes()).map(|(flaw, _)| flaw);
        let mut check = FramingCheck::default();
        let piecewise = text.bytes().find_map(|byte| check.check(&[byte])).map(|(flaw, _)| flaw);
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
            let bare = Some(FramingFlaw::BareLineFeed);
            assert_eq!(flaw(&format!("{before}GET / HTTP/1.1\nhost: a\r\n\r\n")), bare);
            assert_eq!(flaw(&format!("{before}GET / HTTP/1.1\r\nhost: a\nx: y\r\n\r\n")), bare);
            assert_eq!(flaw(&format!("{before}GET / HTTP/1.1\r\nhost: a\r\n\n")), bare);
            let two = "POST / HTTP/1.1\r\nCONTENT-LENGTH: 4\r\nTransfer-Encoding : chunked\r\n\r\n";
            assert_eq!(flaw(&format!("{before}{two}")), Some(FramingFlaw::TwoLengths));
        }
    }

    #[test]
    fn a_length_that_may_be_any_number_is_a_flaw() {
        for length in ["x", "", "4, 5", &"0".repeat(100), &format!("{}5", "0".repeat(70))] {
            let head = format!("POST / HTTP/1.1\r\ncontent-length: {length}\r\n\r\n");
            assert_eq!(flaw(&head), Some(FramingFlaw::NoLength), "{length}");
        }
    }
}
