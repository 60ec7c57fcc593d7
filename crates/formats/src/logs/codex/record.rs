//! The records of a rollout, read in one pass: known members stay raw until they are needed, others are skipped.

use secateur::Usage;

use crate::json::Raw;
use crate::json::fields::{object, raw_fields};

/// The text of instructions: `{text}`, or a string.
pub(super) fn instructions(raw: Raw<'_>) -> Option<Raw<'_>> {
    let wrapped = object::<CodexInstructions<'_>>(raw.text()).ok()?;
    wrapped.map_or(Some(raw), |wrapped| wrapped.text).filter(|text| text.is_string())
}

/// Reads the usage. Codex counts cached tokens as input, and reasoning as output; the latter is kept, as on the
/// provider's bill.
pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = raw.object::<CodexTokens<'_>>()?;
    let number = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_i64).unwrap_or(0);
    let cache_read = number(tokens.cached);
    Some(Usage {
        input: number(tokens.input).saturating_sub(cache_read),
        output: number(tokens.output),
        cache_read,
        total: tokens.total.and_then(Raw::as_i64),
        ..Usage::default()
    })
}

raw_fields!(
    /// A line.
    pub(super) CodexRecord {
        timestamp: "timestamp", kind: "type"
    }
    objects { payload: "payload" => CodexItem }
    lists {}
);

raw_fields!(
    /// A payload: the members of all its kinds.
    pub(super) CodexItem { kind: "type", role: "role", content: "content", name: "name", arguments: "arguments", input: "input",
           call: "call_id", output: "output", summary: "summary", opaque: "encrypted_content", action: "action",
           tools: "tools", info: "info", turns: "num_turns", id: "id", session: "session_id", cwd: "cwd",
           version: "cli_version", model: "model", instructions: "base_instructions", message: "message",
           history: "replacement_history" }
);
raw_fields!(
    /// The system prompt.
    CodexInstructions { text: "text" }
);
raw_fields!(
    /// The usage in a `token_count`.
    pub(super) CodexInfo { total: "total_token_usage", last: "last_token_usage" }
);
raw_fields!(
    /// The usage of one call, or of all.
    CodexTokens { input: "input_tokens", cached: "cached_input_tokens", output: "output_tokens", total: "total_tokens" }
);
