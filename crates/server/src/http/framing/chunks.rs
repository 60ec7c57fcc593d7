//! Follows a chunked body to its end, where the next head begins.
//!
//! Only what that needs is checked. Whatever the HTTP parser refuses by itself may be accepted here, because the parser
//! ends the connection.

use super::FramingFlaw;

/// The position in a chunked body.
#[derive(Default)]
pub(super) struct Chunks {
    at: ChunkState,
    /// The size of the current chunk, as far as it was read; then how much of the chunk is left.
    size: u64,
    /// Whether the current line is not empty.
    has_text: bool,
    last: u8,
}

/// What the next byte belongs to.
#[derive(Default, PartialEq, Eq)]
enum ChunkState {
    /// In the digits of a size.
    #[default]
    Size,
    /// Behind them, where extensions may stand.
    Extension,
    Data,
    /// In the line end behind the data.
    DataEnd,
    /// Behind the last chunk.
    Trailers,
    Over,
}

impl Chunks {
    /// Takes in the next bytes, and returns how many of them belong to the body.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Result<usize, FramingFlaw> {
        let mut from = 0;
        while let Some(&byte) = bytes.get(from) {
            match self.at {
                ChunkState::Over => break,
                ChunkState::Data => {
                    let here = self.size.min((bytes.len() - from) as u64);
                    self.size -= here;
                    // ChunkState most the length of a slice.
                    from += here as usize;
                    if self.size == 0 {
                        self.enter(ChunkState::DataEnd);
                    }
                    continue;
                }
                ChunkState::Size => self.digit(byte)?,
                ChunkState::Extension | ChunkState::DataEnd | ChunkState::Trailers => self.text(byte)?,
            }
            from += 1;
        }
        Ok(from)
    }

    pub(super) fn is_over(&self) -> bool {
        self.at == ChunkState::Over
    }

    fn enter(&mut self, at: ChunkState) {
        (self.at, self.has_text, self.last) = (at, false, 0);
    }

    fn digit(&mut self, byte: u8) -> Result<(), FramingFlaw> {
        match (byte as char).to_digit(16) {
            Some(digit) => {
                let size = self.size.checked_mul(16).and_then(|size| size.checked_add(digit.into()));
                self.size = size.ok_or(FramingFlaw::Chunk)?;
                self.has_text = true;
                Ok(())
            }
            None if self.has_text && matches!(byte, b'\r' | b';' | b' ' | b'\t') => {
                self.enter(ChunkState::Extension);
                self.text(byte)
            }
            None => Err(FramingFlaw::Chunk),
        }
    }

    /// Takes in a byte of a line of which only the end matters.
    fn text(&mut self, byte: u8) -> Result<(), FramingFlaw> {
        let is_end = self.last == b'\r';
        match byte {
            b'\n' if is_end => {
                match self.at {
                    ChunkState::Extension if self.size > 0 => self.enter(ChunkState::Data),
                    ChunkState::Extension => self.enter(ChunkState::Trailers),
                    ChunkState::Trailers if self.has_text => self.enter(ChunkState::Trailers),
                    ChunkState::Trailers => self.enter(ChunkState::Over),
                    _ => self.enter(ChunkState::Size),
                }
                return Ok(());
            }
            b'\r' if !is_end => {}
            // A bare line feed or carriage return.
            b'\n' => return Err(FramingFlaw::Chunk),
            _ if is_end || self.at == ChunkState::DataEnd => return Err(FramingFlaw::Chunk),
            _ => self.has_text = true,
        }
        self.last = byte;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long a body is, read at once and byte by byte.
    fn length(text: &str) -> Result<usize, FramingFlaw> {
        let mut chunks = Chunks::default();
        let whole = chunks.pass(text.as_bytes());
        assert!(chunks.is_over() || whole.is_err() || whole == Ok(text.len()));
        let mut chunks = Chunks::default();
        let pieces = text.bytes().map(|byte| chunks.pass(&[byte])).sum();
        assert_eq!(whole, pieces, "{text:?}");
        whole
    }

    #[test]
    fn a_body_ends_behind_its_trailers() {
        let bodies = [
            "0\r\n\r\n",
            "5\r\na\r\nb\n\r\n0\r\n\r\n",
            "1;name=\"v\"\r\na\r\n00;x\r\n\r\n",
            "A \t\r\n0123456789\r\n000\r\nx: y\r\nz: \r\n\r\n",
        ];
        for body in bodies {
            assert_eq!(length(&format!("{body}GET / HTTP/1.1\nhost: a")), Ok(body.len()), "{body:?}");
        }
    }

    #[test]
    fn what_could_end_elsewhere_for_others_is_found() {
        let bodies = [
            "\r\n",
            "x\r\n",
            "-1\r\n",
            "1\na\r\n0\r\n\r\n",
            "1;x\na\r\n0\r\n\r\n",
            "1;\rx\r\na\r\n",
            "1\r\nab\r\n",
            "1\r\na\n0\r\n\r\n",
            "0\r\n\n",
            "0\r\nx: y\n\r\n",
            "11111111111111111\r\n",
        ];
        for body in bodies {
            assert_eq!(length(body), Err(FramingFlaw::Chunk), "{body:?}");
        }
    }
}
