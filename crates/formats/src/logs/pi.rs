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

use crate::draft::{ToolCall, ToolResult, TranscriptDraft, outcome};
use crate::json::{Object, OptionalRaw, Raw, SyntaxError, each, object};
use crate::lines::LineReader;
use crate::origin::update;
use crate::probe::{Probe, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;
use record::{PiBlock, PiMessage, PiPruned, PiPruning, PiRecord, usage};
use tree::{PiLink, PiTree};

pub(super) const SPEC: FormatSpec =
    FormatSpec::plain(matches, FormatReader::Lines(|| Box::<PiReader>::default()));

fn matches(probe: &Probe<'_>) -> bool {
    probe.shape == TextShape::Lines
        && probe.any(|record| match record.text("type") {
            Some("session") => record.has("timestamp") && record.has("id"),
            Some("message") => record.starts("message") == Some('{'),
            _ => false,
        })
}

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
        let kind = record.kind.string().unwrap_or_default();
        let message = match &*kind {
            "message" => take_message(draft, &record),
            "compaction" => {
                let kept = match (record.kept_id, record.kept_index.integer()) {
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
            kind => {
                if kind == "custom" {
                    self.take_custom(&record);
                } else {
                    describe(draft, &record, kind);
                }
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
        for part in outline.parts() {
            let is_result = outline.kind(part) == PartKind::Result;
            let id = outline.ids().text(outline.call(part)).filter(|_| is_result);
            if id.is_some_and(|id| self.cleared.contains(&*plain(id))) {
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
        let data: PiPruning<'_> = record.data.fields();
        let is_cleared = |pruned: &&PiPruned<'_>| pruned.mode.is("hard") || pruned.mode.is("clear");
        for pruned in data.results.iter().flatten().filter(is_cleared) {
            let key = pruned.key.string().unwrap_or_default();
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
    let stop = message.and_then(|message| message.stop).string();
    let id = record.id.string();
    let parent = record.parent.string();
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
    let own = record.message.0.as_ref().and_then(|message| message.time).integer();
    own.or_else(|| time::millis(&record.time?.as_str()?))
}

fn take_message(draft: &mut TranscriptDraft<'_>, record: &PiRecord<'_>) -> Option<MessageIx> {
    let message = record.message.0.as_ref()?;
    let name = message.role.string().unwrap_or_default();
    let role = match &*name {
        "user" | "developer" | "custom" | "hookMessage" | "bashExecution" => Role::User,
        "assistant" => Role::Assistant,
        "toolResult" => Role::Tool,
        _ => return None,
    };
    let index = begin(draft, record, role, None);
    let content = message.content;
    match &*name {
        "user" => draft.push_text(PartKind::Text, content),
        "assistant" => {
            take_response(draft, message);
            if let Some(usage) = message.usage.and_then(usage) {
                draft.outline.push_model_call(ModelCall { message: index, time: time_of(record), usage });
            }
        }
        "toolResult" => {
            let (tool, id, status) = (message.tool.string(), message.call.string(), outcome(message.error));
            draft.push_result(ToolResult { tool, id, status, content, ..ToolResult::default() });
        }
        "bashExecution" => {
            let (status, failed) = (ToolStatus::Completed, message.exit.truthy());
            let content = message.output;
            draft.push_result::<&str>(ToolResult { status, failed, content, ..ToolResult::default() });
            // The user ran it without showing it to the model.
            if message.hidden.truthy() {
                draft.outline.retire(index, index);
            }
        }
        _ => draft.push_injected(content),
    }
    Some(index)
}

fn take_response(draft: &mut TranscriptDraft<'_>, message: &PiMessage<'_>) {
    update(&mut draft.origin.model, message.model);
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
    match block.kind.string().as_deref() {
        Some("text") => draft.push_text(PartKind::Text, block.text),
        Some("thinking") => draft.push_text(PartKind::Reasoning, block.thinking),
        Some("toolCall") => {
            let (tool, id, status) = (block.name.string(), block.id.string(), ToolStatus::Completed);
            draft.push_call(ToolCall { tool, id, status, input: block.arguments });
        }
        _ => {}
    }
}

/// Notes what a record says about the session.
fn describe(draft: &mut TranscriptDraft<'_>, record: &PiRecord<'_>, kind: &str) {
    match kind {
        "session" => {
            let origin = &mut draft.origin;
            origin.session = record.id.owned();
            origin.project = record.cwd.owned();
            origin.version = record.version.map(Raw::spoken);
        }
        "title" | "title_change" | "session_info" => {
            if let Some(title) = record.title.or(record.name).owned().filter(|title| !title.is_empty()) {
                draft.origin.title = Some(title);
            }
        }
        _ => {}
    }
    match (record.model_id, record.model) {
        (Some(model), _) => update(&mut draft.origin.model, Some(model)),
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

#[cfg(test)]
mod tests;
