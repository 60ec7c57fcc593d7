//! The requests that agents send to model providers, as sessions: one module per wire format.
//!
//! A request holds the whole context that the model is given, so nothing in it is history: every message is alive.
//! Tools that are merely declared are no parts of it, since nobody said them and no policy cuts them.
//!
//! A provider checks a request more strictly than an agent checks its own log. So a part is only given a place to be
//! cut where any text may stand; what a provider made and expects back as it was (searches that it ran, references
//! to items that it keeps, encrypted thinking) is kept as an opaque part.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

use std::collections::HashMap;

use secateur::{Action, MessageFacts, PLACEHOLDER, PartFacts, PartKind, Role, ToolStatus};

use crate::chat;
use crate::content;
use crate::cut::{ApplyError, CutSite, Rendering, replace_result};
use crate::document::{element_ranges, element_ranges_under};
use crate::draft::TranscriptDraft;
use crate::json::fields::{object, raw_fields};
use crate::json::{Edit, Fields, Raw, encode, read as read_json};
use crate::probe::{Probe, TextShape};
use crate::spec::{Cutting, FormatReader, FormatSpec};
use crate::warning::Warning;
use crate::wire::Wire;

/// How a request is read and cut.
pub(crate) fn spec(wire: Wire) -> &'static FormatSpec {
    match wire {
        Wire::Anthropic => &anthropic::SPEC,
        Wire::OpenAiChat => &openai_chat::SPEC,
        Wire::OpenAiResponses => &openai_responses::SPEC,
        Wire::Gemini => &gemini::SPEC,
    }
}

/// The wire of a request, given its beginning.
pub(crate) fn detect(probe: &Probe<'_>) -> Option<Wire> {
    let is_own = |wire: &Wire| (spec(*wire).matches)(probe);
    Wire::ALL.into_iter().find(is_own).filter(|_| probe.shape == TextShape::Object)
}

const fn spec_of(matches: fn(&Probe<'_>) -> bool, read: fn(&mut TranscriptDraft<'_>, &str)) -> FormatSpec {
    let reader = FormatReader::Whole(read);
    FormatSpec { cutting: Cutting::Replace(edits), ..FormatSpec::plain(matches, reader) }
}

/// The edits that cut one tool result.
fn edits(site: &CutSite<'_>) -> Result<Vec<Edit>, ApplyError> {
    let cut = site.cut;
    let is_blank = cut.action == Action::Clear && cut.placeholder.trim().is_empty();
    // What failed must say something, or Anthropic refuses it.
    let is_mute = is_blank && site.outline.status(cut.part) == ToolStatus::Error;
    let cut = if is_mute { Rendering { placeholder: PLACEHOLDER, ..cut } } else { cut };
    let mut edits = replace_result(&CutSite { cut, ..*site })?;
    for edit in edits.iter_mut().filter(|edit| edit.text.starts_with("[{")) {
        if is_blank && !is_mute {
            // Providers refuse a block whose text is empty, but not an empty text in the place of blocks.
            edit.text = encode("");
        } else if site.raw(&edit.range).is_some_and(|raw| element_ranges(raw).is_empty()) {
            // A list without blocks does not tell what its provider calls a block of text.
            edit.text = encode(&content::text(&edit.text));
        }
    }
    // Media that lie beside the content leave with it.
    if let Some(media) = site.spot.and_then(|spot| spot.second.clone()) {
        edits.push(Edit { range: media, text: "[]".to_owned() });
    }
    edits.sort_by_key(|edit| edit.range.start);
    Ok(edits)
}

raw_fields!(
    /// The members of a body that matter here, of every wire: their names do not contradict each other.
    Body { model: "model", system: "system", instructions: "instructions", messages: "messages", input: "input",
           contents: "contents", instruction: "systemInstruction", instruction_snake: "system_instruction" }
);

/// Reads a body, and the elements of the list of what was said in it: a single value counts as a list of one. Of a
/// body that breaks off, the whole elements of its list are kept.
fn read_body<'a>(wire: Wire, text: &'a str, draft: &mut TranscriptDraft<'_>) -> (Body<'a>, Vec<Raw<'a>>) {
    let text = text.trim_start_matches('\u{FEFF}');
    let error = match object::<Body<'a>>(text) {
        Ok(body) => {
            let body = body.unwrap_or_default();
            draft.origin.model = body.model.and_then(Raw::as_str).map(Into::into);
            let said = match wire {
                Wire::Anthropic | Wire::OpenAiChat => body.messages,
                Wire::OpenAiResponses => body.input,
                Wire::Gemini => body.contents,
            };
            let elements = said
                .filter(|raw| raw.text() != "null")
                .map_or_else(Vec::new, |raw| if raw.text().starts_with('[') { list(raw) } else { vec![raw] });
            return (body, elements);
        }
        Err(error) => error,
    };
    let name = match wire {
        Wire::Anthropic | Wire::OpenAiChat => "messages",
        Wire::OpenAiResponses => "input",
        Wire::Gemini => "contents",
    };
    let ranges = element_ranges_under(name, text);
    let whole = ranges.into_iter().filter_map(|range| read_json(text.get(range)?).ok());
    let elements: Vec<_> = whole.collect();
    let reason = format!("{error}; {} whole messages were read, the rest was left alone", elements.len());
    draft.warnings.push(Warning::at(text.as_bytes(), error.offset().unwrap_or(text.len()), reason));
    (Body::default(), elements)
}

/// Adds the instructions that stand beside the messages.
fn instruct(draft: &mut TranscriptDraft<'_>, instructions: Option<Raw<'_>>) {
    if let Some(raw) = instructions.filter(|raw| raw.text() != "null") {
        draft.push_message(MessageFacts { role: Role::System, ..MessageFacts::default() });
        draft.push_text(PartKind::Text, Some(raw));
    }
}

/// The elements of a raw list; none if it is something else.
fn list(raw: Raw<'_>) -> Vec<Raw<'_>> {
    if !raw.text().starts_with('[') {
        return Vec::new();
    }
    read_json(raw.text()).unwrap_or_default()
}

/// The fields of a raw object; none of them if it is something else.
fn fields<'a, T: Fields<'a>>(raw: Raw<'a>) -> T {
    object(raw.text()).ok().flatten().unwrap_or_default()
}

/// A part that is sent as it is and that nobody here understands.
fn push_opaque(draft: &mut TranscriptDraft<'_>, raw: Raw<'_>) {
    let (sizes, spot) = (draft.sizes_of(Some(raw)), draft.spot_of(Some(raw)));
    draft.push(PartFacts { kind: PartKind::Other, sizes, ..PartFacts::default() }, spot);
}

/// Who speaks, by the name of the role: Google says `model` where the others say `assistant`.
fn role(raw: Option<Raw<'_>>) -> Role {
    match raw.and_then(Raw::as_str).as_deref() {
        Some("model") => Role::Assistant,
        name => chat::role(name),
    }
}

/// Ids for calls that have none: the first call of a tool belongs to its first answer, and so on.
#[derive(Default)]
struct Ordinals(HashMap<String, (u32, u32)>);

impl Ordinals {
    /// The id of the next call of this tool.
    fn call(&mut self, tool: &str) -> String {
        let (calls, _) = self.0.entry(tool.to_owned()).or_default();
        *calls += 1;
        format!("{tool}#{calls}")
    }

    /// The id of the call that the next answer of this tool belongs to.
    fn answer(&mut self, tool: &str) -> String {
        let (_, answers) = self.0.entry(tool.to_owned()).or_default();
        *answers += 1;
        format!("{tool}#{answers}")
    }
}

#[cfg(test)]
pub(crate) mod tests;
