//! Models that bind their thinking: whatever is cut, no request is refused for it.

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use secateur::session::{ProviderReport, TurnState};
use secateur::{Catalogue, Profiles, Usage};
use secateur_engine::Engine;
use secateur_engine::provider::read_overflow;
use secateur_formats::Wire;
use secateur_formats::thinking::ThinkingRefusal;
use secateur_testing::thinking_binding::{Account, Judgement, ThinkingBinding, judge, sign};
use serde_json::{Value, json};

use super::agent::prepare;
use crate::conversation::{Conversations, PreparedRequest, ResponseReport, ThinkingSettings};
use crate::route::RequestKind;

/// A model whose version says that it binds its thinking.
const MODEL: &str = "claude-test-9";

const WINDOW: u64 = 30_000;

/// Something that happens between two requests.
#[derive(Clone, Debug)]
enum Action {
    /// The model thinks and calls a tool, whose result has this many bytes.
    Step { tool: usize, bytes: usize },
    /// The model thinks and answers, and the user goes on.
    Say { words: usize },
    /// The proxy is started again.
    Restart,
}

/// The client, its provider and the proxy between them.
#[derive(Clone, Debug)]
struct Scene {
    profile: String,
    binding: ThinkingBinding,
    settings: ThinkingSettings,
    /// The client's own member `thinking`.
    thinking: Value,
    /// The client's own member `context_management`, with its header.
    clears_thinking: bool,
}

impl Scene {
    /// The provider can be asked to drop invalid thinking.
    fn can_drop(&self) -> bool {
        self.settings.dropping && self.binding.knows_betas
    }

    async fn process(&self, store: &str) -> Conversations {
        let engine = Engine::new(secateur_store::open(store).await.unwrap());
        let page = format!(
            "[[model]]\nid = \"{MODEL}\"\nprovider = \"test\"\ncontext = {WINDOW}\noutput = 1000\n\
             price = {{ input = 4.0, output = 20.0, cache_read = 0.2, cache_write = 5.0 }}\n"
        );
        let catalogue = Catalogue::parse(&page, "test").unwrap();
        Conversations::new(engine, &self.profile, catalogue, self.settings, Arc::default())
    }

    fn body(&self, messages: &[Value]) -> Value {
        let mut body = json!({
            "model": MODEL, "max_tokens": 1000, "thinking": self.thinking, "system": "Be brief.",
            "tools": [], "messages": messages,
        });
        if self.clears_thinking {
            body["context_management"] =
                json!({ "edits": [{ "type": "clear_thinking_20251015", "keep": "all" }] });
        }
        body
    }

    /// What the provider says to a request: what it did to it, or its refusal.
    fn ask(&self, sent: &[u8], betas: &[&str]) -> Result<(Value, Judgement), String> {
        let body: Value = serde_json::from_slice(sent).unwrap();
        let mut betas = betas.join(",");
        if self.clears_thinking {
            betas += ",context-management-2025-06-27";
        }
        let judgement = judge(&body, &betas, self.binding)?;
        let tokens = (sent.len() as u64 - judgement.cleared_bytes) / 4;
        if tokens > WINDOW {
            return Err(format!("prompt is too long: {tokens} tokens > {WINDOW} maximum"));
        }
        let is_on = self.thinking["type"] != "disabled";
        let messages = body["messages"].as_array().unwrap();
        if let [.., own, last] = &messages[..]
            && is_on
            && last["content"][0]["type"] == "tool_result"
            && own["content"][0]["type"] != "thinking"
        {
            return Err("Expected `thinking` at the start of the final assistant message".to_owned());
        }
        Ok((body, judgement))
    }
}

