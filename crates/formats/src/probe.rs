//! The beginning of a text, scanned once, so that each format can recognise itself.
//!
//! A probe holds the shape of the text and facts about its first records: their keys, their short strings and the types
//! of the blocks inside.

use crate::document::element_ranges;
use crate::json::{Token, decode, tokens};

/// How many bytes from the beginning of a source are enough to recognise its format.
pub(crate) const ENOUGH: usize = 1 << 20;

/// How many records are scanned: logs begin with snapshots, titles and settings.
const RECORDS: usize = 40;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TextShape {
    /// One JSON array.
    Array,
    /// One JSON object, over one line or many.
    Object,
    /// A JSON object a line.
    Lines,
    /// Not JSON.
    #[default]
    Text,
}

/// Facts about the beginning of a text.
#[derive(Debug, Default)]
pub(crate) struct Probe<'a> {
    pub shape: TextShape,
    /// The beginning itself.
    pub text: &'a str,
    /// The members of the document, if it is an object.
    pub top: ProbedRecord,
    /// The first records: lines, elements of an array, or elements of an object's `messages`.
    pub records: Vec<ProbedRecord>,
}

/// Facts about one object.
#[derive(Debug, Default)]
pub(crate) struct ProbedRecord {
    members: Vec<ProbedMember>,
    /// The values of all members `type` inside, in order.
    pub types: Vec<String>,
}

/// A member of an object, as far as its value has begun.
#[derive(Debug, Default)]
struct ProbedMember {
    key: String,
    /// The first character of the value.
    start: Option<char>,
    /// The value, if it is a short string.
    text: Option<String>,
}

impl<'a> Probe<'a> {
    /// Scans the beginning of a text; `None` if it is blank.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let text = text.trim_start_matches('\u{FEFF}').trim_start();
        let first = text.chars().next()?;
        Some(match first {
            '[' => Self { shape: TextShape::Array, text, records: elements(text), ..Self::default() },
            '{' => Self::of_objects(text),
            _ => Self { text, ..Self::default() },
        })
    }

    fn of_objects(text: &'a str) -> Self {
        let (top, end) = ProbedRecord::of(text);
        let behind = text.get(end..).unwrap_or_default();
        let ends_line = behind.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        let is_more = behind.trim_start().starts_with('{') && ends_line;
        // A line end after a single object makes it a log of one line; the readers accept both.
        if is_more
            || (ends_line && !text.get(..end).unwrap_or_default().contains('\n') && !top.has("messages"))
        {
            let lines = text.lines().filter(|line| !line.trim().is_empty()).take(RECORDS);
            let records = lines.map(|line| ProbedRecord::of(line).0).collect();
            return Self { shape: TextShape::Lines, text, top, records };
        }
        let records = if top.has("messages") { elements(text) } else { Vec::new() };
        Self { shape: TextShape::Object, text, top, records }
    }

    /// Whether the text is a list of records: an array, or an object with a list of messages.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.shape, TextShape::Array | TextShape::Object)
    }

    /// Whether `test` holds for any of the first records.
    pub(crate) fn any(&self, test: impl Fn(&ProbedRecord) -> bool) -> bool {
        self.records.iter().any(test)
    }

    /// Whether `test` holds for the first record.
    pub(crate) fn first(&self, test: impl Fn(&ProbedRecord) -> bool) -> bool {
        self.records.first().is_some_and(test)
    }

    /// What was found, for an error message.
    pub(crate) fn describe(&self) -> String {
        let record = self.records.first().unwrap_or(&self.top);
        if self.shape == TextShape::Array && self.records.is_empty() {
            return "an empty list; name the format".to_owned();
        }
        if record.members.is_empty() {
            return "no JSON object at the beginning".to_owned();
        }
        let keys = record.members.iter().take(20).map(|member| member.key.escape_debug().to_string());
        format!("the first record has the keys {}", keys.collect::<Vec<_>>().join(", "))
    }
}

fn elements(text: &str) -> Vec<ProbedRecord> {
    let ranges = element_ranges(text);
    let whole: Vec<ProbedRecord> = ranges
        .iter()
        .take(RECORDS)
        .filter_map(|range| Some(ProbedRecord::of(text.get(range.clone())?).0))
        .collect();
    if !whole.is_empty() {
        return whole;
    }
    // The first element is larger than the sample, so its beginning is used.
    let start = text.find('[').map_or(0, |at| at + 1);
    let (record, _) = ProbedRecord::of(text.get(start..).unwrap_or_default());
    if record.members.is_empty() { Vec::new() } else { vec![record] }
}

impl ProbedRecord {
    /// Scans the first value of a text; also returns where it ends.
    fn of(text: &str) -> (Self, usize) {
        const TYPES: usize = 40;
        let mut record = Self::default();
        let mut depth = 0usize;
        let mut is_type = false;
        for (at, token) in tokens(text) {
            let end = at + token.raw().len();
            match token {
                Token::Key(raw) => {
                    is_type = raw == "\"type\"";
                    if depth == 1 {
                        let key = decode(raw).into_owned();
                        record.members.push(ProbedMember { key, ..ProbedMember::default() });
                    }
                    continue;
                }
                Token::ObjectEnd | Token::ArrayEnd => depth = depth.saturating_sub(1),
                Token::String(raw) if is_type && record.types.len() < TYPES => {
                    record.types.push(decode(raw).into_owned());
                }
                _ => {}
            }
            if depth == 1
                && !matches!(token, Token::ObjectEnd | Token::ArrayEnd)
                && let Some(member) = record.members.last_mut()
            {
                member.start = token.raw().chars().next();
                if let Token::String(raw) = token
                    && raw.len() <= 200
                {
                    member.text = Some(decode(raw).into_owned());
                }
            }
            is_type = false;
            if matches!(token, Token::ObjectStart | Token::ArrayStart) {
                depth += 1;
            }
            if depth == 0 {
                return (record, end);
            }
        }
        (record, text.len())
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.members.iter().any(|member| member.key == key)
    }

    /// A member that is a short string.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.members.iter().rev().find(|member| member.key == key && member.text.is_some())?.text.as_deref()
    }

    /// The first character of a member's value: `"`, `[`, `{`, a digit, or of `true`, `false`, `null`.
    pub(crate) fn starts(&self, key: &str) -> Option<char> {
        self.members.iter().rev().find(|member| member.key == key && member.start.is_some())?.start
    }

    /// Whether a block or record inside is of this type.
    pub(crate) fn has_type(&self, kind: &str) -> bool {
        self.types.iter().any(|own| own == kind)
    }
}
