//! The records of a session: known members stay raw until they are needed, others are skipped.

use secateur::Usage;

use crate::json::{Object, OptionalRaw, Raw, raw_fields};

raw_fields! {
    pub(super) OpenCodeInfo { id: "id", role: "role", parent: "parentID", summary: "summary", finish: "finish", error: "error",
           time: "time", tokens: "tokens", model: "modelID" }
    pub(super) OpenCodeState { status: "status", input: "input", output: "output", error: "error", time: "time",
            attachments: "attachments", metadata: "metadata" }
    /// What a tool shows to the user beside its output.
    pub(super) OpenCodeMetadata { exit: "exit" }
    /// A session's `info`.
    pub(super) OpenCodeHead { info: "info" }
    /// The session's own description.
    pub(super) OpenCodeSessionInfo { id: "id", title: "title", version: "version", directory: "directory", model: "model" }
    pub(super) OpenCodeModel { id: "id" }
    /// A `time`, of a message or of a tool part.
    pub(super) OpenCodeTime { created: "created", compacted: "compacted" }
    pub(super) OpenCodeTokens { input: "input", output: "output", reasoning: "reasoning", total: "total", cache: "cache" }
    pub(super) OpenCodeCache { read: "read", write: "write" }
}

/// Reads the usage: `{input, output, reasoning, total?, cache: {read, write}}`.
pub(in crate::logs) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = raw.object::<OpenCodeTokens<'_>>()?;
    let cache: OpenCodeCache<'_> = tokens.cache.fields();
    Some(Usage {
        input: tokens.input.count(),
        output: tokens.output.count(),
        reasoning: tokens.reasoning.count(),
        cache_read: cache.read.count(),
        cache_write: cache.write.count(),
        total: tokens.total.integer(),
        ..Usage::default()
    })
}

raw_fields! {
    pub(super) OpenCodeMessage {
        info: "info" => Object<OpenCodeInfo<'a>>, parts: "parts" => Vec<Object<OpenCodePart<'a>>>
    }
    pub(super) OpenCodePart {
        id: "id", kind: "type", text: "text", ignored: "ignored", synthetic: "synthetic", url: "url", mime: "mime",
        tool: "tool", call: "callID", tail: "tail_start_id",
        state: "state" => Object<OpenCodeState<'a>>
    }
}

impl OpenCodePart<'_> {
    /// Whether a file is sent as media. A reference to a text file is not: its text is a part of its own.
    pub(super) fn holds_media(&self) -> bool {
        let begins = |raw: Option<Raw<'_>>, start| raw.is_some_and(|raw| raw.text().starts_with(start));
        begins(self.mime, "\"image/") || begins(self.url, "\"data:")
    }
}
