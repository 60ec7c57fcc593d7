//! Arrays, read element by element.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::{Key, Raw, anything_else, want};
use crate::json::read::{Reader, SyntaxError, read};

/// Reads an array and passes on each element as soon as it is read, so that the elements before a syntax error are not
/// lost.
///
/// To be used as a seed: on a deserializer, or with `map.next_value_seed` inside [`Fields::field`](super::Fields::field).
#[derive(Debug)]
pub struct Each<T, S> {
    sink: S,
    element: PhantomData<fn(T)>,
}

impl<T, S: FnMut(T)> Each<T, S> {
    /// A reader that hands each element to `sink`.
    pub fn new(sink: S) -> Self {
        Self { sink, element: PhantomData }
    }
}

/// Passes each element of a raw array to `sink`, also those before a syntax error.
pub fn each<'a, T: Deserialize<'a>>(raw: &'a str, sink: impl FnMut(T)) -> Result<Listed, SyntaxError> {
    let mut reader = Reader::new(raw);
    let listed = Each::new(sink).deserialize(&mut reader)?;
    reader.end().map(|()| listed)
}

/// What [`Each`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// An array of this many elements.
    Array(usize),
    /// Something else, which was skipped.
    NotAnArray,
}

impl<'de, T: Deserialize<'de>, S: FnMut(T)> DeserializeSeed<'de> for Each<T, S> {
    type Value = Listed;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Listed, D::Error> {
        deserializer.deserialize_newtype_struct(want::LIST, self)
    }
}

impl<'de, T: Deserialize<'de>, S: FnMut(T)> Visitor<'de> for Each<T, S> {
    type Value = Listed;

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Listed, A::Error> {
        let mut count = 0;
        while let Some(element) = seq.next_element()? {
            (self.sink)(element);
            count += 1;
        }
        Ok(Listed::Array(count))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Listed, A::Error> {
        while map.next_entry::<Key<'de>, IgnoredAny>()?.is_some() {}
        Ok(Listed::NotAnArray)
    }

    anything_else!(
        Listed::NotAnArray;
        visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str
    );
}

/// The elements of an array, or the text of any other value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum List<'a, T> {
    /// An array.
    Elements(Vec<T>),
    /// Something else.
    Other(Raw<'a>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<'de, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(want::LIST, ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<'de, T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(List::Elements(elements))
    }

    fn visit_borrowed_str<E: Error>(self, raw: &'de str) -> Result<Self::Value, E> {
        Ok(List::Other(Raw(raw)))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, other: D) -> Result<Self::Value, D::Error> {
        // Other deserializers cannot look ahead.
        read(Raw::deserialize(other)?.text()).map_err(Error::custom)
    }
}
