//! What Anthropic's Messages API rejects.
//!
//! Messages of one role in a row are merged into one turn, and the rules are about turns: all results of a
//! turn's calls must be in the next turn of the user, before anything else in it. Blocks must not be empty,
//! thinking must be signed, and four cache marks are the limit. A message of the role `system` is allowed in
//! between since 2026, so it is a turn of its own here.

mod blocks;
mod cache;
mod results;

use std::collections::HashSet;
use std::ops::Range;

use super::body::{Body, Kind, Node};
use super::report::Report;
use super::rule::Rule;
use super::{NO_CONTENT, NO_START, is_plain_name, media, message_list, require};
use crate::json::{decode, encode};

/// Requests are limited to 32 MB, counted in powers of two.
const LARGEST_BODY: usize = 32 * 1024 * 1024;

/// Names of tools match `^[a-zA-Z0-9_-]{1,128}$`.
const LONGEST_NAME: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
    /// A system message in the middle, or a role that does not exist.
    Other,
}

struct Message<'b> {
    node: Node<'b>,
    /// Its index in the body's list.
    index: usize,
    role: Role,
    content: Option<Node<'b>>,
    /// The blocks, if the content is an array.
    blocks: Vec<Node<'b>>,
    /// Texts of blocks that come to stand before the others.
    arrivals: Vec<String>,
}

impl<'b> Message<'b> {
    /// Whether blocks can be put into the content as it is.
    fn takes_blocks(&self) -> bool {
        self.content.is_some_and(|content| matches!(content.kind(), Kind::Array | Kind::String))
    }

    /// The blocks that are not about to go.
    fn remaining<'r>(&'r self, report: &'r Report) -> impl DoubleEndedIterator<Item = Node<'b>> + 'r {
        self.blocks.iter().copied().filter(|&block| !report.drops(block))
    }
}

pub(super) fn check(body: &Body<'_>, root: Node<'_>, report: &mut Report) {
    media::check_size(body, root, LARGEST_BODY, report);
    check_surrogates(body, root, report);
    check_fields(root, report);
    check_tools(root, report);
    if let Some(list) = message_list(report, root, "messages") {
        check_messages(list, report);
    }
    for block in root.get("system").into_iter().flat_map(Node::items) {
        blocks::check_text(block, report);
    }
    cache::check(root, report);
}

/// A request to count tokens has the same members without `max_tokens`; so its absence counts only beside a
/// member that such a request must not have. The model is in the path where the version is in the body.
fn check_fields(root: Node<'_>, report: &mut Report) {
    if root.get("anthropic_version").is_none() {
        require(report, root, "model");
    }
    let generates = ["stream", "temperature", "top_p", "top_k", "stop_sequences", "metadata"];
    if generates.iter().any(|name| root.get(name).is_some()) {
        require(report, root, "max_tokens");
    }
}

/// The parser behind the API refuses half of a surrogate pair: "no low surrogate in string".
fn check_surrogates(body: &Body<'_>, root: Node<'_>, report: &mut Report) {
    let lone = media::lone_surrogates(body.text());
    if let Some(first) = lone.first() {
        let message = format!("{} escapes are half a surrogate pair, the first at byte {first}", lone.len());
        report.fixable(root, Rule::LoneSurrogate, message, "each becomes the replacement character");
        for at in lone {
            report.replace_range(at..at + 6, "\\ufffd");
        }
    }
}

