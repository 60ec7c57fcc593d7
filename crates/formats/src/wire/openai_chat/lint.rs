//! What OpenAI's Chat Completions API rejects.
//!
//! Roles may come in any order, with one exception: "An assistant message with 'tool_calls' must be followed
//! by tool messages responding to each 'tool_call_id'", and "messages with role 'tool' must be a response to
//! a preceding message with 'tool_calls'". Ids may come again in a later batch. The model may be in the path
//! (Azure), so it may be missing in the body.

use std::collections::BTreeMap;

use crate::json::encode;
use crate::wire::lint::body::{BodyNode, LintBody, ValueKind};
use crate::wire::lint::pairing::{LintCall, LintResult, ResultStanding, pair};
use crate::wire::lint::report::FindingsReport;
use crate::wire::lint::rule::Rule;
use crate::wire::lint::{
    NO_CONTENT, NO_RESULT, is_plain_name, media, message_list, nothing_to_answer, plain_name, require,
    with_member,
};

/// "Invalid 'messages': array too long. Expected an array with maximum length 2048".
const MOST_MESSAGES: usize = 2048;
/// "Invalid 'tools': array too long. Expected an array with maximum length 128".
const MOST_TOOLS: usize = 128;
/// "string too long. Expected a string with maximum length 64", of names of functions.
const LONGEST_NAME: usize = 64;
/// "string too long. Expected a string with maximum length 40", of ids of calls.
const LONGEST_ID: usize = 40;
/// "string too long. Expected a string with maximum length 10485760", of contents.
pub(crate) const LONGEST_TEXT: usize = 10_485_760;
/// Images in a request have at most 50 MB together.
pub(crate) const LARGEST_MEDIA: usize = 50 * 1024 * 1024;

struct ChatMessage<'b> {
    node: BodyNode<'b>,
    role: String,
    calls: Vec<BodyNode<'b>>,
}

pub(crate) fn check(_: &LintBody<'_>, root: BodyNode<'_>, report: &mut FindingsReport) {
    check_tools(root, report);
    let Some(list) = message_list(report, root, "messages") else { return };
    media::check_count(list, MOST_MESSAGES, report);
    let mut messages = Vec::with_capacity(list.len());
    for node in list.items() {
        messages.push(read(node, report));
    }
    check_media(list, report);
    if report.findings.iter().any(|finding| finding.rule == Rule::UnknownRole) {
        report.hold();
    }
    check_exchanges(list, &messages, report);
    check_end(root, &messages, report);
}

/// "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant". Some servers let the
/// model go on from its own text if they are told to.
fn check_end(root: BodyNode<'_>, messages: &[ChatMessage<'_>], report: &mut FindingsReport) {
    let is = |object: BodyNode<'_>, name: &str, value: &str| {
        object.get(name).is_some_and(|member| member.raw() == value)
    };
    let is_told = |last: &ChatMessage<'_>| {
        is(last.node, "prefix", "true")
            || is(root, "continue_final_message", "true")
            || is(root, "add_generation_prompt", "false")
    };
    let calls = |last: &ChatMessage<'_>| !last.calls.is_empty() || last.node.get("function_call").is_some();
    let last = messages.last().filter(|last| last.role == "assistant" && !calls(last) && !is_told(last));
    if let Some(last) = last {
        nothing_to_answer(report, last.node);
    }
}

/// Names match `^[a-zA-Z0-9_-]+$`. A tool cannot be renamed here: the client would not know the name in a call.
fn check_tools(root: BodyNode<'_>, report: &mut FindingsReport) {
    let Some(tools) = root.get("tools") else { return };
    media::check_count(tools, MOST_TOOLS, report);
    for name in tools.items().filter_map(|tool| tool.get("function")?.get("name")) {
        let Some(text) = name.text() else { continue };
        if !is_plain_name(&text) || text.len() > LONGEST_NAME {
            let message = format!("the name {text:?} does not match ^[a-zA-Z0-9_-]{{1,64}}$");
            report.unfixable(name, Rule::InvalidName, message, "rename the tool");
        }
    }
}

