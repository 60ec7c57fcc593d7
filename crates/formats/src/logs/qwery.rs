//! Qwery sessions: an array of messages `{id, role, content: {parts}, metadata}`.
//!
//! Tool parts come in two shapes: `tool-<name>` and `dynamic-tool` with a string as state, and `tool` with an object. A
//! cut writes `compactedAt` and, unlike in the other systems, replaces the stored output. The text is then lost, which is
//! why the command makes a backup.

use std::borrow::Cow;

use secateur::{Measures, MessageFacts, ModelCall, PartFacts, PartKind, Role, Sizes, ToolStatus};

use super::opencode;
use crate::cut::{ApplyError, CutSite, Spot};
use crate::document::read_list;
use crate::draft::TranscriptDraft;
use crate::json::{
    Edit, Object, OptionalRaw, Printer, Raw, encode, lengths, printed_len, raw_fields, set_member,
};
use crate::probe::Probe;
use crate::sizes;
use crate::spec::{Cutting, FormatReader, FormatSpec};

pub(super) const SPEC: FormatSpec =
    FormatSpec { cutting: Cutting::Mark(edits), ..FormatSpec::plain(matches, FormatReader::Whole(read)) };

fn matches(probe: &Probe<'_>) -> bool {
    probe.is_list() && probe.first(|message| message.has("role") && message.starts("content") == Some('{'))
}

fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    for message in read_list::<QweryMessage<'_>>(text, &mut draft.warnings) {
        take(draft, &message.unwrap_or_default());
    }
}

/// The edits that mark one result as cut and replace its output.
fn edits(site: &CutSite<'_>) -> Result<Vec<Edit>, ApplyError> {
    let unsupported = |reason| site.unsupported(reason);
    let now = site.now;
    let text = site.text;
    let spot = site.result().ok_or_else(|| unsupported("only tool results can be marked"))?;
    let state = spot.mark.clone().ok_or_else(|| unsupported("it is not a tool result with a state"))?;
    // Missing members are inserted behind the state, which every tool part has.
    let insert = |member: String| Edit { range: state.end..state.end, text: format!(",{member}") };
    let placeholder = encode(site.cut.placeholder);
    let mut edits = Vec::new();
    let raw_state = text.get(state.clone()).unwrap_or_default();
    if raw_state.strip_prefix('{').is_some_and(|rest| rest.trim_ascii_start() == "}") {
        // In an empty object, each of three single edits would omit the comma.
        let time = format!("{{\"compacted\":{now}}}");
        let text = format!("{{\"output\":{placeholder},\"time\":{time},\"attachments\":[]}}");
        edits.push(Edit { range: state.clone(), text });
    } else if raw_state.starts_with('{') {
        let inner: QweryState<'_> = Some(Raw(raw_state)).fields();
        edits.push(set_member(text, state.clone(), "output", &placeholder));
        let time =
            inner.time.filter(|time| time.text().starts_with('{')).and_then(|time| time.range_in(text));
        edits.push(match time {
            Some(time) => set_member(text, time, "compacted", &now.to_string()),
            None => set_member(text, state.clone(), "time", &format!("{{\"compacted\":{now}}}")),
        });
        edits.push(set_member(text, state.clone(), "attachments", "[]"));
    } else if !spot.inside {
        // A part without output gets none.
        edits.extend(spot.content.clone().map(|output| Edit { range: output, text: placeholder }));
    }
    edits.push(match spot.second.clone() {
        Some(time) => Edit { range: time, text: now.to_string() },
        None => insert(format!("\"compactedAt\":{now}")),
    });
    Ok(edits)
}

/// The length of an output as Qwery measures it: texts as they are, the member `text` of an object, and
/// everything else as JavaScript prints it.
fn output_sizes(output: Option<Raw<'_>>, measures: &Measures) -> Sizes {
    let raw = output.map_or("null", Raw::text);
    let mut sizes = sizes::of_json(raw, measures);
    if raw == "null" {
        sizes.units = 2;
    } else if !raw.starts_with('"') {
        let text = output.fields::<QweryOutput<'_>>().text;
        sizes.units = match text.map(Raw::text) {
            Some("null") => 0,
            Some(text) if text.starts_with('"') => lengths(text).units,
            Some(text) if text.starts_with('{') => "[object Object]".len() as u64,
            Some(text) => printed_len(text, Printer::JavaScript),
            None => printed_len(raw, Printer::JavaScript),
        };
    }
    sizes
}

fn take<'a>(draft: &mut TranscriptDraft<'_>, message: &QweryMessage<'a>) {
    let metadata = message.metadata.0.unwrap_or_default();
    let (id, parent) = (message.id.string(), metadata.parent.string());
    let parts = || message.content.0.iter().flat_map(|content| &content.parts).flatten();
    let role = match message.role.string().as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::Other,
    };
    let index = draft.push_message(MessageFacts {
        role,
        id: id.as_deref(),
        parent: parent.as_deref().filter(|parent| !parent.is_empty()),
        summary: role == Role::Assistant && metadata.summary.truthy(),
        finished: metadata.finish.truthy(),
        failed: metadata.error.truthy(),
        marker: parts().any(|part| part.kind() == "compaction"),
        ..MessageFacts::default()
    });
    for part in parts() {
        take_part(draft, part);
    }
    if let (Role::Assistant, Some(usage)) = (role, metadata.tokens.and_then(opencode::usage)) {
        draft.outline.push_model_call(ModelCall { message: index, time: None, usage });
    }
}