/// "tools: Tool names must be unique", and the names have a pattern. Tools of the provider's own bring names
/// of its own. A tool cannot be renamed here, since its owner would not know the name in a call.
fn check_tools(root: Node<'_>, report: &mut Report) {
    let mut names = HashSet::new();
    for tool in root.get("tools").into_iter().flat_map(Node::items) {
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

fn check_messages(list: Node<'_>, report: &mut Report) {
    let mut messages = Vec::with_capacity(list.len());
    for (index, node) in list.items().enumerate() {
        if node.kind() == Kind::Object {
            messages.push(read(node, index, report));
        } else {
            let message = "a message must be an object".to_owned();
            report.unfixable(node, Rule::WrongType, message, "send an object with role and content");
        }
    }
    if report.findings.iter().any(|finding| finding.rule == Rule::UnknownRole) {
        // Which turns there are shows only when every message has its role.
        report.hold();
    }
    let turns = turns(&messages);
    for message in &messages {
        blocks::check(message, report);
    }
    if let Some(last) = messages.last().filter(|last| last.role == Role::Assistant) {
        blocks::check_end(last, report);
    }
    blocks::check_image_count(&messages, report);
    results::check(list, &mut messages, &turns, report);
    blocks::check_trailing_thinking(&messages, &turns, report);
    check_start(list, &messages, report);
    settle_contents(&messages, report);
}

fn read<'b>(node: Node<'b>, index: usize, report: &mut Report) -> Message<'b> {
    let role = node.get("role");
    let name = role.and_then(Node::text);
    let role = match (role, name.as_deref()) {
        (_, Some("user")) => Role::User,
        (_, Some("assistant")) => Role::Assistant,
        (_, Some("system")) => Role::Other,
        (None, _) => {
            require(report, node, "role");
            Role::Other
        }
        (Some(role), name) => {
            let message = format!("the role {} is unknown", name.map_or(role.raw().to_owned(), encode));
            let known = if matches!(name, Some("model" | "ai" | "bot")) { "assistant" } else { "user" };
            report.fixable(role, Rule::UnknownRole, message, &format!("it becomes {known}"));
            report.replace(role, encode(known));
            Role::Other
        }
    };
    let content = node.get("content");
    let blocks = content.into_iter().flat_map(Node::items).collect();
    Message { node, index, role, content, blocks, arrivals: Vec::new() }
}

/// Runs of messages of one role.
fn turns(messages: &[Message<'_>]) -> Vec<Range<usize>> {
    let mut turns: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    for (number, message) in messages.iter().enumerate() {
        match turns.last_mut() {
            Some(turn) if before == Some(message.role) && message.role != Role::Other => {
                turn.end = number + 1;
            }
            _ => turns.push(number..number + 1),
        }
        before = Some(message.role);
    }
    turns
}

/// "messages: first message must use the "user" role".
fn check_start(list: Node<'_>, messages: &[Message<'_>], report: &mut Report) {
    let Some(first) = messages.first().filter(|first| first.role == Role::Assistant) else { return };
    let message = "the first message must be the user's".to_owned();
    report.fixable(first.node, Rule::RoleOrder, message, "a short user message is put before it");
    report.insert(list, 0, format!(r#"{{"role":"user","content":{}}}"#, encode(NO_START)));
}

/// Carries out what the blocks of each message have come to: those that arrive are put in, and a message
/// without any goes, unless two turns would thereby become one. "all messages must have non-empty content
/// except for the optional final assistant message".
fn settle_contents(messages: &[Message<'_>], report: &mut Report) {
    let mut role_before = None;
    for (number, message) in messages.iter().enumerate() {
        let is_final = number + 1 == messages.len() && message.role == Role::Assistant;
        let is_array = message.content.is_some_and(|content| content.kind() == Kind::Array);
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
            if message.role != Role::User || role_before == Some(Role::User) {
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
fn receive(message: &Message<'_>, report: &mut Report) {
    let Some(content) = message.content else { return };
    if content.kind() == Kind::Array {
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

/// A block that says what a literal says.
fn text_block(literal: &str) -> String {
    format!(r#"{{"type":"text","text":{literal}}}"#)
}

/// A literal that says what a value says: itself if it is a string, else its text.
fn literal_of(node: Node<'_>) -> String {
    if node.kind() == Kind::String { encode(&decode(node.raw())) } else { encode(node.raw()) }
}
