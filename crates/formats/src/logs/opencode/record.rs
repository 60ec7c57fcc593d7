//! The records of a session: known members stay raw until they are needed, others are skipped.

use secateur::Usage;

use crate::json::Raw;
use crate::json::fields::raw_fields;

raw_fields!(
    /// A message's `info`.
    pub(super) OpenCodeInfo { id: "id", role: "role", parent: "parentID", summary: "summary", finish: "finish", error: "error",
           time: "time", tokens: "tokens", model: "modelID" }
);
raw_fields!(
    /// A tool part's `state`.
    pub(super) OpenCodeState { status: "status", input: "input", output: "output", error: "error", time: "time",
            attachments: "attachments", metadata: "metadata" }
);
raw_fields!(
    /// What a tool shows to the user beside its output.
    pub(super) OpenCodeMetadata { exit: "exit" }
);
raw_fields!(
    /// A session's `info`.
    pub(super) OpenCodeHead { info: "info" }
);
raw_fields!(
    /// The session's own description.
    pub(super) OpenCodeSessionInfo { id: "id", title: "title", version: "version", directory: "directory", model: "model" }
);
raw_fields!(
    /// A model by its names.
    pub(super) OpenCodeModel { id: "id" }
);
raw_fields!(
    /// A `time`, of a message or of a tool part.
    pub(super) OpenCodeTime { created: "created", compacted: "compacted" }
);
raw_fields!(
    /// The usage.
    pub(super) OpenCodeTokens { input: "input", output: "output", reasoning: "reasoning", total: "total", cache: "cache" }
);
raw_fields!(
    /// The usage of the cache.
    pub(super) OpenCodeCache { read: "read", write: "write" }
);

/// Reads the usage: `{input, output, reasoning, total?, cache: {read, write}}`.
pub(in crate::logs) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = raw.object::<OpenCodeTokens<'_>>()?;
    let cache = tokens.cache.and_then(Raw::object::<OpenCodeCache<'_>>).unwrap_or_default();
    let number = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_i64);
    Some(Usage {
        input: number(tokens.input).unwrap_or(0),
        output: number(tokens.output).unwrap_or(0),
        reasoning: number(tokens.reasoning).unwrap_or(0),
        cache_read: number(cache.read).unwrap_or(0),
        cache_write: number(cache.write).unwrap_or(0),
        total: number(tokens.total),
        ..Usage::default()
    })
}

raw_fields!(
    /// A message.
    pub(super) OpenCodeMessage {}
    objects { info: "info" => OpenCodeInfo }
    lists { parts: "parts" => OpenCodePart }
);
raw_fields!(
    /// A part.
    pub(super) OpenCodePart {
        id: "id", kind: "type", text: "text", ignored: "ignored", synthetic: "synthetic", url: "url", mime: "mime",
        tool: "tool", call: "callID", tail: "tail_start_id"
    }
    objects { state: "state" => OpenCodeState }
    lists {}
);

impl OpenCodePart<'_> {
    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.and_then(Raw::as_str).as_deref() == Some(kind)
    }

    /// Whether a file is sent as media. A reference to a text file is not: its text is a part of its own.
    pub(super) fn holds_media(&self) -> bool {
        let begins = |raw: Option<Raw<'_>>, start| raw.is_some_and(|raw| raw.text().starts_with(start));
        begins(self.mime, "\"image/") || begins(self.url, "\"data:")
    }
}