fn read<'b>(node: BodyNode<'b>, report: &mut FindingsReport) -> ChatMessage<'b> {
    if node.kind() != ValueKind::Object {
        let message = "a message must be an object".to_owned();
        report.unfixable(node, Rule::WrongType, message, "send an object with role and content");
        return ChatMessage { node, role: String::new(), calls: Vec::new() };
    }
    let role = node.get("role");
    let name = role.and_then(BodyNode::text).unwrap_or_default().into_owned();
    let known = ["system", "developer", "user", "assistant", "tool", "function"].contains(&name.as_str());
    match role {
        None => require(report, node, "role"),
        Some(role) if !known => {
            let message = format!("the role {} is unknown", role.raw());
            let becomes = if matches!(name.as_str(), "model" | "ai" | "bot") { "assistant" } else { "user" };
            report.fixable(role, Rule::UnknownRole, message, &format!("it becomes {becomes}"));
            report.replace(role, encode(becomes));
        }
        Some(_) => {}
    }
    let list = node.get("tool_calls").filter(|list| list.kind() == ValueKind::Array && name == "assistant");
    if let Some(list) = list.filter(|list| list.len() == 0) {
        // "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1".
        let message = "tool_calls must not be empty".to_owned();
        report.fixable(list, Rule::EmptyContent, message, "the member is removed");
        report.drop(list);
    }
    let calls: Vec<BodyNode<'b>> = list.into_iter().flat_map(BodyNode::items).collect();
    for &call in &calls {
        check_call(call, report);
    }
    let may_be_silent = name == "assistant"
        && (!calls.is_empty()
            || ["function_call", "refusal", "audio"].iter().any(|member| node.get(member).is_some()));
    if node.get("content").is_none_or(BodyNode::is_null) && known && !may_be_silent {
        set_content(node, report);
    }
    check_content(node, report);
    ChatMessage { node, role: name, calls }
}

/// "empty array. Expected an array with minimum length 1". An empty string is accepted.
fn check_content(node: BodyNode<'_>, report: &mut FindingsReport) {
    let Some(content) = node.get("content") else { return };
    if content.kind() == ValueKind::Array && content.len() == 0 {
        set_content(node, report);
    }
    media::check_string(content, LONGEST_TEXT, report);
}

/// "Invalid value for 'content': expected a string, got null".
fn set_content(node: BodyNode<'_>, report: &mut FindingsReport) {
    let message = "the message has no content".to_owned();
    report.fixable(node, Rule::EmptyContent, message, "it says that it was empty");
    report.set(node, "content", &encode(NO_CONTENT));
}

/// "function.arguments: expected a string, but got an object instead"; names have the pattern of tools' names.
fn check_call(call: BodyNode<'_>, report: &mut FindingsReport) {
    let Some(function) = call.get("function") else { return };
    if let Some(arguments) = function.get("arguments").filter(|value| value.kind() != ValueKind::String) {
        let message = "the arguments of a call must be a string".to_owned();
        report.fixable(arguments, Rule::WrongType, message, "they become one");
        let text = if arguments.is_null() { "{}" } else { arguments.raw() };
        report.replace(arguments, encode(text));
    }
    if let Some(name) = function.get("name")
        && let Some(text) = name.text()
        && (!is_plain_name(&text) || text.len() > LONGEST_NAME)
    {
        let message = format!("the name {text:?} does not match ^[a-zA-Z0-9_-]{{1,64}}$");
        report.fixable(name, Rule::InvalidName, message, "other characters become underscores");
        report.replace(name, encode(&plain_name(&text, LONGEST_NAME)));
    }
}

/// Images that are in the request, not linked.
fn check_media(list: BodyNode<'_>, report: &mut FindingsReport) {
    let blocks =
        list.items().flat_map(|message| message.get("content").into_iter().flat_map(BodyNode::items));
    let urls = blocks.filter_map(|block| block.get("image_url")?.get("url"));
    let size: usize = urls.filter(|url| url.raw().starts_with("\"data:")).map(media::literal_len).sum();
    if size > LARGEST_MEDIA {
        let message = format!("the images have {size} bytes; the provider takes at most {LARGEST_MEDIA}");
        report.unfixable(list, Rule::MediaLimit, message, "cut old images from the history");
    }
}

