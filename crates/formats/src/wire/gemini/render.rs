//! Renders for Google's Gemini: sides alternate, and as many results follow as there were calls, in order and without ids.

use crate::json::encode;
use crate::wire::render::conversation::{
    CONTINUE, NormalConversation, NormalItem, NormalTurn, PairedCall, StepBlock,
};
use crate::wire::render::media::Media;
use crate::wire::render::{AlternatingMessages, Loss, RenderOptions, USER, array};

const MODEL: &str = "model";

pub(crate) fn body(
    conversation: &NormalConversation<'_>,
    options: &RenderOptions<'_>,
    losses: &mut Vec<Loss>,
) -> String {
    let (mut system, mut contents) = (Vec::new(), AlternatingMessages::default());
    for turn in &conversation.turns {
        match turn {
            NormalTurn::System(items) => {
                for item in items {
                    system.push(match item {
                        NormalItem::Text(said) => text(said),
                        NormalItem::Media(medium) => text(medium.leave_out(losses)),
                    });
                }
            }
            NormalTurn::User(items) => {
                for item in items {
                    contents.push(USER, part(item, losses));
                }
            }
            NormalTurn::Step(blocks) => step(blocks, &mut contents, losses),
        }
    }
    let contents = contents.into_json("parts", text(CONTINUE));
    let mut members = Vec::new();
    if !system.is_empty() {
        members.push(format!(r#""systemInstruction":{{"parts":{}}}"#, array(system)));
    }
    members.push(format!(r#""contents":{contents}"#));
    let declare = |tool: &str| {
        // Parameters may be missing, but an object without properties is refused.
        let description = encode("A tool that was used in this conversation");
        format!(r#"{{"name":{},"description":{description}}}"#, encode(tool))
    };
    let tools: Vec<String> = conversation.tools().into_iter().map(declare).collect();
    if !tools.is_empty() {
        members.push(format!(r#""tools":[{{"functionDeclarations":{}}}]"#, array(tools)));
    }
    if let Some(max_tokens) = options.max_tokens {
        members.push(format!(r#""generationConfig":{{"maxOutputTokens":{max_tokens}}}"#));
    }
    format!("{{{}}}", members.join(","))
}

fn step(blocks: &[StepBlock<'_>], contents: &mut AlternatingMessages, losses: &mut Vec<Loss>) {
    let (mut answers, mut shown) = (Vec::new(), Vec::new());
    for block in blocks {
        let spelled = match block {
            StepBlock::Said(item) => part(item, losses),
            StepBlock::Thought(thought) => {
                format!(
                    r#"{{"text":{},"thought":true}}"#,
                    encode(thought.text.as_deref().unwrap_or_default())
                )
            }
            StepBlock::Call(call) => {
                answers.push(answer(call));
                shown.extend(call.split().1.iter().map(|medium| part(&NormalItem::Media(*medium), losses)));
                let (name, args) = (encode(&call.tool), call.input.object());
                let signature = call.signature.map(|literal| format!(r#","thoughtSignature":{literal}"#));
                let signature = signature.unwrap_or_default();
                format!(r#"{{"functionCall":{{"name":{name},"args":{args}}}{signature}}}"#)
            }
        };
        contents.push(MODEL, spelled);
    }
    for part in answers.into_iter().chain(shown) {
        contents.push(USER, part);
    }
}

fn answer(call: &PairedCall<'_>) -> String {
    let object = call.answer.as_ref().and_then(|answer| answer.object.as_deref());
    let response = match object {
        Some(object) => object.to_owned(),
        None => {
            let key = if call.is_error() { "error" } else { "output" };
            format!(r#"{{"{key}":{}}}"#, encode(&call.split().0))
        }
    };
    format!(r#"{{"functionResponse":{{"name":{},"response":{response}}}}}"#, encode(&call.tool))
}

fn part(item: &NormalItem<'_>, losses: &mut Vec<Loss>) -> String {
    match item {
        NormalItem::Text(said) => text(said),
        NormalItem::Media(medium) => Media::of(medium.raw)
            .and_then(|media| media.gemini())
            .unwrap_or_else(|| text(medium.leave_out(losses))),
    }
}

fn text(said: &str) -> String {
    format!(r#"{{"text":{}}}"#, encode(said))
}
