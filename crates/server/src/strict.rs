//! Heads of requests that two programs could read differently.
//!
//! If a gateway in front of this proxy and the proxy itself do not agree where a request ends, somebody can smuggle a
//! second one past the gateway. The parser behind this is lenient in two ways that matter: it takes a line feed alone
//! for the end of a line, and a length beside a transfer coding. So heads are looked over as they come in, and a
//! connection with such a flaw in one is refused whatever the parser makes of it.

use std::fmt;

/// Names of headers are compared as far as this.
const LONGEST: usize = 32;

/// Looks over what a client sends.
#[derive(Default)]
pub(crate) struct Strict {
    at: At,
    /// The line at hand, as far as it is of interest, in lower case.
    line: Vec<u8>,
    last: u8,
    is_first_line: bool,
    length: Option<u64>,
    has_coding: bool,
    is_upgrade: bool,
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
    /// Where heads cannot be told from bodies any more, or something else than HTTP/1 is spoken.
    Beyond,
}

/// What is wrong with a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    BareLineFeed,
    TwoLengths,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BareLineFeed => "a line that ends without a carriage return",
            Self::TwoLengths => "a length beside a transfer coding",
        })
    }
}

impl Strict {
    /// Looks over what came next. Says what is wrong with it.
    pub(crate) fn look(&mut self, bytes: &[u8]) -> Option<Flaw> {
        let mut from = 0;
        while let Some(&byte) = bytes.get(from) {
            match &mut self.at {
                At::Beyond => return None,
                At::Body(left) => {
                    let here = (*left).min((bytes.len() - from) as u64);
                    *left -= here;
                    // No more than there are bytes.
                    from += here as usize;
                    if *left == 0 {
                        self.at = At::Start;
                    }
                    continue;
                }
                // Empty lines between requests are allowed.
                At::Start if matches!(byte, b'\r' | b'\n') => {}
                At::Start => {
                    *self = Self { at: At::Head, is_first_line: true, ..Self::default() };
                    self.pass(byte);
                }
                At::Head => {
                    if let Some(flaw) = self.pass(byte) {
                        self.at = At::Beyond;
                        return Some(flaw);
                    }
                }
            }
            from += 1;
        }
        None
    }

    /// Takes in a byte of a head.
    fn pass(&mut self, byte: u8) -> Option<Flaw> {
        if byte != b'\n' {
            if self.line.len() < LONGEST {
                self.line.push(byte.to_ascii_lowercase());
            }
            self.last = byte;
            return None;
        }
        if self.last != b'\r' {
            return Some(Flaw::BareLineFeed);
        }
        let mut line = std::mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.is_empty() {
            return self.end();
        }
        self.note(&line);
        (self.is_first_line, self.last) = (false, byte);
        None
    }

    fn note(&mut self, line: &[u8]) {
        if self.is_first_line {
            // The opening of HTTP/2.
            if line.starts_with(b"pri * http/2") {
                self.at = At::Beyond;
            }
            return;
        }
        let Some((name, value)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once(':')) else {
            return;
        };
        match name.trim_end() {
            // What is no number is refused by the parser.
            "content-length" => self.length = Some(value.trim().parse().unwrap_or(u64::MAX)),
            "transfer-encoding" => self.has_coding = true,
            "upgrade" => self.is_upgrade = true,
            _ => {}
        }
    }

    fn end(&mut self) -> Option<Flaw> {
        if self.has_coding && self.length.is_some() {
            return Some(Flaw::TwoLengths);
        }
        self.at = match self.length {
            _ if self.has_coding || self.is_upgrade => At::Beyond,
            Some(length) if length > 0 => At::Body(length),
            _ => At::Start,
        };
        None
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
        for before in ["", "GET / HTTP/1.1\r\n\r\n", "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\nab"] {
            let bare = Some(Flaw::BareLineFeed);
            assert_eq!(flaw(&format!("{before}GET / HTTP/1.1\nhost: a\r\n\r\n")), bare);
            assert_eq!(flaw(&format!("{before}GET / HTTP/1.1\r\nhost: a\nx: y\r\n\r\n")), bare);
            assert_eq!(flaw(&format!("{before}GET / HTTP/1.1\r\nhost: a\r\n\n")), bare);
            let two = "POST / HTTP/1.1\r\nCONTENT-LENGTH: 4\r\nTransfer-Encoding : chunked\r\n\r\n";
            assert_eq!(flaw(&format!("{before}{two}")), Some(Flaw::TwoLengths));
        }
    }
}
