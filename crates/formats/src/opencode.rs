//! OpenCode sessions: an export document `{info, messages: [{info, parts}]}`, or the bare array.
//!
//! A tool part holds the call and its result in one record; here it becomes two parts of the outline. A
//! cut is the mark `state.time.compacted`, a time in milliseconds: the output itself stays in the file, and
//! is replaced only when the session is [rendered](model_messages) for a model.

pub mod model_messages;
pub mod ui_messages;

use secateur::{Action, Call, Kind, Measures, MessageFacts, PartFacts, Role, Sizes, Status, Usage};
use serde::de::{IgnoredAny, MapAccess};

use crate::document::{element_ranges, read_list};
use crate::draft::Draft;
use crate::format::Format;
use crate::json::fields::{object, raw_fields};
use crate::json::{Each, Edit, Fields, Object, Raw, encode, set_member};
use crate::probe::{Probe, Shape};
use crate::transcript::{ApplyError, Rendering, Spot, Transcript};

/// Whether a text is in this format.
pub(crate) fn matches(probe: &Probe<'_>) -> bool {
    (probe.shape == Shape::Object && probe.top.has("info") && probe.top.has("messages"))
        || (probe.is_list() && probe.first(|message| message.has("info") && message.has("parts")))
}

/// Reads the messages of a session; what cannot be read is passed over with a warning.
pub(crate) fn read<'a>(text: &'a str, measures: &Measures) -> Transcript<'a> {
    let mut draft = Draft::new(text, measures);
    for message in read_list::<Message<'a>>(text, &mut draft.warnings) {
        take(&mut draft, &message.unwrap_or_default());
    }
    draft.finish(Format::OpenCode, text)
}

/// The edits that mark one result as cut.
pub(crate) fn edits(
    transcript: &Transcript<'_>,
    cut: Rendering<'_>,
    now: i64,
) -> Result<Vec<Edit>, ApplyError> {
    let unsupported = |reason| Err(Format::OpenCode.unsupported(cut.part, reason));
    if cut.action != Action::Clear {
        return unsupported("its only mark means that the whole output is cleared");
    }
    let is_result = transcript.outline.kind(cut.part) == Kind::Result;
    let Some(spot) = transcript.spot(cut.part).filter(|_| is_result) else {
        return unsupported("only tool results can be marked");
    };
    if let Some(time) = spot.mark.clone() {
        let is_object = transcript.text.get(time.clone()).is_some_and(|raw| raw.starts_with('{'));
        return Ok(vec![if is_object {
            set_member(transcript.text, time, "compacted", &now.to_string())
        } else {
            Edit { range: time, text: format!("{{\"compacted\":{now}}}") }
        }]);
    }
    // Without a `time` the mark goes right behind the output, which lies in the same object.
    match spot.content.clone() {
        Some(output) => Ok(vec![Edit {
            range: output.end..output.end,
            text: format!(",{}:{{\"compacted\":{now}}}", encode("time")),
        }]),
        None => unsupported("it is not a tool result with an output"),
    }
}

fn take<'a>(draft: &mut Draft<'_>, message: &Message<'a>) {
    let info = &message.info;
    let parts = || message.parts.iter().flatten();
    let marker = parts().find(|part| part.is("compaction"));
    let (id, parent) = (info.id.and_then(Raw::as_str), info.parent.and_then(Raw::as_str));
    let tail = marker.and_then(|part| part.tail).and_then(Raw::as_str);
    let role = match info.role.and_then(Raw::as_str).as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => Role::Other,
    };
    let created = |time: Raw<'a>| object::<Time<'a>>(time.text()).ok().flatten()?.created;
    let time = info.time.and_then(created).and_then(Raw::as_i64);
    let index = draft.outline.push_message(MessageFacts {
        role,
        id: id.as_deref(),
        parent: parent.as_deref(),
        summary: role == Role::Assistant && info.summary.is_some_and(Raw::is_truthy),
        finished: info.finish.is_some_and(Raw::is_truthy),
        failed: info.error.is_some_and(Raw::is_truthy),
        marker: marker.is_some(),
        tail: tail.as_deref(),
        time,
        ..MessageFacts::default()
    });
    for part in parts() {
        take_part(draft, part);
    }
    if let (Role::Assistant, Some(usage)) = (role, info.tokens.and_then(usage)) {
        draft.outline.push_call(Call { message: index, time, usage });
    }
}

fn take_part<'a>(draft: &mut Draft<'_>, part: &Part<'a>) {
    let kind = match part.kind.and_then(Raw::as_str).as_deref() {
        Some("tool") => return take_tool(draft, part),
        Some("text") if !part.ignored.is_some_and(Raw::is_truthy) => Kind::Text,
        Some("reasoning") => Kind::Reasoning,
        Some("compaction") => Kind::Compaction,
        Some("file") => Kind::Media,
        _ => Kind::Other,
    };
    let content = if kind == Kind::Media { part.url } else { part.text };
    let sizes = match kind {
        Kind::Text | Kind::Reasoning => draft.sizes_of(content),
        Kind::Media => {
            Sizes { bytes: content.map_or(0, |url| url.text().len() as u64), images: 1, ..Sizes::default() }
        }
        _ => Sizes::default(),
    };
    let spot = Spot { id: draft.range(part.id), ..draft.spot_of(content) };
    draft.push(PartFacts { kind, sizes, ..PartFacts::default() }, spot);
}

