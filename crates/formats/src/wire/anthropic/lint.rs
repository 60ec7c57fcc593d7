//! What Anthropic's Messages API rejects.
//!
//! Messages of one role in a row are merged into one turn, and the rules are about turns: all results of a
//! turn's calls must be in the next turn of the user, before anything else in it. Blocks must not be empty,
//! thinking must be signed, and four cache marks are the limit. A message of the role `system` is allowed in
//! between since 2026, so it is a turn of its own here.

mod blocks;
mod cache;
mod end;
mod results;

use std::collections::HashSet;
use std::ops::Range;

use crate::json::{decode, encode};
use crate::wire::lint::body::{BodyNode, LintBody, ValueKind};
use crate::wire::lint::report::FindingsReport;
use crate::wire::lint::rule::Rule;
use crate::wire::lint::{NO_CONTENT, NO_START, is_plain_name, media, message_list, require};

/// Requests are limited to 32 MB, counted in powers of two.
const LARGEST_BODY: usize = 32 * 1024 * 1024;

/// Names of tools match `^[a-zA-Z0-9_-]{1,128}$`.
const LONGEST_NAME: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnthropicRole {
    User,
    Assistant,
    /// A system message between others, or an unknown role.
    Other,
}

struct AnthropicMessage<'b> {
    node: BodyNode<'b>,
    /// Its index in the body's list.
    index: usize,
    role: AnthropicRole,
    content: Option<BodyNode<'b>>,
    /// The blocks, if the content is an array.
    blocks: Vec<BodyNode<'b>>,
    /// Blocks to be inserted before the others.
    arrivals: Vec<String>,
}

impl<'b> AnthropicMessage<'b> {
    /// Whether blocks can be inserted into the content.
    fn takes_blocks(&self) -> bool {
        self.content.is_some_and(|content| matches!(content.kind(), ValueKind::Array | ValueKind::String))
    }

    /// The blocks that are not to be removed.
    fn remaining<'r>(
        &'r self,
        report: &'r FindingsReport,
    ) -> impl DoubleEndedIterator<Item = BodyNode<'b>> + 'r {
        self.blocks.iter().copied().filter(|&block| !report.drops(block))
    }
}

pub(crate) fn check(body: &LintBody<'_>, root: BodyNode<'_>, report: &mut FindingsReport) {
    media::check_size(body, root, LARGEST_BODY, report);
    check_surrogates(body, root, report);
    check_fields(root, report);
    check_tools(root, report);
    if let Some(list) = message_list(report, root, "messages") {
        check_messages(list, report);
        end::check(root, list, report);
    }
    for block in root.get("system").into_iter().flat_map(BodyNode::items) {
        blocks::check_text(block, report);
    }
    cache::check(root, report);
}

/// A request to count tokens has the same members without `max_tokens`; so its absence counts only beside a
/// member that such a request must not have. The model is in the path where the version is in the body.
fn check_fields(root: BodyNode<'_>, report: &mut FindingsReport) {
    if root.get("anthropic_version").is_none() {
        require(report, root, "model");
    }
    let generates = ["stream", "temperature", "top_p", "top_k", "stop_sequences", "metadata"];
    if generates.iter().any(|name| root.get(name).is_some()) {
        require(report, root, "max_tokens");
    }
}

/// The parser behind the API refuses half of a surrogate pair: "no low surrogate in string".
fn check_surrogates(body: &LintBody<'_>, root: BodyNode<'_>, report: &mut FindingsReport) {
    let lone = media::lone_surrogates(body.text());
    if let Some(first) = lone.first() {
        let message = format!("{} escapes are half a surrogate pair, the first at byte {first}", lone.len());
        report.fixable(root, Rule::LoneSurrogate, message, "each becomes the replacement character");
        for at in lone {
            report.replace_range(at..at + 6, "\\ufffd");
        }
    }
}

/// "tools: Tool names must be unique", and the names have a pattern. The provider's own
/// tools have names of their own. A tool cannot be renamed here: the client would not know the name in a call.
fn check_tools(root: BodyNode<'_>, report: &mut FindingsReport) {
    let mut names = HashSet::new();
    for tool in root.get("tools").into_iter().flat_map(BodyNode::items) {
        let Some(name) = tool.get("name") else { continue };
        let Some(text) = name.text() else { continue };
        if tool.get("input_schema").is_some() && (!is_plain_name(&text) || text.len() > LONGEST_NAME) {
            let message = format!("the tool name {text:?} does not match ^[a-zA-Z0-9_-]{{1,128}}$");
            report.unfixable(name, Rule::InvalidName, message, "rename the tool");
        }
        if !names.insert(text.clone()) {
            let message = format!("a tool named {text:?} is given before");
            report.fixable(tool, Rule::DuplicateTool, message, "the later one is removed");
            report.drop(tool);
        }
    }
}

