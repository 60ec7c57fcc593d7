//! Renders for OpenAI's Responses: a flat list of items, results behind the calls of their step.

use std::collections::HashSet;

use crate::json::encode;
use crate::wire::render::conversation::{
    NormalConversation, NormalItem, NormalTurn, PairedCall, StepBlock, Thought,
};
use crate::wire::render::input::PairedInput;
use crate::wire::render::media::Media;
use crate::wire::render::{Loss, RenderOptions, array};

pub(crate) fn body(
    conversation: &NormalConversation<'_>,
    options: &RenderOptions<'_>,
    losses: &mut Vec<Loss>,
) -> String {
    // A tool is either a function or takes free text. It takes free text if it never got anything else.
    let functions = conversation.uses().filter(|call| matches!(call.input, PairedInput::Object(_)));
    let functions: HashSet<&str> = functions.map(|call| &*call.tool).collect();
    let (mut instructions, mut items, mut has_thoughts) = (Vec::new(), Vec::new(), false);
    for turn in &conversation.turns {
        match turn {
            NormalTurn::System(said) if items.is_empty() => {
                for item in said {
                    match item {
                        NormalItem::Text(text) => instructions.push(text.to_string()),
                        NormalItem::Media(medium) => instructions.push(medium.leave_out(losses).to_owned()),
                    }
                }
            }
            NormalTurn::System(said) => items.push(message("developer", said, losses)),
            NormalTurn::User(said) => items.push(message("user", said, losses)),
            NormalTurn::Step(blocks) => {
                has_thoughts |= blocks.iter().any(|block| matches!(block, StepBlock::Thought(_)));
                step(blocks, &functions, &mut items, losses);
            }
        }
    }
    let declare = |tool: &str| {
        let name = encode(tool);
        if functions.contains(tool) {
            let parameters = r#"{"type":"object","properties":{}}"#;
            format!(r#"{{"type":"function","name":{name},"parameters":{parameters},"strict":false}}"#)
        } else {
            format!(r#"{{"type":"custom","name":{name}}}"#)
        }
    };
    let tools: Vec<String> = conversation.tools().into_iter().map(declare).collect();
    let mut body = format!(r#"{{"model":{}"#, encode(options.model));
    if !instructions.is_empty() {
        body += &format!(r#","instructions":{}"#, encode(&instructions.join("\n\n")));
    }
    body.push_str(r#","input":"#);
    body.push_str(&array(items));
    if !tools.is_empty() {
        body += &format!(r#","tools":{}"#, array(tools));
    }
    if let Some(max_tokens) = options.max_tokens {
        body += &format!(r#","max_output_tokens":{max_tokens}"#);
    }
    if has_thoughts {
        // They are sent because the provider does not keep them.
        body += r#","store":false"#;
    }
    body + "}"
}

fn step(
    blocks: &[StepBlock<'_>],
    functions: &HashSet<&str>,
    items: &mut Vec<String>,
    losses: &mut Vec<Loss>,
) {
    let mut answers = Vec::new();
    let mut said = Vec::new();
    for block in blocks {
        let text = match block {
            StepBlock::Said(NormalItem::Text(text)) => Some(text.to_string()),
            StepBlock::Said(NormalItem::Media(medium)) => Some(medium.leave_out(losses).to_owned()),
            _ => None,
        };
        if let Some(text) = text {
            said.push(format!(r#"{{"type":"output_text","text":{}}}"#, encode(&text)));
            continue;
        }
        items.extend(speak(&mut said));
        match block {
            StepBlock::Said(_) => {}
            StepBlock::Thought(thought) => items.push(reasoning(thought)),
            StepBlock::Call(call) => {
                let kind = if functions.contains(&*call.tool) { "function_call" } else { "custom_tool_call" };
                let (id, name, output) = (encode(&call.id), encode(&call.tool), output(call, losses));
                let input = match &call.input {
                    PairedInput::Text(text) if kind == "custom_tool_call" => {
                        format!(r#""input":{}"#, encode(text))
                    }
                    input => format!(r#""arguments":{}"#, encode(&input.object())),
                };
                items.push(format!(r#"{{"type":"{kind}","call_id":{id},"name":{name},{input}}}"#));
                answers.push(format!(r#"{{"type":"{kind}_output","call_id":{id},"output":{output}}}"#));
            }
        }
    }
    items.extend(speak(&mut said));
    items.extend(answers);
}

/// The message with the text so far, if there is any.
fn speak(said: &mut Vec<String>) -> Option<String> {
    let blocks = std::mem::take(said);
    let content = (!blocks.is_empty()).then(|| array(blocks))?;
    Some(format!(r#"{{"type":"message","role":"assistant","content":{content}}}"#))
}

fn reasoning(thought: &Thought<'_>) -> String {
    let id = thought.id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    let summary = thought.text.as_ref().filter(|text| !text.is_empty());
    let summary = summary.map(|text| format!(r#"{{"type":"summary_text","text":{}}}"#, encode(text)));
    let (summary, encrypted) = (summary.unwrap_or_default(), thought.signature.unwrap_or("null"));
    format!(r#"{{"type":"reasoning",{id}"summary":[{summary}],"encrypted_content":{encrypted}}}"#)
}

fn output(call: &PairedCall<'_>, losses: &mut Vec<Loss>) -> String {
    let (text, media) = call.split();
    if media.is_empty() {
        return encode(&text);
    }
    array(call.items().iter().map(|item| block(item, losses)).collect())
}

fn message(role: &str, items: &[NormalItem<'_>], losses: &mut Vec<Loss>) -> String {
    let blocks: Vec<String> = items.iter().map(|item| block(item, losses)).collect();
    format!(r#"{{"type":"message","role":"{role}","content":{}}}"#, array(blocks))
}

fn block(item: &NormalItem<'_>, losses: &mut Vec<Loss>) -> String {
    let text = |text: &str| format!(r#"{{"type":"input_text","text":{}}}"#, encode(text));
    match item {
        NormalItem::Text(said) => text(said),
        NormalItem::Media(medium) => Media::of(medium.raw)
            .and_then(|media| media.openai_responses())
            .unwrap_or_else(|| text(medium.leave_out(losses))),
    }
}
