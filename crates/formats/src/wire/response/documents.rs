//! The JSON documents of a response, one after the other, from bytes that come in chunks of any size.

use memchr::memchr2;

/// The longest response that comes in one document.
const MAX_WHOLE: usize = 8 << 20;

/// The capacity that a buffer keeps between two documents.
const KEPT: usize = 16 << 10;

/// How documents follow each other in a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Told by the first character: an object is a whole response, a list is Google's stream without events, and
    /// everything else is a stream of events.
    #[default]
    Detect,
    /// A stream of server-sent events.
    Events,
    /// JSON: a list of documents, or one.
    Json,
}

/// Splits a response into its documents.
#[derive(Default)]
pub struct Documents {
    framing: Framing,
    max_event: usize,
    form: ResponseForm,
    /// The document that is coming.
    document: BoundedBuffer,
    /// The beginning of a line whose end has not come yet.
    line: BoundedBuffer,
    /// Whether the last line ended with a carriage return, so that a line feed right behind it belongs to it.
    is_behind_return: bool,
    has_skipped: bool,
}

/// What a response turned out to be.
#[derive(Default)]
enum ResponseForm {
    #[default]
    Unknown,
    Events,
    Whole,
    List(ListScan),
}

/// The state of a scan over a list.
#[derive(Default)]
struct ListScan {
    depth: u32,
    is_string: bool,
    is_escaped: bool,
}

/// Bytes up to a limit. Too many empty it, until it is cleared.
#[derive(Default)]
struct BoundedBuffer {
    bytes: Vec<u8>,
    is_too_long: bool,
}

/// Receives the documents of a response.
type TakeDocument<'t> = dyn FnMut(&[u8]) + 't;

impl Documents {
    /// Documents of at most `max_event` bytes if there are several. Longer ones are skipped.
    pub fn new(framing: Framing, max_event: usize) -> Self {
        Self { framing, max_event, ..Self::default() }
    }

    /// Reads more, and hands out the documents that are complete.
    pub fn push(&mut self, mut bytes: &[u8], take: &mut TakeDocument<'_>) {
        if matches!(self.form, ResponseForm::Unknown) {
            // Including the bytes of a byte order mark.
            let is_blank = |byte: &u8| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte);
            let Some(start) = bytes.iter().position(|byte| !is_blank(byte)) else { return };
            bytes = &bytes[start..];
            self.form = match (self.framing, bytes[0]) {
                (Framing::Detect | Framing::Json, b'[') => ResponseForm::List(ListScan::default()),
                (Framing::Detect, b'{') | (Framing::Json, _) => ResponseForm::Whole,
                (Framing::Detect | Framing::Events, _) => ResponseForm::Events,
            };
        }
        match &mut self.form {
            ResponseForm::Unknown => {}
            ResponseForm::Events => self.push_lines(bytes, take),
            ResponseForm::Whole => self.document.add(bytes, MAX_WHOLE),
            ResponseForm::List(scan) => scan.push(bytes, &mut self.document, self.max_event, take),
        }
        self.has_skipped |= self.document.is_too_long;
    }

    /// Hands out what is there at the end.
    pub fn finish(&mut self, take: &mut TakeDocument<'_>) {
        if matches!(self.form, ResponseForm::Events) {
            let line = std::mem::take(&mut self.line.bytes);
            self.take_line(&line, take);
        }
        if matches!(self.form, ResponseForm::Events | ResponseForm::Whole) {
            self.document.hand_out(take);
        }
    }

    /// Whether a document was too long and skipped.
    pub fn has_skipped(&self) -> bool {
        self.has_skipped
    }

    /// Whether this is one document.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.form, ResponseForm::Whole)
    }

    /// Whether this is a list of documents.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.form, ResponseForm::List(_))
    }

    /// Whether this is, or is to be, a stream of events.
    pub(super) fn is_stream(&self) -> bool {
        matches!(self.form, ResponseForm::Events)
            || (self.framing != Framing::Json && matches!(self.form, ResponseForm::Unknown))
    }

    /// Whether a list lacks its end.
    pub(super) fn breaks_off(&self) -> bool {
        matches!(&self.form, ResponseForm::List(scan) if scan.depth > 0)
    }

    fn push_lines(&mut self, mut bytes: &[u8], take: &mut TakeDocument<'_>) {
        if self.is_behind_return && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            self.is_behind_return = false;
        }
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            let (line, ending, rest) = (&bytes[..end], bytes[end], &bytes[end + 1..]);
            if self.line.is_blank() {
                self.take_line(line, take);
            } else {
                self.keep(line);
                let mut line = std::mem::take(&mut self.line);
                if !line.is_too_long {
                    self.take_line(&line.bytes, take);
                }
                line.clear();
                self.line = line;
            }
            bytes = rest;
            if ending == b'\r' {
                self.is_behind_return = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.keep(bytes);
    }

    /// Keeps a part of a line until the rest of it comes. A line that is too long makes its document too long.
    fn keep(&mut self, part: &[u8]) {
        self.line.add(part, self.max_event);
        self.document.is_too_long |= self.line.is_too_long;
    }

    fn take_line(&mut self, line: &[u8], take: &mut TakeDocument<'_>) {
        if line.is_empty() {
            self.has_skipped |= self.document.is_too_long;
            self.document.hand_out(take);
        } else if let Some(data) = line.strip_prefix(b"data:") {
            let data = data.strip_prefix(b" ").unwrap_or(data);
            if !self.document.bytes.is_empty() {
                self.document.bytes.push(b'\n');
            }
            self.document.add(data, self.max_event);
        }
    }
}

