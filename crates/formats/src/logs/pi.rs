//! The session logs of pi, and of what was built on it: Oh-My-Pi and OpenClaw. JSON lines that form a tree.
//!
//! The first record describes the session, each later one is an entry. Since version 3, an entry names its parent, and
//! going back to an earlier entry begins a new branch in the same file: the path from the last entry to the root counts.
//! Older files are plain lists. A compaction is an entry as well. It names the first entry of the history that is kept,
//! by id or, in the oldest files, by line number. Its summary precedes what is kept.
//!
//! OpenClaw does not change results; it adds an entry that names those that it no longer sends.
//!
//! What a tool shows to the user (`details`) is often larger than what the model gets, and is skipped.

mod record;
mod tree;

use std::borrow::Cow;

use secateur::{MessageFacts, MessageIx, ModelCall, PartKind, Role, ToolStatus};

use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::fields::{each, object};
use crate::json::{Object, Raw, SyntaxError};
use crate::lines::LineReader;
use crate::probe::{Probe, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;
use record::{PiBlock, PiMessage, PiPruning, PiRecord, usage};
use tree::{PiLink, PiTree};

pub(super) const SPEC: FormatSpec =
    FormatSpec::plain(matches, FormatReader::Lines(|| Box::<PiReader>::default()));

/// Whether a text is in this format.
fn matches(probe: &Probe<'_>) -> bool {
    probe.shape == TextShape::Lines
        && probe.any(|record| match record.text("type") {
            Some("session") => record.has("timestamp") && record.has("id"),
            Some("message") => record.starts("message") == Some('{'),
            _ => false,
        })
}

/// Reads the log record by record.
#[derive(Default)]
struct PiReader {
    tree: PiTree,
    /// The ids of the calls whose results OpenClaw cleared, see [`plain`].
    cleared: crate::tables::Set<String>,
}

impl LineReader for PiReader {
    fn record(&mut self, draft: &mut TranscriptDraft<'_>, line: &str) -> Result<(), SyntaxError> {
        let Some(record) = object::<PiRecord<'_>>(line)? else { return Ok(()) };
        let link = match record.parent.map(Raw::text) {
            Some("null") => PiLink::Root,
            Some(parent) => PiLink::To(parent),
            None => PiLink::Previous,
        };
        let next = MessageIx(draft.outline.message_count() as u32);
        let entry = self.tree.push(record.id.map(Raw::text), link, next);
        let kind = record.kind.and_then(Raw::as_str).unwrap_or_default();
        let message = match &*kind {
            "message" => take_message(draft, &record),
            "compaction" => {
                let kept = match (record.kept_id, record.kept_index.and_then(Raw::as_i64)) {
                    (Some(id), _) => self.tree.find(id.text()),
                    (None, index) => index.and_then(|index| usize::try_from(index).ok()),
                };
                self.tree.compact(entry, kept);
                let place = kept.and_then(|kept| self.tree.message_from(kept));
                let message = begin(draft, &record, Role::User, place);
                draft.push_compaction();
                draft.push_text(PartKind::Text, record.summary);
                Some(message)
            }
            "branch_summary" => {
                let message = begin(draft, &record, Role::User, None);
                draft.push_text(PartKind::Text, record.summary);
                Some(message)
            }
            "custom_message" => {
                let message = begin(draft, &record, Role::User, None);
                draft.push_injected(record.content);
                Some(message)
            }
            "custom" => {
                self.take_custom(&record);
                None
            }
            _ => {
                describe(draft, &record, &kind);
                None
            }
        };
        self.tree.set_message(entry, message);
        Ok(())
    }

    fn finish(&mut self, draft: &mut TranscriptDraft<'_>) {
        self.tree.retire(&mut draft.outline);
        if self.cleared.is_empty() {
            return;
        }
        let outline = &mut draft.outline;
        for part in outline.parts().filter(|&part| outline.kind(part) == PartKind::Result).collect::<Vec<_>>()
        {
            let id = outline.ids().text(outline.call(part)).map(plain);
            if id.is_some_and(|id| self.cleared.contains(&*id)) {
                outline.set_cut(part);
            }
        }
    }
}

impl PiReader {
    /// Notes the results that OpenClaw cleared. Trimmed results are still sent in part.
    fn take_custom(&mut self, record: &PiRecord<'_>) {
        if record.custom.map(Raw::text) != Some("\"openclaw.cache-ttl\"") {
            return;
        }
        let Some(data) = record.data.and_then(Raw::object::<PiPruning<'_>>) else {
            return;
        };
        for pruned in data.results.into_iter().flatten() {
            let mode = pruned.mode.and_then(Raw::as_str);
            if !matches!(mode.as_deref(), Some("hard" | "clear")) {
                continue;
            }
            let key = pruned.key.and_then(Raw::as_str).unwrap_or_default();
            if let Some((id, _)) = key.strip_prefix("tool:").and_then(|key| key.rsplit_once(':')) {
                self.cleared.insert(plain(id).into_owned());
            }
        }
    }
}

/// A call id without its punctuation, which OpenClaw's notes sometimes omit.
fn plain(id: &str) -> Cow<'_, str> {
    if id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.chars().filter(char::is_ascii_alphanumeric).collect())
}

