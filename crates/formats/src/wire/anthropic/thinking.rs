//! What Anthropic's API offers for models that bind their signed thinking to everything before it: asking the provider to
//! clear tool results, asking it to drop thinking that is not valid any more, and what it reports about both.

use secateur::session::{ProviderClearing, ProviderReport};
use serde_json::{Value, json};

use crate::json::fields::{object, raw_fields};
use crate::json::{Edit, Raw, set_member};

/// The value of the `anthropic-beta` header that [`clear_results`] needs.
pub const CLEARING_BETA: &str = "context-management-2025-06-27";

/// The value of the `anthropic-beta` header that [`drop_invalid`] needs.
pub const BINDING_BETA: &str = "thinking-binding-controls-2026-08-01";

/// The edit of a request by which the provider clears tool results.
const CLEARING: &str = "clear_tool_uses_20250919";

/// What the member `thinking` of a request says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkingMember {
    /// Whether the model thinks.
    pub is_on: bool,
    /// What the client wants to happen to thinking that is not valid any more, if it says so.
    pub mismatch: Option<MismatchBehaviour>,
}

/// What a provider does with thinking that was made behind other messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MismatchBehaviour {
    /// It drops the block.
    DropBlock,
    /// It refuses the request.
    Error,
}

impl ThinkingMember {
    /// Reads the member `thinking` of a request.
    pub fn read(thinking: &str) -> Self {
        let thinking: Value = serde_json::from_str(thinking).unwrap_or_default();
        let mismatch =
            thinking.get("block_binding").map(|binding| match binding["prefix_mismatch_behavior"].as_str() {
                Some("drop_block") => MismatchBehaviour::DropBlock,
                _ => MismatchBehaviour::Error,
            });
        Self { is_on: thinking["type"].as_str().is_some_and(|kind| kind != "disabled"), mismatch }
    }
}

/// The edit of the member `thinking` of a request that asks the provider to drop invalid thinking.
pub fn drop_invalid(thinking: &str) -> Edit {
    let behaviour = r#"{"prefix_mismatch_behavior":"drop_block"}"#;
    set_member(thinking, 0..thinking.len(), "block_binding", behaviour)
}

/// The member `context_management` of a request that asks the provider to clear tool results.
pub fn clear_results(clearing: &ProviderClearing) -> String {
    format!("\"context_management\":{{\"edits\":[{}]}}", clearing_edit(clearing))
}

/// The edit of the member `context_management` of a request that asks for the same, behind what the client asks for; none
/// if it cannot be read.
pub fn clear_results_too(context_management: &str, clearing: &ProviderClearing) -> Option<Edit> {
    let (edit, all) = (clearing_edit(clearing), 0..context_management.len());
    if context_management == "null" {
        return Some(Edit { range: all, text: format!("{{\"edits\":[{edit}]}}") });
    }
    let member = object::<ContextManagement<'_>>(context_management).ok()??;
    let Some(edits) = member.edits.map(Raw::text).filter(|edits| *edits != "null") else {
        return Some(set_member(context_management, all, "edits", &format!("[{edit}]")));
    };
    let inside = edits.strip_prefix('[')?.strip_suffix(']')?;
    let end = (inside.as_ptr() as usize - context_management.as_ptr() as usize) + inside.len();
    let comma = if inside.trim_ascii().is_empty() { "" } else { "," };
    Some(Edit { range: end..end, text: format!("{comma}{edit}") })
}

raw_fields!(
    /// What a client asks the provider to do to its request.
    ContextManagement { edits: "edits" }
);

fn clearing_edit(clearing: &ProviderClearing) -> Value {
    let tokens = |value: u64| json!({ "type": "input_tokens", "value": value.max(1) });
    json!({
        "type": CLEARING,
        // A request has at least the tokens that are to be cleared, so it is always above this.
        "trigger": tokens(clearing.tokens / 2),
        "keep": { "type": "tool_uses", "value": clearing.keep },
        "clear_at_least": tokens(clearing.tokens / 4),
        "exclude_tools": clearing.exclude,
    })
}

/// A refusal that is about thinking, or about what was added for its sake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingRefusal {
    /// Thinking was made behind other messages. The first such block is in this message of the request, if it is named.
    Bound {
        /// The index of the message.
        message: Option<usize>,
    },
    /// The provider does not know [`drop_invalid`].
    NoDropping,
    /// The provider does not know [`clear_results`].
    NoClearing,
    /// The provider knows neither header.
    NoControls,
}

impl ThinkingRefusal {
    /// Reads the body of a response with status 400; none if it is about something else.
    pub fn read(body: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        let message = value.pointer("/error/message").and_then(Value::as_str).unwrap_or(body);
        if message.contains("bound to a different conversation") {
            let path = message.trim_start().strip_prefix("messages.");
            let number = path.and_then(|path| path.split('.').next());
            return Some(Self::Bound { message: number.and_then(|number| number.parse().ok()) });
        }
        if ["block_binding", BINDING_BETA].iter().any(|name| message.contains(name)) {
            return Some(Self::NoDropping);
        }
        if ["context_management", CLEARING, CLEARING_BETA].iter().any(|name| message.contains(name)) {
            return Some(Self::NoClearing);
        }
        message.contains("anthropic-beta").then_some(Self::NoControls)
    }
}

