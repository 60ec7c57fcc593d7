//! What OpenAI's Responses API rejects.
//!
//! The input is a flat list of items. A call must have its output in it and an output its call, unless the
//! other half may be at the provider: behind `previous_response_id`, in a `conversation`, or as an
//! `item_reference`. Their order in the list does not matter.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::json::encode;
use crate::wire::lint::body::{BodyNode, LintBody, ValueKind};
use crate::wire::lint::report::FindingsReport;
use crate::wire::lint::rule::Rule;
use crate::wire::lint::{NO_RESULT, is_plain_name, media, plain_name, require};
use crate::wire::openai_chat::lint::{LARGEST_MEDIA, LONGEST_TEXT, short_id};

/// "string too long. Expected a string with maximum length 64", of ids.
const LONGEST_ID: usize = 64;
/// The longest name of a function.
const LONGEST_NAME: usize = 128;

pub(crate) fn check(_: &LintBody<'_>, root: BodyNode<'_>, report: &mut FindingsReport) {
    let has = |name: &str| root.get(name).is_some_and(|value| !value.is_null());
    if !has("prompt") {
        require(report, root, "model");
    }
    for name in root.get("tools").into_iter().flat_map(BodyNode::items).filter_map(|tool| tool.get("name")) {
        let text = name.text().unwrap_or_default();
        if !is_plain_name(&text) || text.len() > LONGEST_NAME {
            let message = format!("the name {text:?} does not match ^[a-zA-Z0-9_-]+$");
            report.unfixable(name, Rule::InvalidName, message, "rename the tool");
        }
    }
    // One of them must be there: "One of "input" or "previous_response_id" or … must be provided."
    let Some(input) = root.get("input") else {
        if !["previous_response_id", "prompt", "conversation"].iter().any(|name| has(name)) {
            require(report, root, "input");
        }
        return;
    };
    if input.kind() != ValueKind::Array {
        return;
    }
    let items: Vec<BodyNode<'_>> = input.items().collect();
    if items.is_empty() && !["previous_response_id", "prompt", "conversation"].iter().any(|name| has(name)) {
        let message = "the input is empty, so there is nothing to answer".to_owned();
        report.unfixable(input, Rule::NothingToAnswer, message, "add at least one item");
    }
    for &item in &items {
        check_item(item, report);
    }
    // Where nothing is stored the provider does not know items by their ids.
    if root.get("store").is_none_or(|store| store.raw() != "false") {
        check_duplicates(&items, report);
        check_reasoning(&items, report);
    }
    check_media(input, report);
    let elsewhere = has("previous_response_id") || has("conversation") || has("prompt");
    let is_reference = |item: &BodyNode<'_>| item.type_name() == "item_reference" || is_bare_reference(*item);
    let scope = if elsewhere || items.iter().any(is_reference) { ItemScope::Part } else { ItemScope::Whole };
    check_exchanges(input, &items, scope, report);
}

/// How much of the conversation is in the body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemScope {
    Whole,
    /// Only a part: the call of a result, or the result of a call, may be at the provider.
    Part,
}

/// A reference may leave out its type.
fn is_bare_reference(item: BodyNode<'_>) -> bool {
    item.len() == 1 && item.get("id").is_some()
}

fn check_item(item: BodyNode<'_>, report: &mut FindingsReport) {
    let kind = item.type_name();
    match kind.as_ref() {
        "function_call" => {
            // "Invalid type for 'input[2].arguments': expected a string, but got an object instead."
            if let Some(arguments) = item.get("arguments").filter(|value| value.kind() != ValueKind::String) {
                let message = "the arguments of a call must be a string".to_owned();
                report.fixable(arguments, Rule::WrongType, message, "they become one");
                let text = if arguments.is_null() { "{}" } else { arguments.raw() };
                report.replace(arguments, encode(text));
            }
            check_name(item, report);
        }
        "function_call_output" | "custom_tool_call_output" => check_output(item, report),
        "message" | "" if item.get("role").is_some() => check_message(item, report),
        _ => {}
    }
    // "Invalid 'input[2].id': 'x'. Expected an ID that begins with 'fc'."
    let prefix = match kind.as_ref() {
        "function_call" => "fc",
        "message" if item.text_of("role").as_deref() == Some("assistant") => "msg",
        _ => return,
    };
    let Some(id) = item.get("id").filter(|id| id.kind() == ValueKind::String) else { return };
    let text = id.text().unwrap_or_default();
    if !text.starts_with(prefix) || text.len() > LONGEST_ID {
        let message =
            format!("the id {text:?} must begin with {prefix} and have at most {LONGEST_ID} characters");
        report.fixable(id, Rule::InvalidId, message, "it is removed; the provider does not need it");
        report.drop(id);
    }
}

