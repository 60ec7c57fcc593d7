//! OpenCode sessions: an export document `{info, messages: [{info, parts}]}`, or the bare array.
//!
//! A tool part holds the call and its result in one record; here it becomes two parts of the outline. A cut is the mark
//! `state.time.compacted`, a time in milliseconds: the output stays in the file and is replaced only when the session is
//! rendered for a model.

mod record;

use std::collections::HashMap;

use secateur::{
    MessageFacts, MessageIx, ModelCall, Name, Outline, PartFacts, PartKind, Role, Sizes, ToolStatus,
};

use crate::cut::{ApplyError, CutSite, Spot};
use crate::document::{LIST, read_document};
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::{Edit, OptionalRaw, Raw, encode, set_member};
use crate::origin::{Origin, update};
use crate::probe::{Probe, TextShape};
use crate::spec::{Cutting, FormatReader, FormatSpec};
pub(super) use record::usage;
use record::{
    OpenCodeHead, OpenCodeMessage, OpenCodeMetadata, OpenCodeModel, OpenCodePart, OpenCodeSessionInfo,
    OpenCodeTime,
};

pub(super) const SPEC: FormatSpec =
    FormatSpec { cutting: Cutting::Mark(edits), ..FormatSpec::plain(matches, FormatReader::Whole(read)) };

fn matches(probe: &Probe<'_>) -> bool {
    (probe.shape == TextShape::Object && probe.top.has("info") && probe.top.has("messages"))
        || (probe.is_list() && probe.first(|message| message.has("info") && message.has("parts")))
}

fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let (head, messages) =
        read_document::<OpenCodeHead<'_>, OpenCodeMessage<'_>>(LIST, text, &mut draft.warnings);
    describe(draft, &head.info.fields());
    for message in messages {
        take(draft, &message.unwrap_or_default());
    }
    settle(&mut draft.outline);
}

/// Notes the session's own description.
fn describe(draft: &mut TranscriptDraft<'_>, info: &OpenCodeSessionInfo<'_>) {
    draft.origin = Origin {
        session: info.id.owned(),
        model: info.model.fields::<OpenCodeModel<'_>>().id.owned(),
        version: info.version.owned(),
        project: info.directory.owned(),
        title: info.title.owned(),
    };
}

/// Retires what finished compactions replaced: everything before the mark except the tail that it names. The tail then
/// follows the summary.
fn settle(outline: &mut Outline) {
    let summaries: Vec<MessageIx> = outline.summaries().to_vec();
    if summaries.is_empty() {
        return;
    }
    let known: HashMap<Name, MessageIx> = outline
        .messages()
        .map(|message| (outline.id(message), message))
        .filter(|(id, _)| id.is_some())
        .collect();
    for summary in summaries {
        let is_done = outline.is_finished(summary) && !outline.is_failed(summary);
        let marker = known.get(&outline.parent(summary)).copied();
        let marker = marker.filter(|&marker| is_done && marker < summary && outline.is_marker(marker));
        let Some(marker) = marker else { continue };
        let tail = known.get(&outline.tail(marker)).copied().filter(|&tail| tail < marker);
        let after = MessageIx(summary.0 + 1);
        for message in 0..tail.unwrap_or(marker).0 {
            outline.retire(MessageIx(message), after);
        }
        if let Some(tail) = tail {
            outline.move_before(marker, tail);
            outline.move_before(summary, tail);
        }
    }
}

/// The edits that mark one result as cut.
fn edits(site: &CutSite<'_>) -> Result<Vec<Edit>, ApplyError> {
    let unsupported = |reason| Err(site.unsupported(reason));
    let Some(spot) = site.result() else {
        return unsupported("only tool results can be marked");
    };
    if let Some(time) = spot.mark.clone() {
        let is_object = site.text.get(time.clone()).is_some_and(|raw| raw.starts_with('{'));
        return Ok(vec![if is_object {
            set_member(site.text, time, "compacted", &site.now.to_string())
        } else {
            Edit { range: time, text: format!("{{\"compacted\":{}}}", site.now) }
        }]);
    }
    // Without a `time`, the mark is inserted behind the output, which lies in the same object.
    match spot.content.clone() {
        Some(output) => Ok(vec![Edit {
            range: output.end..output.end,
            text: format!(",{}:{{\"compacted\":{}}}", encode("time"), site.now),
        }]),
        None => unsupported("it is not a tool result with an output"),
    }
}

