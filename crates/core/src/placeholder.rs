//! Placeholders: the text in place of cut content, which says what it was, how large, and how to recall it.
//!
//! A profile's template has names in braces: `{tool}`, `{subject}`, `{size}`, `{handle}`, `{excerpt}`. All of them depend
//! only on the result itself, so a cut always reads the same and the provider's cache stays warm. Handle and excerpt need
//! the text, which a plan never sees; they are filled in last, by the renderer.

use std::borrow::Cow;

use crate::excerpt::excerpt;
use crate::outline::{Outline, PartIx};

/// The name of the handle.
const HANDLE: &str = "{handle}";

/// How many letters a handle has, unless another text has the same: then it is longer.
pub const HANDLE_LETTERS: usize = 12;

/// The note after a trimmed text, if the placeholder has a handle.
const RECALL: &str = "\n[recall {handle} brings all of it back]";

/// The name of the excerpt.
pub(crate) const EXCERPT: &str = "{excerpt}";

/// The most characters of a subject: a command may be a whole script.
const SUBJECT: usize = 100;

/// Fills in what the outline knows; handle and excerpt stay.
///
/// ```
/// use secateur::{PartKind, Outline, PartFacts, Sizes};
///
/// let mut outline = Outline::default();
/// let sizes = Sizes { units: 5_000, ..Default::default() };
/// let part = outline.push_part(PartFacts {
///     kind: PartKind::Result,
///     tool: Some("read"),
///     subject: Some("/src/main.rs"),
///     sizes,
///     ..Default::default()
/// });
/// let text = secateur::fill_placeholder("[{tool} {subject}: {size} characters, recall {handle}]", &outline, part);
/// assert_eq!(text, "[read /src/main.rs: 5000 characters, recall {handle}]");
/// ```
pub fn fill_placeholder<'t>(template: &'t str, outline: &Outline, part: PartIx) -> Cow<'t, str> {
    if !template.contains('{') {
        return Cow::Borrowed(template);
    }
    let mut filled = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        filled.push_str(rest.get(..start).unwrap_or_default());
        rest = rest.get(start..).unwrap_or_default();
        let name = rest.find('}').and_then(|end| rest.get(..=end)).unwrap_or_default();
        match name {
            "{tool}" => filled.push_str(&shown(outline.tool(part).unwrap_or("tool"))),
            "{subject}" => filled.push_str(&shown(outline.subject(part).unwrap_or("result"))),
            "{size}" => filled.push_str(&outline.units(part).to_string()),
            _ => {
                // An unknown name, or one that is filled in later.
                let length = name.len().max(1);
                filled.push_str(rest.get(..length).unwrap_or_default());
                rest = rest.get(length..).unwrap_or_default();
                continue;
            }
        }
        rest = rest.get(name.len()..).unwrap_or_default();
    }
    filled.push_str(rest);
    Cow::Owned(filled)
}

/// Fills in the handle. This comes before the excerpt, which may contain anything.
///
/// ```
/// assert_eq!(secateur::fill_handle("[cut; recall {handle}]", || "kbqzwmtahdue".into()), "[cut; recall kbqzwmtahdue]");
/// ```
pub fn fill_handle(placeholder: &str, handle: impl FnOnce() -> String) -> Cow<'_, str> {
    match placeholder.contains(HANDLE) {
        true => Cow::Owned(placeholder.replace(HANDLE, &handle())),
        false => Cow::Borrowed(placeholder),
    }
}

/// The note after a trimmed text on how to recall all of it; empty if the placeholder has no handle. The handle is not
/// filled in yet.
///
/// ```
/// assert_eq!(secateur::recall_note("[cut; recall {handle}]"), "\n[recall {handle} brings all of it back]");
/// assert_eq!(secateur::recall_note("[cut]"), "");
/// ```
pub fn recall_note(placeholder: &str) -> &'static str {
    if placeholder.contains(HANDLE) { RECALL } else { "" }
}

