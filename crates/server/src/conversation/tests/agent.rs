//! A client whose history grows, and conversations that it goes through.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use secateur::session::TurnState;
use secateur::{Catalogue, Usage};
use secateur_engine::Engine;
use secateur_engine::provider::Connector;
use secateur_formats::Wire;
use serde_json::{Value, json};

use crate::conversation::{
    ClientEndpoint, ConversationRequest, Conversations, ExchangeReport, PendingExchange, PreparedRequest,
    ResponseReport, ThinkingSettings,
};
use crate::quota::{ClientKey, ClientQuota, Quotas};
use crate::route::RequestKind;
use crate::settings::Settings;

/// A model that nobody sells.
pub(super) const MODEL: &str = "test-model";

/// The conversations of one process on a store.
pub(super) async fn process(store: &str, window: i64) -> Conversations {
    let engine = Engine::new(secateur_store::open(store).await.unwrap());
    conversations(engine, window)
}

pub(super) fn conversations(engine: Engine, window: i64) -> Conversations {
    let page =
        format!("[[model]]\nid = \"{MODEL}\"\nprovider = \"test\"\ncontext = {window}\noutput = 1000\n");
    let thinking = ThinkingSettings { clearing: true, dropping: true };
    Conversations::new(engine, "balanced", Catalogue::parse(&page, "test").unwrap(), thinking, Arc::default())
}

/// The quota of a client.
pub(super) fn quota() -> Arc<ClientQuota> {
    Quotas::of(&Settings::default()).client(&ClientKey::of(([127, 0, 0, 1], 1).into()))
}

/// What was sent in the place of a request.
pub(super) struct Sent {
    pub body: String,
    pub report: ExchangeReport,
    pub pending: Option<PendingExchange>,
}

impl Sent {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect(&self.body)
    }

    pub(super) fn messages(&self) -> Vec<Value> {
        self.json()["messages"].as_array().unwrap().clone()
    }

    /// The model answers, and counts a token for four bytes.
    pub(super) async fn answer(self) -> String {
        let usage = Usage { input: self.body.len() as i64 / 4, output: 50, ..Usage::default() };
        let Some(pending) = self.pending else { return self.body };
        let branch = pending.branch.clone();
        pending.settle(ResponseReport { usage: Some(usage), turn: TurnState::Open, provider: None });
        // It is stored apart; here the next request waits for that.
        branch.state().await.store().await.unwrap();
        self.body
    }
}

pub(super) async fn prepare(
    conversations: &Conversations,
    wire: Wire,
    kind: RequestKind,
    body: &Bytes,
) -> PreparedRequest {
    let headers = &HeaderMap::new();
    let endpoint =
        ClientEndpoint { url: "http://127.0.0.1:1/v1/messages".to_owned(), connector: Connector::default() };
    conversations
        .prepare(ConversationRequest { wire, kind, model: None, headers, body, endpoint, quota: quota() })
        .await
        .unwrap()
}

pub(super) async fn send(conversations: &Conversations, wire: Wire, kind: RequestKind, body: &str) -> Sent {
    let body = Bytes::copy_from_slice(body.as_bytes());
    let PreparedRequest { body: pieces, report, pending, .. } =
        prepare(conversations, wire, kind, &body).await;
    let body = String::from_utf8(pieces.concat()).unwrap();
    assert_eq!(report.bytes_out as usize, body.len());
    assert_eq!(report.altered, 0, "{report:?}");
    Sent { body, report, pending }
}

/// An agent that talks to Anthropic. One mark for the cache is always in its last message, as with the real ones.
#[derive(Clone)]
pub(super) struct Agent {
    pub messages: Vec<Value>,
    steps: usize,
}

impl Agent {
    pub(super) fn new(task: &str) -> Self {
        Self {
            messages: vec![json!({"role": "user", "content": [{"type": "text", "text": task}]})],
            steps: 0,
        }
    }

    /// The model calls a tool, and the result has so many bytes.
    pub(super) fn step(&mut self, bytes: usize) {
        let at = self.steps;
        self.steps += 1;
        let id = format!("call_{at}");
        let input = json!({"command": format!("run step {at}")});
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": input});
        let text = format!("output {at} ").repeat(bytes / 9);
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": text});
        self.messages.push(
            json!({"role": "assistant", "content": [{"type": "text", "text": format!("Step {at}.")}, call]}),
        );
        self.messages.push(json!({"role": "user", "content": [result]}));
    }

    pub(super) fn say(&mut self, text: &str) {
        self.messages.push(json!({"role": "assistant", "content": "Done so far."}));
        self.messages.push(json!({"role": "user", "content": [{"type": "text", "text": text}]}));
    }

    pub(super) fn body(&self) -> String {
        let mut messages = self.messages.clone();
        let last = messages.last_mut().and_then(|last| last["content"].as_array_mut()?.last_mut());
        if let Some(last) = last {
            last["cache_control"] = json!({"type": "ephemeral"});
        }
        let body = json!({"model": MODEL, "max_tokens": 1000, "messages": messages, "system": "Be brief.", "tools": []});
        body.to_string()
    }

    pub(super) async fn ask(&self, conversations: &Conversations) -> Sent {
        send(conversations, Wire::Anthropic, RequestKind::Generate, &self.body()).await
    }
}

/// A body without marks for the cache, as a provider's cache sees it.
pub(super) fn unmarked(body: &str) -> String {
    body.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
}

/// The part of a body that the next request begins with as well: everything up to the end of its last message.
pub(super) fn prefix(body: &str) -> String {
    let body = unmarked(body);
    let end = body.rfind(r#"],"system""#).unwrap_or(body.len());
    body[..end].to_owned()
}
