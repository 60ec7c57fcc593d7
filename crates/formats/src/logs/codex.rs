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

use secateur::{MessageFacts, MessageIx, ModelCall, PartKind, Role, ToolStatus, Usage};

use crate::content;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::{Object, OptionalRaw, Raw, SyntaxError, read};
use crate::lines::LineReader;
use crate::origin::{learn, update};
use crate::probe::{Probe, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;
use record::{CodexInfo, CodexItem, CodexRecord, instructions, usage};

pub(super) const SPEC: FormatSpec =
    FormatSpec::plain(matches, FormatReader::Lines(|| Box::<CodexReader>::default()));

fn matches(probe: &Probe<'_>) -> bool {
    let kinds = ["session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"];
    let is_own = |kind: Option<&str>| kind.is_some_and(|kind| kinds.contains(&kind));
    let any = probe.any(|record| record.starts("payload") == Some('{') && is_own(record.text("type")));
    any || (probe.shape == TextShape::Object && probe.top.has("payload") && is_own(probe.top.text("type")))
}

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
        self.time = time::of(record.timestamp);
        match record.kind.string().as_deref() {
            Some("response_item") => self.take(draft, &item),
            Some("event_msg") => self.take_event(draft, &item),
            Some("session_meta") => self.take_meta(draft, &item),
            Some("turn_context") => update(&mut draft.origin.model, item.model),
            Some("compacted") => self.compact(draft, &item),
            _ => {}
        }
        Ok(())
    }
}

impl CodexReader {
    /// Begins a message of the history.
    fn begin(&mut self, draft: &mut TranscriptDraft<'_>, role: Role) -> MessageIx {
        let (summary, time) = (self.in_history, self.time);
        let message = draft.push_message(MessageFacts { role, summary, time, ..MessageFacts::default() });
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
        let called = || ToolCall { tool: item.name.string(), id: item.call.string(), ..ToolCall::default() };
        match item.kind.string().as_deref() {
            Some("message") => self.take_message(draft, item),
            Some("reasoning") => {
                self.open_response(draft);
                draft.push_text(PartKind::Reasoning, item.summary);
                take_opaque(draft, item);
            }
            Some("function_call" | "custom_tool_call") => {
                self.open_response(draft);
                draft.push_call(ToolCall { input: item.arguments.or(item.input), ..called() });
            }
            Some("local_shell_call") => {
                self.open_response(draft);
                let tool = Some("local_shell".into());
                draft.push_call(ToolCall { tool, input: item.action, ..called() });
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                self.begin(draft, Role::Tool);
                let output = item.output.map_or("null", Raw::text);
                let output::CodexReading { sizes, failed } = output::read(output, draft.measures);
                let (id, status, content) = (item.call.string(), ToolStatus::Completed, item.output);
                let spot = draft.spot_of(content);
                let answered = ToolResult { id, status, failed, content, ..ToolResult::default() };
                draft.push_result_at(answered, sizes, spot);
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
        match item.role.string().as_deref() {
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
        // The first one describes this session; the others may be those that it was forked from.
        learn(&mut draft.origin.session, item.id.or(item.session));
        learn(&mut draft.origin.project, item.cwd);
        learn(&mut draft.origin.version, item.version);
        let Some(instructions) = item.instructions.and_then(instructions) else { return };
        self.is_open = false;
        let (role, place, time) = (Role::System, self.front, self.time);
        let message = draft.push_message(MessageFacts { role, place, time, ..MessageFacts::default() });
        draft.push_text(PartKind::Text, Some(instructions));
        self.front = self.front.or(Some(message));
        if let Some(earlier) = self.instructions.replace(message) {
            draft.outline.retire(earlier, message);
        }
    }

    fn take_event(&mut self, draft: &mut TranscriptDraft<'_>, item: &CodexItem<'_>) {
        if item.kind.is("token_count") {
            self.count(draft, item);
        } else if item.kind.is("thread_rolled_back") {
            self.roll_back(draft, usize::try_from(item.turns.count()).unwrap_or(0));
        }
    }

    /// Adds the usage of a model call. That ends the response: the next item belongs to another one.
    fn count(&mut self, draft: &mut TranscriptDraft<'_>, item: &CodexItem<'_>) {
        let info: CodexInfo<'_> = item.info.fields();
        let counted = info.total.and_then(usage).zip(info.last.and_then(usage));
        let Some((_, last)) = counted.filter(|&counted| self.counted.replace(counted) != Some(counted))
        else {
            return;
        };
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
        let before = std::mem::take(&mut self.alive);
        self.turns.clear();
        let mark = self.begin(draft, Role::Other);
        draft.push_compaction();
        for message in before {
            draft.outline.retire(message, mark);
        }
        self.in_history = true;
        let items: Vec<CodexItem<'_>> = item.history.elements().into_iter().filter_map(Raw::object).collect();
        for item in &items {
            self.take(draft, item);
        }
        // Older versions wrote a summary instead of items.
        let message = item.message.filter(|message| items.is_empty() && message.text() != "\"\"");
        if let Some(message) = message {
            self.begin(draft, Role::User);
            draft.push_text(PartKind::Text, Some(message));
        }
        self.in_history = false;
        self.is_open = false;
    }
}

fn take_opaque(draft: &mut TranscriptDraft<'_>, item: &CodexItem<'_>) {
    if item.opaque.unless_null().is_some() {
        draft.push_text(PartKind::Signature, item.opaque);
    }
}

#[cfg(test)]
mod tests;
