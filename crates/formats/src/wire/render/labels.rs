//! Ids of calls and names of tools, in the form that a provider requires.

use std::collections::{HashMap, HashSet};

use crate::wire_spec::Wire;

/// Makes ids that a provider takes, each different from the others.
pub(crate) struct CallIds {
    longest: usize,
    taken: HashSet<String>,
    /// How often a base was used, so that many equal ids stay cheap.
    asked: HashMap<String, u64>,
}

impl CallIds {
    pub(crate) fn new(wire: Wire) -> Self {
        Self { longest: wire.spec().longest_call_id, taken: HashSet::new(), asked: HashMap::new() }
    }

    /// An id as close to the source's own as possible.
    pub(crate) fn make(&mut self, own: Option<&str>) -> String {
        let base = plain(own.filter(|own| !own.is_empty()).unwrap_or("call"), self.longest, "");
        let asked = self.asked.entry(base.clone()).or_default();
        *asked += 1;
        let mut id = if *asked == 1 { base.clone() } else { numbered(&base, *asked, self.longest) };
        while !self.taken.insert(id.clone()) {
            *asked += 1;
            id = numbered(&base, *asked, self.longest);
        }
        id
    }
}

fn numbered(base: &str, number: u64, longest: usize) -> String {
    let suffix = format!("_{number}");
    let kept = base.get(..base.len().min(longest.saturating_sub(suffix.len()))).unwrap_or(base);
    format!("{kept}{suffix}")
}

/// The name of a tool, in the characters that the provider allows.
pub(crate) fn tool_name(wire: Wire, own: Option<&str>) -> String {
    let own = own.filter(|own| !own.is_empty()).unwrap_or("tool");
    let spec = wire.spec();
    let name = plain(own, spec.longest_tool_name, spec.tool_name_extra);
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if starts || !spec.tool_name_starts_with_letter { name } else { format!("_{name}") }
}

/// Letters, digits, `_`, `-` and `more` stay; anything else becomes `_`.
fn plain(own: &str, longest: usize, more: &str) -> String {
    let allowed =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-') || more.contains(letter);
    own.chars().take(longest).map(|letter| if allowed(letter) { letter } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kept_if_they_can_be_and_unique_in_any_case() {
        let mut ids = CallIds::new(Wire::Anthropic);
        let made: Vec<_> = ["a", "a", "a_2", "a|b", "a_b", ""].map(|own| ids.make(Some(own))).into();
        assert_eq!(made, ["a", "a_2", "a_2_2", "a_b", "a_b_2", "call"]);
        let long = "x".repeat(100);
        let mut ids = CallIds::new(Wire::OpenAiChat);
        assert_eq!(ids.make(Some(&long)).len(), 40);
        let second = ids.make(Some(&long));
        assert!(second.len() == 40 && second.ends_with("x_2"), "{second}");
    }

    #[test]
    fn names_are_in_the_providers_letters() {
        assert_eq!(tool_name(Wire::Anthropic, Some("mcp.files/read ü")), "mcp_files_read__");
        assert_eq!(tool_name(Wire::Gemini, Some("1.read")), "_1.read");
        assert_eq!(tool_name(Wire::OpenAiChat, Some(&"n".repeat(90))).len(), 64);
        assert_eq!(tool_name(Wire::OpenAiChat, None), "tool");
    }
}