/// Sends the request of a client as the proxy does, and returns what was sent and what the provider did to it. A refusal
/// for its thinking must never come back.
async fn exchange(
    scene: &Scene,
    conversations: &Conversations,
    messages: &[Value],
) -> Result<(Value, Judgement), String> {
    let own = scene.body(messages);
    let body = Bytes::from(own.to_string());
    let mut prepared = prepare(conversations, Wire::Anthropic, RequestKind::Generate, &body).await;
    for attempt in 1.. {
        let PreparedRequest { body, betas, pending, report, .. } = prepared;
        assert_eq!(report.altered, 0, "{report:?}");
        let sent = body.concat();
        let answer = scene.ask(&sent, &betas);
        let pending = pending.expect("the conversation is managed");
        let refusal = match answer {
            Ok((sent, judgement)) => {
                let mut pending = pending;
                pending.accepted();
                let tokens =
                    (body.iter().map(|piece| piece.len() as u64).sum::<u64>() - judgement.cleared_bytes) / 4;
                let usage = Usage { input: tokens as i64, output: 50, ..Usage::default() };
                let provider = (!judgement.report.is_empty()).then_some(ProviderReport {
                    cleared_results: judgement.cleared,
                    cleared_tokens: judgement.cleared_bytes / 4,
                    dropped_blocks: judgement.dropped.len() as u64,
                });
                let branch = pending.branch.clone();
                pending.settle(ResponseReport { usage: Some(usage), turn: TurnState::Open, provider });
                branch.state().await.store().await.unwrap();
                return Ok((sent, judgement));
            }
            Err(refusal) => refusal,
        };
        assert!(!refusal.contains("bound to a different"), "attempt {attempt} of {scene:?}: {refusal}");
        let error = json!({ "error": { "type": "invalid_request_error", "message": refusal } }).to_string();
        let another = match (read_overflow(400, &error), ThinkingRefusal::read(&error)) {
            (Some(overflow), _) => conversations.make_room(pending, overflow).await,
            (None, Some(refusal)) => conversations.adapt_thinking(pending, refusal).await,
            (None, None) => None,
        };
        match another {
            Some(another) if attempt < 5 => prepared = another,
            _ => return Err(refusal),
        }
    }
    unreachable!("the loop ends by itself")
}

async fn play(scene: Scene, actions: Vec<Action>) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db").display().to_string();
    let mut conversations = scene.process(&store).await;
    let mut messages = vec![json!({ "role": "user", "content": [{ "type": "text", "text": "The task." }] })];
    for (at, action) in actions.into_iter().enumerate() {
        let (sent, judgement) = match exchange(&scene, &conversations, &messages).await {
            Ok(done) => done,
            // Without a way to drop thinking, an open turn that fills the window cannot be made to fit.
            Err(refusal) if refusal.contains("too long") && !scene.can_drop() => return,
            Err(refusal) => panic!("{scene:?}: {refusal}"),
        };
        check(&messages, &sent, &judgement);
        let thought =
            json!({ "type": "thinking", "thinking": format!("Thought {at}."), "signature": sign(&sent) });
        match action {
            Action::Step { tool, bytes } => {
                let (id, name) = (format!("call_{at}"), ["Bash", "Read", "skill"][tool % 3]);
                let call = json!({ "type": "tool_use", "id": id, "name": name, "input": { "command": format!("step {at}") } });
                let text = format!("output {at} ").repeat(bytes / 9);
                let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text });
                messages.push(json!({ "role": "assistant", "content": [thought, call] }));
                messages.push(json!({ "role": "user", "content": [result] }));
            }
            Action::Say { words } => {
                let text = json!({ "type": "text", "text": format!("Done so far {at}.") });
                messages.push(json!({ "role": "assistant", "content": [thought, text] }));
                let text = format!("Number {at}. {}", "word ".repeat(words));
                messages.push(json!({ "role": "user", "content": [{ "type": "text", "text": text }] }));
            }
            Action::Restart => conversations = scene.process(&store).await,
        }
    }
}

/// Every block of thinking that is sent is the client's, to the byte, and in front of the first change none is missing.
fn check(messages: &[Value], sent: &Value, judgement: &Judgement) {
    let sent = sent["messages"].as_array().unwrap();
    let same = messages.iter().zip(sent).take_while(|(own, sent)| own == sent).count();
    let thoughts = |messages: &[Value]| -> Vec<Value> {
        let blocks =
            messages.iter().flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
        blocks.filter(|block| block["type"] == "thinking").collect()
    };
    let own = thoughts(messages);
    assert!(thoughts(sent).iter().all(|block| own.contains(block)));
    if same == sent.len() {
        assert_eq!(thoughts(sent), own);
        let is_asked = judgement.report.iter().any(|(member, _)| *member == "input_transformations");
        assert!(judgement.dropped.is_empty() || is_asked, "nothing was changed, and yet blocks are invalid");
    }
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        8 => (0usize..3, 10usize..14_000).prop_map(|(tool, bytes)| Action::Step { tool, bytes }),
        1 => (1usize..1_000).prop_map(|words| Action::Say { words }),
        1 => Just(Action::Restart),
    ]
}

