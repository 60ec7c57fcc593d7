//! Reads the requests that agents send to providers, like sessions.
//!
//! A request holds the whole context, so every message in it is live. Tool declarations are not parts: they are not
//! messages, and no policy cuts them.
//!
//! A provider checks a request more strictly than an agent checks its own log. So a part can only be cut where any text
//! is allowed. What a provider made and expects back unchanged (its own searches, references to items that it keeps,
//! encrypted thinking) is an opaque part.

use std::collections::HashMap;

use secateur::{Action, MessageFacts, PLACEHOLDER, PartKind, Role, ToolStatus};

use crate::chat;
use crate::content;
use crate::cut::{ApplyError, CutSite, Rendering, replace_result};
use crate::document::{element_ranges, element_ranges_under};
use crate::draft::TranscriptDraft;
use crate::json::fields::{OptionalRaw, object, raw_fields};
use crate::json::{Edit, Fields, Raw, encode, read as read_json};
use crate::probe::{Probe, TextShape};
use crate::spec::{Cutting, FormatReader, FormatSpec};
use crate::warning::Warning;
use crate::wire_spec::Wire;

/// A request for a text: instructions and one message of the user, without tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRequest<'q> {
    /// The model.
    pub model: &'q str,
    /// The instructions; left out if they are blank.
    pub system: &'q str,
    /// The user's message.
    pub text: &'q str,
    /// The most tokens that the model may write.
    pub max_tokens: u64,
    /// What Chat Completions call that limit.
    pub max_tokens_field: &'q str,
    /// Whether Chat Completions are asked for token counts.
    pub include_usage: bool,
}

impl TextRequest<'_> {
    /// Whether there are instructions.
    pub(crate) fn has_system(&self) -> bool {
        !self.system.trim().is_empty()
    }
}

/// How a request is read and cut.
pub(crate) fn spec(wire: Wire) -> &'static FormatSpec {
    &wire.code().request
}

/// The wire of a request, given its beginning.
pub(crate) fn detect(probe: &Probe<'_>) -> Option<Wire> {
    Wire::detect(probe.text).filter(|_| probe.shape == TextShape::Object)
}

