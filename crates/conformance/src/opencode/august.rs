//! OpenCode's messages as the AI SDK's `UIMessage`s, the way OpenCode of August 2026 builds them.
//!
//! What changed since January ([`ui_messages`](mod@super::ui_messages)): empty texts of the user are left out, and
//! messages that come out empty are not even begun; another model's reasoning becomes plain text; a call that the user
//! interrupted shows what it had put out; results of providers' own tools are told apart; and media in tool results
//! move to a message of the user where the provider cannot take them. A summary's request may leave out media and cut
//! tool outputs short.

use secateur::{MARKER, PLACEHOLDER};
use secateur_formats::json::{Halves, slice_units};
use serde_json::Value;

use super::ui_messages::{
    INTERRUPTED, SUBTASK_NOTE, WrittenBy, failed_without_answer, parts_of, spelled, text, written_by,
};
use crate::value::{field, is_truthy_js, kind, object, text_part};

/// The text before media that were moved out of a tool result.
const MOVED_MEDIA: &str = "Attached media from tool result:";

/// What a request leaves out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reduction {
    /// Images and PDF documents become a line of text.
    pub strip_media: bool,
    /// Tool outputs are cut to this many UTF-16 units.
    pub tool_output_max: Option<u64>,
}

impl Reduction {
    /// Reads the options `stripMedia` and `toolOutputMaxChars`.
    pub fn read(options: &Value) -> Self {
        Self {
            strip_media: options.get("stripMedia").is_some_and(is_truthy_js),
            tool_output_max: options.get("toolOutputMaxChars").and_then(Value::as_u64),
        }
    }
}

/// Renders stored messages, oldest first, for `model` (`{providerID, id, api: {id, npm}}`).
pub fn ui_messages(messages: &[Value], model: &Value, reduction: Reduction) -> Vec<Value> {
    let mut rendering = AugustMessages { model, reduction, moved: 0, messages: Vec::new() };
    for message in messages {
        rendering.add(message);
    }
    let mut rendered = rendering.messages;
    rendered.retain(|message| parts_of(message).iter().any(|part| kind(part) != "step-start"));
    rendered
}

/// Whether a file is an image or a PDF document.
pub(super) fn is_media(file: &Value) -> bool {
    text(file, "mime").is_some_and(|mime| mime.starts_with("image/") || mime == "application/pdf")
}

/// The line in place of a file.
pub(super) fn attached_note(file: &Value) -> String {
    let name = text(file, "filename").unwrap_or("file");
    format!("[Attached {}: {name}]", spelled(file.get("mime")))
}

struct AugustMessages<'a> {
    model: &'a Value,
    reduction: Reduction,
    /// Messages that were made for moved media.
    moved: u32,
    messages: Vec<Value>,
}

