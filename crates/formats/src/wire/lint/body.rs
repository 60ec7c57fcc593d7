//! A request body as spans: where each value is, without its text.
//!
//! The checks read few members of many objects and must name the place of what they find. So the body is walked once, and
//! of each value only its range, its kind and its neighbours are kept. Strings stay literals; a check that needs one
//! decodes it. Values below a certain depth are not kept apart: no provider has a rule about the inside of a tool's
//! arguments.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use crate::json::{Token, decode, tokens};

/// Down to which depth values are kept apart: `contents[].parts[].functionResponse.parts[].inlineData.data` and a spare.
const DEPTH: usize = 11;

/// The values of a body.
pub(crate) struct LintBody<'a> {
    text: &'a str,
    values: Vec<BodyValue>,
}

/// One value. Its first child, if it has any, is the value that follows it.
struct BodyValue {
    start: usize,
    end: usize,
    kind: ValueKind,
    /// The literal of its name, if it is a member of an object.
    key: Option<Range<usize>>,
    parent: usize,
    /// The value after this one in the same container.
    next: Option<usize>,
    children: usize,
    /// How many come before it in the same container.
    index: usize,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Object,
    Array,
    String,
    /// A number, a boolean or null.
    Other,
}

impl<'a> LintBody<'a> {
    /// Reads a body; the error says where it stops being JSON.
    pub(crate) fn read(text: &'a str) -> Result<Self, String> {
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| error.to_string())?;
        let mut body = Self { text, values: Vec::new() };
        // The containers that are open, each with its latest child; deeper ones are only counted.
        let mut open: Vec<(usize, Option<usize>)> = Vec::new();
        let mut deeper = 0usize;
        let mut key = None;
        for (at, token) in tokens(text) {
            let end = at + token.raw().len();
            let kind = match token {
                Token::Key(_) => {
                    key = (deeper == 0).then_some(at..end);
                    continue;
                }
                Token::ObjectEnd | Token::ArrayEnd => {
                    if deeper > 0 {
                        deeper -= 1;
                    } else if let Some(value) = open.pop().and_then(|(own, _)| body.values.get_mut(own)) {
                        value.end = end;
                    }
                    continue;
                }
                Token::ObjectStart => ValueKind::Object,
                Token::ArrayStart => ValueKind::Array,
                Token::String(_) => ValueKind::String,
                Token::Number(_) | Token::True | Token::False | Token::Null => ValueKind::Other,
            };
            let opens = matches!(kind, ValueKind::Object | ValueKind::Array);
            if deeper > 0 || open.len() >= DEPTH {
                deeper += usize::from(opens);
                continue;
            }
            let own = body.values.len();
            let (parent, index) = match open.last_mut() {
                Some((parent, latest)) => (*parent, body.adopt(own, *parent, latest.replace(own))),
                None => (own, 0),
            };
            let key = key.take();
            body.values.push(BodyValue { start: at, end, kind, key, parent, next: None, children: 0, index });
            if opens {
                open.push((own, None));
            }
        }
        Ok(body)
    }

    /// Adds a value behind the latest child of its container, and returns its index.
    fn adopt(&mut self, own: usize, parent: usize, latest: Option<usize>) -> usize {
        if let Some(value) = latest.and_then(|latest| self.values.get_mut(latest)) {
            value.next = Some(own);
        }
        let Some(value) = self.values.get_mut(parent) else { return 0 };
        value.children += 1;
        value.children - 1
    }

    /// The value that is the whole body.
    pub(crate) fn root(&self) -> Option<BodyNode<'_>> {
        self.node(0)
    }

    /// The value of a number that [`BodyNode::number`] gave.
    pub(crate) fn node(&self, number: usize) -> Option<BodyNode<'_>> {
        self.values.get(number).map(|value| BodyNode { body: self, number, value })
    }

    /// The text of the body.
    pub(crate) fn text(&self) -> &str {
        self.text
    }
}

/// A value in its body.
#[derive(Clone, Copy)]
pub(crate) struct BodyNode<'b> {
    body: &'b LintBody<'b>,
    number: usize,
    value: &'b BodyValue,
}

impl<'b> BodyNode<'b> {
    /// The number that identifies the value in its body.
    pub(crate) fn number(self) -> usize {
        self.number
    }

    pub(crate) fn kind(self) -> ValueKind {
        self.value.kind
    }

    /// The bytes the value takes.
    pub(crate) fn range(self) -> Range<usize> {
        self.value.start..self.value.end
    }

    /// The bytes the value takes in its container, its name included.
    pub(crate) fn entry(self) -> Range<usize> {
        self.value.key.as_ref().map_or(self.value.start, |key| key.start)..self.value.end
    }