fn take<'a>(draft: &mut TranscriptDraft<'_>, message: &OpenCodeMessage<'a>) {
    let info = message.info.0.unwrap_or_default();
    let parts = || message.parts.iter().flatten();
    let marker = parts().find(|part| part.kind.is("compaction"));
    let (id, parent) = (info.id.string(), info.parent.string());
    let tail = marker.and_then(|part| part.tail).string();
    let role = match info.role.string().as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => Role::Other,
    };
    let time = info.time.fields::<OpenCodeTime<'a>>().created.integer();
    let index = draft.push_message(MessageFacts {
        role,
        id: id.as_deref(),
        parent: parent.as_deref(),
        summary: role == Role::Assistant && info.summary.truthy(),
        finished: info.finish.truthy(),
        failed: info.error.truthy(),
        marker: marker.is_some(),
        tail: tail.as_deref(),
        time,
        ..MessageFacts::default()
    });
    for part in parts() {
        take_part(draft, part);
    }
    if role == Role::Assistant {
        update(&mut draft.origin.model, info.model);
        // A failed response reports zeros.
        let reported = info.tokens.and_then(usage).filter(|usage| usage.context() > 0);
        if let Some(usage) = reported {
            draft.outline.push_model_call(ModelCall { message: index, time, usage });
        }
    }
}

fn take_part<'a>(draft: &mut TranscriptDraft<'_>, part: &OpenCodePart<'a>) {
    let kind = match part.kind.string().as_deref() {
        Some("tool") => return take_tool(draft, part),
        Some("text") if !part.ignored.truthy() => PartKind::Text,
        Some("reasoning") => PartKind::Reasoning,
        Some("compaction") => PartKind::Compaction,
        Some("file") => PartKind::Media,
        _ => PartKind::Other,
    };
    let content = if kind == PartKind::Media { part.url } else { part.text };
    let sizes = match kind {
        PartKind::Text | PartKind::Reasoning => draft.sizes_of(content),
        PartKind::Media => Sizes {
            bytes: content.map_or(0, |url| url.text().len() as u64),
            images: u32::from(part.holds_media()),
            ..Sizes::default()
        },
        _ => Sizes::default(),
    };
    let injected = kind == PartKind::Text && part.synthetic.truthy();
    let spot = Spot { id: draft.range(part.id), ..draft.spot_of(content) };
    draft.push(PartFacts { kind, injected, sizes, ..PartFacts::default() }, spot);
}

fn take_tool<'a>(draft: &mut TranscriptDraft<'_>, part: &OpenCodePart<'a>) {
    let state = part.state.0.unwrap_or_default();
    let (tool, call) = (part.tool.string(), part.call.string());
    let (tool, call) = (tool.as_deref(), call.as_deref());
    let status = match state.status.string().as_deref() {
        Some("completed") => ToolStatus::Completed,
        Some("error") => ToolStatus::Error,
        Some("running") => ToolStatus::Running,
        Some("pending") => ToolStatus::Pending,
        _ => ToolStatus::None,
    };
    let id = draft.range(part.id);
    let spot = Spot { id: id.clone(), ..draft.spot_of(state.input) };
    draft.push_call_at(ToolCall { tool, id: call, status, input: state.input }, spot);

    let output = if status == ToolStatus::Error { state.error } else { state.output };
    let mut sizes = draft.sizes_of(output.if_string());
    sizes.images = state.attachments.elements().len() as u32;
    let cut = state.time.fields::<OpenCodeTime<'a>>().compacted.truthy();
    let failed = status == ToolStatus::Completed && state.metadata.is_some_and(has_failed);
    let spot = Spot { id, mark: draft.range(state.time), ..draft.spot_of(output) };
    let answered = ToolResult { tool, id: call, status, failed, cut, content: output };
    draft.push_result_at(answered, sizes, spot);
}

/// Whether the metadata of a command have an exit code other than 0. They may be large and are parsed only if they hold an
/// exit code.
fn has_failed(metadata: Raw<'_>) -> bool {
    let text = metadata.text();
    memchr::memmem::find(text.as_bytes(), b"\"exit\"").is_some()
        && Some(metadata).fields::<OpenCodeMetadata<'_>>().exit.truthy()
}

#[cfg(test)]
mod tests;
