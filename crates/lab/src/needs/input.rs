//! An input: what a tool call says.
//!
//! Agents write inputs as JSON, as JSON within a string of JSON, or as plain text such as a patch, and logs keep them
//! as they came. In all of them, the strings are what the model wrote; the keys are the tool's.

use std::borrow::Cow;

use secateur::{PartKind, ToolClass};
use serde_json::Value;

use super::words;
use crate::trace::Trace;

/// How a patch begins that is written as plain text.
const PATCH: &str = "*** Begin Patch";

/// The strings of a tool call's input.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolInput<'a> {
    /// What an edit says it found.
    old: Vec<Cow<'a, str>>,
    /// Patches of an edit: some of their lines are old.
    patches: Vec<Cow<'a, str>>,
    /// Everything else.
    texts: Vec<Cow<'a, str>>,
}

/// The inputs of a trace's tool calls; nothing for its other parts.
pub(super) fn all(trace: &Trace) -> Vec<Option<ToolInput<'_>>> {
    let read = |(part, text)| {
        let is_edit = trace.outline.class(part) == ToolClass::Edit;
        (trace.outline.kind(part) == PartKind::Call).then(|| ToolInput::of(text, is_edit))
    };
    trace.outline.parts().zip(trace.texts.iter().map(String::as_str)).map(read).collect()
}

impl<'a> ToolInput<'a> {
    /// Reads an input; text that is not JSON is one string.
    pub(super) fn of(text: &'a str, is_edit: bool) -> Self {
        let mut input = Self::default();
        match parse(text, &['{', '[', '"']) {
            Some(value) => input.take(value, is_edit, false),
            None => input.keep(Cow::Borrowed(text), is_edit, false),
        }
        input
    }

    fn take(&mut self, value: Value, is_edit: bool, is_old: bool) {
        match value {
            Value::String(text) => match parse(&text, &['{', '[']) {
                Some(inner) => self.take(inner, is_edit, is_old),
                None => self.keep(Cow::Owned(text), is_edit, is_old),
            },
            Value::Array(values) => values.into_iter().for_each(|value| self.take(value, is_edit, is_old)),
            // All agents call it `old`-something: `old_string`, `oldText`, `old_str`.
            Value::Object(fields) => fields.into_iter().for_each(|(key, value)| {
                self.take(value, is_edit, is_old || is_edit && key.starts_with("old"));
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn keep(&mut self, text: Cow<'a, str>, is_edit: bool, is_old: bool) {
        if is_old {
            self.old.push(text);
        } else if is_edit && text.contains(PATCH) {
            self.patches.push(text);
        } else {
            self.texts.push(text);
        }
    }

    fn strings(&self) -> impl Iterator<Item = &str> {
        self.old.iter().chain(&self.patches).chain(&self.texts).map(|text| &**text)
    }

    /// All names in it.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.strings().flat_map(words::names)
    }

    /// The names that it uses.
    pub(super) fn used_names(&self) -> impl Iterator<Item = &str> {
        self.strings().flat_map(words::used_names)
    }

    /// All lines in it, those of patches without their signs.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        let plain = self.old.iter().chain(&self.texts).flat_map(|text| words::lines(text));
        plain.chain(self.patches.iter().flat_map(|text| signed(text, &['+', '-', ' '])))
    }

    /// The lines that an edit says it found: those that it replaces and, in a patch, those around them.
    pub(super) fn old_lines(&self) -> impl Iterator<Item = &str> {
        let old = self.old.iter().flat_map(|text| words::lines(text));
        old.chain(self.patches.iter().flat_map(|text| signed(text, &['-', ' '])))
    }
}

/// A text as JSON if it starts like it and is.
fn parse(text: &str, starts: &[char]) -> Option<Value> {
    text.trim_start().starts_with(starts).then(|| serde_json::from_str(text).ok()).flatten()
}

/// The lines of a patch that have one of these signs.
fn signed<'t>(text: &'t str, signs: &'t [char]) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| words::specific(line.strip_prefix(signs)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        ToolInput::of(text, false).names().map(str::to_owned).collect()
    }

    #[test]
    fn strings_are_found_in_whatever_shape_they_come() {
        assert_eq!(
            names(r#"{"command":"first_name\nsecond_name","number":1}"#),
            ["first_name", "second_name"]
        );
        assert_eq!(names(r#""{\"command\":[\"first_name\"]}""#), ["first_name"]);
        assert_eq!(names("grep first_name"), ["first_name"]);
        assert_eq!(names("{ echo first_name; }"), ["first_name"]);
    }

    #[test]
    fn old_lines_are_those_that_an_edit_found() {
        let old = |text| ToolInput::of(text, true).old_lines().map(str::to_owned).collect::<Vec<_>>();
        let edit =
            r#"{"path":"a/long.rs","edits":[{"oldText":"  let one = 1;\n}","newText":"let two = 22;"}]}"#;
        assert_eq!(old(edit), ["let one = 1;"]);
        let patch =
            "*** Begin Patch\n*** Update File: a.rs\n@@\n context of it\n-let one = 1;\n+let two = 22;\n";
        assert_eq!(old(patch), ["context of it", "let one = 1;"]);
        assert_eq!(ToolInput::of(edit, false).old_lines().count(), 0);
    }
}