/// Fills in the excerpt of the text that was cut.
///
/// ```
/// let text = "pub fn main() {}\n".repeat(100);
/// assert!(secateur::fill_excerpt("[cut]{excerpt}", &text).starts_with("[cut]\npub fn main() {}\n"));
/// assert_eq!(secateur::fill_excerpt("[cut]{excerpt}", "short"), "[cut]");
/// ```
pub fn fill_excerpt<'t>(placeholder: &'t str, text: &str) -> Cow<'t, str> {
    if !placeholder.contains(EXCERPT) {
        return Cow::Borrowed(placeholder);
    }
    let excerpt = excerpt(text);
    let excerpt = if excerpt.is_empty() { excerpt } else { format!("\n{excerpt}") };
    Cow::Owned(placeholder.replace(EXCERPT, &excerpt))
}

/// The UTF-16 units of a placeholder whose handle has this many letters and whose excerpt has `excerpt` units.
pub(crate) fn placeholder_units(placeholder: &str, letters: usize, excerpt: u64) -> u64 {
    let units = |text: &str| {
        let names = text.matches(HANDLE).count();
        let others = text.encode_utf16().count() - names * HANDLE.len();
        (others + names * letters) as u64
    };
    match placeholder.split_once(EXCERPT) {
        None => units(placeholder),
        Some((before, after)) => units(before) + units(after) + excerpt + u64::from(excerpt > 0),
    }
}

/// A value on one line, of bounded length, and without braces, which would read as names.
fn shown(value: &str) -> String {
    let mut chars = value.lines().next().unwrap_or_default().chars();
    let mut shown: String = chars.by_ref().take(SUBJECT).filter(|sign| !matches!(sign, '{' | '}')).collect();
    if chars.next().is_some() || value.lines().nth(1).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PartFacts, PartKind, Sizes};

    fn outline(subject: &str) -> (Outline, PartIx) {
        let mut outline = Outline::default();
        let sizes = Sizes { units: 9, ..Sizes::default() };
        let facts =
            PartFacts { kind: PartKind::Result, subject: Some(subject), sizes, ..PartFacts::default() };
        let part = outline.push_part(facts);
        (outline, part)
    }

    #[test]
    fn unknown_names_and_stray_braces_stay() {
        let (outline, part) = outline("x");
        let fill = |template| fill_placeholder(template, &outline, part).into_owned();
        assert_eq!(fill("{a} {size} { {excerpt} }{"), "{a} 9 { {excerpt} }{");
        assert_eq!(fill("no names"), "no names");
    }

    #[test]
    fn a_subject_cannot_ask_for_an_excerpt_or_run_over() {
        let (outline, part) = outline("echo {excerpt}\nmore");
        assert_eq!(fill_placeholder("[{subject}]", &outline, part), "[echo excerpt…]");
        let (outline, part) = self::outline(&"x".repeat(300));
        assert_eq!(fill_placeholder("{subject}", &outline, part).chars().count(), SUBJECT + 1);
    }

    #[test]
    fn its_length_is_known_without_the_text() {
        let text = "def a():\n".repeat(200);
        let length = excerpt(&text).encode_utf16().count() as u64;
        let filled = fill_excerpt("[cut]{excerpt}!", &text);
        assert_eq!(
            placeholder_units("[cut]{excerpt}!", HANDLE_LETTERS, length),
            filled.encode_utf16().count() as u64
        );
        assert_eq!(placeholder_units("[cut]{excerpt}", HANDLE_LETTERS, 0), 5);
        let named = fill_handle("[é {handle}]{excerpt}", || "kbqzwmtahdue".to_owned()).into_owned();
        let filled = fill_excerpt(&named, &text).encode_utf16().count() as u64;
        assert_eq!(placeholder_units("[é {handle}]{excerpt}", HANDLE_LETTERS, length), filled);
    }
}
