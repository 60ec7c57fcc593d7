//! The records of a log, read in one pass: known members stay raw until they are needed, others are skipped.

use secateur::Usage;

use super::tree::{ClaudeChain, ClaudeParent, RecordId};
use crate::json::fields::{OptionalRaw, is_null, raw_fields};
use crate::json::{List, Object, Raw};
use crate::time;

pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = raw.object::<ClaudeTokens<'_>>()?;
    let kinds: ClaudeWrites<'_> = tokens.writes.fields();
    Some(Usage {
        input: tokens.input.count(),
        output: tokens.output.count(),
        cache_read: tokens.cache_read.count(),
        cache_write: tokens.cache_write.count(),
        cache_write_1h: kinds.hour.count(),
        ..Usage::default()
    })
}

raw_fields! {
    /// A line: the members of all its kinds.
    pub(super) ClaudeRecord {
        kind: "type", subtype: "subtype", uuid: "uuid", parent: "parentUuid",
        logical_parent: "logicalParentUuid", session: "sessionId", timestamp: "timestamp", cwd: "cwd",
        version: "version", is_side: "isSidechain", is_meta: "isMeta", is_summary: "isCompactSummary",
        is_error: "isApiErrorMessage", summary: "summary", ai_title: "aiTitle", custom_title: "customTitle",
        compaction: "compactMetadata", microcompaction: "microcompactMetadata",
        message: "message" => Object<ClaudeMessage<'a>>
    }
}

impl ClaudeRecord<'_> {
    pub(super) fn id(&self) -> Option<RecordId> {
        RecordId::named(self.uuid)
    }

    pub(super) fn follows(&self) -> ClaudeParent {
        match RecordId::named(self.parent).or_else(|| RecordId::named(self.logical_parent)) {
            Some(parent) => ClaudeParent::Record(parent),
            // A compaction has no parent, but it follows what it summarises.
            None if self.compaction.is_some() || !self.parent.is_some_and(|raw| is_null(raw.text())) => {
                ClaudeParent::Unknown
            }
            None => ClaudeParent::Root,
        }
    }

    pub(super) fn chain(&self) -> ClaudeChain {
        if self.is_side.truthy() { ClaudeChain::Side } else { ClaudeChain::Main }
    }

    pub(super) fn time(&self) -> Option<i64> {
        time::of(self.timestamp)
    }
}

impl<'a> ClaudeMessage<'a> {
    /// The content, if it is nothing but text.
    pub(super) fn text(&self) -> Option<Raw<'a>> {
        match self.content {
            Some(List::Other(raw)) if raw.is_string() => Some(raw),
            _ => None,
        }
    }

    /// The blocks of the content, if it is made of blocks.
    pub(super) fn blocks(&self) -> impl Iterator<Item = &ClaudeBlock<'a>> {
        let elements = match &self.content {
            Some(List::Elements(elements)) => elements.as_slice(),
            _ => &[],
        };
        elements.iter().flatten()
    }
}

raw_fields! {
    /// A message as the provider's API writes it.
    pub(super) ClaudeMessage {
        id: "id", model: "model", usage: "usage", content: "content" => Option<List<'a, Object<ClaudeBlock<'a>>>>
    }
    /// A block of content: the members of all its kinds.
    pub(super) ClaudeBlock { kind: "type", text: "text", thinking: "thinking", signature: "signature", data: "data", id: "id",
            name: "name", input: "input", call: "tool_use_id", is_error: "is_error", content: "content",
            source: "source" }
    ClaudeTokens { input: "input_tokens", output: "output_tokens", cache_read: "cache_read_input_tokens",
             cache_write: "cache_creation_input_tokens", writes: "cache_creation" }
    /// Tokens written to caches, by their lifetime.
    ClaudeWrites { hour: "ephemeral_1h_input_tokens" }
    /// The messages that a compaction left in the context.
    pub(super) ClaudeCompaction { segment: "preservedSegment", messages: "preservedMessages" }
    /// Messages that a compaction kept: the two ends of their chain, or all of them.
    pub(super) ClaudePreserved { head: "headUuid", tail: "tailUuid", uuids: "uuids", all: "allUuids" }
    /// The results that a microcompaction cleared.
    pub(super) ClaudeCleared { calls: "compactedToolIds" }
}