/// Begins the message of a record. Only a summary may have a place other than its own.
fn begin(
    draft: &mut TranscriptDraft<'_>,
    record: &PiRecord<'_>,
    role: Role,
    place: Option<MessageIx>,
) -> MessageIx {
    let message = record.message.0.as_ref();
    let stop = message.and_then(|message| message.stop).and_then(Raw::as_str);
    let id = record.id.and_then(Raw::as_str);
    let parent = record.parent.and_then(Raw::as_str);
    draft.push_message(MessageFacts {
        role,
        id: id.as_deref(),
        parent: parent.as_deref(),
        summary: record.summary.is_some(),
        finished: matches!(stop.as_deref(), Some("stop" | "toolUse" | "length")),
        failed: matches!(stop.as_deref(), Some("error" | "aborted")),
        time: time_of(record),
        place,
        ..MessageFacts::default()
    })
}

fn time_of(record: &PiRecord<'_>) -> Option<i64> {
    let own = record.message.0.as_ref().and_then(|message| message.time).and_then(Raw::as_i64);
    own.or_else(|| time::millis(&record.time?.as_str()?))
}

fn take_message(draft: &mut TranscriptDraft<'_>, record: &PiRecord<'_>) -> Option<MessageIx> {
    let message = record.message.0.as_ref()?;
    let role = message.role.and_then(Raw::as_str).unwrap_or_default();
    let content = message.content;
    Some(match &*role {
        "user" => {
            let index = begin(draft, record, Role::User, None);
            draft.push_text(PartKind::Text, content);
            index
        }
        "developer" | "custom" | "hookMessage" => {
            let index = begin(draft, record, Role::User, None);
            draft.push_injected(content);
            index
        }
        "assistant" => {
            let index = begin(draft, record, Role::Assistant, None);
            take_response(draft, message);
            if let Some(usage) = message.usage.and_then(usage) {
                draft.outline.push_model_call(ModelCall { message: index, time: time_of(record), usage });
            }
            index
        }
        "toolResult" => {
            let index = begin(draft, record, Role::Tool, None);
            let (tool, id) = (message.tool.and_then(Raw::as_str), message.call.and_then(Raw::as_str));
            let is_error = message.error.is_some_and(Raw::is_truthy);
            let status = if is_error { ToolStatus::Error } else { ToolStatus::Completed };
            let answered = ToolResult {
                tool: tool.as_deref(),
                id: id.as_deref(),
                status,
                content,
                ..ToolResult::default()
            };
            draft.push_result(answered);
            index
        }
        "bashExecution" => {
            let index = begin(draft, record, Role::User, None);
            let failed = message.exit.is_some_and(Raw::is_truthy);
            let status = ToolStatus::Completed;
            let answered = ToolResult { status, failed, content: message.output, ..ToolResult::default() };
            draft.push_result(answered);
            // The user ran it without showing it to the model.
            if message.hidden.is_some_and(Raw::is_truthy) {
                draft.outline.retire(index, index);
            }
            index
        }
        _ => return None,
    })
}

/// Adds the blocks of a response.
fn take_response(draft: &mut TranscriptDraft<'_>, message: &PiMessage<'_>) {
    if let Some(model) = message.model {
        name_model(draft, model);
    }
    let Some(content) = message.content else { return };
    if content.is_string() {
        return draft.push_text(PartKind::Text, Some(content));
    }
    // The record was read, so this is JSON. Blocks that are not objects are skipped.
    _ = each(content.text(), |Object(block): Object<PiBlock<'_>>| {
        if let Some(block) = block {
            take_block(draft, &block);
        }
    });
}

fn take_block(draft: &mut TranscriptDraft<'_>, block: &PiBlock<'_>) {
    match block.kind.and_then(Raw::as_str).as_deref() {
        Some("text") => draft.push_text(PartKind::Text, block.text),
        Some("thinking") => draft.push_text(PartKind::Reasoning, block.thinking),
        Some("toolCall") => {
            let (tool, id) = (block.name.and_then(Raw::as_str), block.id.and_then(Raw::as_str));
            let (tool, id) = (tool.as_deref(), id.as_deref());
            draft.push_call(ToolCall { tool, id, status: ToolStatus::Completed, input: block.arguments });
        }
        _ => {}
    }
}

/// Notes what a record says about the session.
fn describe(draft: &mut TranscriptDraft<'_>, record: &PiRecord<'_>, kind: &str) {
    let text = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_str).map(Cow::into_owned);
    match kind {
        "session" => {
            let origin = &mut draft.origin;
            origin.session = text(record.id);
            origin.project = text(record.cwd);
            origin.version = record.version.map(|raw| raw.as_str().unwrap_or(raw.text().into()).into_owned());
        }
        "title" | "title_change" | "session_info" => {
            if let Some(title) = text(record.title.or(record.name)).filter(|title| !title.is_empty()) {
                draft.origin.title = Some(title);
            }
        }
        _ => {}
    }
    match (record.model_id, record.model) {
        (Some(model), _) => name_model(draft, model),
        // Oh-My-Pi writes `provider/model`.
        (None, Some(model)) => {
            let model = model.as_str();
            let name =
                model.as_deref().and_then(|model| model.split_once('/')).map(|(_, name)| name.to_owned());
            draft.origin.model = name.or(model.map(Cow::into_owned)).or(draft.origin.model.take());
        }
        (None, None) => {}
    }
}

fn name_model(draft: &mut TranscriptDraft<'_>, model: Raw<'_>) {
    let model = model.as_str();
    if model.is_some() && draft.origin.model.as_deref() != model.as_deref() {
        draft.origin.model = model.map(Cow::into_owned);
    }
}

#[cfg(test)]
mod tests;
