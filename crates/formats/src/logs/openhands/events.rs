//! The SDK's events.
//!
//! Each tool call is an event, and neighbouring events of one response are one message. An observation, an error or a
//! rejection is the result of the call with its id. Events of other kinds are about the program's state, and no model
//! sees them.

use secateur::{PartKind, Role, ToolStatus};

use super::condensation::OpenHandsCondensed;
use super::{OpenHandsEvent, OpenHandsReader, has_failed};
use crate::chat;
use crate::draft::{ToolCall, ToolResult, outcome};
use crate::json::{OptionalRaw, Raw, raw_fields};

impl<'a> OpenHandsReader<'_, '_, 'a> {
    /// Adds an event of the SDK.
    pub(super) fn take_event(&mut self, event: &OpenHandsEvent<'a>) {
        match event.kind.string().as_deref() {
            Some("ActionEvent") => return self.act(event),
            Some("SystemPromptEvent") => {
                self.begin(event, Role::System);
                self.draft.push_text(PartKind::Text, event.prompt);
            }
            Some("MessageEvent") => self.say(event),
            Some("ObservationEvent") => {
                let seen: OpenHandsObservation<'a> = event.observation.fields();
                self.answer(
                    event,
                    ToolResult {
                        status: outcome(seen.is_error),
                        failed: has_failed(event.observation),
                        content: seen.content.or(seen.output),
                        ..ToolResult::default()
                    },
                );
            }
            Some("AgentErrorEvent") => self.refuse(event, event.error),
            Some("UserRejectObservation") => self.refuse(event, event.rejection),
            Some("Condensation") => {
                let condensed = OpenHandsCondensed {
                    forgotten: event.forgotten.elements().into_iter().map(Raw::text).collect(),
                    between: None,
                    summary: event.summary,
                    offset: event.offset,
                    time: event.time(),
                };
                self.alive.condense(self.draft, &condensed);
            }
            _ => return,
        }
        self.response = None;
    }

    fn say(&mut self, event: &OpenHandsEvent<'a>) {
        let message: OpenHandsMessage<'a> = event.message.fields();
        let role = match message.role.string().as_deref() {
            Some("system") => Role::System,
            Some("assistant") => Role::Assistant,
            Some("user") => Role::User,
            _ if event.is_from("agent") => Role::Assistant,
            _ => Role::User,
        };
        self.begin(event, role);
        self.think(message.reasoning, message.thinking);
        self.draft.push_text(PartKind::Text, message.content);
        if event.extended.is_some_and(is_filled) {
            self.draft.push_injected(event.extended);
        }
    }

    /// The text before a call, its thinking and the call itself.
    fn act(&mut self, event: &OpenHandsEvent<'a>) {
        let response = event.response.unless_null().map(Raw::text);
        let newest = self.draft.outline.messages().next_back();
        match newest.filter(|_| response.is_some() && self.response == response) {
            Some(message) => self.alive.push(event.name(), message),
            None => self.begin(event, Role::Assistant),
        }
        self.response = response;
        self.think(event.reasoning, event.thinking);
        if event.thought.is_some_and(is_filled) {
            self.draft.push_text(PartKind::Text, event.thought);
        }
        let call: OpenHandsCall<'a> = event.call.fields();
        self.draft.push_call(ToolCall {
            tool: event.tool.or(call.name).string(),
            id: event.call_id.or(call.id).string(),
            input: call.arguments.or(event.action),
            ..ToolCall::default()
        });
    }

    /// Thinking is given as signed blocks or as text; if both are there, they are the same.
    fn think(&mut self, reasoning: Option<Raw<'_>>, blocks: Option<Raw<'_>>) {
        if blocks.is_some_and(is_filled) {
            chat::take_thinking(self.draft, blocks);
        } else if reasoning.is_some_and(is_filled) {
            self.draft.push_text(PartKind::Reasoning, reasoning);
        }
    }

    /// A call that was not carried out.
    fn refuse(&mut self, event: &OpenHandsEvent<'a>, content: Option<Raw<'a>>) {
        self.answer(event, ToolResult { status: ToolStatus::Error, content, ..ToolResult::default() });
    }

    fn answer(&mut self, event: &OpenHandsEvent<'a>, answered: ToolResult<'_>) {
        self.begin(event, Role::Tool);
        let (id, tool) = (event.call_id.string(), event.tool.string());
        self.draft.push_result(ToolResult { id: id.as_deref(), tool: tool.as_deref(), ..answered });
    }
}

/// Whether a value is not empty.
fn is_filled(raw: Raw<'_>) -> bool {
    raw.is_truthy() && raw.text().strip_prefix('[').is_none_or(|rest| rest.trim_start() != "]")
}

raw_fields! {
    /// A message as it is sent.
    OpenHandsMessage { role: "role", content: "content", reasoning: "reasoning_content", thinking: "thinking_blocks" }
    /// A call as the model made it.
    OpenHandsCall { id: "id", name: "name", arguments: "arguments" }
    /// A tool result.
    OpenHandsObservation { content: "content", output: "output", is_error: "is_error" }
}