fn check_name(item: BodyNode<'_>, report: &mut FindingsReport) {
    let Some(name) = item.get("name") else { return };
    let Some(text) = name.text() else { return };
    if !is_plain_name(&text) || text.len() > LONGEST_NAME {
        let message = format!("the name {text:?} does not match ^[a-zA-Z0-9_-]+$");
        report.fixable(name, Rule::InvalidName, message, "other characters become underscores");
        report.replace(name, encode(&plain_name(&text, LONGEST_NAME)));
    }
}

/// An output is a string or an array.
fn check_output(item: BodyNode<'_>, report: &mut FindingsReport) {
    match item.get("output") {
        Some(output) if output.kind() == ValueKind::String => {
            media::check_string(output, LONGEST_TEXT, report);
        }
        Some(output) if output.kind() == ValueKind::Array => {}
        output => {
            let message = "the output of a call must be a string or an array".to_owned();
            report.fixable(item, Rule::WrongType, message, "it becomes a string");
            let text = output.filter(|output| !output.is_null()).map_or("", BodyNode::raw);
            report.set(item, "output", &encode(text));
        }
    }
}

/// "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'"; "Invalid
/// value: 'input_text'. Supported values are: 'output_text' and 'refusal'", and the other way round.
fn check_message(item: BodyNode<'_>, report: &mut FindingsReport) {
    let Some(role) = item.get("role") else { return };
    let name = role.text().unwrap_or_default();
    if !["user", "assistant", "system", "developer"].contains(&name.as_ref()) {
        let message = format!("the role {} is unknown", role.raw());
        let becomes = if matches!(name.as_ref(), "model" | "ai" | "bot") { "assistant" } else { "user" };
        report.fixable(role, Rule::UnknownRole, message, &format!("it becomes {becomes}"));
        report.replace(role, encode(becomes));
        return;
    }
    let right = if name == "assistant" { "output_text" } else { "input_text" };
    for kind in
        item.get("content").into_iter().flat_map(BodyNode::items).filter_map(|block| block.get("type"))
    {
        let text = kind.text().unwrap_or_default();
        if matches!(text.as_ref(), "text" | "input_text" | "output_text") && text != right {
            let message = format!("a text of the role {name} must be of type {right}, not {text}");
            report.fixable(kind, Rule::WrongType, message, "it gets that type");
            report.replace(kind, encode(right));
        }
    }
    if let Some(content) = item.get("content") {
        media::check_string(content, LONGEST_TEXT, report);
    }
}

