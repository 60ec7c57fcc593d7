//! What is inside a message: texts, arguments, thinking, images.

use std::ops::Range;

use super::{AnthropicMessage, AnthropicRole, literal_of, text_block};
use crate::json::{decode, encode};
use crate::wire::lint::body::{BodyNode, LintBody, ValueKind};
use crate::wire::lint::report::FindingsReport;
use crate::wire::lint::rule::Rule;
use crate::wire::lint::{is_plain_name, media, plain_name};

/// The API measures an image by its base64 text: at most 5 MB of it.
const LARGEST_IMAGE: usize = 5 * 1024 * 1024;

/// Images in a request: 100 for smaller models, 600 for others. Which one it is cannot be seen here.
const MOST_IMAGES: usize = 600;

/// Names of calls in the history may be longer than those of tools.
const LONGEST_CALL_NAME: usize = 200;

pub(crate) fn check(message: &AnthropicMessage<'_>, report: &mut FindingsReport) {
    let all_blank = message
        .blocks
        .iter()
        .all(|&block| block.type_name() == "text" && block.get("text").is_some_and(BodyNode::is_blank_text));
    for &block in &message.blocks {
        match block.type_name().as_ref() {
            "text" if all_blank => drop_text(block, report),
            "text" => check_text(block, report),
            "tool_use" => check_call(block, report),
            "tool_result" => check_result(block, report),
            "image" => check_image(block, report),
            "thinking" => check_thinking(block, "signature", report),
            "redacted_thinking" => check_thinking(block, "data", report),
            _ => {}
        }
    }
    let content = message.content;
    if let Some(content) =
        content.filter(|content| content.kind() == ValueKind::Object || is_scalar(*content))
    {
        let why = "content must be a string or an array".to_owned();
        report.fixable(content, Rule::WrongType, why, "it becomes a string");
        report.replace(content, literal_of(content));
    }
}

fn is_scalar(node: BodyNode<'_>) -> bool {
    node.kind() == ValueKind::Other && !node.is_null()
}

/// "text content blocks must be non-empty" and, of a message with nothing else, "must contain
/// non-whitespace text". A blank block beside others is accepted.
pub(crate) fn check_text(block: BodyNode<'_>, report: &mut FindingsReport) {
    if block.get("text").is_some_and(BodyNode::is_empty_text) {
        drop_text(block, report);
    }
}

fn drop_text(block: BodyNode<'_>, report: &mut FindingsReport) {
    let message = "the text is empty".to_owned();
    report.fixable(block, Rule::EmptyContent, message, "the block is removed");
    report.drop(block);
}

/// "tool_use.input: Input should be a valid dictionary"; names have the pattern of tools' names.
fn check_call(block: BodyNode<'_>, report: &mut FindingsReport) {
    let input = block.get("input");
    if input.is_none_or(|input| input.kind() != ValueKind::Object) {
        let message = "the input of a call must be an object".to_owned();
        report.fixable(block, Rule::WrongType, message, "it is put into one");
        let text = input.map_or("{}".to_owned(), as_object);
        report.set(block, "input", &text);
    }
    if let Some(name) = block.get("name")
        && let Some(text) = name.text()
        && (!is_plain_name(&text) || text.len() > LONGEST_CALL_NAME)
    {
        let message = format!("the name {text:?} does not match ^[a-zA-Z0-9_-]+$");
        report.fixable(name, Rule::InvalidName, message, "other characters become underscores");
        report.replace(name, encode(&plain_name(&text, LONGEST_CALL_NAME)));
    }
}

