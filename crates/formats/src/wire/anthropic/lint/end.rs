//! How a request to Anthropic may end.
//!
//! Older models go on from a message of their own at the end. From version 4.6 on they do not: "This model does not support
//! assistant message prefill. The conversation must end with a user message." A message that ends with anything but text
//! or thinking is a turn that the provider paused, and is sent back to go on with it.

use crate::wire::lint::body::{BodyNode, ValueKind};
use crate::wire::lint::nothing_to_answer;
use crate::wire::lint::report::FindingsReport;

/// The first version whose models do not go on from their own text.
const FIRST_WITHOUT_PREFILL: (u32, u32) = (4, 6);

/// Reports a message of the model at the end, if the model is known to refuse it.
pub(super) fn check(root: BodyNode<'_>, list: BodyNode<'_>, report: &mut FindingsReport) {
    let model = root.text_of("model").unwrap_or_default();
    if version(&model).is_none_or(|version| version < FIRST_WITHOUT_PREFILL) {
        return;
    }
    let last = list.items().last().filter(|last| last.text_of("role").as_deref() == Some("assistant"));
    let Some(last) = last else { return };
    let ends_in_text = last.get("content").is_none_or(|content| match content.kind() {
        ValueKind::Array => content.items().last().is_none_or(|block| {
            matches!(block.type_name().as_ref(), "text" | "thinking" | "redacted_thinking")
        }),
        _ => true,
    });
    if ends_in_text {
        nothing_to_answer(report, last);
    }
}

/// The version in the name of a model: `claude-opus-4-6` is 4.6, `claude-opus-4-20250514` is 4.0; none without one.
fn version(model: &str) -> Option<(u32, u32)> {
    let (_, name) = model.split_once("claude-")?;
    let words: Vec<&str> = name.split(['-', '.', '@', ':']).collect();
    let number = |word: &&str| word.parse::<u32>().ok().filter(|_| word.len() <= 2);
    let at = words.iter().position(|word| number(word).is_some())?;
    let major = words.get(at).and_then(number)?;
    Some((major, words.get(at + 1).and_then(number).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names() {
        for (model, expected) in [
            ("claude-opus-4-6", Some((4, 6))),
            ("anthropic.claude-sonnet-4-6-v1:0", Some((4, 6))),
            ("anthropic/claude-opus-4.7", Some((4, 7))),
            ("claude-sonnet-5", Some((5, 0))),
            ("claude-opus-4-20250514", Some((4, 0))),
            ("claude-sonnet-4-5@20250929", Some((4, 5))),
            ("claude-3-5-haiku-latest", Some((3, 5))),
            ("claude-preview", None),
            ("glm-5", None),
        ] {
            assert_eq!(version(model), expected, "{model}");
        }
    }
}