    /// The value's text.
    pub(crate) fn raw(self) -> &'b str {
        self.body.text.get(self.range()).unwrap_or_default()
    }

    /// The container, or the value itself if it is the whole body.
    pub(crate) fn parent(self) -> BodyNode<'b> {
        self.body.node(self.value.parent).unwrap_or(self)
    }

    /// How many values the container holds.
    pub(crate) fn len(self) -> usize {
        self.value.children
    }

    pub(crate) fn is_null(self) -> bool {
        self.raw() == "null"
    }

    /// The values in the container, in order; none if there are none or it lies too deep.
    pub(crate) fn children(self) -> impl Iterator<Item = BodyNode<'b>> {
        let first = (self.value.children > 0).then_some(self.number + 1);
        std::iter::successors(first.and_then(|number| self.body.node(number)), |child| {
            child.value.next.and_then(|next| child.body.node(next))
        })
    }

    /// The elements, if it is an array.
    pub(crate) fn items(self) -> impl Iterator<Item = BodyNode<'b>> {
        self.children().take(if self.kind() == ValueKind::Array { usize::MAX } else { 0 })
    }

    /// The member of that name; the last one if there are several.
    pub(crate) fn get(self, name: &str) -> Option<BodyNode<'b>> {
        if self.kind() != ValueKind::Object {
            return None;
        }
        self.children().filter(|member| member.is_named(name)).last()
    }

    /// The member with one of two names: protocol buffers allow two spellings.
    pub(crate) fn get_either(self, name: &str, other: &str) -> Option<BodyNode<'b>> {
        self.get(name).or_else(|| self.get(other))
    }

    /// Whether it is a member of that name.
    pub(crate) fn is_named(self, name: &str) -> bool {
        let key = self.value.key.clone().and_then(|key| self.body.text.get(key)).unwrap_or_default();
        if key.contains('\\') {
            return decode(key) == name;
        }
        key.strip_prefix('"').and_then(|key| key.strip_suffix('"')) == Some(name)
    }

    /// The decoded text, if it is a string.
    pub(crate) fn text(self) -> Option<Cow<'b, str>> {
        (self.kind() == ValueKind::String).then(|| decode(self.raw()))
    }

    /// The decoded text of a member.
    pub(crate) fn text_of(self, name: &str) -> Option<Cow<'b, str>> {
        self.get(name).and_then(Self::text)
    }

    /// The member `type`; empty if there is none.
    pub(crate) fn type_name(self) -> Cow<'b, str> {
        self.text_of("type").unwrap_or_default()
    }

    /// Whether it is the empty string.
    pub(crate) fn is_empty_text(self) -> bool {
        self.raw() == "\"\""
    }

    /// Whether it is a string of nothing but white space. Stops at the first visible character.
    pub(crate) fn is_blank_text(self) -> bool {
        let Some(mut rest) = self.raw().strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) else {
            return false;
        };
        loop {
            rest = rest.trim_start();
            let escapes = ["\\n", "\\t", "\\r", "\\f"];
            match escapes.iter().find_map(|escape| rest.strip_prefix(escape)) {
                Some(behind) => rest = behind,
                None => return rest.is_empty(),
            }
        }
    }

    /// Where it is, as a JSON path.
    pub(crate) fn path(self) -> String {
        let mut steps = Vec::new();
        let mut node = self;
        while node.value.parent != node.number {
            steps.push(match node.value.key.clone().and_then(|key| self.body.text.get(key)) {
                Some(key) => member_step(&decode(key)),
                None => format!("[{}]", node.value.index),
            });
            node = node.parent();
        }
        steps.push("$".to_owned());
        steps.reverse();
        steps.concat()
    }
}

/// A step of a path: with a dot if the name allows it, else in brackets.
fn member_step(name: &str) -> String {
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain { format!(".{name}") } else { format!("[{}]", crate::json::encode(name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_place() {
        let body = LintBody::read(r#"{"a": [1, {"b c": "x"}], "a": [true], "\u0062": null}"#).unwrap();
        let root = body.root().unwrap();
        assert_eq!((root.len(), root.kind(), root.path().as_str()), (3, ValueKind::Object, "$"));
        assert_eq!(root.get("a").unwrap().raw(), "[true]");
        assert!(root.get("b").unwrap().is_null());
        let first = root.children().next().unwrap();
        let inner = first.items().nth(1).unwrap().get("b c").unwrap();
        assert_eq!((inner.raw(), inner.path().as_str()), ("\"x\"", "$.a[1][\"b c\"]"));
        assert_eq!(inner.parent().parent().raw(), first.raw());
        assert_eq!(&body.text()[inner.entry()], r#""b c": "x""#);
    }

    #[test]
    fn depth_is_no_danger_and_hides_nothing_beside_it() {
        let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
        let text = format!(r#"{{"deep":{deep},"beside":[1,2]}}"#);
        let body = LintBody::read(&text).unwrap();
        let root = body.root().unwrap();
        assert_eq!(root.get("deep").unwrap().raw(), deep);
        assert_eq!(root.get("beside").unwrap().items().count(), 2);
    }

    #[test]
    fn blank_text_is_seen_through_its_escapes() {
        let blank = |text: &str| LintBody::read(text).unwrap().root().unwrap().is_blank_text();
        assert!(blank(r#""""#) && blank(r#"" \n\t\r ""#));
        assert!(!blank(r#"" \\n""#) && !blank(r#""a""#) && !blank("null") && !blank("[]"));
    }

    #[test]
    fn what_is_no_json_is_an_error_that_says_where() {
        assert!(LintBody::read("{\"a\":").is_err_and(|error| error.contains("line 1")));
        assert!(LintBody::read("").is_err());
    }
}