fn take_tool<'a>(draft: &mut Draft<'_>, part: &Part<'a>) {
    let state = part.state.0.unwrap_or_default();
    let (tool, call) = (part.tool.and_then(Raw::as_str), part.call.and_then(Raw::as_str));
    let facts = PartFacts { tool: tool.as_deref(), call: call.as_deref(), ..PartFacts::default() };
    let status = match state.status.and_then(Raw::as_str).as_deref() {
        Some("completed") => Status::Completed,
        Some("error") => Status::Error,
        Some("running") => Status::Running,
        Some("pending") => Status::Pending,
        _ => Status::None,
    };
    let id = draft.range(part.id);
    let sizes = draft.sizes_of(state.input);
    let spot = Spot { id: id.clone(), ..draft.spot_of(state.input) };
    draft.push(PartFacts { kind: Kind::Call, status, sizes, ..facts }, spot);

    let output = if status == Status::Error { state.error } else { state.output };
    let mut sizes = draft.sizes_of(output.filter(|raw| raw.is_string()));
    sizes.images = state.attachments.map_or(0, |list| element_ranges(list.text()).len() as u32);
    let time = state.time.and_then(|time| object::<Time<'a>>(time.text()).ok().flatten());
    let cut = time.and_then(|time| time.compacted).is_some_and(Raw::is_truthy);
    let placeholder = draft.is_placeholder(output);
    let spot = Spot { id, mark: draft.range(state.time), ..draft.spot_of(output) };
    draft.push(PartFacts { kind: Kind::Result, status, cut, placeholder, sizes, ..facts }, spot);
}

raw_fields!(
    /// A message's `info`.
    Info { id: "id", role: "role", parent: "parentID", summary: "summary", finish: "finish", error: "error",
           time: "time", tokens: "tokens" }
);
raw_fields!(
    /// A tool part's `state`.
    State { status: "status", input: "input", output: "output", error: "error", time: "time",
            attachments: "attachments" }
);
raw_fields!(
    /// A `time`, of a message or of a tool part.
    Time { created: "created", compacted: "compacted" }
);
raw_fields!(
    /// What the provider reported.
    Tokens { input: "input", output: "output", reasoning: "reasoning", total: "total", cache: "cache" }
);
raw_fields!(
    /// What the provider reported about its cache.
    Cache { read: "read", write: "write" }
);

/// Reads what the provider reported: `{input, output, reasoning, total?, cache: {read, write}}`.
pub(crate) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = object::<Tokens<'_>>(raw.text()).ok()??;
    let cache =
        tokens.cache.and_then(|cache| object::<Cache<'_>>(cache.text()).ok().flatten()).unwrap_or_default();
    let number = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_i64);
    Some(Usage {
        input: number(tokens.input).unwrap_or(0),
        output: number(tokens.output).unwrap_or(0),
        reasoning: number(tokens.reasoning).unwrap_or(0),
        cache_read: number(cache.read).unwrap_or(0),
        cache_write: number(cache.write).unwrap_or(0),
        total: number(tokens.total),
    })
}

#[derive(Default)]
struct Message<'a> {
    info: Info<'a>,
    parts: Vec<Option<Part<'a>>>,
}

impl<'a> Fields<'a> for Message<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "info" => self.info = map.next_value::<Object<_>>()?.0.unwrap_or_default(),
            "parts" => {
                self.parts.clear();
                map.next_value_seed(Each::new(|Object(part)| self.parts.push(part)))?;
            }
            _ => _ = map.next_value::<IgnoredAny>()?,
        }
        Ok(())
    }
}

#[derive(Default)]
struct Part<'a> {
    id: Option<Raw<'a>>,
    kind: Option<Raw<'a>>,
    text: Option<Raw<'a>>,
    ignored: Option<Raw<'a>>,
    url: Option<Raw<'a>>,
    tool: Option<Raw<'a>>,
    call: Option<Raw<'a>>,
    tail: Option<Raw<'a>>,
    state: Object<State<'a>>,
}

impl Part<'_> {
    fn is(&self, kind: &str) -> bool {
        self.kind.and_then(Raw::as_str).as_deref() == Some(kind)
    }
}

impl<'a> Fields<'a> for Part<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "id" => self.id = Some(map.next_value()?),
            "type" => self.kind = Some(map.next_value()?),
            "text" => self.text = Some(map.next_value()?),
            "ignored" => self.ignored = Some(map.next_value()?),
            "url" => self.url = Some(map.next_value()?),
            "tool" => self.tool = Some(map.next_value()?),
            "callID" => self.call = Some(map.next_value()?),
            "tail_start_id" => self.tail = Some(map.next_value()?),
            "state" => self.state = map.next_value()?,
            _ => _ = map.next_value::<IgnoredAny>()?,
        }
        Ok(())
    }
}