fn scene() -> impl Strategy<Value = Scene> {
    let profiles: Vec<String> = Profiles::builtin().names().map(str::to_owned).collect();
    let profile = prop_oneof![2 => Just("balanced".to_owned()), 3 => prop::sample::select(profiles)];
    let account = prop_oneof![Just(Account::Strict), Just(Account::Lenient)];
    let thinking = prop_oneof![
        3 => Just(json!({ "type": "adaptive" })),
        2 => Just(json!({ "type": "enabled", "budget_tokens": 1024 })),
        1 => Just(json!({ "type": "disabled" })),
    ];
    let flags =
        (prop::bool::weighted(0.8), prop::bool::weighted(0.7), prop::bool::weighted(0.8), any::<bool>());
    (profile, account, thinking, flags).prop_map(|(profile, account, thinking, flags)| {
        let (knows_betas, clearing, dropping, clears_thinking) = flags;
        Scene {
            profile,
            binding: ThinkingBinding { account, knows_betas },
            settings: ThinkingSettings { clearing, dropping },
            thinking,
            clears_thinking: clears_thinking && knows_betas,
        }
    })
}

/// A case takes seconds, so there are few unless more are asked for.
fn config() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(12), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_request_is_refused_for_its_thinking(scene in scene(), actions in prop::collection::vec(action(), 15..45)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(scene, actions));
    }
}

/// OpenAI's encrypted reasoning and Gemini's thought signatures are bound to nothing: whatever is cut, they are sent as they
/// came.
#[tokio::test]
async fn encrypted_reasoning_and_thought_signatures_are_sent_as_they_came() {
    for wire in [Wire::OpenAiResponses, Wire::Gemini] {
        let conversations = super::agent::process("sqlite::memory:", 30_000).await;
        let (mut items, mut secrets, mut cuts) = (vec![first(wire)], Vec::new(), 0);
        for step in 0..24 {
            let secret = format!("c2VjcmV0-{step}");
            items.extend(thoughtful_step(wire, step, &secret));
            secrets.push(secret);
            let mut body = json!({ "model": super::agent::MODEL, "tools": [] });
            body[wire.spec().messages] = items.clone().into();
            let body = Bytes::from(body.to_string());
            let prepared = prepare(&conversations, wire, RequestKind::Generate, &body).await;
            let sent = String::from_utf8(prepared.body.concat()).unwrap();
            cuts += prepared.report.cuts;
            if prepared.report.replaced == 0 {
                assert!(
                    secrets.iter().all(|secret| sent.contains(&format!("\"{secret}\""))),
                    "{wire:?} {sent}"
                );
            }
            let usage = Usage { input: sent.len() as i64 / 4, output: 50, ..Usage::default() };
            let pending = prepared.pending.unwrap();
            let branch = pending.branch.clone();
            pending.settle(ResponseReport { usage: Some(usage), turn: TurnState::Open, provider: None });
            branch.state().await.store().await.unwrap();
        }
        assert!(cuts > 0, "{wire:?}: something was cut");
    }
}

fn first(wire: Wire) -> Value {
    match wire {
        Wire::Gemini => json!({ "role": "user", "parts": [{ "text": "The task." }] }),
        _ => json!({ "role": "user", "content": [{ "type": "input_text", "text": "The task." }] }),
    }
}

/// A thought, a call and its result.
fn thoughtful_step(wire: Wire, step: usize, secret: &str) -> Vec<Value> {
    let output = format!("output {step} ").repeat(400);
    match wire {
        Wire::Gemini => {
            let call = json!({ "functionCall": { "id": format!("c{step}"), "name": "bash", "args": {} }, "thoughtSignature": secret });
            let result = json!({ "functionResponse": { "id": format!("c{step}"), "name": "bash", "response": { "output": output } } });
            vec![json!({ "role": "model", "parts": [call] }), json!({ "role": "user", "parts": [result] })]
        }
        _ => vec![
            json!({ "type": "reasoning", "id": format!("rs_{step}"), "summary": [], "encrypted_content": secret }),
            json!({ "type": "function_call", "call_id": format!("c{step}"), "name": "bash", "arguments": "{}" }),
            json!({ "type": "function_call_output", "call_id": format!("c{step}"), "output": output }),
        ],
    }
}
