//! Clients of a simulation, and the histories that they send.

use std::fmt::Write as _;
use std::sync::Arc;

use secateur_formats::Wire;
use secateur_testing::SeededRandom;
use secateur_testing::thinking_binding::sign;
use serde_json::Value;

use super::client_message::{ClientMessage, MarkNumbers, MessageDraft, mark_text, marks_in, quoted};

/// Who sends a history, and where.
#[derive(Clone, Debug)]
pub(super) struct SimulatedClient {
    pub tenant: usize,
    pub wire: Wire,
    /// The model is one that binds its thinking.
    pub thinks: bool,
    pub messages: Vec<Arc<ClientMessage>>,
    /// The calls whose results are missing.
    open_calls: Vec<String>,
    /// The largest message that it writes, in bytes.
    largest: u64,
    /// What it calls its conversation.
    pub key: Option<String>,
    /// The system prompt's number.
    mark: u32,
    /// It grew since the last request that was answered.
    pub is_ahead: bool,
    /// What was sent for it last, if that can be compared with what is sent next.
    pub last: Option<super::stability::SentPrefix>,
}

impl SimulatedClient {
    pub(super) fn new(
        random: &mut SeededRandom,
        numbers: &mut MarkNumbers,
        tenant: usize,
        wire: Wire,
        largest: u64,
    ) -> Self {
        let thinks = wire == Wire::Anthropic && random.happens(35);
        let key = random.happens(30).then(|| format!("key-{}", numbers.draw()));
        let mut client = Self {
            tenant,
            wire,
            thinks,
            messages: Vec::new(),
            open_calls: Vec::new(),
            largest,
            key,
            mark: numbers.draw(),
            is_ahead: true,
            last: None,
        };
        if wire == Wire::OpenAiChat {
            let mut draft = MessageDraft::new(random, numbers);
            let text = draft.text(60);
            let message = draft.finish(format!(r#"{{"role":"system","content":{text}}}"#));
            client.push(message);
        }
        client.say(random, numbers, largest / 3);
        client
    }

    pub(super) fn model(&self) -> &'static str {
        if self.thinks { super::provider::THINKING_MODEL } else { super::provider::MODEL }
    }

    /// The name of the list of messages.
    pub(super) fn list(&self) -> &'static str {
        match self.wire {
            Wire::Gemini => "contents",
            Wire::OpenAiResponses => "input",
            _ => "messages",
        }
    }

