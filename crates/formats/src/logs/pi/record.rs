//! The records of a log, read in one pass: known members stay raw until they are needed, others are skipped.

use secateur::Usage;

use crate::json::Raw;
use crate::json::fields::raw_fields;

/// Reads the usage; `None` if it is zero, as in a failed response.
pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = raw.object::<PiTokens<'_>>()?;
    let number = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_i64).unwrap_or(0);
    let usage = Usage {
        input: number(tokens.input),
        output: number(tokens.output),
        cache_read: number(tokens.read),
        cache_write: number(tokens.write),
        total: tokens.total.and_then(Raw::as_i64),
        ..Usage::default()
    };
    (usage.context() > 0).then_some(usage)
}

raw_fields!(
    /// The usage.
    pub(super) PiTokens { input: "input", output: "output", read: "cacheRead", write: "cacheWrite", total: "totalTokens" }
);
raw_fields!(
    /// A message inside a record.
    pub(super) PiMessage { role: "role", content: "content", call: "toolCallId", tool: "toolName", error: "isError",
              output: "output", exit: "exitCode", hidden: "excludeFromContext", usage: "usage", model: "model",
              stop: "stopReason", time: "timestamp" }
);
raw_fields!(
    /// A block of a response.
    pub(super) PiBlock { kind: "type", text: "text", thinking: "thinking", id: "id", name: "name", arguments: "arguments" }
);
raw_fields!(
    /// OpenClaw's note about one result.
    pub(super) PiPruned { key: "key", mode: "mode" }
);

raw_fields!(
    /// A record.
    pub(super) PiRecord {
        kind: "type", id: "id", parent: "parentId", time: "timestamp", content: "content", summary: "summary",
        kept_id: "firstKeptEntryId", kept_index: "firstKeptEntryIndex", custom: "customType", data: "data",
        version: "version", cwd: "cwd", title: "title", name: "name", model: "model", model_id: "modelId"
    }
    objects { message: "message" => PiMessage }
    lists {}
);

raw_fields!(
    /// OpenClaw's notes about the results that it no longer sends unchanged.
    pub(super) PiPruning {}
    objects {}
    lists { results: "prunedToolResults" => PiPruned }
);
