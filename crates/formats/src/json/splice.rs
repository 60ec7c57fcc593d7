//! A few changes to many bytes.
//!
//! Whatever is not cut passes through unchanged: that promise is easiest to keep by never touching it. A
//! [`Splice`] is the original plus a list of ranges to be replaced; writing it alternates between slices of
//! the one and texts of the other. Since edits refer to the original's offsets, their order does not matter,
//! and two that overlap are a mistake of their maker, refused on the spot.
//!
//! ```
//! use secateur_formats::json::splice::{Splice, set_member};
//!
//! let text = r#"{ "state": { "output": "long" } }"#;
//! let mut splice = Splice::new(text.as_bytes());
//! splice.push(set_member(text, 11..31, "output", "\"\""))?;
//! splice.push(set_member(text, 0..33, "cut", "true"))?;
//! assert_eq!(splice.to_vec(), br#"{ "state": { "output": "" }, "cut": true }"#);
//! # Ok::<(), secateur_formats::json::SpliceError>(())
//! ```

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use super::read::Reader;
use super::string::{decode, encode};

/// A range of the original and the text to put in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes of the original that go. Empty if the text is only inserted.
    pub range: Range<usize>,
    /// What comes in their place.
    pub text: String,
}

/// Why an edit was refused.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpliceError {
    /// The range is reversed or does not lie within the original.
    #[error("cannot edit bytes {start}..{end}: must lie in order within 0..{len}")]
    OutOfRange {
        /// Where the refused range starts.
        start: usize,
        /// Where it ends.
        end: usize,
        /// How many bytes there are.
        len: usize,
    },
    /// The range has bytes in common with that of an earlier edit, or lies inside it.
    #[error("cannot edit bytes {start}..{end}: must not overlap the edit of {other_start}..{other_end}")]
    Overlap {
        /// Where the refused range starts.
        start: usize,
        /// Where it ends.
        end: usize,
        /// Where the earlier range starts.
        other_start: usize,
        /// Where it ends.
        other_end: usize,
    },
}

/// An original and the edits to make in it.
///
/// **Invariant.** Ranges lie within the original and no two overlap, so in the map's order their starts and
/// their ends both ascend. Only [`Splice::push`] adds any.
#[derive(Clone, Debug)]
pub struct Splice<'a> {
    original: &'a [u8],
    /// By start, end and a running number that keeps insertions at one place in the order they came.
    edits: BTreeMap<(usize, usize, usize), String>,
}

impl<'a> Splice<'a> {
    /// A splice without edits, which writes the original as it is.
    pub fn new(original: &'a [u8]) -> Self {
        Self { original, edits: BTreeMap::new() }
    }

    /// Adds an edit; the splice is unchanged if it is refused.
    ///
    /// Edits may touch. What is inserted where a replaced range starts comes before the replacement, what is
    /// inserted where it ends after it.
    pub fn push(&mut self, edit: Edit) -> Result<(), SpliceError> {
        let Range { start, end } = edit.range;
        let len = self.original.len();
        if start > end || end > len {
            return Err(SpliceError::OutOfRange { start, end, len });
        }
        let key = (start, end, self.edits.len());
        let before = self.edits.range(..key).next_back().filter(|((_, other_end, _), _)| *other_end > start);
        let after = self.edits.range(key..).next().filter(|((other_start, _, _), _)| *other_start < end);
        if let Some((&(other_start, other_end, _), _)) = before.or(after) {
            return Err(SpliceError::Overlap { start, end, other_start, other_end });
        }
        self.edits.insert(key, edit.text);
        Ok(())
    }

    /// Whether there is nothing to edit.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// How many bytes will be written.
    pub fn written_len(&self) -> usize {
        self.pieces().map(<[u8]>::len).sum()
    }

    /// Writes the original with the edits made, piece by piece: an unbuffered writer is better wrapped.
    pub fn write_to<W: Write + ?Sized>(&self, writer: &mut W) -> io::Result<()> {
        self.pieces().try_for_each(|piece| writer.write_all(piece))
    }

    /// The original with the edits made, in memory.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.written_len());
        for piece in self.pieces() {
            bytes.extend_from_slice(piece);
        }
        bytes
    }

    /// What is kept and what is put in, in turn.
    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let starts = self.edits.keys().map(|&(start, _, _)| start).chain([self.original.len()]);
        let ends = [0].into_iter().chain(self.edits.keys().map(|&(_, end, _)| end));
        let kept = ends.zip(starts).map(|(from, to)| self.original.get(from..to).unwrap_or_default());
        let put_in = self.edits.values().map(String::as_bytes).chain([&[][..]]);
        kept.zip(put_in).flat_map(|(kept, put_in)| [kept, put_in])
    }
}

/// An edit that sets a member of the JSON object at `object`, a range of `text` that includes the braces.
///
/// If the object has the member, its value is replaced (the last one's, which is the one that counts);
/// otherwise the member is added at the end in the object's own manner, with the whitespace its first member
/// has before the name and after the colon. `value_json` is put in as it is. If there is no object at the
/// range, the edit changes nothing.
pub fn set_member(text: &str, object: Range<usize>, key: &str, value_json: &str) -> Edit {
    let inside = text.get(object.clone()).unwrap_or_default();
    let Some(members) = ObjectMembers::of(inside, key) else {
        return Edit { range: object.start..object.start, text: String::new() };
    };
    let at = |offset: usize| object.start + offset;
    if let Some(value) = members.found {
        return Edit { range: at(value.start)..at(value.end), text: value_json.to_owned() };
    }
    let name = encode(key);
    let Some(end) = members.end else {
        let start = at(members.start);
        return Edit { range: start..start, text: format!("{name}:{value_json}") };
    };
    let ObjectMembers { before_key, before_value, .. } = members;
    Edit { range: at(end)..at(end), text: format!(",{before_key}{name}:{before_value}{value_json}") }
}

/// What must be known of an object's members to set one. Offsets are those of the object's own text.
#[derive(Default)]
struct ObjectMembers<'a> {
    /// Behind the opening brace.
    start: usize,
    /// The whitespace before the first name.
    before_key: &'a str,
    /// The whitespace behind the first colon.
    before_value: &'a str,
    /// The value of the last member of the wanted name.
    found: Option<Range<usize>>,
    /// Behind the last member's value.
    end: Option<usize>,
}

impl<'a> ObjectMembers<'a> {
    /// Looks through the object; nothing if the text is not exactly one whole object.
    fn of(object: &'a str, wanted: &str) -> Option<Self> {
        let mut reader = Reader::new(object);
        reader.pass_mark(b'{', "'{'").ok()?;
        let mut members = Self { start: reader.offset(), ..Self::default() };
        while reader.peek().ok()? != b'}' {
            let is_first = members.end.is_none();
            if !is_first {
                reader.pass_mark(b',', "','").ok()?;
                reader.peek().ok()?;
            }
            let name_start = reader.offset();
            let name = reader.pass_over().ok().filter(|name| name.starts_with('"'))?;
            reader.pass_mark(b':', "':'").ok()?;
            let behind_colon = reader.offset();
            reader.peek().ok()?;
            let value_start = reader.offset();
            if is_first {
                members.before_key = object.get(members.start..name_start)?;
                members.before_value = object.get(behind_colon..value_start)?;
            }
            reader.pass_over().ok()?;
            members.end = Some(reader.offset());
            if decode(name) == wanted {
                members.found = Some(value_start..reader.offset());
            }
        }
        reader.pass_mark(b'}', "'}'").ok()?;
        reader.end().ok().map(|()| members)
    }
}

#[cfg(test)]
mod tests;