/// What a response says in its members `context_management` and `input_transformations`; none if it has neither.
pub(crate) fn read_report(
    context_management: Option<&Value>,
    transformations: Option<&Value>,
) -> Option<ProviderReport> {
    let applied = context_management.and_then(|member| member.get("applied_edits")).and_then(Value::as_array);
    let dropped = transformations.and_then(Value::as_array);
    if applied.is_none() && dropped.is_none() {
        return None;
    }
    let mut report = ProviderReport::default();
    for edit in applied.into_iter().flatten().filter(|edit| edit["type"] == CLEARING) {
        report.cleared_results += edit["cleared_tool_uses"].as_u64().unwrap_or(0);
        report.cleared_tokens += edit["cleared_input_tokens"].as_u64().unwrap_or(0);
    }
    let is_dropped = |change: &&Value| change["type"] == "thinking_dropped";
    report.dropped_blocks = dropped.into_iter().flatten().filter(is_dropped).count() as u64;
    Some(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(body: &str, edit: Edit) -> Value {
        let mut text = body.to_owned();
        text.replace_range(edit.range, &edit.text);
        serde_json::from_str(&text).unwrap()
    }

    fn clearing() -> ProviderClearing {
        ProviderClearing { results: 3, tokens: 8_000, keep: 5, exclude: vec!["skill".into()] }
    }

    #[test]
    fn clearing_is_asked_for_behind_what_the_client_asks_for() {
        let body: Value = serde_json::from_str(&format!("{{{}}}", clear_results(&clearing()))).unwrap();
        let edit = &body["context_management"]["edits"][0];
        assert_eq!(edit["type"], CLEARING);
        assert_eq!(edit["keep"], json!({ "type": "tool_uses", "value": 5 }));
        assert_eq!(edit["trigger"], json!({ "type": "input_tokens", "value": 4_000 }));
        assert_eq!(edit["clear_at_least"], json!({ "type": "input_tokens", "value": 2_000 }));
        assert_eq!(edit["exclude_tools"], json!(["skill"]));

        let own = r#"{"edits": [ {"type":"clear_thinking_20251015","keep":"all"} ],"x":1}"#;
        let member = apply(own, clear_results_too(own, &clearing()).unwrap());
        assert_eq!(member["edits"][0]["type"], "clear_thinking_20251015");
        assert_eq!(member["edits"][1]["type"], CLEARING);
        for own in ["{}", "null", r#"{"edits":[]}"#, r#"{"edits":null}"#] {
            let member = apply(own, clear_results_too(own, &clearing()).unwrap());
            assert_eq!(member["edits"][0]["type"], CLEARING, "{own}");
        }
        for other in [r#"{"edits":3}"#, "7"] {
            assert_eq!(clear_results_too(other, &clearing()), None, "{other}");
        }
    }

    #[test]
    fn what_the_client_wants_of_its_thinking_is_read() {
        let read = ThinkingMember::read;
        assert_eq!(read(r#"{"type":"adaptive"}"#), ThinkingMember { is_on: true, mismatch: None });
        assert!(!read(r#"{"type":"disabled"}"#).is_on && !read("null").is_on);
        let own = |behaviour: &str| {
            read(&format!(
                r#"{{"type":"enabled","block_binding":{{"prefix_mismatch_behavior":"{behaviour}"}}}}"#
            ))
            .mismatch
        };
        assert_eq!(own("drop_block"), Some(MismatchBehaviour::DropBlock));
        assert_eq!(own("error"), Some(MismatchBehaviour::Error));
        let member = r#"{"type":"adaptive"}"#;
        let edited = apply(member, drop_invalid(member));
        assert_eq!(edited["block_binding"]["prefix_mismatch_behavior"], "drop_block");
        assert_eq!(edited["type"], "adaptive");
    }

    #[test]
    fn refusals_about_thinking_are_told_from_others() {
        let error = |message: &str| {
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } })
                .to_string()
        };
        let read = |message: &str| ThinkingRefusal::read(&error(message));
        let bound = "messages.17.content.0: Invalid `signature` in `thinking` block. The block is bound to a different \
                     conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \
                     \"drop_block\". Content before this block differs from when it was created, first at `messages.0.content.0`.";
        assert_eq!(read(bound), Some(ThinkingRefusal::Bound { message: Some(17) }));
        assert_eq!(
            read("thinking.adaptive.block_binding: Extra inputs are not permitted"),
            Some(ThinkingRefusal::NoDropping)
        );
        assert_eq!(
            read("context_management: Extra inputs are not permitted"),
            Some(ThinkingRefusal::NoClearing)
        );
        assert_eq!(
            read("Unexpected value(s) `context-management-2025-06-27` for the `anthropic-beta` header"),
            Some(ThinkingRefusal::NoClearing)
        );
        assert_eq!(read("prompt is too long: 210000 tokens > 200000 maximum"), None);
        assert_eq!(ThinkingRefusal::read("no JSON"), None);
    }

    #[test]
    fn what_the_provider_did_is_read() {
        let management = json!({ "applied_edits": [
            { "type": CLEARING, "cleared_tool_uses": 8, "cleared_input_tokens": 50_000 },
            { "type": "clear_thinking_20251015", "cleared_thinking_turns": 3 },
        ] });
        let dropped = json!([{ "type": "thinking_dropped", "path": "messages.1.content.0" }]);
        let edits = read_report(Some(&management), Some(&dropped)).unwrap();
        assert_eq!((edits.cleared_results, edits.cleared_tokens, edits.dropped_blocks), (8, 50_000, 1));
        assert_eq!(read_report(None, Some(&json!([]))), Some(ProviderReport::default()));
        assert_eq!(read_report(None, None), None);
    }
}
