//! The documents of an answer, one after the other, from a text that comes in pieces of any size.
//!
//! The text shows its form by its first character: an object is a plain answer, a list is Google's stream without
//! events, and everything else is a stream of events.

use memchr::memchr;

/// The longest event, or element of a list.
const MOST_EVENT: usize = 1 << 20;

/// The longest plain answer.
const MOST_WHOLE: usize = 8 << 20;

/// What is kept of a buffer between two documents.
const KEPT: usize = 16 << 10;

/// Cuts a text into its documents.
#[derive(Default)]
pub(super) struct Pieces {
    form: Form,
    /// The document that is just coming.
    piece: Vec<u8>,
    /// Whether it has become too long and is passed over.
    is_long: bool,
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    /// Whether that line has become too long, and its event with it.
    is_long_line: bool,
}

#[derive(Default)]
enum Form {
    #[default]
    Unknown,
    Events,
    Whole,
    List(Place),
}

/// Where in a list we are.
#[derive(Default)]
struct Place {
    depth: u32,
    is_string: bool,
    is_escaped: bool,
}

type Take<'t> = dyn FnMut(&[u8]) + 't;

impl Pieces {
    /// Takes in more of the text, and hands out the documents that are complete with it.
    pub(super) fn push(&mut self, mut text: &[u8], take: &mut Take<'_>) {
        if matches!(self.form, Form::Unknown) {
            // A byte order mark is no more than that.
            let is_blank = |byte: &u8| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte);
            let Some(start) = text.iter().position(|byte| !is_blank(byte)) else { return };
            self.form = match text[start] {
                b'{' => Form::Whole,
                b'[' => Form::List(Place::default()),
                _ => Form::Events,
            };
            text = &text[start..];
        }
        match &mut self.form {
            Form::Unknown => {}
            Form::Events => self.lines(text, take),
            Form::Whole => add(&mut self.piece, &mut self.is_long, text, MOST_WHOLE),
            Form::List(place) => {
                let mut start = place.is_in_element().then_some(0);
                for (at, &byte) in text.iter().enumerate() {
                    let was_in = place.is_in_element();
                    place.step(byte);
                    match (was_in, place.is_in_element()) {
                        (false, true) => start = Some(at),
                        (true, false) => {
                            let element = &text[start.take().unwrap_or(at)..=at];
                            add(&mut self.piece, &mut self.is_long, element, MOST_EVENT);
                            hand_out(&mut self.piece, &mut self.is_long, take);
                        }
                        _ => {}
                    }
                }
                if let Some(start) = start {
                    add(&mut self.piece, &mut self.is_long, &text[start..], MOST_EVENT);
                }
            }
        }
    }

    /// Hands out what is there at the end of the text.
    pub(super) fn finish(&mut self, take: &mut Take<'_>) {
        if matches!(self.form, Form::Events) {
            let line = std::mem::take(&mut self.line);
            self.take_line(&line, take);
        }
        if matches!(self.form, Form::Events | Form::Whole) {
            hand_out(&mut self.piece, &mut self.is_long, take);
        }
    }

    fn lines(&mut self, mut text: &[u8], take: &mut Take<'_>) {
        while let Some(end) = memchr(b'\n', text) {
            let (rest_of_line, rest) = (&text[..end], &text[end + 1..]);
            if self.line.is_empty() && !self.is_long_line {
                self.take_line(rest_of_line, take);
            } else {
                self.keep(rest_of_line);
                let mut line = std::mem::take(&mut self.line);
                if !std::mem::take(&mut self.is_long_line) {
                    self.take_line(&line, take);
                }
                line.clear();
                line.shrink_to(KEPT);
                self.line = line;
            }
            text = rest;
        }
        self.keep(text);
    }

    /// Keeps a part of a line until the rest of it comes.
    fn keep(&mut self, part: &[u8]) {
        add(&mut self.line, &mut self.is_long_line, part, MOST_EVENT);
        self.is_long |= self.is_long_line;
    }

    fn take_line(&mut self, line: &[u8], take: &mut Take<'_>) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            hand_out(&mut self.piece, &mut self.is_long, take);
        } else if let Some(data) = line.strip_prefix(b"data:") {
            let data = data.strip_prefix(b" ").unwrap_or(data);
            if !self.piece.is_empty() {
                self.piece.push(b'\n');
            }
            add(&mut self.piece, &mut self.is_long, data, MOST_EVENT);
        }
    }
}

/// Adds to a buffer, unless that becomes too long. Then it is emptied, and stays so.
fn add(buffer: &mut Vec<u8>, is_long: &mut bool, bytes: &[u8], most: usize) {
    if *is_long || buffer.len() + bytes.len() > most {
        *is_long = true;
        buffer.clear();
        buffer.shrink_to(KEPT);
    } else {
        buffer.extend_from_slice(bytes);
    }
}

fn hand_out(piece: &mut Vec<u8>, is_long: &mut bool, take: &mut Take<'_>) {
    if !*is_long && !piece.is_empty() {
        take(piece);
    }
    *is_long = false;
    piece.clear();
    piece.shrink_to(KEPT);
}

impl Place {
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
