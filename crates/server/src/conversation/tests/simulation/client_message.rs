//! The messages of simulated clients.
//!
//! Every text of every message has a number of its own, which is repeated all over it. So every piece of a text says where it
//! is from.

use std::sync::Arc;

use secateur_formats::HandleKey;
use secateur_testing::SeededRandom;
use secateur_testing::simulated_store::HANDLE_KEY;

/// A message as a client sends it, and what is known about it.
#[derive(Debug)]
pub(super) struct ClientMessage {
    pub raw: String,
    /// The numbers of its texts.
    pub marks: Vec<u32>,
    /// The contents of its parts, each of which may be cut and recalled, with their letters.
    pub parts: Vec<(String, String)>,
    /// The ids of its tool calls.
    pub calls: Vec<String>,
    /// The ids of the calls whose results it has.
    pub results: Vec<String>,
}

/// Numbers for texts and calls, each used once in a schedule.
#[derive(Default)]
pub(super) struct MarkNumbers {
    next: u32,
}

impl MarkNumbers {
    pub(super) fn draw(&mut self) -> u32 {
        self.next += 1;
        self.next
    }
}

/// A mark as it stands in texts.
pub(super) fn mark_text(mark: u32) -> String {
    format!("mk{mark:05}km")
}

/// The numbers of all texts of which a piece is in a body.
pub(super) fn marks_in(body: &[u8]) -> impl Iterator<Item = u32> + '_ {
    memchr::memmem::find_iter(body, b"mk").filter_map(|at| {
        let text = body.get(at + 2..at + 9)?;
        let digits = std::str::from_utf8(text.strip_suffix(b"km")?).ok()?;
        digits.parse().ok()
    })
}

/// The letters of a text, with which its handle begins.
pub(super) fn letters_of(text: &str) -> String {
    HandleKey::new(HANDLE_KEY).letters(text)
}

const WORDS: [&str; 12] = [
    "error in line 12",
    "fn main",
    "the pump",
    "src/lib.rs",
    "ok",
    "warning: unused",
    "caf\u{e9}",
    "a\tb",
    "says \"no\"",
    "done",
    "x = 1;",
    "path\\to",
];

/// A text of about this many bytes.
fn text(random: &mut SeededRandom, mark: u32, bytes: u64) -> String {
    let mark = mark_text(mark);
    let mut text = mark.clone();
    while (text.len() as u64) < bytes {
        let word = random.pick(&WORDS);
        text.push(if random.happens(15) { '\n' } else { ' ' });
        text.push_str(word);
        if random.happens(20) {
            text.push(' ');
            text.push_str(&mark);
        }
    }
    text
}

/// A text as JSON, in one of several spellings.
pub(super) fn quoted(random: &mut SeededRandom, text: &str) -> String {
    let escapes = random.happens(30);
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for sign in text.chars() {
        match sign {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\t' => json.push_str("\\t"),
            '\u{e9}' if escapes => json.push_str("\\u00e9"),
            '/' if escapes => json.push_str("\\/"),
            sign => json.push(sign),
        }
    }
    json.push('"');
    json
}

/// Puts a message together.
pub(super) struct MessageDraft<'d> {
    pub random: &'d mut SeededRandom,
    pub numbers: &'d mut MarkNumbers,
    pub message: ClientMessage,
}

impl<'d> MessageDraft<'d> {
    pub(super) fn new(random: &'d mut SeededRandom, numbers: &'d mut MarkNumbers) -> Self {
        let message = ClientMessage {
            raw: String::new(),
            marks: Vec::new(),
            parts: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
        };
        Self { random, numbers, message }
    }

    /// A text of its own, as JSON.
    pub(super) fn text(&mut self, bytes: u64) -> String {
        let mark = self.numbers.draw();
        let text = text(self.random, mark, bytes);
        self.message.marks.push(mark);
        let json = quoted(self.random, &text);
        self.add_part(text);
        json
    }

    pub(super) fn add_part(&mut self, text: String) {
        let letters = letters_of(&text);
        self.message.parts.push((text, letters));
    }

    pub(super) fn finish(self, raw: String) -> Arc<ClientMessage> {
        Arc::new(ClientMessage { raw, ..self.message })
    }
}
