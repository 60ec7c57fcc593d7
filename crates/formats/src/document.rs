//! Documents that hold a list: an array, an object with a list as member (mostly `messages`), or one value a line.
//!
//! The usual document is read in a single pass. If that fails, because the text breaks off or an element is broken, a
//! second pass reads the elements one by one, keeps those that are whole and warns about the others.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::json::{Fields, Object, Reader, SyntaxError, Token, fields, tokens};
use crate::warning::Warning;

/// The member that mostly holds the list when the document is an object.
pub(crate) const LIST: &str = "messages";

/// The elements of a document; `None` where an element is not an object.
pub(crate) fn read_list<'a, T: Fields<'a>>(text: &'a str, warnings: &mut Vec<Warning>) -> Vec<Option<T>> {
    read_list_under(LIST, text, warnings)
}

/// The same, with the list under this name if the document is an object.
pub(crate) fn read_list_under<'a, T: Fields<'a>>(
    name: &str,
    text: &'a str,
    warnings: &mut Vec<Warning>,
) -> Vec<Option<T>> {
    read_document::<(), T>(name, text, warnings).1
}

/// The members of a document beside its list of this name, and the elements of that list.
///
/// Of a document that breaks off only the elements are known.
pub(crate) fn read_document<'a, H: Fields<'a>, T: Fields<'a>>(
    name: &str,
    text: &'a str,
    warnings: &mut Vec<Warning>,
) -> (H, Vec<Option<T>>) {
    let text = text.trim_start_matches('\u{FEFF}');
    let mut reader = Reader::new(text);
    let read = Listing { name, kinds: PhantomData }.deserialize(&mut reader);
    match read.and_then(|document| reader.end().map(|()| document)) {
        Ok(document) => document,
        Err(error) => (H::default(), read_patiently(name, text, &error, warnings)),
    }
}

/// The elements of a text with one value a line. Lines that cannot be read are skipped with a warning, blank ones without.
pub(crate) fn read_lines<'a, T: Fields<'a>>(text: &'a str, warnings: &mut Vec<Warning>) -> Vec<Option<T>> {
    let mut elements = Vec::new();
    for (index, line) in text.trim_start_matches('\u{FEFF}').lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match fields::object(line.trim()) {
            Ok(element) => elements.push(element),
            Err(error) => warnings.push(Warning {
                line: index as u64 + 1,
                reason: format!("not a JSON value ({error}); the line was skipped"),
            }),
        }
    }
    elements
}

/// Reads element by element and keeps those that are whole.
fn read_patiently<'a, T: Fields<'a>>(
    name: &str,
    text: &'a str,
    error: &SyntaxError,
    warnings: &mut Vec<Warning>,
) -> Vec<Option<T>> {
    let ranges = element_ranges_under(name, text);
    let mut elements = Vec::with_capacity(ranges.len());
    let mut lines = LineCounter::of(text);
    for range in &ranges {
        match fields::object(text.get(range.clone()).unwrap_or_default()) {
            Ok(element) => elements.push(element),
            Err(error) => {
                elements.push(None);
                let reason = format!("message {} cannot be read ({error}); it was skipped", elements.len());
                warnings.push(Warning { line: lines.at(range.start), reason });
            }
        }
    }
    if warnings.is_empty() || matches!(error, SyntaxError::BreaksOff { .. }) {
        let reason = format!("{error}; {} whole messages were read, the rest was skipped", elements.len());
        warnings.push(Warning { line: LineCounter::of(text).at(error.offset().unwrap_or(0)), reason });
    }
    elements
}

/// Gives the line numbers of ascending offsets; counts each line once.
struct LineCounter<'a> {
    text: &'a str,
    offset: usize,
    line: u64,
}

impl<'a> LineCounter<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, offset: 0, line: 1 }
    }

    fn at(&mut self, offset: usize) -> u64 {
        let between = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        self.line += between.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.offset = self.offset.max(offset);
        self.line
    }
}

/// Where the whole elements of the list lie.
pub(crate) fn element_ranges(text: &str) -> Vec<Range<usize>> {
    element_ranges_under(LIST, text)
}

/// Where the whole elements of a list lie: of the text itself, or of its member of this name.
pub(crate) fn element_ranges_under(name: &str, text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut depth = 0usize;
    let mut list_depth = None;
    let mut start = None;
    let mut is_list_next = false;
    for (at, token) in tokens(text) {
        let end = at + token.raw().len();
        let opens = matches!(token, Token::ObjectStart | Token::ArrayStart);
        let closes = matches!(token, Token::ObjectEnd | Token::ArrayEnd);
        if closes {
            depth = depth.saturating_sub(1);
        }
        match list_depth {
            Some(list) if depth == list && !matches!(token, Token::Key(_)) => {
                if opens {
                    start = Some(at);
                } else {
                    ranges.push(start.take().unwrap_or(at)..end);
                }
            }
            Some(list) if closes && depth < list => list_depth = None,
            None if matches!(token, Token::ArrayStart) && (depth == 0 || is_list_next) => {
                list_depth = Some(depth + 1);
            }
            _ => {}
        }
        is_list_next = depth == 1 && matches!(token, Token::Key(raw) if crate::json::decode(raw) == name);
        if opens {
            depth += 1;
        }
    }
    ranges
}

