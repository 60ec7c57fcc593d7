//! JSON as spans: lengths, printing, lenient reading and editing without decoding.
//!
//! Session files and request bodies are written by other programs, which chose key orders, number spellings and
//! escapes. A cut must not change any of them, so nothing here parses a document into a tree to write it back. The unit
//! of work is the raw text of a value, borrowed:
//!
//! * [`string`] measures, decodes and slices string literals;
//! * [`walk`] splits a text into tokens with their offsets;
//! * [`print`](mod@print) prints a value as JavaScript or Python would, or only measures that text, because the systems
//!   reproduced here count *their* printed text, not the bytes on disk;
//! * [`read`](mod@read) reads a text in one pass and decodes only what is requested;
//! * [`fields`] reads objects in one pass, tolerating wrong types and repeated keys;
//! * [`splice`] changes a few byte ranges and keeps every other byte.
//!
//! All of it is safe against hostile input: no function panics or recurses into the document, and each documents what it
//! returns for text that is not the expected JSON.
//!
//! ```
//! use secateur_formats::json::{self, Printer};
//!
//! let raw = r#""smile \ud83d\ude00\n""#;
//! assert_eq!(json::lengths(raw).units, 9);
//! assert_eq!(json::decode(raw), "smile 😀\n");
//! assert_eq!(json::print(r#"{"b":1.0,"1":[]}"#, Printer::JavaScript), r#"{"1":[],"b":1}"#);
//! ```

mod count;
mod lexeme;
mod number;

pub mod fields;
pub mod print;
pub mod read;
pub mod splice;
pub mod string;
pub mod walk;

pub use fields::{Each, Fields, List, Listed, Object, Raw, offset_in};
pub(crate) use fields::{OptionalRaw, each, object, raw_fields};
pub use print::{Printer, print, printed_len};
pub use read::{Reader, SyntaxError, read};
pub use splice::{Edit, Splice, SpliceError, set_member};
pub use string::{Halves, Lengths, decode, encode, lengths, points_len, slice_units, utf16_len};
pub use walk::{Token, Tokens, tokens};