fn check_messages(list: BodyNode<'_>, report: &mut FindingsReport) {
    let mut messages = Vec::with_capacity(list.len());
    for (index, node) in list.items().enumerate() {
        if node.kind() == ValueKind::Object {
            messages.push(read(node, index, report));
        } else {
            let message = "a message must be an object".to_owned();
            report.unfixable(node, Rule::WrongType, message, "send an object with role and content");
        }
    }
    if report.findings.iter().any(|finding| finding.rule == Rule::UnknownRole) {
        // Turns can only be told once every message has its role.
        report.hold();
    }
    let turns = turns(&messages);
    for message in &messages {
        blocks::check(message, report);
    }
    if let Some(last) = messages.last().filter(|last| last.role == AnthropicRole::Assistant) {
        blocks::check_end(last, report);
    }
    blocks::check_image_count(&messages, report);
    results::check(list, &mut messages, &turns, report);
    blocks::check_trailing_thinking(&messages, &turns, report);
    check_start(list, &messages, report);
    settle_contents(&messages, report);
}

fn read<'b>(node: BodyNode<'b>, index: usize, report: &mut FindingsReport) -> AnthropicMessage<'b> {
    let role = node.get("role");
    let name = role.and_then(BodyNode::text);
    let role = match (role, name.as_deref()) {
        (_, Some("user")) => AnthropicRole::User,
        (_, Some("assistant")) => AnthropicRole::Assistant,
        (_, Some("system")) => AnthropicRole::Other,
        (None, _) => {
            require(report, node, "role");
            AnthropicRole::Other
        }
        (Some(role), name) => {
            let message = format!("the role {} is unknown", name.map_or(role.raw().to_owned(), encode));
            let known = if matches!(name, Some("model" | "ai" | "bot")) { "assistant" } else { "user" };
            report.fixable(role, Rule::UnknownRole, message, &format!("it becomes {known}"));
            report.replace(role, encode(known));
            AnthropicRole::Other
        }
    };
    let content = node.get("content");
    let blocks = content.into_iter().flat_map(BodyNode::items).collect();
    AnthropicMessage { node, index, role, content, blocks, arrivals: Vec::new() }
}

/// Runs of messages of one role.
fn turns(messages: &[AnthropicMessage<'_>]) -> Vec<Range<usize>> {
    let mut turns: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    for (number, message) in messages.iter().enumerate() {
        match turns.last_mut() {
            Some(turn) if before == Some(message.role) && message.role != AnthropicRole::Other => {
                turn.end = number + 1;
            }
            _ => turns.push(number..number + 1),
        }
        before = Some(message.role);
    }
    turns
}

/// "messages: first message must use the "user" role".
fn check_start(list: BodyNode<'_>, messages: &[AnthropicMessage<'_>], report: &mut FindingsReport) {
    let Some(first) = messages.first().filter(|first| first.role == AnthropicRole::Assistant) else { return };
    let message = "the first message must be the user's".to_owned();
    report.fixable(first.node, Rule::RoleOrder, message, "a short user message is put before it");
    report.insert(list, 0, format!(r#"{{"role":"user","content":{}}}"#, encode(NO_START)));
}

/// Inserts blocks into messages, and removes messages without any, unless that would merge two turns. "all messages must have non-empty content
/// except for the optional final assistant message".
fn settle_contents(messages: &[AnthropicMessage<'_>], report: &mut FindingsReport) {
    let mut role_before = None;
    for (number, message) in messages.iter().enumerate() {
        let is_final = number + 1 == messages.len() && message.role == AnthropicRole::Assistant;
        let is_array = message.content.is_some_and(|content| content.kind() == ValueKind::Array);
        let was_empty = match message.content {
            None => true,
            Some(content) if is_array => content.len() == 0,
            Some(content) => content.is_null() || content.is_blank_text(),
        };
        let tolerated =
            is_final && message.content.is_some_and(|content| is_array || content.is_empty_text());
        if was_empty && !tolerated && message.arrivals.is_empty() {
            let why = "the message has no content".to_owned();
            report.fixable(message.node, Rule::EmptyContent, why, "it is removed or says that it was empty");
        }
        if !message.arrivals.is_empty() {
            receive(message, report);
        } else if (was_empty && !tolerated)
            || (is_array && !was_empty && message.remaining(report).next().is_none())
        {
            if message.role != AnthropicRole::User || role_before == Some(AnthropicRole::User) {
                report.drop(message.node);
                continue;
            }
            match message.content {
                Some(content) => {
                    for &block in &message.blocks {
                        report.keep(block);
                    }
                    report.replace(content, encode(NO_CONTENT));
                }
                None => report.set(message.node, "content", &encode(NO_CONTENT)),
            }
        }
        role_before = Some(message.role);
    }
}

/// Puts blocks before the content of a message.
fn receive(message: &AnthropicMessage<'_>, report: &mut FindingsReport) {
    let Some(content) = message.content else { return };
    if content.kind() == ValueKind::Array {
        for text in &message.arrivals {
            report.insert(content, 0, text.clone());
        }
        return;
    }
    let mut blocks = message.arrivals.clone();
    if !content.is_blank_text() {
        blocks.push(text_block(content.raw()));
    }
    report.replace(content, format!("[{}]", blocks.join(",")));
}

/// A text block of a literal.
fn text_block(literal: &str) -> String {
    format!(r#"{{"type":"text","text":{literal}}}"#)
}

/// A value as a literal: itself if it is a string, else its JSON as text.
fn literal_of(node: BodyNode<'_>) -> String {
    if node.kind() == ValueKind::String { encode(&decode(node.raw())) } else { encode(node.raw()) }
}
