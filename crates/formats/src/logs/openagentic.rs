//! openagentic-sdk sessions: an append-only log of events, one a line; an array of events is read as well.
//!
//! An event is one message of the outline. A cut is a further event, `tool.output_compacted`, so a session is marked by
//! appending to it and no earlier byte changes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use secateur::{MessageFacts, PartFacts, PartKind, Role, ToolStatus};

use crate::cut::{ApplyError, CutSite};
use crate::document::{read_lines, read_list};
use crate::draft::TranscriptDraft;
use crate::json::{Edit, OptionalRaw, Raw, encode, raw_fields};
use crate::probe::{Probe, ProbedRecord, TextShape};
use crate::sizes;
use crate::spec::{Cutting, FormatReader, FormatSpec};
use crate::warning::Warning;

pub(super) const SPEC: FormatSpec =
    FormatSpec { cutting: Cutting::Mark(edits), ..FormatSpec::plain(matches, FormatReader::Whole(read)) };

fn matches(probe: &Probe<'_>) -> bool {
    let is_event = |event: &ProbedRecord| {
        event.text("type").is_some_and(|kind| kind.contains('.')) && !event.has("role")
    };
    // A single event is a log of one line.
    probe.first(is_event) || (probe.shape == TextShape::Object && is_event(&probe.top))
}

fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let events = events(text, &mut draft.warnings);
    let known = OpenAgenticKnown::of(&events);
    for event in &events {
        take(draft, event, &known);
    }
}

fn is_list(text: &str) -> bool {
    text.trim_start_matches('\u{FEFF}').trim_start().starts_with('[')
}

fn events<'a>(text: &'a str, warnings: &mut Vec<Warning>) -> Vec<OpenAgenticEvent<'a>> {
    let events = if is_list(text) { read_list(text, warnings) } else { read_lines(text, warnings) };
    events.into_iter().map(Option::unwrap_or_default).collect()
}

/// The edit that appends the mark of one cut.
fn edits(site: &CutSite<'_>) -> Result<Vec<Edit>, ApplyError> {
    let unsupported = |reason| site.unsupported(reason);
    let call = site.outline.ids().text(site.outline.call(site.cut.part));
    let call = call
        .filter(|_| site.kind() == PartKind::Result)
        .ok_or_else(|| unsupported("it is not a tool result with an id"))?;
    // Seconds with a fraction, as Python's clock gives them.
    let event = format!(
        "{{\"type\":\"tool.output_compacted\",\"tool_use_id\":{},\"compacted_ts\":{}.{:03}}}",
        encode(call),
        site.now.div_euclid(1000),
        site.now.rem_euclid(1000)
    );
    if is_list(site.text) {
        let body = site.text.trim_end();
        let end = body.strip_suffix(']').map(|body| body.trim_end().len());
        let end = end.ok_or_else(|| unsupported("the list of events breaks off before its end"))?;
        return Ok(vec![Edit { range: end..end, text: format!(",\n{event}") }]);
    }
    let end = site.bytes.len();
    let ends_line = site.bytes.last().is_none_or(|&byte| byte == b'\n');
    let text = if ends_line { format!("{event}\n") } else { format!("\n{event}") };
    Ok(vec![Edit { range: end..end, text }])
}

raw_fields! {
    OpenAgenticEvent { kind: "type", text: "text", is_summary: "is_summary", call: "tool_use_id", name: "name",
            input: "input", output: "output", error: "is_error" }
}

impl<'a> OpenAgenticEvent<'a> {
    fn kind(&self) -> Cow<'a, str> {
        self.kind.string().unwrap_or_default()
    }

    fn call(&self) -> Option<Cow<'a, str>> {
        self.call.string().filter(|id| !id.is_empty())
    }

    fn is_summary(&self) -> bool {
        // Truthiness as in Python: empty lists and objects are false.
        let truthy = |raw: Raw<'_>| raw.is_truthy() && !matches!(raw.text(), "[]" | "{}");
        self.kind() == "assistant.message" && self.is_summary.is_some_and(truthy)
    }
}

/// What must be known before results can be read: the names of tools and the marks of cuts are in other events.
struct OpenAgenticKnown<'a> {
    tools: HashMap<Cow<'a, str>, Cow<'a, str>>,
    cut: HashSet<Cow<'a, str>>,
}

impl<'a> OpenAgenticKnown<'a> {
    /// The history begins with the last summary; names and marks before it do not count.
    fn of(events: &[OpenAgenticEvent<'a>]) -> Self {
        let begin = events.iter().rposition(OpenAgenticEvent::is_summary).unwrap_or(0);
        let mut known = Self { tools: HashMap::new(), cut: HashSet::new() };
        for event in events.iter().skip(begin) {
            let Some(call) = event.call() else { continue };
            match &*event.kind() {
                "tool.use" => {
                    if let Some(name) = event.name.string().filter(|name| !name.is_empty()) {
                        known.tools.insert(call, name);
                    }
                }
                "tool.output_compacted" => _ = known.cut.insert(call),
                _ => {}
            }
        }
        known
    }
}

fn take<'a>(draft: &mut TranscriptDraft<'_>, event: &OpenAgenticEvent<'a>, known: &OpenAgenticKnown<'a>) {
    let name = event.kind();
    let (role, kind, content) = match &*name {
        "user.message" => (Role::User, PartKind::Text, event.text),
        "assistant.message" => (Role::Assistant, PartKind::Text, event.text),
        "user.compaction" => (Role::User, PartKind::Compaction, None),
        "tool.use" => (Role::Assistant, PartKind::Call, event.input),
        "tool.result" => (Role::Tool, PartKind::Result, event.output),
        _ => (Role::Other, PartKind::Other, None),
    };
    let (summary, marker) = (event.is_summary(), kind == PartKind::Compaction);
    draft.push_message(MessageFacts { role, summary, marker, finished: true, ..MessageFacts::default() });
    let call = event.call();
    let own = event.name.string();
    let tool = match kind {
        PartKind::Call => own.as_deref(),
        PartKind::Result => call.as_ref().and_then(|call| known.tools.get(call)).map(|name| &**name),
        _ => None,
    };
    let status = match (kind, &call) {
        (PartKind::Call, _) => ToolStatus::Completed,
        (PartKind::Result, Some(_)) if event.error.truthy() => ToolStatus::Error,
        (PartKind::Result, Some(_)) => ToolStatus::Completed,
        // A result without a call id can be neither found again nor marked.
        _ => ToolStatus::None,
    };
    let facts = PartFacts {
        kind,
        status,
        tool,
        call: call.as_deref(),
        cut: kind == PartKind::Result && call.as_ref().is_some_and(|call| known.cut.contains(call)),
        placeholder: kind == PartKind::Result && draft.is_placeholder(content),
        sizes: match (kind, content) {
            // A missing output is None in Python, which prints as `null`.
            (PartKind::Result, None) => sizes::of_json("null", draft.measures),
            _ => draft.sizes_of(content),
        },
        ..PartFacts::default()
    };
    let spot = draft.spot_of(content);
    draft.push(facts, spot);
}
