//! What a type can request from [`read`](super::super::read()) beyond serde's data model, as names of newtypes.
//!
//! Any other value is given as a borrowed string: its raw text. A deserializer that does not know the names visits a
//! plain newtype.

/// The text of any value.
pub(in crate::json) const RAW: &str = "secateur::Raw";

/// The members of an object, or else the text.
pub(in crate::json) const OBJECT: &str = "secateur::Object";

/// The elements of an array, or else the text.
pub(in crate::json) const LIST: &str = "secateur::List";