/// "Duplicate item found with id rs_… Remove duplicate items from your input and try again."
fn check_duplicates(items: &[BodyNode<'_>], report: &mut FindingsReport) {
    let mut seen: HashMap<_, BodyNode<'_>> = HashMap::new();
    for &item in items {
        let Some(id) = item.get("id").filter(|id| !report.drops(*id)) else { continue };
        let Some(text) = id.text() else { continue };
        let Some(first) = seen.get(&text).copied() else {
            seen.insert(text, item);
            continue;
        };
        let message = format!("an earlier item has the id {text}, too");
        let needs_id = !matches!(item.type_name().as_ref(), "message" | "function_call" | "custom_tool_call");
        if needs_id || first.raw() == item.raw() {
            report.fixable(item, Rule::DuplicateItem, message, "the later item is removed");
            report.drop(item);
        } else {
            report.fixable(item, Rule::DuplicateItem, message, "the later item loses its id");
            report.drop(id);
        }
    }
}

/// "Item 'rs_…' of type 'reasoning' was provided without its required following item." Enforced where the
/// provider knows the item by its id; one with its encrypted content needs nothing behind it.
fn check_reasoning(items: &[BodyNode<'_>], report: &mut FindingsReport) {
    let mut followed = false;
    for &item in items.iter().rev() {
        if report.drops(item) {
            continue;
        }
        let kind = item.type_name();
        if kind != "reasoning" {
            let role = item.text_of("role");
            followed = !kind.ends_with("_output")
                && !matches!(role.as_deref(), Some("user" | "system" | "developer"));
            continue;
        }
        let is_known = item.text_of("id").is_some_and(|id| id.starts_with("rs_"));
        let is_sealed = item.get("encrypted_content").is_some_and(|content| !content.is_null());
        if !followed && is_known && !is_sealed {
            let message = "the reasoning is not followed by what it led to".to_owned();
            report.fixable(item, Rule::DetachedThinking, message, "it is removed");
            report.drop(item);
        }
    }
}

fn check_media(input: BodyNode<'_>, report: &mut FindingsReport) {
    let lists = input.items().filter_map(|item| item.get_either("content", "output"));
    let urls = lists.flat_map(BodyNode::items).filter_map(|block| block.get("image_url"));
    let size: usize = urls.filter(|url| url.raw().starts_with("\"data:")).map(media::literal_len).sum();
    if size > LARGEST_MEDIA {
        let message = format!("the images have {size} bytes; the provider takes at most {LARGEST_MEDIA}");
        report.unfixable(input, Rule::MediaLimit, message, "cut old images from the history");
    }
}

/// "No tool call found for function call output with call_id …", "No tool output found for function call …".
fn check_exchanges(
    input: BodyNode<'_>,
    items: &[BodyNode<'_>],
    scope: ItemScope,
    report: &mut FindingsReport,
) {
    let pairs = [("function_call", "function_call_output"), ("custom_tool_call", "custom_tool_call_output")];
    let sets = pairs.map(|(call, output)| (ids_of(call, items, report), ids_of(output, items, report)));
    let ends = batch_ends(items);
    for (index, &item) in items.iter().enumerate() {
        let kind = item.type_name();
        let pair = pairs.iter().position(|(call, output)| kind == *call || kind == *output);
        let Some((calls, outputs)) = pair.and_then(|pair| sets.get(pair)).filter(|_| !report.drops(item))
        else {
            continue;
        };
        let is_output = kind.ends_with("_output");
        let Some(id) = item.text_of("call_id") else {
            let message = "the item has no call_id".to_owned();
            report.fixable(item, Rule::InvalidId, message, "it becomes a message");
            report.replace(item, if is_output { output_message(item) } else { call_message(item) });
            continue;
        };
        if id.len() > LONGEST_ID {
            let message = format!("the id has {} bytes; the provider takes at most {LONGEST_ID}", id.len());
            report.fixable(item, Rule::InvalidId, message, "call and result get a shorter one");
            report.set(item, "call_id", &encode(&short_id(&id)));
        }
        if is_output && !calls.contains(&id) && scope == ItemScope::Whole {
            let message = format!("there is no call with the call_id {id:?}");
            report.fixable(item, Rule::OrphanedResult, message, "it becomes a message of the user");
            report.replace(item, output_message(item));
        }
        if !is_output && !outputs.contains(&id) && scope == ItemScope::Whole {
            let message = format!("the call {id} has no output");
            report.fixable(item, Rule::CallWithoutResult, message, "an output that says so is put in");
            let id = if id.len() > LONGEST_ID { short_id(&id) } else { id.into_owned() };
            let (id, text) = (encode(&id), encode(NO_RESULT));
            let output = format!(r#"{{"type":"{kind}_output","call_id":{id},"output":{text}}}"#);
            report.insert(input, ends.get(index).copied().unwrap_or(index + 1), output);
        }
    }
}

/// For each item, the end of the run of items of its type: parallel calls stay together.
fn batch_ends(items: &[BodyNode<'_>]) -> Vec<usize> {
    let mut ends: Vec<usize> = (1..=items.len()).collect();
    for index in (1..items.len()).rev() {
        let [.., before, own] = items.get(..=index).unwrap_or_default() else { continue };
        let end = ends.get(index).copied().unwrap_or_default();
        if before.type_name() == own.type_name()
            && let Some(slot) = ends.get_mut(index - 1)
        {
            *slot = end;
        }
    }
    ends
}

/// The call ids in the items of one type.
fn ids_of<'b>(kind: &str, items: &[BodyNode<'b>], report: &FindingsReport) -> HashSet<Cow<'b, str>> {
    let of_kind = items.iter().filter(|item| !report.drops(**item) && item.type_name() == kind);
    of_kind.filter_map(|item| item.text_of("call_id")).collect()
}

/// A message with the text of a call.
fn call_message(item: BodyNode<'_>) -> String {
    format!(r#"{{"role":"assistant","content":{}}}"#, encode(item.raw()))
}

/// A message with the text of an output.
fn output_message(item: BodyNode<'_>) -> String {
    let output = item.get("output").filter(|output| !output.is_null());
    let content = match output {
        Some(output)
            if output.kind() == ValueKind::String
                || output.len() > 0 && output.kind() == ValueKind::Array =>
        {
            output.raw().to_owned()
        }
        Some(output) => encode(output.raw()),
        None => encode("[A tool result without content]"),
    };
    format!(r#"{{"role":"user","content":{content}}}"#)
}
