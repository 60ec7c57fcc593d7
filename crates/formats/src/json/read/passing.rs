//! Skipping values: those that are not requested, and those that are kept raw.

use super::{OpenBracket, Reader, SyntaxError, literal_end, number_end};

impl Reader<'_> {
    /// Skips the current value.
    #[inline]
    pub(super) fn pass(&mut self) -> Result<(), SyntaxError> {
        match self.peek()? {
            b'"' => self.pass_literal(),
            b'{' | b'[' => self.pass_container(),
            first => self.pass_word(first),
        }
    }

    /// Skips the literal that begins here.
    #[inline]
    pub(super) fn pass_literal(&mut self) -> Result<(), SyntaxError> {
        match literal_end(self.text.as_bytes(), self.at) {
            Some(end) => {
                self.at = end;
                Ok(())
            }
            None => Err(self.breaks_off()),
        }
    }

    /// Skips a number, `true`, `false` or `null`.
    #[inline]
    pub(super) fn pass_word(&mut self, first: u8) -> Result<(), SyntaxError> {
        let bytes = self.text.as_bytes();
        let (word, expected): (&[u8], _) = match first {
            b't' => (b"true", "`true`"),
            b'f' => (b"false", "`false`"),
            b'n' => (b"null", "`null`"),
            b'-' | b'0'..=b'9' => {
                let Some(end) = number_end(bytes, self.at) else { return Err(self.half_a_number()) };
                self.at = end;
                return Ok(());
            }
            _ => return Err(self.expected("a value")),
        };
        let rest = bytes.get(self.at..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            Ok(())
        } else if word.starts_with(rest) {
            Err(self.breaks_off())
        } else {
            Err(self.expected(expected))
        }
    }

    #[cold]
    fn half_a_number(&self) -> SyntaxError {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        if rest.iter().all(is_number) { self.breaks_off() } else { self.expected("a number") }
    }

    /// Skips a member's name and its colon.
    #[inline]
    pub(super) fn pass_name(&mut self) -> Result<(), SyntaxError> {
        if self.peek()? != b'"' {
            return Err(self.expected("the name of a member"));
        }
        self.pass_literal()?;
        self.pass_mark(b':', "':'")
    }

    /// Skips an object or an array. Open brackets are kept in bits and not on the stack.
    fn pass_container(&mut self) -> Result<(), SyntaxError> {
        let mut open = Brackets::default();
        loop {
            // A value begins here.
            let byte = self.peek()?;
            if matches!(byte, b'{' | b'[') && open.depth >= self.most {
                return Err(SyntaxError::TooDeep { most: self.most, at: self.at });
            }
            match byte {
                b'"' => self.pass_literal()?,
                b'{' => {
                    open.push(OpenBracket::Object);
                    self.at += 1;
                    if self.peek()? != b'}' {
                        self.pass_name()?;
                        continue;
                    }
                }
                b'[' => {
                    open.push(OpenBracket::Array);
                    self.at += 1;
                    if self.peek()? != b']' {
                        continue;
                    }
                }
                first => self.pass_word(first)?,
            }
            // A value ended here, or a bracket was found empty.
            loop {
                match (open.newest(), self.peek()?) {
                    (OpenBracket::Object, b',') => {
                        self.at += 1;
                        self.pass_name()?;
                        break;
                    }
                    (OpenBracket::Array, b',') => {
                        self.at += 1;
                        break;
                    }
                    (OpenBracket::Object, b'}') | (OpenBracket::Array, b']') => {
                        self.at += 1;
                        open.pop();
                        if open.is_empty() {
                            return Ok(());
                        }
                    }
                    (OpenBracket::Object, _) => return Err(self.expected("',' or '}'")),
                    (OpenBracket::Array, _) => return Err(self.expected("',' or ']'")),
                }
            }
        }
    }
}

/// The open brackets, one bit each: the 64 newest in a word, the others on the heap.
#[derive(Default)]
struct Brackets {
    newest: u64,
    depth: usize,
    older: Vec<u64>,
}

impl Brackets {
    #[inline]
    fn push(&mut self, bracket: OpenBracket) {
        if self.depth != 0 && self.depth.is_multiple_of(64) {
            self.older.push(self.newest);
        }
        self.newest = self.newest << 1 | u64::from(bracket == OpenBracket::Object);
        self.depth += 1;
    }

    #[inline]
    fn pop(&mut self) {
        self.newest >>= 1;
        self.depth = self.depth.saturating_sub(1);
        if self.depth != 0 && self.depth.is_multiple_of(64) {
            self.newest = self.older.pop().unwrap_or_default();
        }
    }

    #[inline]
    fn newest(&self) -> OpenBracket {
        if self.newest & 1 == 1 { OpenBracket::Object } else { OpenBracket::Array }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.depth == 0
    }
}