fn take_part<'a>(draft: &mut TranscriptDraft<'_>, part: &QweryPart<'a>) {
    let kind = part.kind();
    if kind.starts_with("tool-") || kind == "tool" || kind == "dynamic-tool" {
        return take_tool(draft, part, &kind);
    }
    let kind = match &*kind {
        "text" => PartKind::Text,
        "reasoning" => PartKind::Reasoning,
        "file" => PartKind::Media,
        "compaction" => PartKind::Compaction,
        _ => PartKind::Other,
    };
    let sizes = Sizes { images: u32::from(kind == PartKind::Media), ..draft.sizes_of(part.text) };
    let spot = draft.spot_of(part.text);
    draft.push(PartFacts { kind, sizes, ..PartFacts::default() }, spot);
}

fn take_tool<'a>(draft: &mut TranscriptDraft<'_>, part: &QweryPart<'a>, kind: &str) {
    let state = part.state.and_then(Raw::object::<QweryState<'a>>);
    let word = match &state {
        Some(state) => state.status.string(),
        None => part.state.string(),
    };
    let status = match word.as_deref() {
        Some("output-available" | "completed") => ToolStatus::Completed,
        Some("output-error") => ToolStatus::Error,
        Some("input-streaming" | "input-available" | "running") => ToolStatus::Running,
        Some("pending") => ToolStatus::Pending,
        _ => ToolStatus::None,
    };
    // Protected tools are compared with the member `tool` only, so a name in the type keeps its prefix.
    let tool = part.tool.string().unwrap_or_else(|| match part.tool_name.string() {
        Some(name) if kind == "dynamic-tool" => Cow::Owned(format!("dynamic-tool/{name}")),
        _ => Cow::Owned(kind.to_owned()),
    });
    let call = part.call.or(part.own_call).string();
    let facts = PartFacts { tool: Some(&tool), call: call.as_deref(), status, ..PartFacts::default() };
    let inner = state.unwrap_or_default();
    let input = part.input.or(inner.input);
    let (sizes, spot) = (draft.sizes_of(input), draft.spot_of(input));
    draft.push(PartFacts { kind: PartKind::Call, sizes, ..facts }, spot);

    let output = part.output.or(inner.output);
    let mut sizes = output_sizes(output, draft.measures);
    sizes.images = inner.attachments.elements().len() as u32;
    let marked = inner.time.fields::<QweryTime<'a>>().compacted;
    let own = part.compacted_at.unless_null();
    let cut = own.or(marked).truthy();
    let placeholder = draft.is_placeholder(output);
    let spot = Spot {
        mark: draft.range(part.state),
        second: draft.range(part.compacted_at),
        inside: kind == "tool",
        ..draft.spot_of(output)
    };
    draft.push(PartFacts { kind: PartKind::Result, cut, placeholder, sizes, ..facts }, spot);
}

raw_fields! {
    QweryMetadata { summary: "summary", finish: "finish", parent: "parentId", error: "error", tokens: "tokens" }
    /// The `state` of a `tool` part.
    QweryState { status: "status", input: "input", output: "output", time: "time", attachments: "attachments" }
    QweryTime { compacted: "compacted" }
    /// An output that is an object.
    QweryOutput { text: "text" }
    QweryPart { kind: "type", text: "text", tool: "tool", tool_name: "toolName", call: "toolCallId", own_call: "callID",
           state: "state", input: "input", output: "output", compacted_at: "compactedAt" }
}

impl<'a> QweryPart<'a> {
    fn kind(&self) -> Cow<'a, str> {
        self.kind.string().unwrap_or_default()
    }
}

raw_fields! {
    QweryContent { parts: "parts" => Vec<Object<QweryPart<'a>>> }
    QweryMessage {
        id: "id", role: "role",
        content: "content" => Object<QweryContent<'a>>, metadata: "metadata" => Object<QweryMetadata<'a>>
    }
}

#[cfg(test)]
mod tests {
    use secateur::{Action, Measures, PartIx};

    use crate::cut::Rendering;
    use crate::format::Format;
    use crate::read::read_as;

    #[test]
    fn a_part_without_output_is_marked_and_gets_none() {
        let text = r#"[{"id":"a","role":"assistant","content":{"parts":[{"type":"tool-x","toolCallId":"1","state":"output-error","input":{},"errorText":"no"}]}}]"#;
        let transcript = read_as(text.as_bytes(), Format::Qwery, &Measures::default()).unwrap();
        let cut = Rendering { part: PartIx(1), action: Action::Clear, placeholder: "[cut]" };
        let written = transcript.apply([cut], 7).unwrap().to_vec();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(written, text.replace(r#""output-error""#, r#""output-error","compactedAt":7"#));
    }
}
