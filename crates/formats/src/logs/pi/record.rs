//! The records of a log, read in one pass: known members stay raw until they are needed, others are skipped.

use secateur::Usage;

use crate::json::{Object, OptionalRaw, Raw, raw_fields};

/// Reads the usage; `None` if it is zero, as in a failed response.
pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = raw.object::<PiTokens<'_>>()?;
    let usage = Usage {
        input: tokens.input.count(),
        output: tokens.output.count(),
        cache_read: tokens.read.count(),
        cache_write: tokens.write.count(),
        total: tokens.total.integer(),
        ..Usage::default()
    };
    (usage.context() > 0).then_some(usage)
}

raw_fields! {
    pub(super) PiTokens { input: "input", output: "output", read: "cacheRead", write: "cacheWrite", total: "totalTokens" }
    pub(super) PiMessage { role: "role", content: "content", call: "toolCallId", tool: "toolName", error: "isError",
              output: "output", exit: "exitCode", hidden: "excludeFromContext", usage: "usage", model: "model",
              stop: "stopReason", time: "timestamp" }
    pub(super) PiBlock { kind: "type", text: "text", thinking: "thinking", id: "id", name: "name", arguments: "arguments" }
    /// OpenClaw's note about one result.
    pub(super) PiPruned { key: "key", mode: "mode" }
    pub(super) PiRecord {
        kind: "type", id: "id", parent: "parentId", time: "timestamp", content: "content", summary: "summary",
        kept_id: "firstKeptEntryId", kept_index: "firstKeptEntryIndex", custom: "customType", data: "data",
        version: "version", cwd: "cwd", title: "title", name: "name", model: "model", model_id: "modelId",
        message: "message" => Object<PiMessage<'a>>
    }
    /// OpenClaw's notes about the results that it no longer sends unchanged.
    pub(super) PiPruning { results: "prunedToolResults" => Vec<Object<PiPruned<'a>>> }
}