impl BoundedBuffer {
    fn add(&mut self, bytes: &[u8], max: usize) {
        if self.is_too_long || self.bytes.len() + bytes.len() > max {
            self.clear();
            self.is_too_long = true;
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn is_blank(&self) -> bool {
        self.bytes.is_empty() && !self.is_too_long
    }

    fn clear(&mut self) {
        self.is_too_long = false;
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
    }

    fn hand_out(&mut self, take: &mut TakeDocument<'_>) {
        if !self.is_too_long && !self.bytes.is_empty() {
            take(&self.bytes);
        }
        self.clear();
    }
}

impl ListScan {
    fn push(&mut self, bytes: &[u8], element: &mut BoundedBuffer, max: usize, take: &mut TakeDocument<'_>) {
        let mut start = self.is_in_element().then_some(0);
        for (at, &byte) in bytes.iter().enumerate() {
            let was_in = self.is_in_element();
            self.step(byte);
            match (was_in, self.is_in_element()) {
                (false, true) => start = Some(at),
                (true, false) => {
                    element.add(&bytes[start.take().unwrap_or(at)..=at], max);
                    element.hand_out(take);
                }
                _ => {}
            }
        }
        if let Some(start) = start {
            element.add(&bytes[start..], max);
        }
    }

    fn is_in_element(&self) -> bool {
        self.depth > 1
    }

    fn step(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.is_string => self.is_escaped = true,
            b'"' => self.is_string = !self.is_string,
            b'[' | b'{' if !self.is_string => self.depth = self.depth.saturating_add(1),
            b']' | b'}' if !self.is_string => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(framing: Framing, chunks: &[&[u8]]) -> Vec<String> {
        let mut found = Vec::new();
        let mut documents = Documents::new(framing, 16);
        for chunk in chunks {
            documents.push(chunk, &mut |document| found.push(String::from_utf8(document.to_vec()).unwrap()));
        }
        found
    }

    #[test]
    fn events_end_with_a_blank_line_of_any_kind() {
        for text in ["data: 1\n\ndata: 2", "data: 1\r\n\r\ndata: 2", "data:1\r\rdata:2"] {
            assert_eq!(documents(Framing::Events, &[text.as_bytes()]), ["1"], "{text:?}");
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(documents(Framing::Events, &bytes), ["1"], "{text:?}");
        }
        assert!(documents(Framing::Events, &[b"data: 1\n", b": a comment\n"]).is_empty());
    }

    #[test]
    fn lines_of_one_event_are_joined_and_other_fields_are_skipped() {
        let text = b"event: x\ndata: 1\nid: 7\ndata:2\n\n: a comment\n\nretry: 3\n\n";
        assert_eq!(documents(Framing::Detect, &[text]), ["1\n2"]);
    }

    #[test]
    fn documents_that_are_too_long_are_skipped() {
        let long = "x".repeat(17);
        let text = format!("data: {long}\n\ndata: 1\n\n");
        assert_eq!(documents(Framing::Events, &[text.as_bytes()]), ["1"]);
        let text = format!("[[\"{long}\"],[1]]");
        assert_eq!(documents(Framing::Json, &[text.as_bytes()]), ["[1]"]);
    }

    #[test]
    fn the_first_character_tells_the_framing() {
        assert_eq!(documents(Framing::Detect, &[b" [", b"{}", b", {\"a\"", b":[]}]"]), ["{}", "{\"a\":[]}"]);
        assert!(documents(Framing::Detect, &[b"{}"]).is_empty(), "it may go on");
        assert_eq!(documents(Framing::Events, &[b"\xef\xbb\xbfdata: 1\n\n"]), ["1"]);
    }
}
