//! Claude Code's session logs: JSON lines that form a [tree](tree).
//!
//! A response is written as several lines, one per block, and the results of its first tool calls may lie between them.
//! Lines with the same `message.id` become one message again. Each of them repeats the usage; the last one is right.
//!
//! A compaction is a `compact_boundary` followed by the summary. What came before stays in the file but leaves the
//! context, and so do branches that the user abandoned. A `microcompact_boundary` names results that are cleared for the
//! model from then on. `toolUseResult`, `progress` and the like are for the screen: they can be most of a file and are
//! skipped unread.

mod record;
mod split_responses;
mod tree;

use secateur::{MessageFacts, MessageIx, ModelCall, Name, PartKind, Role};

use crate::content;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft, outcome};
use crate::json::{Object, OptionalRaw, Raw, SyntaxError, read};
use crate::lines::LineReader;
use crate::origin::{learn, update};
use crate::probe::{Probe, ProbedRecord, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::tables::{Map, Set};
use record::{ClaudeBlock, ClaudeCleared, ClaudeCompaction, ClaudePreserved, ClaudeRecord, usage};
use split_responses::SplitResponses;
use tree::{ClaudeBoundary, ClaudeTree, RecordId};

pub(super) const SPEC: FormatSpec =
    FormatSpec::plain(matches, FormatReader::Lines(|| Box::<ClaudeReader>::default()));

fn matches(probe: &Probe<'_>) -> bool {
    (probe.shape == TextShape::Lines && probe.any(is_own))
        || (probe.shape == TextShape::Object && is_own(&probe.top))
}

fn is_own(record: &ProbedRecord) -> bool {
    match record.text("type") {
        Some("user" | "assistant" | "system" | "attachment" | "progress") => {
            record.has("uuid") && record.has("sessionId")
        }
        Some("summary") => record.has("leafUuid"),
        Some("file-history-snapshot") => record.has("messageId"),
        Some("queue-operation" | "last-prompt" | "ai-title" | "custom-title" | "permission-mode") => {
            record.has("sessionId")
        }
        _ => false,
    }
}

#[derive(Default)]
struct ClaudeReader {
    tree: ClaudeTree,
    boundaries: Vec<ClaudeBoundary>,
    /// The place of the summary that is expected next.
    place: Option<MessageIx>,
    answers: SplitResponses,
    /// The id of the newest message, if it is a response.
    newest: Option<RecordId>,
    calls: Vec<ModelCall>,
    /// The model call of each response, as an index into `calls`.
    costs: Map<RecordId, usize>,
    /// The calls whose results were cleared.
    cleared: Set<Name>,
    title: TitleSource,
}

/// Where the session's title comes from, the weakest source first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum TitleSource {
    #[default]
    None,
    Summary,
    Model,
    User,
}

impl LineReader for ClaudeReader {
    fn record(&mut self, draft: &mut TranscriptDraft<'_>, line: &str) -> Result<(), SyntaxError> {
        let Object(Some(record)) = read::<Object<ClaudeRecord<'_>>>(line)? else { return Ok(()) };
        learn(&mut draft.origin.session, record.session);
        learn(&mut draft.origin.project, record.cwd);
        learn(&mut draft.origin.version, record.version);
        let kind = record.kind.string();
        match (kind.as_deref(), record.subtype.string().as_deref()) {
            (Some("user"), _) => self.take_user(draft, &record),
            (Some("assistant"), _) => self.take_answer(draft, &record),
            (Some("system"), Some("compact_boundary")) => self.take_boundary(draft, &record),
            (Some("system"), Some("microcompact_boundary")) => {
                self.clear(draft, &record);
                self.pass(&record);
            }
            (Some("summary"), _) => self.entitle(draft, TitleSource::Summary, record.summary),
            (Some("ai-title"), _) => self.entitle(draft, TitleSource::Model, record.ai_title),
            (Some("custom-title"), _) => self.entitle(draft, TitleSource::User, record.custom_title),
            _ => self.pass(&record),
        }
        Ok(())
    }

    fn finish(&mut self, draft: &mut TranscriptDraft<'_>) {
        let wholes = self.answers.join(draft);
        let renamed = |message: MessageIx| wholes.get(message.0 as usize).copied().unwrap_or(message);
        for call in self.calls.drain(..) {
            draft.outline.push_model_call(ModelCall { message: renamed(call.message), ..call });
        }
        if !self.cleared.is_empty() {
            for part in draft.outline.parts() {
                let is_result = draft.outline.kind(part) == PartKind::Result;
                if is_result && self.cleared.contains(&draft.outline.call(part)) {
                    draft.outline.set_cut(part);
                }
            }
        }
        self.tree.retire(&mut draft.outline, &self.boundaries, renamed);
    }
}

impl ClaudeReader {
    fn entitle(&mut self, draft: &mut TranscriptDraft<'_>, by: TitleSource, title: Option<Raw<'_>>) {
        if let Some(title) = title.string().filter(|_| by >= self.title) {
            self.title = by;
            draft.origin.title = Some(title.into_owned());
        }
    }

    fn pass(&mut self, record: &ClaudeRecord<'_>) {
        if record.uuid.is_some() {
            self.tree.push(record.id(), record.follows());
        }
    }

    fn begin(
        &mut self,
        draft: &mut TranscriptDraft<'_>,
        record: &ClaudeRecord<'_>,
        facts: MessageFacts<'_>,
    ) -> MessageIx {
        self.newest = None;
        let id = record.uuid.string();
        draft.push_message(MessageFacts { id: id.as_deref(), time: record.time(), ..facts })
    }