/// The format of a wire's requests.
pub(crate) const fn format_spec(read: fn(&mut TranscriptDraft<'_>, &str)) -> FormatSpec {
    let spec = FormatSpec::plain(|probe| detect(probe).is_some(), FormatReader::Whole(read));
    FormatSpec { cutting: Cutting::Replace(edits), ..spec }
}

/// The edits that cut one tool result, or leave out one block of thinking.
fn edits(site: &CutSite<'_>) -> Result<Vec<Edit>, ApplyError> {
    let cut = site.cut;
    if cut.action == Action::DropThinking {
        return leave_out(site)
            .ok_or_else(|| site.unsupported("only signed thinking is left out"))
            .map(|edit| vec![edit]);
    }
    let is_blank = cut.action == Action::Clear && cut.placeholder.trim().is_empty();
    // Anthropic rejects a failed result without text.
    let is_mute = is_blank && site.outline.status(cut.part) == ToolStatus::Error;
    let cut = if is_mute { Rendering { placeholder: PLACEHOLDER, ..cut } } else { cut };
    let mut edits = replace_result(&CutSite { cut, ..*site })?;
    for edit in edits.iter_mut().filter(|edit| edit.text.starts_with("[{")) {
        if is_blank && !is_mute {
            // Providers reject a block with an empty text, but not an empty text in place of blocks.
            edit.text = encode("");
        } else if site.raw(&edit.range).is_some_and(|raw| element_ranges(raw).is_empty()) {
            // A list without blocks does not show how its provider writes a text block.
            edit.text = encode(&content::text(&edit.text));
        }
    }
    // Media beside the content are cut with it.
    if let Some(media) = site.spot.and_then(|spot| spot.second.clone()) {
        edits.push(Edit { range: media, text: "[]".to_owned() });
    }
    edits.sort_by_key(|edit| edit.range.start);
    Ok(edits)
}

/// The edit that leaves out a block of thinking. A message must not end without content, so a text stands for the last
/// block.
fn leave_out(site: &CutSite<'_>) -> Option<Edit> {
    let block = site.spot?.mark.clone().filter(|_| site.kind() == PartKind::Signature)?;
    let after = site.bytes.get(block.end..)?;
    let space = after.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    Some(match after.get(space) {
        Some(b',') => Edit { range: block.start..block.end + space + 1, text: String::new() },
        _ => Edit { range: block, text: r#"{"type":"text","text":"[thinking left out]"}"#.to_owned() },
    })
}

raw_fields!(
    /// The members of a body that are read, of all wires together: no name has two meanings.
    pub(crate) RequestBody { model: "model", system: "system", instructions: "instructions", messages: "messages", input: "input",
           contents: "contents", instruction: "systemInstruction", instruction_snake: "system_instruction" }
);

/// Reads a body, and the elements of its list of messages. A single value counts as a list of one. Of a body that
/// breaks off, the complete elements are kept.
pub(crate) fn read_body<'a>(
    wire: Wire,
    text: &'a str,
    draft: &mut TranscriptDraft<'_>,
    messages: fn(&RequestBody<'a>) -> Option<Raw<'a>>,
) -> (RequestBody<'a>, Vec<Raw<'a>>) {
    let text = text.trim_start_matches('\u{FEFF}');
    let error = match object::<RequestBody<'a>>(text) {
        Ok(body) => {
            let body = body.unwrap_or_default();
            draft.origin.model = body.model.and_then(Raw::as_str).map(Into::into);
            let elements = messages(&body)
                .filter(|raw| raw.text() != "null")
                .map_or_else(Vec::new, |raw| if raw.text().starts_with('[') { list(raw) } else { vec![raw] });
            return (body, elements);
        }
        Err(error) => error,
    };
    let ranges = element_ranges_under(wire.spec().messages, text);
    let whole = ranges.into_iter().filter_map(|range| read_json(text.get(range)?).ok());
    let elements: Vec<_> = whole.collect();
    let reason = format!("{error}; {} whole messages were read, the rest was left alone", elements.len());
    draft.warnings.push(Warning::at(text.as_bytes(), error.offset().unwrap_or(text.len()), reason));
    (RequestBody::default(), elements)
}

/// Adds the instructions that are beside the messages.
pub(crate) fn instruct(draft: &mut TranscriptDraft<'_>, instructions: Option<Raw<'_>>) {
    if instructions.unless_null().is_some() {
        draft.push_message(MessageFacts { role: Role::System, ..MessageFacts::default() });
        draft.push_text(PartKind::Text, instructions);
    }
}

/// The elements of a raw list; none if it is something else.
pub(crate) fn list(raw: Raw<'_>) -> Vec<Raw<'_>> {
    Some(raw).elements()
}

/// The fields of a raw object; none of them if it is something else.
pub(crate) fn fields<'a, T: Fields<'a>>(raw: Raw<'a>) -> T {
    Some(raw).fields()
}

/// An opaque part: it is sent unchanged.
pub(crate) fn push_opaque(draft: &mut TranscriptDraft<'_>, raw: Raw<'_>) {
    draft.push_spelled(PartKind::Other, Some(raw));
}

/// The role by its name: Google's `model` is the `assistant` of the others.
pub(crate) fn role(raw: Option<Raw<'_>>) -> Role {
    match raw.and_then(Raw::as_str).as_deref() {
        Some("model") => Role::Assistant,
        name => chat::role(name),
    }
}

/// Ids for calls that have none: the first call of a tool belongs to its first result, and so on.
#[derive(Default)]
pub(crate) struct Ordinals(HashMap<String, (u32, u32)>);

impl Ordinals {
    /// The id of the next call of this tool.
    pub(crate) fn call(&mut self, tool: &str) -> String {
        let (calls, _) = self.0.entry(tool.to_owned()).or_default();
        *calls += 1;
        format!("{tool}#{calls}")
    }

    /// The id of the call that the next result of this tool belongs to.
    pub(crate) fn answer(&mut self, tool: &str) -> String {
        let (_, answers) = self.0.entry(tool.to_owned()).or_default();
        *answers += 1;
        format!("{tool}#{answers}")
    }
}

#[cfg(test)]
pub(crate) mod tests;
