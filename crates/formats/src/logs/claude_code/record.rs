//! The records of a log, read in one pass: known members stay raw until they are needed, others are skipped.

use secateur::Usage;
use serde::de::{IgnoredAny, MapAccess};

use super::tree::{ClaudeChain, ClaudeParent, RecordId};
use crate::json::fields::{is_null, raw_fields};
use crate::json::{Fields, List, Object, Raw};
use crate::time;

/// Reads the usage.
pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = raw.object::<ClaudeTokens<'_>>()?;
    let number = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_i64).unwrap_or(0);
    let kinds = tokens.writes.and_then(Raw::object::<ClaudeWrites<'_>>).unwrap_or_default();
    Some(Usage {
        input: number(tokens.input),
        output: number(tokens.output),
        cache_read: number(tokens.cache_read),
        cache_write: number(tokens.cache_write),
        cache_write_1h: number(kinds.hour),
        ..Usage::default()
    })
}

raw_fields!(
    /// A line: the members of all its kinds.
    pub(super) ClaudeRecord {
        kind: "type", subtype: "subtype", uuid: "uuid", parent: "parentUuid",
        logical_parent: "logicalParentUuid", session: "sessionId", timestamp: "timestamp", cwd: "cwd",
        version: "version", is_side: "isSidechain", is_meta: "isMeta", is_summary: "isCompactSummary",
        is_error: "isApiErrorMessage", summary: "summary", ai_title: "aiTitle", custom_title: "customTitle",
        compaction: "compactMetadata", microcompaction: "microcompactMetadata"
    }
    objects { message: "message" => ClaudeMessage }
    lists {}
);

impl ClaudeRecord<'_> {
    pub(super) fn id(&self) -> Option<RecordId> {
        self.uuid.filter(|uuid| uuid.is_string()).map(|uuid| RecordId::of(uuid.text()))
    }

    pub(super) fn follows(&self) -> ClaudeParent {
        let named =
            |raw: Option<Raw<'_>>| raw.filter(|raw| raw.is_string()).map(|raw| RecordId::of(raw.text()));
        match named(self.parent).or_else(|| named(self.logical_parent)) {
            Some(parent) => ClaudeParent::Record(parent),
            // A compaction has no parent, but it follows what it summarises.
            None if self.compaction.is_some() || !self.parent.is_some_and(|raw| is_null(raw.text())) => {
                ClaudeParent::Unknown
            }
            None => ClaudeParent::Root,
        }
    }

    pub(super) fn chain(&self) -> ClaudeChain {
        if self.is_side.is_some_and(Raw::is_truthy) { ClaudeChain::Side } else { ClaudeChain::Main }
    }

    pub(super) fn time(&self) -> Option<i64> {
        self.timestamp.and_then(Raw::as_str).and_then(|text| time::millis(&text))
    }
}

/// A message as the provider's API writes it.
#[derive(Default)]
pub(super) struct ClaudeMessage<'a> {
    pub(super) id: Option<Raw<'a>>,
    pub(super) model: Option<Raw<'a>>,
    pub(super) usage: Option<Raw<'a>>,
    content: Option<List<'a, Object<ClaudeBlock<'a>>>>,
}

impl<'a> Fields<'a> for ClaudeMessage<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "id" => self.id = Some(map.next_value()?),
            "model" => self.model = Some(map.next_value()?),
            "usage" => self.usage = Some(map.next_value()?),
            "content" => self.content = Some(map.next_value()?),
            _ => _ = map.next_value::<IgnoredAny>()?,
        }
        Ok(())
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
        elements.iter().filter_map(|Object(block)| block.as_ref())
    }
}

raw_fields!(
    /// A block of content: the members of all its kinds.
    pub(super) ClaudeBlock { kind: "type", text: "text", thinking: "thinking", signature: "signature", data: "data", id: "id",
            name: "name", input: "input", call: "tool_use_id", is_error: "is_error", content: "content",
            source: "source" }
);
raw_fields!(
    /// The usage.
    ClaudeTokens { input: "input_tokens", output: "output_tokens", cache_read: "cache_read_input_tokens",
             cache_write: "cache_creation_input_tokens", writes: "cache_creation" }
);
raw_fields!(
    /// Tokens written to caches, by their lifetime.
    ClaudeWrites { hour: "ephemeral_1h_input_tokens" }
);
raw_fields!(
    /// The messages that a compaction left in the context.
    pub(super) ClaudeCompaction { segment: "preservedSegment", messages: "preservedMessages" }
);
raw_fields!(
    /// Messages that a compaction kept: the two ends of their chain, or all of them.
    pub(super) ClaudePreserved { head: "headUuid", tail: "tailUuid", uuids: "uuids", all: "allUuids" }
);
raw_fields!(
    /// The results that a microcompaction cleared.
    pub(super) ClaudeCleared { calls: "compactedToolIds" }
);
