//! The records of a log, read in one pass: known members stay raw until they are needed, others are skipped.

use secateur::Usage;
use serde::de::{IgnoredAny, MapAccess};

use crate::json::fields::{object, raw_fields};
use crate::json::{Each, Fields, Object, Raw};

/// Reads the usage; `None` if it is zero, as in a failed response.
pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = object::<PiTokens<'_>>(raw.text()).ok()??;
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

#[derive(Default)]
pub(super) struct PiRecord<'a> {
    pub(super) kind: Option<Raw<'a>>,
    pub(super) id: Option<Raw<'a>>,
    pub(super) parent: Option<Raw<'a>>,
    pub(super) time: Option<Raw<'a>>,
    pub(super) message: Object<PiMessage<'a>>,
    pub(super) content: Option<Raw<'a>>,
    pub(super) summary: Option<Raw<'a>>,
    pub(super) kept_id: Option<Raw<'a>>,
    pub(super) kept_index: Option<Raw<'a>>,
    pub(super) custom: Option<Raw<'a>>,
    pub(super) data: Option<Raw<'a>>,
    pub(super) version: Option<Raw<'a>>,
    pub(super) cwd: Option<Raw<'a>>,
    pub(super) title: Option<Raw<'a>>,
    pub(super) name: Option<Raw<'a>>,
    pub(super) model: Option<Raw<'a>>,
    pub(super) model_id: Option<Raw<'a>>,
}

impl<'a> Fields<'a> for PiRecord<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let field = match key {
            "message" => {
                self.message = map.next_value()?;
                return Ok(());
            }
            "type" => &mut self.kind,
            "id" => &mut self.id,
            "parentId" => &mut self.parent,
            "timestamp" => &mut self.time,
            "content" => &mut self.content,
            "summary" => &mut self.summary,
            "firstKeptEntryId" => &mut self.kept_id,
            "firstKeptEntryIndex" => &mut self.kept_index,
            "customType" => &mut self.custom,
            "data" => &mut self.data,
            "version" => &mut self.version,
            "cwd" => &mut self.cwd,
            "title" => &mut self.title,
            "name" => &mut self.name,
            "model" => &mut self.model,
            "modelId" => &mut self.model_id,
            _ => return map.next_value::<IgnoredAny>().map(|_| ()),
        };
        *field = Some(map.next_value()?);
        Ok(())
    }
}

/// OpenClaw's notes about the results that it no longer sends unchanged.
#[derive(Default)]
pub(super) struct PiPruning<'a> {
    pub(super) results: Vec<Option<PiPruned<'a>>>,
}

impl<'a> Fields<'a> for PiPruning<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key == "prunedToolResults" {
            self.results.clear();
            map.next_value_seed(Each::new(|Object(pruned)| self.results.push(pruned)))?;
        } else {
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
