//! Requests to Google's Gemini API.
//!
//! Calls mostly have no ids there: the results of a tool belong to its calls in order. Names are written in two ways,
//! `functionCall` and `function_call`; the API takes both.
//!
//! A signature of thinking may be on any part. It becomes a part of its own, right behind the one that it is on.

use std::borrow::Cow;

use secateur::{MessageFacts, PartFacts, PartKind, Role, ToolStatus};
use serde_json::{Value, json};

use crate::content;
use crate::cut::Spot;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::Raw;
use crate::json::fields::raw_fields;
use crate::spec::FormatSpec;
use crate::wire::request::{
    Ordinals, TextRequest, fields, format_spec, instruct, list, push_opaque, read_body, role,
};
use crate::wire_spec::Wire;

/// How such requests are read and cut.
pub(crate) const FORMAT: FormatSpec = format_spec(read);

/// Reads a request; what cannot be read is passed over with a warning.
fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let (body, contents) = read_body(Wire::Gemini, text, draft, |body| body.contents);
    let instruction = body.instruction.or(body.instruction_snake);
    // A content's parts are its blocks; the rest of it names the role.
    instruct(draft, instruction.map(|raw| fields::<GeminiContentFields<'_>>(raw).parts.unwrap_or(raw)));
    let mut ordinals = Ordinals::default();
    for raw in contents {
        take(draft, &mut ordinals, raw);
    }
}

/// Writes a request for a text. The model is in the path.
pub(crate) fn write(request: &TextRequest<'_>) -> Value {
    let mut body = json!({});
    if request.has_system() {
        body["systemInstruction"] = json!({ "parts": [{ "text": request.system }] });
    }
    body["contents"] = json!([{ "role": "user", "parts": [{ "text": request.text }] }]);
    body["generationConfig"] = json!({ "maxOutputTokens": request.max_tokens });
    body
}

fn take(draft: &mut TranscriptDraft<'_>, ordinals: &mut Ordinals, raw: Raw<'_>) {
    let content = fields::<GeminiContentFields<'_>>(raw);
    let parts = content.parts.map_or_else(Vec::new, |parts| match parts.text().starts_with('[') {
        true => list(parts),
        false => vec![parts],
    });
    let is_answer = |raw: &Raw<'_>| fields::<GeminiPartFields<'_>>(*raw).response().is_some();
    let role = match content.role {
        _ if !parts.is_empty() && parts.iter().all(is_answer) => Role::Tool,
        // A content without a role is the user's.
        None => Role::User,
        named => role(named),
    };
    draft.push_message(MessageFacts { role, ..MessageFacts::default() });
    for raw in parts {
        take_part(draft, ordinals, raw);
    }
}

fn take_part(draft: &mut TranscriptDraft<'_>, ordinals: &mut Ordinals, raw: Raw<'_>) {
    let part = fields::<GeminiPartFields<'_>>(raw);
    if let Some(call) = part.call.or(part.call_snake) {
        let call = fields::<GeminiCallFields<'_>>(call);
        let tool = call.name.and_then(Raw::as_str).unwrap_or_default();
        let id = call.id.and_then(Raw::as_str).map_or_else(|| ordinals.call(&tool), Cow::into_owned);
        draft.push_call(ToolCall {
            tool: Some(&*tool),
            id: Some(&*id),
            status: ToolStatus::Completed,
            input: call.args,
        });
    } else if let Some(answer) = part.response() {
        take_answer(draft, ordinals, &fields(answer));
    } else if part.inline.or(part.inline_snake).or(part.file).or(part.file_snake).is_some() {
        draft.push_media(raw);
    } else if part.text.is_some() {
        let is_thought = part.thought.is_some_and(Raw::is_truthy);
        draft.push_text(if is_thought { PartKind::Reasoning } else { PartKind::Text }, part.text);
    } else if part.signature.or(part.signature_snake).is_none() {
        push_opaque(draft, raw);
    }
    if let Some(signature) = part.signature.or(part.signature_snake) {
        draft.push_text(PartKind::Signature, Some(signature));
    }
}

fn take_answer(draft: &mut TranscriptDraft<'_>, ordinals: &mut Ordinals, answer: &GeminiResultFields<'_>) {
    let tool = answer.name.and_then(Raw::as_str).unwrap_or_default();
    let id = answer.id.and_then(Raw::as_str).map_or_else(|| ordinals.answer(&tool), Cow::into_owned);
    let failed = answer.response.is_some_and(|response| content::is_error(response.text()));
    let status = if failed { ToolStatus::Error } else { ToolStatus::Completed };
    let Some(media) = answer.parts.filter(|parts| !list(*parts).is_empty()) else {
        let (tool, id, content) = (Some(&*tool), Some(&*id), answer.response);
        return draft.push_result(ToolResult { tool, id, status, content, ..ToolResult::default() });
    };
    // Media are beside the result and count with it.
    let raw = answer.response.map_or("null", Raw::text);
    let mut sizes = content::sizes(raw, draft.measures);
    sizes.bytes += media.text().len() as u64;
    sizes.images += list(media).len() as u32;
    let spot = Spot { second: draft.range(Some(media)), ..draft.spot_of(answer.response) };
    let facts = PartFacts {
        kind: PartKind::Result,
        status,
        tool: Some(&tool),
        call: Some(&id),
        sizes,
        ..PartFacts::default()
    };
    draft.push(facts, spot);
}

raw_fields! {
    /// What one side sends.
    GeminiContentFields { role: "role", parts: "parts" }
    GeminiPartFields { text: "text", thought: "thought", signature: "thoughtSignature", signature_snake: "thought_signature",
           call: "functionCall", call_snake: "function_call", answer: "functionResponse",
           answer_snake: "function_response", inline: "inlineData", inline_snake: "inline_data",
           file: "fileData", file_snake: "file_data" }
    GeminiCallFields { id: "id", name: "name", args: "args" }
    GeminiResultFields { id: "id", name: "name", response: "response", parts: "parts" }
}

impl<'a> GeminiPartFields<'a> {
    fn response(&self) -> Option<Raw<'a>> {
        self.answer.or(self.answer_snake)
    }
}
