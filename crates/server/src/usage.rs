//! What an answer says about itself: how many tokens it took, and whether the model has more to do.
//!
//! The answer passes by in pieces of any size, and nobody waits for this reader. It keeps little: of a stream the event
//! that is just coming, of a plain answer that answer. What is too long for that, or cannot be understood, is passed
//! over; then less is known, and nothing else is lost.

mod anthropic;
mod chat;
pub(crate) mod decode;
mod gemini;
mod pieces;
mod responses;

use std::io::{self, Write};

use http::HeaderMap;
use secateur::Usage;
use secateur::session::TurnState;
use secateur_formats::Wire;

use crate::conversation::Report;
use decode::Decoder;
use pieces::Pieces;

/// The most of an answer that is decoded. Whoever sends more in a compressed answer has something else in mind.
const MOST_DECODED: usize = 256 << 20;

/// Reads an answer that passes by.
pub(crate) struct Reader {
    decoder: Decoder<Listener>,
    has_failed: bool,
}

impl Reader {
    /// A reader for an answer with these headers; none if it is encoded in a way that nobody knows.
    pub(crate) fn new(wire: Wire, headers: &HeaderMap) -> Option<Self> {
        let listener = Listener { wire, pieces: Pieces::default(), found: Found::default(), heard: 0 };
        Some(Self { decoder: Decoder::new(listener, headers)?, has_failed: false })
    }

    /// More of the answer.
    pub(crate) fn push(&mut self, data: &[u8]) {
        if !self.has_failed && !self.has_all() {
            self.has_failed = self.decoder.write(data).is_err();
        }
    }

    /// Whether there is nothing more to learn from it.
    pub(crate) fn has_all(&self) -> bool {
        self.decoder.get_ref().found.has_all
    }

    /// What was learned.
    pub(crate) fn report(mut self) -> Report {
        let listener = self.decoder.get_mut();
        let (wire, found) = (listener.wire, &mut listener.found);
        listener.pieces.finish(&mut |piece| found.read(wire, piece));
        listener.found.report()
    }
}

/// Takes in an answer that is no longer compressed.
struct Listener {
    wire: Wire,
    pieces: Pieces,
    found: Found,
    heard: usize,
}

impl Write for Listener {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.heard = self.heard.saturating_add(data.len());
        if self.heard > MOST_DECODED {
            return Err(io::Error::other("the answer is too long to be read"));
        }
        let (wire, found) = (self.wire, &mut self.found);
        self.pieces.push(data, &mut |piece| found.read(wire, piece));
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What was found in an answer so far.
#[derive(Debug, Default)]
struct Found {
    usage: Option<Usage>,
    /// Whether the model called a tool that its client is to run.
    has_called: bool,
    /// What the answer says about why it ends.
    end: Option<TurnState>,
    /// Whether anything was understood.
    has_begun: bool,
    /// Whether the answer has said that this was all.
    has_all: bool,
}

impl Found {
    /// Takes in a document: an event of a stream, or a plain answer.
    fn read(&mut self, wire: Wire, piece: &[u8]) {
        let understood = match wire {
            Wire::Anthropic => anthropic::read(piece, self),
            Wire::OpenAiChat => chat::read(piece, self),
            Wire::OpenAiResponses => responses::read(piece, self),
            Wire::Gemini => gemini::read(piece, self),
        };
        self.has_begun |= understood.is_some();
    }

    fn report(&self) -> Report {
        let turn = match self.end {
            _ if self.has_called => TurnState::Open,
            Some(turn) => turn,
            // It broke off.
            None if self.has_begun => TurnState::Open,
            None => TurnState::Over,
        };
        Report { usage: self.usage, turn }
    }
}

#[cfg(test)]
mod tests;
