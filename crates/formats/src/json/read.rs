//! Reading a JSON text in one pass, as fast as its strings can be skipped.
//!
//! A reader of logs needs a few short members of each record and the place of a few long ones; everything else only has to
//! be skipped. This deserializer is made for that. What is not requested is skipped without recursion and without decoding
//! strings; a [`Raw`](super::Raw) value is skipped in the same way and returned as its text. Strings are decoded only where
//! a type needs a string, and half a surrogate pair or a number beyond the range of floats is not an error.
//!
//! ```
//! use secateur_formats::json::{Raw, read};
//! use std::collections::BTreeMap;
//!
//! let members: BTreeMap<String, Raw> = read(r#"{"half": "\ud83d", "list": [1, {}]}"#)?;
//! assert_eq!(members["half"].text(), r#""\ud83d""#);
//! assert_eq!(members["list"].text(), "[1, {}]");
//! assert_eq!(read::<Raw>("[1, 2").unwrap_err().to_string(), "the text breaks off");
//! # Ok::<(), secateur_formats::json::SyntaxError>(())
//! ```
//!
//! The grammar is that of [`tokens`](super::tokens): brackets, commas, words and numbers must be in their places, the
//! inside of strings is not checked. Types may nest as deep as [`DEPTH`]. What is skipped may nest to any depth, unless
//! [`Reader::passing_at_most`] limits it.

use serde::Deserialize;

use super::lexeme::{is_space, literal_end, number_end};
use super::walk::OpenBracket;

mod deserializer;
mod passing;

/// How deep the values may nest that are read into types of their own.
pub const DEPTH: usize = 128;

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxError {
    /// The text ends before the value does.
    #[error("the text breaks off")]
    BreaksOff {
        /// The length of the text.
        at: usize,
    },
    /// The grammar expects something else.
    #[error("expected {expected} at byte {at}")]
    Expected {
        /// What the grammar expects.
        expected: &'static str,
        /// Where, counted from zero.
        at: usize,
    },
    /// Values are nested too deep.
    #[error("nested too deeply: more than {most} levels at byte {at}")]
    TooDeep {
        /// How deep they may be nested.
        most: usize,
        /// The offset of the first bracket too many.
        at: usize,
    },
    /// The text is JSON, but not what its type expects.
    #[error("{reason}")]
    Refused {
        /// Why not.
        reason: Box<str>,
    },
}

impl SyntaxError {
    /// The offset of the error in the text, in bytes, if it is known.
    pub fn offset(&self) -> Option<usize> {
        match self {
            Self::BreaksOff { at } | Self::Expected { at, .. } | Self::TooDeep { at, .. } => Some(*at),
            Self::Refused { .. } => None,
        }
    }

    /// The same error in a text that begins this many bytes behind another one.
    #[must_use]
    pub fn behind(mut self, bytes: usize) -> Self {
        match &mut self {
            Self::BreaksOff { at } | Self::Expected { at, .. } | Self::TooDeep { at, .. } => *at += bytes,
            Self::Refused { .. } => {}
        }
        self
    }
}

/// Reads a text that is one value.
pub fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, SyntaxError> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// A place in a text from which values are read: a deserializer.
#[derive(Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The depth of the current value.
    depth: usize,
    /// How deep a skipped value may nest.
    most: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0, most: usize::MAX }
    }

    /// The same, but skipped values may not nest deeper than this either.
    ///
    /// ```
    /// use secateur_formats::json::Reader;
    ///
    /// assert!(Reader::new("[[[]]]").passing_at_most(3).pass_over().is_ok());
    /// let error = Reader::new("[[[]]]").passing_at_most(2).pass_over().unwrap_err();
    /// assert_eq!(error.to_string(), "nested too deeply: more than 2 levels at byte 2");
    /// ```
    #[must_use]
    pub fn passing_at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Makes sure that nothing but whitespace follows.
    pub fn end(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Ok(_) => Err(self.expected("nothing more")),
            Err(_) => Ok(()),
        }
    }

    /// Where in the text the reader is.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Goes on from another place in the text, which must lie between two characters of it.
    pub fn seek(&mut self, at: usize) {
        self.at = at;
    }

    /// Skips the current value and returns its text.
    ///
    /// ```
    /// use secateur_formats::json::Reader;
    ///
    /// let mut reader = Reader::new(r#"[ {"a": "]"}, 2]"#);
    /// reader.seek(1);
    /// assert_eq!(reader.pass_over()?, r#"{"a": "]"}"#);
    /// assert_eq!((reader.offset(), reader.peek()?), (12, b','));
    /// # Ok::<(), secateur_formats::json::SyntaxError>(())
    /// ```
    #[inline]
    pub fn pass_over(&mut self) -> Result<&'a str, SyntaxError> {
        self.peek()?;
        let start = self.at;
        self.pass()?;
        Ok(self.since(start))
    }

    /// Passes over a mark of punctuation; another byte there is an error that says what was `expected`.
    #[inline]
    pub fn pass_mark(&mut self, mark: u8, expected: &'static str) -> Result<(), SyntaxError> {
        if self.peek()? != mark {
            return Err(self.expected(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Skips whitespace and looks at the byte after it.
    #[inline]
    pub fn peek(&mut self) -> Result<u8, SyntaxError> {
        match self.text.as_bytes().get(self.at) {
            Some(&byte) if byte > b' ' => Ok(byte),
            _ => self.peek_far(),
        }
    }

    #[cold]
    fn peek_far(&mut self) -> Result<u8, SyntaxError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        match rest.iter().enumerate().find(|(_, byte)| !is_space(**byte)) {
            Some((skipped, &byte)) => {
                self.at += skipped;
                Ok(byte)
            }
            None => Err(self.breaks_off()),
        }
    }

    /// The text between an offset that was read and the current place.
    #[inline]
    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    #[cold]
    fn expected(&self, expected: &'static str) -> SyntaxError {
        SyntaxError::Expected { expected, at: self.at }
    }

    #[cold]
    fn breaks_off(&self) -> SyntaxError {
        SyntaxError::BreaksOff { at: self.text.len() }
    }
}

#[cfg(test)]
mod tests;