/// A whole document, read at once.
struct Listing<'n, H, T> {
    /// The member that holds the list.
    name: &'n str,
    kinds: PhantomData<(H, T)>,
}

impl<'de, H: Fields<'de>, T: Fields<'de>> DeserializeSeed<'de> for Listing<'_, H, T> {
    type Value = (H, Vec<Option<T>>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, H: Fields<'de>, T: Fields<'de>> Visitor<'de> for Listing<'_, H, T> {
    type Value = (H, Vec<Option<T>>);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of messages, or an object with a member `{}`", self.name)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(Object(element)) = seq.next_element()? {
            elements.push(element);
        }
        Ok((H::default(), elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut head = H::default();
        let mut elements = Vec::new();
        while let Some(key) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if key == self.name {
                (_, elements) =
                    map.next_value_seed(Listing::<(), T> { name: self.name, kinds: PhantomData })?;
            } else {
                head.field(&key, &mut map)?;
            }
        }
        Ok((head, elements))
    }
}

/// For readers that need only the list.
impl<'a> Fields<'a> for () {
    fn field<A: MapAccess<'a>>(&mut self, _: &str, map: &mut A) -> Result<(), A::Error> {
        map.next_value::<IgnoredAny>().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::Error;

    #[derive(Default, Debug, PartialEq)]
    struct Id(Option<i64>);

    impl<'a> Fields<'a> for Id {
        fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
            let raw: crate::json::Raw<'a> = map.next_value()?;
            match key {
                "id" => self.0 = fields::as_i64(raw.text()),
                "refused" => return Err(Error::custom("refused")),
                _ => {}
            }
            Ok(())
        }
    }

    fn read(text: &str) -> (Vec<Option<i64>>, Vec<String>) {
        let mut warnings = Vec::new();
        let list = read_list::<Id>(text, &mut warnings);
        (
            list.into_iter().map(|id| id.and_then(|id| id.0)).collect(),
            warnings.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn arrays_and_objects_are_read() {
        assert_eq!(read(r#"[{"id":1},{"id":2}]"#), (vec![Some(1), Some(2)], vec![]));
        assert_eq!(
            read(r#"{"info":{"messages":[9]},"messages":[{"id":1},7]}"#),
            (vec![Some(1), None], vec![])
        );
    }

    #[test]
    fn a_list_can_stand_under_any_name() {
        let text = r#"{"messages":[{"id":9}],"history":[{"id":1},{"id":2}]}"#;
        let mut warnings = Vec::new();
        let ids = |list: Vec<Option<Id>>| list.into_iter().flatten().map(|id| id.0).collect::<Vec<_>>();
        assert_eq!(ids(read_list_under("history", text, &mut warnings)), [Some(1), Some(2)]);
        assert!(warnings.is_empty());
        assert_eq!(ids(read_list_under("history", &text[..47], &mut warnings)), [Some(1)]);
        assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn a_text_that_breaks_off_keeps_what_was_whole() {
        let (ids, warnings) = read("[{\"id\":1},\n{\"id\":2},\n{\"id\":3,\"te");
        assert_eq!(ids, [Some(1), Some(2)]);
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].starts_with("line 3: ") && warnings[0].contains("2 whole messages"),
            "{warnings:?}"
        );
        let (ids, _) = read(r#"{"info":{},"messages":[{"id":1},{"id":2"#);
        assert_eq!(ids, [Some(1)]);
    }

    #[test]
    fn an_element_that_cannot_be_read_does_not_take_the_others_with_it() {
        let (ids, warnings) = read("[{\"id\":1},\n{\"id\":2,\"refused\":0},\n{\"id\":3}]");
        assert_eq!(ids, [Some(1), None, Some(3)]);
        assert_eq!(warnings, ["line 2: message 2 cannot be read (refused); it was skipped"]);
    }

    #[test]
    fn where_the_grammar_breaks_the_reading_ends() {
        let (ids, warnings) = read("[{\"id\":1},\n{\"id\":2 \"a\":3},\n{\"id\":3}]");
        assert_eq!(ids, [Some(1)]);
        let reason = "expected ',' or '}' at byte 19; 1 whole messages were read, the rest was skipped";
        assert_eq!(warnings, [format!("line 2: {reason}")]);
    }

    #[test]
    fn lines_are_read_one_by_one() {
        let mut warnings = Vec::new();
        let lines = read_lines::<Id>("{\"id\":1}\n\n{oops\r\n{\"id\":2}", &mut warnings);
        assert_eq!(lines, [Some(Id(Some(1))), Some(Id(Some(2)))]);
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].line, 3);
    }
}