impl AugustMessages<'_> {
    fn add(&mut self, message: &Value) {
        let (parts, Some(info)) = (parts_of(message), message.get("info")) else { return };
        match text(info, "role") {
            Some("user") => {
                let shown = parts.iter().filter_map(|part| self.user_part(part)).collect();
                self.push(field(info, "id"), "user", shown);
            }
            Some("assistant") if !failed_without_answer(info, parts) => self.add_assistant(info, parts),
            _ => {}
        }
    }

    fn push(&mut self, id: Option<Value>, role: &str, parts: Vec<Value>) -> bool {
        let is_shown = !parts.is_empty();
        if is_shown {
            let fields = [("id", id), ("role", Some(role.into())), ("parts", Some(parts.into()))];
            self.messages.push(object(fields));
        }
        is_shown
    }

    fn user_part(&self, part: &Value) -> Option<Value> {
        match kind(part) {
            "text" if part.get("ignored").is_some_and(is_truthy_js) || text(part, "text") == Some("") => None,
            "text" => Some(object([("type", Some("text".into())), ("text", field(part, "text"))])),
            "file" if matches!(text(part, "mime"), Some("text/plain" | "application/x-directory")) => None,
            "file" if self.reduction.strip_media && is_media(part) => Some(text_part(&attached_note(part))),
            "file" => Some(file_part(part)),
            "compaction" => Some(text_part(MARKER)),
            "subtask" => Some(text_part(SUBTASK_NOTE)),
            _ => None,
        }
    }

    fn add_assistant(&mut self, info: &Value, parts: &[Value]) {
        let writer = written_by(info, self.model);
        // A provider that signs its reasoning refuses an empty text beside it.
        let is_signed = parts.iter().any(|part| {
            let signature = part.pointer("/metadata/anthropic/signature");
            kind(part) == "reasoning" && signature.is_some_and(|signature| !signature.is_null())
        });
        let mut media = Vec::new();
        let mut shown = Vec::new();
        for part in parts {
            shown.extend(match kind(part) {
                "text" if is_signed && text(part, "text") == Some("") => {
                    Some(said("text", Some(" ".into()), writer.metadata(part)))
                }
                "text" => Some(said("text", field(part, "text"), writer.metadata(part))),
                "reasoning" if writer == WrittenBy::OtherModel => {
                    let words = text(part, "text").unwrap_or_default();
                    let is_blank = words.trim_matches(secateur::is_js_space).is_empty();
                    (!is_blank).then(|| text_part(words))
                }
                "reasoning" => Some(said("reasoning", field(part, "text"), writer.metadata(part))),
                "step-start" => Some(object([("type", Some("step-start".into()))])),
                "tool" => self.tool(part, writer, &mut media),
                _ => None,
            });
        }
        if self.push(field(info, "id"), "assistant", shown) && !media.is_empty() {
            self.moved += 1;
            let id = format!("prt_synth_{}", self.moved);
            media.insert(0, text_part(MOVED_MEDIA));
            self.push(Some(id.into()), "user", media);
        }
    }

    fn tool(&self, part: &Value, writer: WrittenBy, media: &mut Vec<Value>) -> Option<Value> {
        let state = part.get("state")?;
        let interrupted = state.pointer("/metadata/interrupted") == Some(&Value::Bool(true));
        let put_out = state.pointer("/metadata/output").filter(|output| interrupted && output.is_string());
        let (outcome, key, value) = match (text(state, "status")?, put_out) {
            ("completed", _) => ("output-available", "output", self.completed_output(state, media)),
            ("error", Some(output)) => ("output-available", "output", Some(output.clone())),
            ("error", None) => ("output-error", "errorText", field(state, "error")),
            ("pending" | "running", _) => ("output-error", "errorText", Some(INTERRUPTED.into())),
            _ => return None,
        };
        let is_providers = part.pointer("/metadata/providerExecuted").is_some_and(is_truthy_js);
        Some(object([
            ("type", Some(format!("tool-{}", spelled(part.get("tool"))).into())),
            ("state", Some(outcome.into())),
            ("toolCallId", field(part, "callID")),
            ("input", field(state, "input")),
            (key, value),
            ("providerExecuted", is_providers.then_some(Value::Bool(true))),
            ("callProviderMetadata", writer.metadata(part).and_then(without_executor)),
        ]))
    }

    fn completed_output(&self, state: &Value, media: &mut Vec<Value>) -> Option<Value> {
        if state.pointer("/time/compacted").is_some_and(is_truthy_js) {
            return Some(PLACEHOLDER.into());
        }
        let output = self.shortened(field(state, "output"));
        let attachments =
            state.get("attachments").and_then(Value::as_array).filter(|_| !self.reduction.strip_media);
        let (moved, kept): (Vec<_>, Vec<_>) = attachments
            .into_iter()
            .flatten()
            .partition(|file| is_media(file) && !takes_media(self.model, file));
        media.extend(moved.into_iter().map(file_part));
        if kept.is_empty() {
            return output;
        }
        Some(object([("text", output), ("attachments", Some(kept.into_iter().cloned().collect()))]))
    }

    fn shortened(&self, output: Option<Value>) -> Option<Value> {
        let (Some(most), Some(Value::String(whole))) = (self.reduction.tool_output_max, &output) else {
            return output;
        };
        let units = whole.encode_utf16().count() as u64;
        if most == 0 || units <= most {
            return output;
        }
        let (kept, omitted) = (slice_units(whole, 0, most, Halves::Replace), units - most);
        Some(format!("{kept}\n[Tool output truncated for compaction: omitted {omitted} chars]").into())
    }
}

/// Whether the SDK of a model's provider can send this file as part of a tool result.
fn takes_media(model: &Value, file: &Value) -> bool {
    let is_image = || text(file, "mime").is_some_and(|mime| mime.starts_with("image/"));
    match model.pointer("/api/npm").and_then(Value::as_str) {
        Some(
            "@ai-sdk/anthropic"
            | "@ai-sdk/openai"
            | "@ai-sdk/amazon-bedrock/mantle"
            | "@ai-sdk/google-vertex/anthropic",
        ) => true,
        Some("@ai-sdk/amazon-bedrock" | "@ai-sdk/xai") => is_image(),
        Some("@ai-sdk/google") => {
            let id = model.pointer("/api/id").and_then(Value::as_str).unwrap_or_default().to_lowercase();
            id.contains("gemini-3") && !id.contains("gemini-2")
        }
        _ => false,
    }
}

fn file_part(file: &Value) -> Value {
    object([
        ("type", Some("file".into())),
        ("url", field(file, "url")),
        ("mediaType", field(file, "mime")),
        ("filename", field(file, "filename")),
    ])
}

fn said(kind: &str, text: Option<Value>, metadata: Option<Value>) -> Value {
    object([("type", Some(kind.into())), ("text", text), ("providerMetadata", metadata)])
}

/// A call's metadata without the note of who executed it, unless nothing else is there.
fn without_executor(metadata: Value) -> Option<Value> {
    let Value::Object(mut fields) = metadata else { return Some(metadata) };
    fields.remove("providerExecuted");
    (!fields.is_empty()).then(|| fields.into())
}
