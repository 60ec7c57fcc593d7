//! Codex's rollout logs: JSON lines `{timestamp, type, payload}`.
//!
//! The model's context consists of the instructions in `session_meta` and of the `response_item` lines. Nearly every
//! `event_msg` repeats one of them for the screen and is skipped; only the usage and the rollback of turns are found
//! nowhere else.
//!
//! The items of one response (reasoning, text, calls) are lines of their own; they become one message, which ends with
//! the next item of another kind. A `compacted` line replaces the history by a new list of items: what came before is
//! retired, and each item of the list is a message again, as a summary. The instructions stay, because they are not part
//! of the history.

mod output;
mod record;

use std::borrow::Cow;

use secateur::{MessageFacts, MessageIx, ModelCall, PartKind, Role, ToolStatus, Usage};

use crate::content;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::fields::each;
use crate::json::{Object, Raw, SyntaxError, read};
use crate::lines::LineReader;
use crate::probe::{Probe, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;
use record::{CodexInfo, CodexItem, CodexRecord, instructions, usage};

pub(super) const SPEC: FormatSpec =
    FormatSpec::plain(matches, FormatReader::Lines(|| Box::<CodexReader>::default()));

/// Whether a text is in this format.
fn matches(probe: &Probe<'_>) -> bool {
    let kinds = ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];
    let is_own = |kind: Option<&str>| kind.is_some_and(|kind| kinds.contains(&kind));
    let any = probe.any(|record| record.starts("payload") == Some('{') && is_own(record.text("type")));
    any || (probe.shape == TextShape::Object && probe.top.has("payload") && is_own(probe.top.text("type")))
}

/// Reads the log record by record.
#[derive(Default)]
struct CodexReader {
    /// The time of the current record.
    time: Option<i64>,
    /// The current items are those of a new history.
    in_history: bool,
    /// The instructions in force.
    instructions: Option<MessageIx>,
    /// The place of the instructions: that of the first ones.
    front: Option<MessageIx>,
    /// The messages that are in the context, without the instructions.
    alive: Vec<MessageIx>,
    /// Which of them begin a user's turn.
    turns: Vec<usize>,
    /// The newest response.
    response: Option<MessageIx>,
    /// The newest response has not ended yet.
    is_open: bool,
    /// The newest usage, which is often reported twice.
    counted: Option<(Usage, Usage)>,
}

