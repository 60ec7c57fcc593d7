//! An input: what a tool call says.
//!
//! Agents write inputs as JSON, as JSON within a string of JSON, or as plain text such as a patch, and logs keep them
//! as they came. Whatever the shape, the strings in it are what the model wrote; the keys are the tool's.

use std::borrow::Cow;

use serde_json::Value;

use super::words;

/// The strings of a tool call's input.
#[derive(Clone, Debug, Default)]
pub(super) struct Input<'a> {
    texts: Vec<Cow<'a, str>>,
    /// What an edit says it found: texts whole, and patches of which some lines are old.
    old: Vec<Cow<'a, str>>,
    patches: Vec<Cow<'a, str>>,
}

impl<'a> Input<'a> {
    /// Reads an input; what is no JSON is one string.
    pub(super) fn of(text: &'a str, is_edit: bool) -> Self {
        let mut input = Self::default();
        let start = text.trim_start();
        let value =
            start.starts_with(['{', '[', '"']).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        match value {
            Some(value) => input.take(value, is_edit, false),
            None => input.keep(Cow::Borrowed(text), is_edit, false),
        }
        input
    }

    fn take(&mut self, value: Value, is_edit: bool, is_old: bool) {
        match value {
            Value::String(text) => {
                let inner =
                    text.trim_start().starts_with(['{', '[']).then(|| serde_json::from_str(&text).ok());
                match inner.flatten() {
                    Some(value @ (Value::Object(_) | Value::Array(_))) => self.take(value, is_edit, is_old),
                    _ => self.keep(Cow::Owned(text), is_edit, is_old),
                }
            }
            Value::Array(values) => values.into_iter().for_each(|value| self.take(value, is_edit, is_old)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    let is_old = is_old || is_edit && (key.starts_with("old") || key == "search");
                    self.take(value, is_edit, is_old);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn keep(&mut self, text: Cow<'a, str>, is_edit: bool, is_old: bool) {
        if is_old {
            self.old.push(text);
        } else if is_edit && text.contains("*** Begin Patch") {
            self.patches.push(text);
        } else {
            self.texts.push(text);
        }
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().chain(&self.old).chain(&self.patches).map(|text| &**text)
    }

    /// The words in it.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.all().flat_map(words::words)
    }

    /// The names of files in it that are made of several words; in what was said, such names anywhere.
    pub(super) fn file_names(&self) -> impl Iterator<Item = &str> {
        self.all().flat_map(words::hyphened).filter_map(|(name, is_path)| is_path.then_some(name))
    }

    pub(super) fn hyphened(&self) -> impl Iterator<Item = &str> {
        self.all().flat_map(words::hyphened).map(|(name, _)| name)
    }

    /// The lines in it.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        let patched = |text| str::lines(text).filter_map(|line| words::telling(line.strip_prefix('+')?));
        let plain = self.texts.iter().chain(&self.old).flat_map(|text| words::lines(text));
        plain.chain(self.patches.iter().flat_map(move |text| patched(text)).chain(self.old_lines()))
    }

    /// The lines that an edit says it found: those it replaces and, in a patch, those around them.
    pub(super) fn old_lines(&self) -> impl Iterator<Item = &str> {
        let found = |text| str::lines(text).filter_map(|line| words::telling(line.strip_prefix(['-', ' '])?));
        let old = self.old.iter().flat_map(|text| words::lines(text));
        old.chain(self.patches.iter().flat_map(move |text| found(text)))
    }
}