    fn take_user(&mut self, draft: &mut TranscriptDraft<'_>, record: &ClaudeRecord<'_>) {
        let Object(Some(message)) = &record.message else { return self.pass(record) };
        let is_result = |block: &ClaudeBlock<'_>| block.kind.is("tool_result");
        let only_results = message.blocks().next().is_some() && message.blocks().all(is_result);
        let role = if only_results { Role::Tool } else { Role::User };
        let summary = record.is_summary.truthy();
        let place = if summary { self.place.take() } else { None };
        let index =
            self.begin(draft, record, MessageFacts { role, summary, place, ..MessageFacts::default() });
        self.tree.push_message(record.id(), record.follows(), record.chain(), index);
        let is_meta = record.is_meta.truthy();
        let say = |draft: &mut TranscriptDraft<'_>, text: Option<Raw<'_>>| {
            if is_meta || text.is_some_and(|text| content::is_tagged(text.text(), &[])) {
                draft.push_injected(text);
            } else {
                draft.push_text(PartKind::Text, text);
            }
        };
        if let Some(text) = message.text() {
            say(draft, Some(text));
        }
        for block in message.blocks() {
            if block.kind.is("text") {
                say(draft, block.text);
            } else {
                take_block(draft, block);
            }
        }
    }

    fn take_answer(&mut self, draft: &mut TranscriptDraft<'_>, record: &ClaudeRecord<'_>) {
        let Object(Some(message)) = &record.message else { return self.pass(record) };
        let id = message.id.if_string().or(record.uuid).map(|id| RecordId::of(id.text()));
        let index = match draft.outline.messages().next_back() {
            Some(newest) if id.is_some() && self.newest == id => newest,
            _ => {
                let failed = record.is_error.truthy();
                let facts = MessageFacts { role: Role::Assistant, failed, ..MessageFacts::default() };
                self.begin(draft, record, facts)
            }
        };
        self.newest = id;
        self.tree.push_message(record.id(), record.follows(), record.chain(), index);
        if let Some(id) = id {
            self.answers.add(id, index);
        }
        if let Some(text) = message.text() {
            draft.push_text(PartKind::Text, Some(text));
        }
        for block in message.blocks() {
            take_block(draft, block);
        }
        if message.model.is("<synthetic>") {
            return;
        }
        update(&mut draft.origin.model, message.model);
        if let Some(usage) = message.usage.and_then(usage) {
            let call = ModelCall { message: index, time: record.time(), usage };
            let known = id.and_then(|id| self.costs.get(&id)).and_then(|&at| self.calls.get_mut(at));
            if let Some(known) = known {
                known.usage = usage;
            } else {
                self.costs.extend(id.map(|id| (id, self.calls.len())));
                self.calls.push(call);
            }
        }
    }

    /// Adds the mark of a compaction. Newer versions keep some messages in the context: the summary comes before them.
    fn take_boundary(&mut self, draft: &mut TranscriptDraft<'_>, record: &ClaudeRecord<'_>) {
        let kept = self.kept(record.compaction);
        self.place = kept.iter().min().copied();
        let facts = MessageFacts { place: self.place, ..MessageFacts::default() };
        let mark = self.begin(draft, record, facts);
        draft.push_compaction();
        self.tree.push_mark(record.id(), record.follows(), mark);
        self.boundaries.push(ClaudeBoundary { mark, kept });
    }

    fn kept(&self, metadata: Option<Raw<'_>>) -> Vec<MessageIx> {
        let metadata: ClaudeCompaction<'_> = metadata.fields();
        let messages: ClaudePreserved<'_> = metadata.messages.fields();
        let id = |uuid: Raw<'_>| RecordId::of(uuid.text());
        if let Some(uuids) = messages.all.or(messages.uuids) {
            let uuids = Some(uuids).elements().into_iter();
            return uuids.filter_map(|uuid| self.tree.message(id(uuid))).collect();
        }
        let segment: ClaudePreserved<'_> = metadata.segment.fields();
        let ends = segment.head.zip(segment.tail);
        ends.map(|(head, tail)| self.tree.segment(id(head), id(tail))).unwrap_or_default()
    }

    /// Notes the results that are cleared for the model from now on.
    fn clear(&mut self, draft: &TranscriptDraft<'_>, record: &ClaudeRecord<'_>) {
        let calls = record.microcompaction.fields::<ClaudeCleared<'_>>().calls.elements();
        let names = calls.into_iter().filter_map(|id| draft.outline.ids().find(&id.as_str()?));
        self.cleared.extend(names);
    }
}

fn take_block(draft: &mut TranscriptDraft<'_>, block: &ClaudeBlock<'_>) {
    match block.kind.string().as_deref() {
        Some("text") => draft.push_text(PartKind::Text, block.text),
        Some("thinking") => {
            draft.push_text(PartKind::Reasoning, block.thinking);
            if block.signature.truthy() {
                draft.push_text(PartKind::Signature, block.signature);
            }
        }
        Some("redacted_thinking") => draft.push_text(PartKind::Signature, block.data),
        Some("tool_use") => {
            let (tool, id, input) = (block.name.string(), block.id.string(), block.input);
            draft.push_call(ToolCall { tool, id, input, ..ToolCall::default() });
        }
        Some("tool_result") => {
            let (id, status, content) = (block.call.string(), outcome(block.is_error), block.content);
            draft.push_result(ToolResult { id, status, content, ..ToolResult::default() });
        }
        Some("image" | "document") => {
            if let Some(source) = block.source {
                draft.push_media(source);
            }
        }
        // Tools that the provider runs itself, and block types that we do not know.
        _ => draft.push_text(PartKind::Other, block.content.or(block.input)),
    }
}

#[cfg(test)]
mod tests;
