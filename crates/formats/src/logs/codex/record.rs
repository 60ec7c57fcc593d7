//! The records of a rollout, read in one pass: known members stay raw until they are needed, others are skipped.

use secateur::Usage;

use crate::json::{Object, OptionalRaw, Raw, object, raw_fields};

/// The text of instructions: `{text}`, or a string.
pub(super) fn instructions(raw: Raw<'_>) -> Option<Raw<'_>> {
    let wrapped = object::<CodexInstructions<'_>>(raw.text()).ok()?;
    wrapped.map_or(Some(raw), |wrapped| wrapped.text).if_string()
}

/// Reads the usage. Codex counts cached tokens as input, and reasoning as output; the latter is kept, as on the
/// provider's bill.
pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = raw.object::<CodexTokens<'_>>()?;
    let cache_read = tokens.cached.count();
    Some(Usage {
        input: tokens.input.count().saturating_sub(cache_read),
        output: tokens.output.count(),
        cache_read,
        total: tokens.total.integer(),
        ..Usage::default()
    })
}

raw_fields! {
    pub(super) CodexRecord {
        timestamp: "timestamp", kind: "type",
        payload: "payload" => Object<CodexItem<'a>>
    }
    /// A payload: the members of all its kinds.
    pub(super) CodexItem { kind: "type", role: "role", content: "content", name: "name", arguments: "arguments", input: "input",
           call: "call_id", output: "output", summary: "summary", opaque: "encrypted_content", action: "action",
           tools: "tools", info: "info", turns: "num_turns", id: "id", session: "session_id", cwd: "cwd",
           version: "cli_version", model: "model", instructions: "base_instructions", message: "message",
           history: "replacement_history" }
    /// The system prompt.
    CodexInstructions { text: "text" }
    /// The usage in a `token_count`.
    pub(super) CodexInfo { total: "total_token_usage", last: "last_token_usage" }
    /// The usage of one call, or of all.
    CodexTokens { input: "input_tokens", cached: "cached_input_tokens", output: "output_tokens", total: "total_tokens" }
}
