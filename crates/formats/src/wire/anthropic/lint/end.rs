//! How a request to Anthropic may end.
//!
//! Older models go on from a message of their own at the end. From version 4.6 on they do not: "This model does not support
//! assistant message prefill. The conversation must end with a user message." A message that ends with anything but text
//! or thinking is a turn that the provider paused, and is sent back to go on with it.

use secateur::claude_version;

use crate::wire::lint::body::{BodyNode, ValueKind};
use crate::wire::lint::nothing_to_answer;
use crate::wire::lint::report::FindingsReport;

/// The first version whose models do not go on from their own text.
const FIRST_WITHOUT_PREFILL: (u32, u32) = (4, 6);

/// Reports a message of the model at the end, if the model is known to refuse it.
pub(super) fn check(root: BodyNode<'_>, list: BodyNode<'_>, report: &mut FindingsReport) {
    let model = root.text_of("model").unwrap_or_default();
    if claude_version(&model).is_none_or(|version| version < FIRST_WITHOUT_PREFILL) {
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