/// An object for arguments that are none: the one that a string spells, or one that holds the value.
fn as_object(input: BodyNode<'_>) -> String {
    if input.is_null() || input.is_blank_text() {
        return "{}".to_owned();
    }
    let spelled = decode(input.raw());
    let is_object = |text: &str| {
        LintBody::read(text)
            .is_ok_and(|body| body.root().is_some_and(|root| root.kind() == ValueKind::Object))
    };
    if input.kind() == ValueKind::String && is_object(&spelled) {
        return spelled.into_owned();
    }
    format!(r#"{{"input":{}}}"#, input.raw())
}

/// "content cannot be empty if `is_error` is true"; and content is a string or an array.
fn check_result(block: BodyNode<'_>, report: &mut FindingsReport) {
    let content = block.get("content");
    if let Some(content) =
        content.filter(|content| content.kind() == ValueKind::Object || is_scalar(*content))
    {
        let message = "the content of a result must be a string or an array".to_owned();
        report.fixable(content, Rule::WrongType, message, "it becomes a string");
        report.replace(content, literal_of(content));
        return;
    }
    let is_error = block.get("is_error").is_some_and(|flag| flag.raw() == "true");
    let is_empty = content.is_none_or(|content| {
        content.is_null()
            || content.is_empty_text()
            || (content.kind() == ValueKind::Array && content.len() == 0)
    });
    if is_error && is_empty {
        let message = "the result of a failed call must not be empty".to_owned();
        report.fixable(block, Rule::EmptyContent, message, "it says that nothing was said");
        report.set(block, "content", &encode("[The tool failed without a message]"));
    }
    for inner in content.into_iter().flat_map(BodyNode::items).filter(|inner| inner.type_name() == "image") {
        check_image(inner, report);
    }
}

/// "image exceeds 5 MB maximum".
fn check_image(block: BodyNode<'_>, report: &mut FindingsReport) {
    let data = block.get("source").and_then(|source| source.get("data"));
    let Some(size) = data.map(media::literal_len).filter(|&size| size > LARGEST_IMAGE) else { return };
    let message = format!("the image has {size} bytes of base64; the provider takes at most {LARGEST_IMAGE}");
    report.fixable(block, Rule::MediaLimit, message, "a text takes its place");
    report.replace(block, text_block(&encode("[An image was removed because it is too large]")));
}

/// The oldest images go first.
pub(crate) fn check_image_count(messages: &[AnthropicMessage<'_>], report: &mut FindingsReport) {
    let is_image = |block: &BodyNode<'_>| block.type_name() == "image";
    let mut images = Vec::new();
    for &block in messages.iter().flat_map(|message| &message.blocks) {
        let inside = block.get("content").filter(|_| block.type_name() == "tool_result");
        images.extend(Some(block).filter(is_image));
        images.extend(inside.into_iter().flat_map(BodyNode::items).filter(is_image));
    }
    for &image in images.iter().take(images.len().saturating_sub(MOST_IMAGES)) {
        let message = format!("there are {} images; the provider takes at most {MOST_IMAGES}", images.len());
        report.fixable(image, Rule::MediaLimit, message, "a text takes its place");
        report.replace(image, text_block(&encode("[An image was removed because there are too many]")));
    }
}

/// "thinking.signature: Field required", "Invalid `signature` in `thinking` block".
fn check_thinking(block: BodyNode<'_>, proof: &str, report: &mut FindingsReport) {
    if block.get(proof).is_none_or(|proof| proof.kind() != ValueKind::String || proof.is_empty_text()) {
        let message = format!("the thinking has no {proof}");
        report.fixable(block, Rule::UnsignedThinking, message, "the block is removed");
        report.drop(block);
    }
}

/// "The final block in an assistant message cannot be `thinking`."
pub(crate) fn check_trailing_thinking(
    messages: &[AnthropicMessage<'_>],
    turns: &[Range<usize>],
    report: &mut FindingsReport,
) {
    for turn in turns {
        let turn = messages.get(turn.clone()).unwrap_or_default();
        for message in turn.iter().rev().filter(|message| message.role == AnthropicRole::Assistant) {
            if message.blocks.is_empty() && message.content.is_some_and(|content| !content.is_blank_text()) {
                break;
            }
            let trailing = |block: &BodyNode<'_>| block.type_name() == "thinking";
            let ends: Vec<BodyNode<'_>> = message.remaining(report).rev().take_while(trailing).collect();
            let is_whole = ends.len() == message.remaining(report).count();
            for block in ends {
                let why = "nothing follows the thinking in its turn".to_owned();
                report.fixable(block, Rule::DetachedThinking, why, "the block is removed");
                report.drop(block);
            }
            if !is_whole {
                break;
            }
        }
    }
}

/// "final assistant content cannot end with trailing whitespace".
pub(crate) fn check_end(message: &AnthropicMessage<'_>, report: &mut FindingsReport) {
    let last = match message.blocks.last() {
        Some(block) if block.type_name() == "text" => block.get("text"),
        Some(_) => None,
        None => message.content.filter(|content| content.kind() == ValueKind::String),
    };
    let Some(last) = last.filter(|text| ends_in_space(text.raw()) && !text.is_blank_text()) else { return };
    let why = "the text that the model goes on from ends in white space".to_owned();
    report.fixable(last, Rule::TrailingWhitespace, why, "the white space is removed");
    report.replace(last, encode(decode(last.raw()).trim_end()));
}

/// Whether the string that a literal stands for ends in white space, told from the end of the literal.
fn ends_in_space(literal: &str) -> bool {
    let body = literal.strip_suffix('"').unwrap_or_default();
    let row = |text: &str| text.bytes().rev().take_while(|&byte| byte == b'\\').count();
    let escape = body.strip_suffix(['n', 't', 'r']).is_some_and(|before| row(before) % 2 == 1);
    escape || body.ends_with(char::is_whitespace)
}
