//! What a response says about itself: how many tokens it took, and whether the turn goes on.
//!
//! The response passes by in chunks of any size and is never held up. Little of it is kept: of a stream the event that is
//! coming, of a whole response that response. What is too long for that, or cannot be read, is skipped; then less is
//! known, and nothing else is lost.

use std::io::{self, Write};

use http::HeaderMap;
use secateur::Usage;
use secateur::session::{ProviderReport, TurnState};
use secateur_formats::Wire;
use secateur_formats::response::{Framing, ResponseEvent, ResponseReader, ToolRunner};

use crate::conversation::ResponseReport;
use crate::http::content_decoding::Decoder;

/// The most bytes of a response that are decoded. A compressed response of more is not a model's.
const MAX_DECODED: usize = 256 << 20;

/// The longest event of a stream that is read.
const MAX_EVENT: usize = 1 << 20;

/// Reads the usage of a response that passes by.
pub(super) struct UsageReader {
    decoder: Decoder<Decoded>,
    has_failed: bool,
}

impl UsageReader {
    /// A reader for a response with these headers; none if its encoding is not known.
    pub(super) fn new(wire: Wire, headers: &HeaderMap) -> Option<Self> {
        let reader = ResponseReader::new(wire, Framing::Detect, MAX_EVENT);
        let decoded = Decoded { reader, found: UsageFound::default(), bytes: 0 };
        Some(Self { decoder: Decoder::new(decoded, headers)?, has_failed: false })
    }

    /// Reads more of the response.
    pub(super) fn push(&mut self, data: &[u8]) {
        if !self.has_failed && !self.has_all() {
            self.has_failed = self.decoder.write(data).is_err();
        }
    }

    /// Whether there is nothing more to learn from it.
    pub(super) fn has_all(&self) -> bool {
        self.decoder.get_ref().reader.has_ended()
    }

    /// What was learned.
    pub(super) fn report(mut self) -> ResponseReport {
        let Decoded { reader, found, .. } = self.decoder.get_mut();
        reader.finish(&mut |event| found.take(&event));
        let turn = match found.end {
            _ if found.has_called => TurnState::Open,
            Some(turn) => turn,
            // It broke off.
            None if reader.has_begun() => TurnState::Open,
            None => TurnState::Over,
        };
        ResponseReport { usage: found.usage, turn, provider: found.provider }
    }
}

/// Receives a response that is no longer compressed.
struct Decoded {
    reader: ResponseReader,
    found: UsageFound,
    bytes: usize,
}

impl Write for Decoded {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > MAX_DECODED {
            return Err(io::Error::other("the response is too long to be read"));
        }
        let found = &mut self.found;
        self.reader.push(data, &mut |event| found.take(&event));
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What was found in a response so far.
#[derive(Debug, Default)]
struct UsageFound {
    usage: Option<Usage>,
    provider: Option<ProviderReport>,
    /// Whether the model called a tool that the client runs.
    has_called: bool,
    /// Whether the turn goes on, if the response says why it ends.
    end: Option<TurnState>,
}

impl UsageFound {
    fn take(&mut self, event: &ResponseEvent<'_>) {
        match event {
            ResponseEvent::Usage(usage) => self.usage = Some(*usage),
            ResponseEvent::ProviderEdited(report) => self.provider = Some(*report),
            ResponseEvent::ToolCall(runner) => self.has_called |= *runner == ToolRunner::Client,
            ResponseEvent::Finish { turn, .. } => self.end = Some(*turn),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