fn check_exchanges(list: BodyNode<'_>, messages: &[ChatMessage<'_>], report: &mut FindingsReport) {
    let (mut calls, mut call_nodes) = (Vec::new(), Vec::new());
    let (mut answers, mut answer_nodes) = (Vec::new(), Vec::new());
    // The assistant message whose results may come now, and where its results end.
    let mut batch = None;
    let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, message) in messages.iter().enumerate() {
        if message.role == "tool" {
            let id = message.node.text_of("tool_call_id");
            let said = message.node.get("content").map_or("", BodyNode::raw);
            answers.push(LintResult { id, batch, said, calls_before: calls.len() });
            answer_nodes.push(message.node);
            if let Some(batch) = batch {
                ends.insert(batch, index + 1);
            }
            continue;
        }
        batch = (!message.calls.is_empty()).then_some(index);
        for &call in &message.calls {
            if let Some(id) = call.text_of("id") {
                calls.push(LintCall { id, batch: index });
                call_nodes.push(call);
            } else {
                require(report, call, "id");
            }
        }
        if let Some(batch) = batch {
            ends.insert(batch, index + 1);
        }
    }
    let (standings, answered) = pair(&calls, &answers);
    let end = |batch: usize| ends.get(&batch).copied().unwrap_or(list.len());
    let mut orphans = Vec::new();
    for ((answer, &node), standing) in answers.iter().zip(&answer_nodes).zip(&standings) {
        let id = answer.id.as_deref().unwrap_or_default();
        match *standing {
            ResultStanding::Placed(_) => {
                if id.len() > LONGEST_ID {
                    report.set(node, "tool_call_id", &encode(&short_id(id)));
                }
            }
            ResultStanding::Astray(call) => {
                let message = format!("the result of {id} does not follow the message with its call");
                report.fixable(node, Rule::MisplacedResult, message, "it is moved there");
                report.drop(node);
                let text = match id.len() > LONGEST_ID {
                    true => with_member(node.raw(), "tool_call_id", &encode(&short_id(id))),
                    false => node.raw().to_owned(),
                };
                let batch = calls.get(call).map(|call| call.batch).unwrap_or_default();
                report.insert(list, end(batch), text);
            }
            // "Invalid parameter: Duplicate value for 'tool_call_id'".
            ResultStanding::Repeated => {
                let message = format!("the call {id} has a result already");
                report.fixable(node, Rule::DuplicateResult, message, "this one is removed");
                report.drop(node);
            }
            ResultStanding::Contradicting | ResultStanding::Orphaned => {
                let (rule, message) = match standing {
                    ResultStanding::Orphaned => {
                        (Rule::OrphanedResult, format!("there is no call {id:?} before it"))
                    }
                    _ => (Rule::DuplicateResult, format!("the call {id} has another result already")),
                };
                report.fixable(node, rule, message, "it becomes a message of the user");
                let content = node.get("content").filter(|content| !content.is_null());
                let content = content.map_or("\"\"", BodyNode::raw);
                let text = format!(r#"{{"role":"user","content":{content}}}"#);
                match answer.batch {
                    // In its place it would separate the other results from their calls.
                    Some(batch) => {
                        report.drop(node);
                        orphans.push((end(batch), text));
                    }
                    None => report.replace(node, text),
                }
            }
        }
    }
    for (number, (call, node)) in calls.iter().zip(&call_nodes).enumerate() {
        if call.id.len() > LONGEST_ID {
            let message =
                format!("the id has {} bytes; the provider takes at most {LONGEST_ID}", call.id.len());
            report.fixable(*node, Rule::InvalidId, message, "call and result get a shorter one");
            report.set(*node, "id", &encode(&short_id(&call.id)));
        }
        if answered.get(number) == Some(&None) {
            let message = format!("the call {} has no result behind its message", call.id);
            report.fixable(*node, Rule::CallWithoutResult, message, "a result that says so is put in");
            let id =
                if call.id.len() > LONGEST_ID { short_id(&call.id) } else { call.id.clone().into_owned() };
            let (id, text) = (encode(&id), encode(NO_RESULT));
            let result = format!(r#"{{"role":"tool","tool_call_id":{id},"content":{text}}}"#);
            report.insert(list, end(call.batch), result);
        }
    }
    for (at, text) in orphans {
        report.insert(list, at, text);
    }
}

/// A short id in place of one that is too long; always the same for the same id.
pub(crate) fn short_id(id: &str) -> String {
    format!("call_{:016x}", xxhash_rust::xxh3::xxh3_64(id.as_bytes()))
}
