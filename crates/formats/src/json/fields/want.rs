//! What a type can ask of [`read`](super::super::read()) beyond the words of serde, as names of newtypes.
//!
//! What is not wanted comes as a borrowed string: the raw text of the value. A deserializer that does not know the
//! names visits a newtype and hands over itself.

/// The text of any value.
pub(in crate::json) const RAW: &str = "secateur::Raw";

/// The members of an object, or else the text.
pub(in crate::json) const OBJECT: &str = "secateur::Object";

/// The elements of an array, or else the text.
pub(in crate::json) const LIST: &str = "secateur::List";
