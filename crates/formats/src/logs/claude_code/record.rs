//! The records of a log, read in one pass: known members stay raw until they are needed, others are skipped.

use secateur::Usage;
use serde::de::{IgnoredAny, MapAccess};

use super::tree::{ClaudeChain, ClaudeParent, RecordId};
use crate::json::fields::{is_null, object, raw_fields};
use crate::json::{Fields, List, Object, Raw};
use crate::time;

/// Reads the usage.
pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = object::<ClaudeTokens<'_>>(raw.text()).ok()??;
    let number = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_i64).unwrap_or(0);
    let kinds = tokens
        .writes
        .and_then(|raw| object::<ClaudeWrites<'_>>(raw.text()).ok().flatten())
        .unwrap_or_default();
    Some(Usage {
        input: number(tokens.input),
        output: number(tokens.output),
        cache_read: number(tokens.cache_read),
        cache_write: number(tokens.cache_write),
        cache_write_1h: number(kinds.hour),
        ..Usage::default()
    })
}

/// A line: the members of all its kinds.
#[derive(Default)]
pub(super) struct ClaudeRecord<'a> {
    pub(super) kind: Option<Raw<'a>>,
    pub(super) subtype: Option<Raw<'a>>,
    pub(super) uuid: Option<Raw<'a>>,
    pub(super) parent: Option<Raw<'a>>,
    pub(super) logical_parent: Option<Raw<'a>>,
    pub(super) session: Option<Raw<'a>>,
    pub(super) timestamp: Option<Raw<'a>>,
    pub(super) cwd: Option<Raw<'a>>,
    pub(super) version: Option<Raw<'a>>,
    pub(super) is_side: Option<Raw<'a>>,
    pub(super) is_meta: Option<Raw<'a>>,
    pub(super) is_summary: Option<Raw<'a>>,
    pub(super) is_error: Option<Raw<'a>>,
    pub(super) summary: Option<Raw<'a>>,
    pub(super) ai_title: Option<Raw<'a>>,
    pub(super) custom_title: Option<Raw<'a>>,
    pub(super) compaction: Option<Raw<'a>>,
    pub(super) microcompaction: Option<Raw<'a>>,
    pub(super) message: Object<ClaudeMessage<'a>>,
}

impl<'a> Fields<'a> for ClaudeRecord<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let field = match key {
            "message" => {
                self.message = map.next_value()?;
                return Ok(());
            }
            "type" => &mut self.kind,
            "subtype" => &mut self.subtype,
            "uuid" => &mut self.uuid,
            "parentUuid" => &mut self.parent,
            "logicalParentUuid" => &mut self.logical_parent,
            "sessionId" => &mut self.session,
            "timestamp" => &mut self.timestamp,
            "cwd" => &mut self.cwd,
            "version" => &mut self.version,
            "isSidechain" => &mut self.is_side,
            "isMeta" => &mut self.is_meta,
            "isCompactSummary" => &mut self.is_summary,
            "isApiErrorMessage" => &mut self.is_error,
            "summary" => &mut self.summary,
            "aiTitle" => &mut self.ai_title,
            "customTitle" => &mut self.custom_title,
            "compactMetadata" => &mut self.compaction,
            "microcompactMetadata" => &mut self.microcompaction,
            _ => {
                map.next_value::<IgnoredAny>()?;
                return Ok(());
            }
        };
        *field = Some(map.next_value()?);
        Ok(())
    }
}

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
