//! Renders for Anthropic's Messages: sides alternate, results come first in the user's next message, instructions are
//! apart.

use crate::json::encode;
use crate::wire::render::conversation::{
    CONTINUE, NormalConversation, NormalItem, NormalTurn, PairedCall, StepBlock, Thought,
};
use crate::wire::render::media::Media;
use crate::wire::render::{AlternatingMessages, Loss, RenderOptions, USER, array};

/// The limit if the caller gives none. Every model that is still served can write as much.
const MAX_TOKENS: u64 = 4096;

const ASSISTANT: &str = "assistant";

pub(crate) fn body(
    conversation: &NormalConversation<'_>,
    options: &RenderOptions<'_>,
    losses: &mut Vec<Loss>,
) -> String {
    let (mut system, mut messages) = (Vec::new(), AlternatingMessages::default());
    for turn in &conversation.turns {
        match turn {
            NormalTurn::System(items) => {
                for item in items {
                    match item {
                        NormalItem::Text(text) => system.push(text.to_string()),
                        NormalItem::Media(medium) => system.push(medium.leave_out(losses).to_owned()),
                    }
                }
            }
            NormalTurn::User(items) => {
                for item in items {
                    messages.push(USER, block(item, losses));
                }
            }
            NormalTurn::Step(blocks) => step(blocks, &mut messages, losses),
        }
    }
    let messages = messages.into_json("content", text(CONTINUE));
    let tools: Vec<String> = conversation
        .tools()
        .into_iter()
        .map(|tool| format!(r#"{{"name":{},"input_schema":{{"type":"object"}}}}"#, encode(tool)))
        .collect();
    let max_tokens = options.max_tokens.unwrap_or(MAX_TOKENS);
    let mut body = format!(r#"{{"model":{},"max_tokens":{max_tokens}"#, encode(options.model));
    if !system.is_empty() {
        body += &format!(r#","system":{}"#, encode(&system.join("\n\n")));
    }
    body.push_str(r#","messages":"#);
    body.push_str(&messages);
    if !tools.is_empty() {
        body += &format!(r#","tools":{}"#, array(tools));
    }
    body + "}"
}

fn step(blocks: &[StepBlock<'_>], messages: &mut AlternatingMessages, losses: &mut Vec<Loss>) {
    let mut answers = Vec::new();
    for own in blocks {
        let spelled = match own {
            StepBlock::Said(NormalItem::Text(said)) => text(said),
            StepBlock::Said(NormalItem::Media(medium)) => text(medium.leave_out(losses)),
            StepBlock::Thought(thought) => thinking(thought),
            StepBlock::Call(call) => {
                answers.push(answer(call, losses));
                let (id, name, input) = (encode(&call.id), encode(&call.tool), call.input.object());
                format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#)
            }
        };
        messages.push(ASSISTANT, spelled);
    }
    for answer in answers {
        messages.push(USER, answer);
    }
}

fn thinking(thought: &Thought<'_>) -> String {
    let signature = thought.signature.unwrap_or("\"\"");
    match &thought.text {
        Some(text) => {
            format!(r#"{{"type":"thinking","thinking":{},"signature":{signature}}}"#, encode(text))
        }
        None => format!(r#"{{"type":"redacted_thinking","data":{signature}}}"#),
    }
}

fn answer(call: &PairedCall<'_>, losses: &mut Vec<Loss>) -> String {
    let (said, media) = call.split();
    let content = if media.is_empty() {
        // A failed result must have text.
        let is_silent = said.is_empty() && call.is_error();
        encode(if is_silent { "[The tool failed without a message]" } else { &said })
    } else {
        array(call.items().iter().map(|item| block(item, losses)).collect())
    };
    // A failed result may have nothing but text.
    let is_error = if call.is_error() && media.is_empty() { r#","is_error":true"# } else { "" };
    let id = encode(&call.id);
    format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{content}{is_error}}}"#)
}

fn block(item: &NormalItem<'_>, losses: &mut Vec<Loss>) -> String {
    match item {
        NormalItem::Text(said) => text(said),
        NormalItem::Media(medium) => Media::of(medium.raw)
            .and_then(|media| media.anthropic())
            .unwrap_or_else(|| text(medium.leave_out(losses))),
    }
}

fn text(said: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, encode(said))
}
