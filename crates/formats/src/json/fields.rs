//! Lenient reading of objects and arrays, in one pass and over borrowed text.
//!
//! A derived `Deserialize` is too strict for files of other programs: one field of a wrong type or one repeated key, and
//! the whole line is lost. It also copies. The reader here passes each member to a [`Fields`] implementation, which keeps
//! the members it knows, mostly as [`Raw`] to be examined later by the functions below, and skips the rest. Of a repeated
//! key the last value counts, as in JavaScript.
//!
//! ```
//! use secateur_formats::json::fields::{Fields, Object, Raw, as_str};
//! use secateur_formats::json::read;
//! use serde::de::{IgnoredAny, MapAccess};
//!
//! #[derive(Default)]
//! struct Part<'a> {
//!     tool: Option<Raw<'a>>,
//! }
//!
//! impl<'a> Fields<'a> for Part<'a> {
//!     fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
//!         match key {
//!             "tool" => self.tool = Some(map.next_value()?),
//!             _ => _ = map.next_value::<IgnoredAny>()?,
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let Object(part) = read::<Object<Part>>(r#"{"tool":1,"tool":"read","x":{}}"#)?;
//! let tool = part.and_then(|part| part.tool).and_then(|raw| as_str(raw.text()));
//! assert_eq!(tool.as_deref(), Some("read"));
//! # Ok::<(), secateur_formats::json::SyntaxError>(())
//! ```
//!
//! These types belong to [`read`](super::read()), which skips what they do not request. Any other deserializer
//! works as well, but it has to parse what it skips and may reject it: `serde_json` stops at half a surrogate pair
//! in a string and at a number beyond the range of floats.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::read::{SyntaxError, read};

pub use list::{Each, List, Listed, each};
pub(crate) use raw::OptionalRaw;
pub use raw::{Raw, as_f64, as_i64, as_str, is_null, is_string, offset_in, truthy};

mod list;
mod raw;
pub(super) mod want;

/// What can be filled from the members of a JSON object.
pub trait Fields<'a>: Default {
    /// Takes one member. Called for each in the order of the text, unknown and repeated ones included; the
    /// implementation must read the value by exactly one `map.next_value` (or one of its siblings).
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
}

/// The fields of a JSON object, or nothing if the value is no object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Object<T>(pub Option<T>);

impl<'de, T: Fields<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(want::OBJECT, ObjectVisitor(PhantomData)).map(Self)
    }
}

impl<'o, T> IntoIterator for &'o Object<T> {
    type Item = &'o T;
    type IntoIter = std::option::Iter<'o, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// Reads the fields of a raw value: nothing if it is no object, an error if it is no JSON.
pub fn object<'a, T: Fields<'a>>(raw: &'a str) -> Result<Option<T>, SyntaxError> {
    read(raw).map(|Object(fields)| fields)
}

/// Visitor methods for all kinds of values but the one of interest: they read the value and return `$other`.
macro_rules! anything_else {
    ($other:expr; $($kind:ident: $type:ty),*) => {
        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("any JSON value")
        }

        $(fn $kind<E: Error>(self, _: $type) -> Result<Self::Value, E> {
            Ok($other)
        })*

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok($other)
        }

        fn visit_newtype_struct<D: Deserializer<'de>>(self, other: D) -> Result<Self::Value, D::Error> {
            other.deserialize_any(self)
        }
    };
}
use anything_else;

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Fields<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Option<T>;

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = T::default();
        while let Some(Key(key)) = map.next_key()? {
            fields.field(&key, &mut map)?;
        }
        Ok(Some(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    anything_else!(None; visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);
}

/// A member's name, borrowed from the text if it contains no escape.
///
/// Names are read as bytes, so that the parser accepts lone halves of surrogate pairs. No known field has such a name, so
/// it does not matter what it becomes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(KeyVisitor).map(Self)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a member")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }

    fn visit_borrowed_bytes<E: Error>(self, name: &'de [u8]) -> Result<Self::Value, E> {
        // Nearly every name is plain text, and the lossy conversion is slow even then.
        Ok(std::str::from_utf8(name).map_or_else(|_| String::from_utf8_lossy(name), Cow::Borrowed))
    }

    fn visit_bytes<E: Error>(self, name: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(String::from_utf8_lossy(name).into_owned()))
    }
}

/// A field of a type that [`raw_fields`] declares, filled from a member's value.
pub(crate) trait MemberValue<'a> {
    /// Takes the value; a value that an earlier member of the same name gave is replaced.
    fn fill<A: MapAccess<'a>>(&mut self, map: &mut A) -> Result<(), A::Error>;
}

impl<'a, T: Deserialize<'a>> MemberValue<'a> for Option<T> {
    #[inline]
    fn fill<A: MapAccess<'a>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        *self = Some(map.next_value()?);
        Ok(())
    }
}

impl<'a, T: Fields<'a>> MemberValue<'a> for Object<T> {
    #[inline]
    fn fill<A: MapAccess<'a>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        *self = map.next_value()?;
        Ok(())
    }
}

impl<'a, T: Deserialize<'a>> MemberValue<'a> for Vec<T> {
    fn fill<A: MapAccess<'a>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        self.clear();
        map.next_value_seed(Each::new(|element| self.push(element))).map(drop)
    }
}

/// Declares types that are filled from the members of an object, each by its name and kept [`Raw`]. A member with a type of
/// its own is an [`Object`] with fields, or a list: `parts: "parts" => Vec<Object<Part<'a>>>`.
macro_rules! raw_fields {
    (@type) => { Option<$crate::json::Raw<'a>> };
    (@type $type:ty) => { $type };
    // Fields that are all raw are as small as references, so they are copied.
    (@one [$($attribute:tt)*] $vis:vis $name:ident { $($field:ident: $key:literal),* $(,)? }) => {
        $crate::json::fields::raw_fields! {
            @declare [$($attribute)* #[derive(Clone, Copy, Default)]] $vis $name { $($field: $key),* }
        }
    };
    (@one [$($attribute:tt)*] $vis:vis $name:ident { $($member:tt)* }) => {
        $crate::json::fields::raw_fields! {
            @declare [$($attribute)* #[derive(Default)]] $vis $name { $($member)* }
        }
    };
    (@declare [$($attribute:tt)*] $vis:vis $name:ident {
        $($field:ident: $key:literal $(=> $type:ty)?),* $(,)?
    }) => {
        $($attribute)*
        $vis struct $name<'a> {
            $($vis $field: $crate::json::fields::raw_fields!(@type $($type)?),)*
        }

        impl<'a> $crate::json::Fields<'a> for $name<'a> {
            fn field<A: serde::de::MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
                match key {
                    $($key => $crate::json::fields::MemberValue::fill(&mut self.$field, map),)*
                    _ => map.next_value::<serde::de::IgnoredAny>().map(drop),
                }
            }
        }
    };
    ($($(#[$attribute:meta])* $vis:vis $name:ident { $($member:tt)* })+) => {
        $($crate::json::fields::raw_fields! { @one [$(#[$attribute])*] $vis $name { $($member)* } })+
    };
}
pub(crate) use raw_fields;

#[cfg(test)]
mod tests;
