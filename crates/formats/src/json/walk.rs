//! A JSON text as a flat row of tokens, each at its place.
//!
//! Some questions are about the text of a value and not about its data: where the last member of this
//! object ends, what a printer would make of that array. They need neither a tree nor a parser that
//! validates what a parser validated before, only the tokens in order and their offsets. The walk keeps one
//! byte per open bracket on the heap and nothing on the stack, so a million brackets are as harmless as one.
//!
//! ```
//! use secateur_formats::json::walk::{Token, tokens};
//!
//! let found: Vec<_> = tokens(r#"{"a": [1]}"#).map(|(at, token)| (at, token.raw())).collect();
//! assert_eq!(found, [(0, "{"), (1, "\"a\""), (6, "["), (7, "1"), (8, "]"), (9, "}")]);
//! ```
//!
//! The grammar of brackets, commas and numbers is checked, the inside of strings is not. At the first
//! violation the row ends; [`Tokens::is_complete`] tells such an end from a proper one.

use super::lexeme::{is_space, literal_end, number_end};

/// One token. Strings and numbers are given as they are spelled; commas and colons are not tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// A member's name, as a literal with its quotes.
    Key(&'a str),
    /// A string value, as a literal with its quotes.
    String(&'a str),
    /// A number, as it is spelled.
    Number(&'a str),
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

impl<'a> Token<'a> {
    /// The token's own text; with its offset this gives the range it takes.
    pub fn raw(self) -> &'a str {
        match self {
            Self::ObjectStart => "{",
            Self::ObjectEnd => "}",
            Self::ArrayStart => "[",
            Self::ArrayEnd => "]",
            Self::Key(raw) | Self::String(raw) | Self::Number(raw) => raw,
            Self::True => "true",
            Self::False => "false",
            Self::Null => "null",
        }
    }
}

/// Walks over the tokens of a JSON text.
pub fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0, open: Vec::new(), next: Expected::Value }
}

/// The tokens of a text with their byte offsets. See [`tokens`].
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    open: Vec<OpenBracket>,
    next: Expected,
}

/// A bracket that is not closed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenBracket {
    Object,
    Array,
}

/// What the grammar allows at the current place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
    /// The value is complete; only whitespace may follow.
    Nothing,
    /// The text broke the grammar.
    Broken,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let token = self.advance();
        if token.is_none() && self.next != Expected::Nothing {
            self.next = Expected::Broken;
        }
        token
    }
}

impl<'a> Tokens<'a> {
    /// Whether the walk has come to the end of one whole value with nothing but whitespace behind it.
    pub fn is_complete(&self) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.next == Expected::Nothing && rest.iter().copied().all(is_space)
    }

    fn advance(&mut self) -> Option<(usize, Token<'a>)> {
        loop {
            let first = self.peek()?;
            match (self.next, first) {
                (Expected::Nothing | Expected::Broken, _) => return None,
                (Expected::Colon, b':') => self.pass(Expected::Value),
                (Expected::CommaOrEnd, b',') => {
                    let inside = self.open.last()?;
                    self.pass(if *inside == OpenBracket::Object { Expected::Key } else { Expected::Value });
                }
                (Expected::CommaOrEnd | Expected::KeyOrEnd, b'}') => {
                    return self.close(OpenBracket::Object, Token::ObjectEnd);
                }
                (Expected::CommaOrEnd | Expected::ValueOrEnd, b']') => {
                    return self.close(OpenBracket::Array, Token::ArrayEnd);
                }
                (Expected::Key | Expected::KeyOrEnd, b'"') => {
                    let literal = self.literal()?;
                    return Some(self.take(Token::Key(literal), Expected::Colon));
                }
                (Expected::Value | Expected::ValueOrEnd, _) => return self.value(first),
                _ => return None,
            }
        }
    }

    /// Skips whitespace and looks at the byte after it.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let skipped = rest.iter().position(|&byte| !is_space(byte))?;
        self.at += skipped;
        rest.get(skipped).copied()
    }

    /// Passes over a comma or a colon.
    fn pass(&mut self, next: Expected) {
        self.at += 1;
        self.next = next;
    }

    fn take(&mut self, token: Token<'a>, next: Expected) -> (usize, Token<'a>) {
        let at = self.at;
        self.at += token.raw().len();
        self.next = next;
        (at, token)
    }

    fn value(&mut self, first: u8) -> Option<(usize, Token<'a>)> {
        let token = match first {
            b'{' => {
                self.open.push(OpenBracket::Object);
                return Some(self.take(Token::ObjectStart, Expected::KeyOrEnd));
            }
            b'[' => {
                self.open.push(OpenBracket::Array);
                return Some(self.take(Token::ArrayStart, Expected::ValueOrEnd));
            }
            b'"' => Token::String(self.literal()?),
            b't' => self.word(Token::True)?,
            b'f' => self.word(Token::False)?,
            b'n' => self.word(Token::Null)?,
            _ => Token::Number(self.text.get(self.at..number_end(self.text.as_bytes(), self.at)?)?),
        };
        let next = self.after_value();
        Some(self.take(token, next))
    }

    fn close(&mut self, bracket: OpenBracket, token: Token<'a>) -> Option<(usize, Token<'a>)> {
        if self.open.last() != Some(&bracket) {
            return None;
        }
        self.open.pop();
        let next = self.after_value();
        Some(self.take(token, next))
    }

    fn after_value(&self) -> Expected {
        if self.open.is_empty() { Expected::Nothing } else { Expected::CommaOrEnd }
    }

    fn word(&self, token: Token<'a>) -> Option<Token<'a>> {
        self.text.get(self.at..)?.starts_with(token.raw()).then_some(token)
    }

    /// The literal that starts here.
    fn literal(&self) -> Option<&'a str> {
        self.text.get(self.at..literal_end(self.text.as_bytes(), self.at)?)
    }
}

#[cfg(test)]
mod tests;
