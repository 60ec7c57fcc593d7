//! JSON as spans: lengths, printing, lenient reading and editing without decoding.
//!
//! Session files and request bodies are other people's JSON. Their authors chose key orders, number
//! spellings and escapes, and a tool that only wants to shorten one old result has no business changing
//! any of them. So nothing in here parses a document into a tree to write it back. The unit of work is the
//! raw text of a value, borrowed:
//!
//! * [`string`] measures, decodes and slices string literals;
//! * [`walk`] cuts a text into tokens that know where they stand;
//! * [`print`](mod@print) says what JavaScript or Python would print for a value, or just how long it
//!   would be, because the systems reproduced here count *their* printed text, not the bytes on disk;
//! * [`read`](mod@read) gets through a text in one pass and looks only at what is asked for;
//! * [`fields`] reads objects in one pass, shrugging at wrong types and repeated keys;
//! * [`splice`] changes a few byte ranges and leaves every other byte alone.
//!
//! All of it is safe against hostile input: no function panics, none recurses into the document, and a
//! text that is not what it was said to be yields something harmless that the function's page names.
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
pub use print::{Printer, print, printed_len};
pub use read::{Reader, SyntaxError, read};
pub use splice::{Edit, Splice, SpliceError, set_member};
pub use string::{Halves, Lengths, decode, encode, lengths, points_len, slice_units, utf16_len};
pub use walk::{Token, Tokens, tokens};
