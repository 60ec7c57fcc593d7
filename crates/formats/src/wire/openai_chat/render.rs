//! Renders for Chat Completions: each result is a message behind the message with its call.

use std::fmt::Write;

use crate::json::encode;
use crate::wire::render::conversation::{FROM_TOOLS, NormalConversation, NormalItem, NormalTurn, StepBlock};
use crate::wire::render::media::Media;
use crate::wire::render::{Loss, RenderOptions, array};

pub(crate) fn body(
    conversation: &NormalConversation<'_>,
    options: &RenderOptions<'_>,
    losses: &mut Vec<Loss>,
) -> String {
    let mut messages = Vec::new();
    for turn in &conversation.turns {
        match turn {
            NormalTurn::System(items) => messages.push(spoken("system", items, losses)),
            NormalTurn::User(items) => messages.push(user(items, losses)),
            NormalTurn::Step(blocks) => step(blocks, &mut messages, losses),
        }
    }
    let declare = |tool: &str| {
        let parameters = r#"{"type":"object","properties":{}}"#;
        format!(r#"{{"type":"function","function":{{"name":{},"parameters":{parameters}}}}}"#, encode(tool))
    };
    let tools: Vec<String> = conversation.tools().into_iter().map(declare).collect();
    let mut body = format!(r#"{{"model":{},"messages":{}"#, encode(options.model), array(messages));
    if !tools.is_empty() {
        body += &format!(r#","tools":{}"#, array(tools));
    }
    if let Some(max_tokens) = options.max_tokens {
        body += &format!(r#","max_completion_tokens":{max_tokens}"#);
    }
    body + "}"
}

fn step(blocks: &[StepBlock<'_>], messages: &mut Vec<String>, losses: &mut Vec<Loss>) {
    let (mut said, mut calls, mut answers, mut shown) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        match block {
            StepBlock::Said(NormalItem::Text(text)) => said.push(text.to_string()),
            StepBlock::Said(NormalItem::Media(medium)) => said.push(medium.leave_out(losses).to_owned()),
            // Never here: this wire takes no thinking back.
            StepBlock::Thought(_) => {}
            StepBlock::Call(call) => {
                let (id, name, input) = (encode(&call.id), encode(&call.tool), encode(&call.input.object()));
                let function = format!(r#"{{"name":{name},"arguments":{input}}}"#);
                calls.push(format!(r#"{{"id":{id},"type":"function","function":{function}}}"#));
                let (mut text, media) = call.split();
                for medium in media {
                    // Results are text; their media follow as if the user sent them.
                    match Media::of(medium.raw).and_then(|media| media.openai_chat()) {
                        Some(block) => shown.push(block),
                        None => _ = write!(text.to_mut(), "\n{}", medium.leave_out(losses)),
                    }
                }
                let text = encode(&text);
                answers.push(format!(r#"{{"role":"tool","tool_call_id":{id},"content":{text}}}"#));
            }
        }
    }
    let content = if said.is_empty() { "null".to_owned() } else { encode(&said.join("\n")) };
    let calls = if calls.is_empty() { String::new() } else { format!(r#","tool_calls":{}"#, array(calls)) };
    messages.push(format!(r#"{{"role":"assistant","content":{content}{calls}}}"#));
    messages.extend(answers);
    if !shown.is_empty() {
        shown.insert(0, text_block(FROM_TOOLS));
        messages.push(format!(r#"{{"role":"user","content":{}}}"#, array(shown)));
    }
}

/// A message with nothing but text.
fn spoken(role: &str, items: &[NormalItem<'_>], losses: &mut Vec<Loss>) -> String {
    let text = |item: &NormalItem<'_>| match item {
        NormalItem::Text(text) => text.to_string(),
        NormalItem::Media(medium) => medium.leave_out(losses).to_owned(),
    };
    let texts: Vec<String> = items.iter().map(text).collect();
    format!(r#"{{"role":"{role}","content":{}}}"#, encode(&texts.join("\n")))
}

fn user(items: &[NormalItem<'_>], losses: &mut Vec<Loss>) -> String {
    if let [NormalItem::Text(_)] = items {
        return spoken("user", items, losses);
    }
    let block = |item: &NormalItem<'_>| match item {
        NormalItem::Text(text) => text_block(text),
        NormalItem::Media(medium) => Media::of(medium.raw)
            .and_then(|media| media.openai_chat())
            .unwrap_or_else(|| text_block(medium.leave_out(losses))),
    };
    let blocks: Vec<String> = items.iter().map(block).collect();
    format!(r#"{{"role":"user","content":{}}}"#, array(blocks))
}

fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, encode(text))
}