    /// Everything before the first message.
    pub(super) fn head(&self) -> String {
        let system = format!("Be brief. {}", mark_text(self.mark));
        let (model, list) = (self.model(), self.list());
        match self.wire {
            Wire::Anthropic => {
                let thinking = if self.thinks { r#""thinking":{"type":"adaptive"},"# } else { "" };
                format!(r#"{{"model":"{model}","max_tokens":256,{thinking}"system":"{system}","{list}":["#)
            }
            Wire::OpenAiResponses => {
                format!(r#"{{"model":"{model}","max_output_tokens":256,"instructions":"{system}","{list}":["#)
            }
            Wire::Gemini => format!(
                r#"{{"generationConfig":{{"maxOutputTokens":256}},"systemInstruction":{{"parts":[{{"text":"{system}"}}]}},"{list}":["#
            ),
            // Its system prompt is a message.
            _ => format!(r#"{{"model":"{model}", "max_tokens":256, "{list}":["#),
        }
    }

    /// The whole request.
    pub(super) fn body(&self) -> String {
        let mut body = self.head();
        for (place, message) in self.messages.iter().enumerate() {
            body.push_str(if place == 0 { "" } else { "," });
            body.push_str(&message.raw);
        }
        body.push_str("]}");
        body
    }

    /// The numbers of all texts in its request.
    pub(super) fn marks(&self) -> impl Iterator<Item = u32> + '_ {
        self.messages.iter().flat_map(|message| message.marks.iter().copied()).chain([self.mark])
    }

    fn push(&mut self, message: Arc<ClientMessage>) {
        self.messages.push(message);
        self.is_ahead = true;
    }

    fn size(&self, random: &mut SeededRandom) -> u64 {
        let most = [60, 200, self.largest / 4, self.largest][random.place(4)];
        30 + random.below(most)
    }

    /// The user says something.
    fn say(&mut self, random: &mut SeededRandom, numbers: &mut MarkNumbers, most: u64) {
        let size = self.size(random).min(most.max(40));
        let mut draft = MessageDraft::new(random, numbers);
        let text = draft.text(size);
        let raw = match self.wire {
            Wire::Anthropic if size.is_multiple_of(2) => format!(r#"{{"role":"user","content":{text}}}"#),
            Wire::Anthropic => format!(r#"{{"role":"user","content":[{{"type":"text","text":{text}}}]}}"#),
            Wire::OpenAiResponses => format!(
                r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{text}}}]}}"#
            ),
            Wire::Gemini => format!(r#"{{"role":"user","parts":[{{"text":{text}}}]}}"#),
            _ => format!(r#"{{"role": "user", "content": {text}}}"#),
        };
        let message = draft.finish(raw);
        self.push(message);
    }

    /// The model's answer to a request that was sent as `sent`, and what the client does about it: it runs tools, or the
    /// user goes on.
    pub(super) fn go_on(
        &mut self,
        random: &mut SeededRandom,
        numbers: &mut MarkNumbers,
        sent: Option<&Value>,
    ) {
        let signature = sent.filter(|_| self.thinks).map(sign);
        if random.happens(70) {
            self.call(random, numbers, signature);
            self.run(random, numbers);
        } else {
            self.answer(random, numbers, signature);
            let most = self.largest / 2;
            self.say(random, numbers, most);
        }
    }

    /// The model thinks, if it does, and calls tools.
    fn call(&mut self, random: &mut SeededRandom, numbers: &mut MarkNumbers, signature: Option<String>) {
        let count = 1 + random.below(2);
        let mut draft = MessageDraft::new(random, numbers);
        let says = draft.random.happens(50).then(|| draft.text(40));
        let mut calls = Vec::new();
        for _ in 0..count {
            let number = draft.numbers.draw();
            let id = format!("call_{number:05}");
            let name = *draft.random.pick(&["Bash", "read", "grep"]);
            let mark = draft.numbers.draw();
            draft.message.marks.push(mark);
            let input = format!(r#"{{"command":"run {}"}}"#, mark_text(mark));
            draft.add_part(input.clone());
            draft.message.calls.push(id.clone());
            calls.push((id, name, input));
        }
        self.open_calls.extend(calls.iter().map(|(id, ..)| id.clone()));
        if self.wire == Wire::OpenAiResponses {
            // Each call is an item of its own.
            for (id, name, input) in calls {
                let mut draft = MessageDraft::new(random, numbers);
                draft.message.calls.push(id.clone());
                draft.message.marks.extend(marks_in(input.as_bytes()));
                draft.add_part(input.clone());
                let input = quoted(draft.random, &input);
                let raw = format!(
                    r#"{{"type":"function_call","call_id":"{id}","name":"{name}","arguments":{input}}}"#
                );
                let message = draft.finish(raw);
                self.push(message);
            }
            return;
        }
        let raw = match self.wire {
            Wire::Anthropic => {
                let mut blocks = Vec::new();
                if let Some(signature) = signature {
                    let thought = draft.text(60);
                    blocks.push(format!(
                        r#"{{"type":"thinking","thinking":{thought},"signature":"{signature}"}}"#
                    ));
                }
                blocks.extend(says.map(|text| format!(r#"{{"type":"text","text":{text}}}"#)));
                blocks.extend(calls.iter().map(|(id, name, input)| {
                    format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#)
                }));
                format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","))
            }
            Wire::Gemini => {
                let mut parts: Vec<String> =
                    says.map(|text| format!(r#"{{"text":{text}}}"#)).into_iter().collect();
                parts.extend(calls.iter().map(|(id, name, input)| {
                    format!(r#"{{"functionCall":{{"id":"{id}","name":"{name}","args":{input}}}}}"#)
                }));
                format!(r#"{{"role":"model","parts":[{}]}}"#, parts.join(","))
            }
            _ => {
                let mut list = String::new();
                for (id, name, input) in &calls {
                    let comma = if list.is_empty() { "" } else { "," };
                    let input = quoted(draft.random, input);
                    let _ = write!(
                        list,
                        r#"{comma}{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":{input}}}}}"#
                    );
                }
                let says = says.unwrap_or_else(|| "null".to_owned());
                format!(r#"{{"role":"assistant","content":{says},"tool_calls":[{list}]}}"#)
            }
        };
        let message = draft.finish(raw);
        self.push(message);
    }

    /// The client runs the tools that were called.
    fn run(&mut self, random: &mut SeededRandom, numbers: &mut MarkNumbers) {
        let calls = std::mem::take(&mut self.open_calls);
        let mut blocks = Vec::new();
        let sizes: Vec<u64> = calls.iter().map(|_| self.size(random)).collect();
        let mut all = MessageDraft::new(random, numbers);
        for (id, size) in calls.into_iter().zip(sizes) {
            let text = all.text(size);
            all.message.results.push(id.clone());
            let raw = match self.wire {
                Wire::Anthropic => {
                    let failed = if size.is_multiple_of(7) { r#","is_error":true"# } else { "" };
                    format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{text}{failed}}}"#)
                }
                Wire::Gemini => {
                    all.add_part(format!(r#"{{"output":{text}}}"#));
                    format!(
                        r#"{{"functionResponse":{{"id":"{id}","name":"Bash","response":{{"output":{text}}}}}}}"#
                    )
                }
                Wire::OpenAiResponses => {
                    format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{text}}}"#)
                }
                _ => format!(r#"{{"role":"tool","tool_call_id":"{id}","content":{text}}}"#),
            };
            match self.wire {
                Wire::Anthropic | Wire::Gemini => blocks.push(raw),
                _ => {
                    let message = all.finish(raw);
                    self.push(message);
                    all = MessageDraft::new(random, numbers);
                }
            }
        }
        let raw = match self.wire {
            Wire::Anthropic => format!(r#"{{"role":"user","content":[{}]}}"#, blocks.join(",")),
            Wire::Gemini => format!(r#"{{"role":"user","parts":[{}]}}"#, blocks.join(",")),
            _ => return,
        };
        let message = all.finish(raw);
        self.push(message);
    }

    /// The model answers in words.
    fn answer(&mut self, random: &mut SeededRandom, numbers: &mut MarkNumbers, signature: Option<String>) {
        let size = self.size(random).min(300);
        let mut draft = MessageDraft::new(random, numbers);
        let text = draft.text(size);
        let raw = match self.wire {
            Wire::Anthropic => match signature {
                Some(signature) => {
                    let thought = draft.text(60);
                    format!(
                        r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":{thought},"signature":"{signature}"}},{{"type":"text","text":{text}}}]}}"#
                    )
                }
                None => format!(r#"{{"role":"assistant","content":[{{"type":"text","text":{text}}}]}}"#),
            },
            Wire::OpenAiResponses => format!(
                r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{text}}}]}}"#
            ),
            Wire::Gemini => format!(r#"{{"role":"model","parts":[{{"text":{text}}}]}}"#),
            _ => format!(r#"{{"role":"assistant","content":{text}}}"#),
        };
        let message = draft.finish(raw);
        self.push(message);
    }

    /// Goes back to an earlier place where the user or a tool had spoken last. Says whether there is one.
    pub(super) fn rewind(&mut self, random: &mut SeededRandom) -> bool {
        let is_place = |at: &usize| {
            let message = &self.messages[*at];
            let next = self.messages.get(at + 1);
            let is_model = |message: &ClientMessage| {
                message.raw.contains(r#""assistant""#)
                    || message.raw.contains(r#""model""#)
                    || message.raw.contains(r#""function_call","#)
            };
            !is_model(message) && next.is_some_and(|next| is_model(next))
        };
        let places: Vec<usize> = (0..self.messages.len()).filter(is_place).collect();
        if places.is_empty() {
            return false;
        }
        // Mostly a step or two.
        let most = if random.happens(70) { 2 } else { places.len() };
        let back = 1 + random.place(most).min(places.len() - 1);
        let Some(&at) = places.get(places.len() - back) else { return false };
        self.messages.truncate(at + 1);
        self.open_calls.clear();
        (self.is_ahead, self.last) = (true, None);
        true
    }
}