impl LineReader for CodexReader {
    fn record(&mut self, draft: &mut TranscriptDraft<'_>, line: &str) -> Result<(), SyntaxError> {
        let Object(Some(record)) = read::<Object<CodexRecord<'_>>>(line)? else { return Ok(()) };
        let Object(Some(item)) = record.payload else { return Ok(()) };
        self.time = record.timestamp.and_then(Raw::as_str).and_then(|text| time::millis(&text));
        match record.kind.and_then(Raw::as_str).as_deref() {
            Some("response_item") => self.take(draft, &item),
            Some("event_msg") => self.take_event(draft, &item),
            Some("session_meta") => self.take_meta(draft, &item),
            Some("turn_context") => {
                if let Some(model) = item.model.and_then(Raw::as_str) {
                    draft.origin.model = Some(model.into_owned());
                }
            }
            Some("compacted") => self.compact(draft, &item),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _draft: &mut TranscriptDraft<'_>) {}
}

impl CodexReader {
    /// Begins a message of the history.
    fn begin(&mut self, draft: &mut TranscriptDraft<'_>, role: Role) -> MessageIx {
        let facts =
            MessageFacts { role, summary: self.in_history, time: self.time, ..MessageFacts::default() };
        let message = draft.push_message(facts);
        self.alive.push(message);
        self.is_open = false;
        message
    }

    /// Begins a response unless one is open.
    fn open_response(&mut self, draft: &mut TranscriptDraft<'_>) {
        if !self.is_open {
            self.response = Some(self.begin(draft, Role::Assistant));
            self.is_open = !self.in_history;
        }
    }

    /// Adds an item of the history.
    fn take(&mut self, draft: &mut TranscriptDraft<'_>, item: &CodexItem<'_>) {
        let (tool, id) = (item.name.and_then(Raw::as_str), item.call.and_then(Raw::as_str));
        let called = ToolCall { tool: tool.as_deref(), id: id.as_deref(), ..ToolCall::default() };
        match item.kind.and_then(Raw::as_str).as_deref() {
            Some("message") => self.take_message(draft, item),
            Some("reasoning") => {
                self.open_response(draft);
                draft.push_text(PartKind::Reasoning, item.summary);
                take_opaque(draft, item);
            }
            Some("function_call" | "custom_tool_call") => {
                self.open_response(draft);
                draft.push_call(ToolCall { input: item.arguments.or(item.input), ..called });
            }
            Some("local_shell_call") => {
                self.open_response(draft);
                draft.push_call(ToolCall { tool: Some("local_shell"), input: item.action, ..called });
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                self.begin(draft, Role::Tool);
                let output::CodexReading { sizes, failed } =
                    output::read(item.output.map_or("null", Raw::text), draft.measures);
                let (id, status) = (id.as_deref(), ToolStatus::Completed);
                let answered =
                    ToolResult { id, status, failed, content: item.output, ..ToolResult::default() };
                draft.push_result_sized(answered, sizes);
            }
            Some("web_search_call" | "tool_search_call") => {
                self.open_response(draft);
                draft.push_text(PartKind::Other, item.action.or(item.arguments));
            }
            Some("tool_search_output") => {
                self.begin(draft, Role::Other);
                draft.push_text(PartKind::Other, item.tools);
            }
            // Messages between agents, the opaque rest of a compaction, and types that we do not know.
            Some(kind) if kind != "ghost_snapshot" => {
                self.begin(draft, Role::Other);
                if item.content.is_some() {
                    draft.push_text(PartKind::Other, item.content);
                }
                take_opaque(draft, item);
            }
            _ => {}
        }
    }

    fn take_message(&mut self, draft: &mut TranscriptDraft<'_>, item: &CodexItem<'_>) {
        match item.role.and_then(Raw::as_str).as_deref() {
            Some("assistant") => {
                self.open_response(draft);
                draft.push_text(PartKind::Text, item.content);
            }
            Some("developer" | "system") => {
                self.begin(draft, Role::System);
                draft.push_text(PartKind::Text, item.content);
            }
            _ => {
                self.begin(draft, Role::User);
                if content::is_tagged(item.content.map_or("null", Raw::text), &["# AGENTS.md"]) {
                    draft.push_injected(item.content);
                } else {
                    self.turns.push(self.alive.len() - 1);
                    draft.push_text(PartKind::Text, item.content);
                }
            }
        }
    }

    /// Reads the description of the session. It is repeated when a session is resumed, and then its instructions
    /// replace the earlier ones.
    fn take_meta(&mut self, draft: &mut TranscriptDraft<'_>, item: &CodexItem<'_>) {
        let text = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_str).map(Cow::into_owned);
        let origin = &mut draft.origin;
        // The first one describes this session; the others may be those that it was forked from.
        origin.session = origin.session.take().or_else(|| text(item.id.or(item.session)));
        origin.project = origin.project.take().or_else(|| text(item.cwd));
        origin.version = origin.version.take().or_else(|| text(item.version));
        let Some(instructions) = item.instructions.and_then(instructions) else { return };
        self.is_open = false;
        let facts = MessageFacts {
            role: Role::System,
            place: self.front,
            time: self.time,
            ..MessageFacts::default()
        };
        let message = draft.push_message(facts);
        draft.push_text(PartKind::Text, Some(instructions));
        self.front = self.front.or(Some(message));
        if let Some(earlier) = self.instructions.replace(message) {
            draft.outline.retire(earlier, message);
        }
    }

    fn take_event(&mut self, draft: &mut TranscriptDraft<'_>, item: &CodexItem<'_>) {
        match item.kind.and_then(Raw::as_str).as_deref() {
            Some("token_count") => self.count(draft, item),
            Some("thread_rolled_back") => {
                let turns = item.turns.and_then(Raw::as_i64).and_then(|turns| usize::try_from(turns).ok());
                self.roll_back(draft, turns.unwrap_or(0));
            }
            _ => {}
        }
    }

    /// Adds the usage of a model call. That ends the response: the next item belongs to another one.
    fn count(&mut self, draft: &mut TranscriptDraft<'_>, item: &CodexItem<'_>) {
        let Some(info) = item.info.and_then(Raw::object::<CodexInfo<'_>>) else {
            return;
        };
        let (Some(total), Some(last)) = (info.total.and_then(usage), info.last.and_then(usage)) else {
            return;
        };
        if self.counted.replace((total, last)) == Some((total, last)) {
            return;
        }
        self.is_open = false;
        let newest = draft.outline.messages().next_back();
        let message = self.response.or(newest).unwrap_or(MessageIx(0));
        draft.outline.push_model_call(ModelCall { message, time: self.time, usage: last });
    }

    /// Takes the last turns out of the context.
    fn roll_back(&mut self, draft: &mut TranscriptDraft<'_>, turns: usize) {
        let left = self.turns.len().saturating_sub(turns);
        let Some(&start) = self.turns.get(left) else { return };
        self.turns.truncate(left);
        self.is_open = false;
        // The event is a message of the outline that no model sees.
        let event = draft.push_message(MessageFacts { time: self.time, ..MessageFacts::default() });
        for message in self.alive.drain(start..).chain([event]) {
            draft.outline.retire(message, event);
        }
    }

    /// Replaces the history.
    fn compact(&mut self, draft: &mut TranscriptDraft<'_>, item: &CodexItem<'_>) {
        let mut before = std::mem::take(&mut self.alive);
        self.turns.clear();
        let mark = self.begin(draft, Role::Other);
        draft.push_compaction();
        for message in before.drain(..) {
            draft.outline.retire(message, mark);
        }
        self.in_history = true;
        let mut items = 0;
        if let Some(history) = item.history {
            let mut taken = Vec::new();
            // The line was read before, so it is JSON. Items that are not objects are skipped.
            _ = each(history.text(), |Object(item): Object<CodexItem<'_>>| taken.extend(item));
            items = taken.len();
            for item in &taken {
                self.take(draft, item);
            }
        }
        // Older versions wrote a summary instead of items.
        if let (0, Some(message)) = (items, item.message.filter(|message| message.text() != "\"\"")) {
            self.begin(draft, Role::User);
            draft.push_text(PartKind::Text, Some(message));
        }
        self.in_history = false;
        self.is_open = false;
    }
}

fn take_opaque(draft: &mut TranscriptDraft<'_>, item: &CodexItem<'_>) {
    if let Some(opaque) = item.opaque.filter(|opaque| opaque.text() != "null") {
        draft.push_text(PartKind::Signature, Some(opaque));
    }
}

#[cfg(test)]
mod tests;
