//! The buffer that a log is read through.

use std::io::{self, ErrorKind, Read};

/// How many bytes are read at once: enough that system calls do not matter, few enough for a core's cache.
const CHUNK: usize = 1 << 18;

/// Bytes that were read and not yet consumed.
///
/// The memory is allocated once and reused, so that it is neither cleared nor grown for every chunk.
pub(super) struct ReadBuffer {
    memory: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReadBuffer {
    /// A buffer that holds these bytes.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        Self { start: 0, end: bytes.len(), memory: bytes }
    }

    /// The bytes that were read and not yet consumed.
    pub(super) fn bytes(&self) -> &[u8] {
        self.memory.get(self.start..self.end).unwrap_or_default()
    }

    /// Removes bytes at the beginning.
    pub(super) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Reads more; returns whether there was anything left to read.
    pub(super) fn fill(&mut self, source: &mut impl Read) -> io::Result<bool> {
        self.memory.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        // A line that is longer than the buffer doubles it, so that a huge line is not scanned again and again.
        let wanted = self.end + CHUNK.max(self.end);
        let before = self.end;
        while self.end < wanted {
            // Memory is allocated chunk by chunk, not doubled ahead: cleared memory counts as used.
            let room = wanted.min(self.end + CHUNK);
            if self.memory.len() < room {
                self.memory.resize(room, 0);
            }
            match source.read(self.memory.get_mut(self.end..room).unwrap_or_default()) {
                Ok(0) => break,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.end > before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives one byte at a time and is interrupted before each.
    struct Trickle<'a>(&'a [u8], bool);

    impl Read for Trickle<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::Interrupted.into());
            }
            let room = room.get_mut(..1).unwrap_or_default();
            self.0.read(room)
        }
    }

    #[test]
    fn bytes_that_are_not_consumed_stay() {
        let mut source = Trickle(b"cdef", false);
        let mut buffer = ReadBuffer::of(b"ab".to_vec());
        buffer.consume(1);
        assert!(buffer.fill(&mut source).unwrap());
        assert_eq!(buffer.bytes(), b"bcdef");
        assert!(!buffer.fill(&mut source).unwrap());
        buffer.consume(9);
        assert_eq!(buffer.bytes(), b"");
    }

    #[test]
    fn a_line_beyond_the_buffer_doubles_it() {
        let mut source = io::repeat(b'x');
        let mut buffer = ReadBuffer::of(Vec::new());
        for chunks in [1, 2, 4, 8] {
            assert!(buffer.fill(&mut source).unwrap());
            assert_eq!(buffer.bytes().len(), chunks * CHUNK);
        }
    }
}
