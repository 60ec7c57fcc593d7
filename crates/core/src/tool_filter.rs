//! Which tools' results a policy may cut: allow and deny lists with `*` wildcards.
//!
//! Deny wins; an empty allow list allows everything. `*` matches any characters except line ends, as in the regular
//! expressions that the founding systems build from their patterns. Case folding differs between systems and versions.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::names::{Name, Names};

/// How names and patterns are normalised before they are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fold {
    /// As they are.
    #[default]
    Exact,
    /// In lower case.
    Lower,
    /// Without white space around them and in lower case.
    TrimLower,
}

/// Allow and deny lists over tool names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolFilter {
    /// Only these tools; all if empty.
    pub allow: Vec<String>,
    /// Never these tools.
    pub deny: Vec<String>,
    /// How names and patterns are compared.
    pub fold: Fold,
}

impl ToolFilter {
    /// Whether results of the tool `name` may be cut.
    ///
    /// ```
    /// let tools = secateur::ToolFilter { deny: vec!["mcp.*".into()], ..Default::default() };
    /// assert!(tools.allows("bash"));
    /// assert!(!tools.allows("mcp.search"));
    /// ```
    pub fn allows(&self, name: &str) -> bool {
        let name = self.folded(name);
        if self.patterns(&self.deny).any(|pattern| matches(&pattern, &name)) {
            return false;
        }
        let mut allowed = self.patterns(&self.allow).peekable();
        allowed.peek().is_none() || allowed.any(|pattern| matches(&pattern, &name))
    }

    /// Patterns are trimmed in every fold, and blank ones do not count.
    fn patterns<'a>(&'a self, list: &'a [String]) -> impl Iterator<Item = Cow<'a, str>> {
        list.iter().map(|pattern| self.folded(trim(pattern))).filter(|pattern| !pattern.is_empty())
    }

    fn folded<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = if self.fold == Fold::TrimLower { trim(text) } else { text };
        let folded =
            self.fold == Fold::Exact || text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase());
        if folded { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) }
    }

    /// The result of [`allows`](Self::allows) for all names of a table, so that a scan can look it up by number.
    pub(crate) fn mask<'a>(&'a self, names: &'a Names) -> Mask<'a> {
        let mut mask = Mask { tools: self, names, bits: [0; MASK_WORDS], nameless: self.allows("") };
        for index in 0..names.len().min(MASK_WORDS * 64) {
            if self.allows(names.nth(index).unwrap_or_default()) {
                mask.bits[index / 64] |= 1 << (index % 64);
            }
        }
        mask
    }
}

/// Room for more tools than agents have; further names are matched each time.
const MASK_WORDS: usize = 4;

/// The result of [`ToolFilter::allows`] by name number, without allocation.
pub(crate) struct Mask<'a> {
    tools: &'a ToolFilter,
    names: &'a Names,
    bits: [u64; MASK_WORDS],
    nameless: bool,
}

impl Mask<'_> {
    /// All results in one word, one bit per name number modulo 64; none if there are too many names. The last bit is for
    /// parts without a tool, whose number has its last bits set.
    pub(crate) fn word(&self) -> Option<u64> {
        let [word, ..] = self.bits;
        (self.names.len() < 63).then_some(word | u64::from(self.nameless) << 63)
    }

    #[inline]
    pub(crate) fn allows(&self, name: Name) -> bool {
        let index = name.index();
        if let Some(word) = self.bits.get(index / 64) {
            return word >> (index % 64) & 1 == 1;
        }
        if name.is_some() {
            self.names.text(name).is_some_and(|name| self.tools.allows(name))
        } else {
            self.nameless
        }
    }
}

/// Whether the whole `name` matches the pattern.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    // Matching the middle pieces as far left as possible leaves the most for the rest.
    for piece in pieces {
        let Some(found) = rest.find(piece) else {
            return false;
        };
        if has_line_end(&rest[..found]) {
            return false;
        }
        rest = &rest[found + piece.len()..];
    }
    rest.strip_suffix(last).is_some_and(|gap| !has_line_end(gap))
}

fn has_line_end(text: &str) -> bool {
    text.contains(['\n', '\r', '\u{2028}', '\u{2029}'])
}

/// White space as JavaScript knows it: the byte order mark counts, the next-line control does not.
pub fn is_js_space(point: char) -> bool {
    point == '\u{FEFF}' || point.is_whitespace() && point != '\u{85}'
}

fn trim(text: &str) -> &str {
    text.trim_matches(is_js_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(allow: &[&str], deny: &[&str], fold: Fold) -> ToolFilter {
        let own = |list: &[&str]| list.iter().map(ToString::to_string).collect();
        ToolFilter { allow: own(allow), deny: own(deny), fold }
    }

    #[test]
    fn deny_wins_and_an_empty_allow_list_allows_all() {
        assert!(tools(&[], &[], Fold::Exact).allows("anything"));
        assert!(!tools(&["exec"], &["e*"], Fold::Exact).allows("exec"));
        assert!(!tools(&["read"], &[], Fold::Exact).allows("exec"));
        assert!(tools(&["  "], &[" \t"], Fold::Exact).allows("exec"), "blank patterns do not count");
    }

    #[test]
    fn a_star_matches_anything_but_a_line_end() {
        let all = |pattern: &str, name: &str| tools(&[pattern], &[], Fold::Exact).allows(name);
        assert!(all("a*b", "ab") && all("a*b", "axxb") && all("*b", "b") && all("a**b", "a-b"));
        assert!(!all("a*b", "a\nb") && all("*", "a\nb") && !all("**", "a\nb"));
        assert!(!all("a.b", "axb") && !all("aa*aa", "aaa") && all("*a*", "bab"));
    }

    #[test]
    fn folding_is_what_tells_the_versions_apart() {
        assert!(!tools(&["Exec"], &[], Fold::Exact).allows("exec"));
        assert!(tools(&["Exec"], &[], Fold::TrimLower).allows(" EXEC "));
        assert!(!tools(&[], &["skill"], Fold::Lower).allows("Skill"));
        assert!(tools(&[], &["skill"], Fold::Lower).allows(" skill "));
    }

    #[test]
    fn the_mask_agrees_beyond_its_own_size() {
        let rule = tools(&[], &["*7"], Fold::Exact);
        let mut names = Names::default();
        let all: Vec<Name> = (0..400).map(|n| names.intern(&format!("tool{n}"))).collect();
        let mask = rule.mask(&names);
        for (n, name) in all.into_iter().enumerate() {
            assert_eq!(mask.allows(name), n % 10 != 7);
        }
        assert!(mask.allows(Name::NONE));
        assert_eq!(mask.word(), None);
    }

    #[test]
    fn few_names_fit_into_one_word() {
        let rule = tools(&["tool1*"], &[], Fold::Exact);
        let mut names = Names::default();
        let all: Vec<Name> = (0..62).map(|n| names.intern(&format!("tool{n}"))).collect();
        let mask = rule.mask(&names);
        let word = mask.word().unwrap();
        for name in all.into_iter().chain([Name::NONE]) {
            assert_eq!(word >> (name.index() & 63) & 1 == 1, mask.allows(name));
        }
    }
}
