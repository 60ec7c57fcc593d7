//! The reader in the terms of serde.
//!
//! Serde cannot express "a list, and anything else as raw text". The types in [`fields`](super::super::fields) request that
//! by the name of a newtype, which other deserializers treat as a plain wrapper.

use std::borrow::Cow;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::super::fields::want;
use super::super::lexeme::plain_end;
use super::super::{number, string};
use super::{DEPTH, Reader, SyntaxError};

impl de::Error for SyntaxError {
    fn custom<T: std::fmt::Display>(reason: T) -> Self {
        Self::Refused { reason: reason.to_string().into() }
    }
}

impl<'a> Reader<'a> {
    /// Takes the literal that begins here, decoded.
    #[inline]
    fn name(&mut self) -> Result<Cow<'a, str>, SyntaxError> {
        let start = self.at;
        if let Some(end) = plain_end(self.text.as_bytes(), start) {
            self.at = end + 1;
            return Ok(Cow::Borrowed(self.text.get(start + 1..end).unwrap_or_default()));
        }
        self.pass_literal()?;
        Ok(string::decode(self.since(start)))
    }

    fn object<V: Visitor<'a>>(&mut self, visitor: V) -> Result<V::Value, SyntaxError> {
        self.inside(b'}', "',' or '}'", |inside| visitor.visit_map(inside))
    }

    fn array<V: Visitor<'a>>(&mut self, visitor: V) -> Result<V::Value, SyntaxError> {
        self.inside(b']', "',' or ']'", |inside| visitor.visit_seq(inside))
    }

    /// Visits the content of the current bracket, up to the one that closes it.
    #[inline]
    fn inside<T>(
        &mut self,
        end: u8,
        expected: &'static str,
        visit: impl FnOnce(BracketContent<'_, 'a>) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.depth == DEPTH {
            return Err(SyntaxError::TooDeep { most: DEPTH, at: self.at });
        }
        self.depth += 1;
        self.at += 1;
        let value = visit(BracketContent { reader: self, end, expected, is_first: true })?;
        self.depth -= 1;
        self.pass_mark(end, expected)?;
        Ok(value)
    }
}

impl<'a> Deserializer<'a> for &mut Reader<'a> {
    type Error = SyntaxError;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, SyntaxError> {
        match self.peek()? {
            b'{' => return self.object(visitor),
            b'[' => return self.array(visitor),
            _ => {}
        }
        let raw = self.pass_over()?;
        match raw.as_bytes().first() {
            Some(b'"') => match string::decode(raw) {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            Some(b't') => visitor.visit_bool(true),
            Some(b'f') => visitor.visit_bool(false),
            Some(b'n') => visitor.visit_unit(),
            _ => match (raw.parse(), raw.parse()) {
                (Ok(number), _) => visitor.visit_u64(number),
                (_, Ok(number)) => visitor.visit_i64(number),
                _ => visitor.visit_f64(number::parse(raw).unwrap_or(f64::NAN)),
            },
        }
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, SyntaxError> {
        if self.peek()? == b'n' {
            self.pass()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, SyntaxError> {
        match name {
            want::RAW => {}
            want::OBJECT => {
                if self.peek()? == b'{' {
                    return self.object(visitor);
                }
            }
            want::LIST => {
                if self.peek()? == b'[' {
                    return self.array(visitor);
                }
            }
            _ => return visitor.visit_newtype_struct(self),
        }
        visitor.visit_borrowed_str(self.pass_over()?)
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, SyntaxError> {
        self.pass()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        <W: Visitor<'a>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct enum identifier
    }
}

/// The inside of a bracket: members or elements, one after the other.
struct BracketContent<'r, 'a> {
    reader: &'r mut Reader<'a>,
    end: u8,
    expected: &'static str,
    is_first: bool,
}

impl BracketContent<'_, '_> {
    /// Skips the comma, if one is due; returns whether something follows.
    #[inline]
    fn goes_on(&mut self) -> Result<bool, SyntaxError> {
        let next = self.reader.peek()?;
        if next == self.end {
            return Ok(false);
        }
        if !self.is_first {
            if next != b',' {
                return Err(self.reader.expected(self.expected));
            }
            self.reader.at += 1;
        }
        self.is_first = false;
        Ok(true)
    }
}

impl<'a> MapAccess<'a> for BracketContent<'_, 'a> {
    type Error = SyntaxError;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, SyntaxError> {
        if !self.goes_on()? {
            return Ok(None);
        }
        if self.reader.peek()? != b'"' {
            return Err(self.reader.expected("the name of a member"));
        }
        let name = self.reader.name()?;
        self.reader.pass_mark(b':', "':'")?;
        match name {
            Cow::Borrowed(name) => seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some),
            Cow::Owned(name) => seed.deserialize(name.into_deserializer()).map(Some),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, SyntaxError> {
        seed.deserialize(&mut *self.reader)
    }
}

impl<'a> SeqAccess<'a> for BracketContent<'_, 'a> {
    type Error = SyntaxError;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, SyntaxError> {
        if self.goes_on()? { seed.deserialize(&mut *self.reader).map(Some) } else { Ok(None) }
    }
}
