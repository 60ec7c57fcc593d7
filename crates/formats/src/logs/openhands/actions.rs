//! The old program's actions and observations.
//!
//! An action of the agent that was carried out is a tool call with its `args` as input, and the observation that it
//! caused is the result. The model's text before the call is in the args as `thought`, and stays there. Messages are
//! actions as well, and so are changes of the agent's state, which no model sees.

use secateur::{PartKind, Role, ToolStatus};

use super::condensation::OpenHandsCondensed;
use super::{OpenHandsEvent, OpenHandsReader, has_failed};
use crate::draft::{ToolCall, ToolResult};
use crate::json::{OptionalRaw, Raw, raw_fields};

/// The actions that are calls even without an observation.
const CALLS: [&str; 10] = [
    "run",
    "run_ipython",
    "read",
    "write",
    "edit",
    "browse",
    "browse_interactive",
    "call_tool_mcp",
    "task_tracking",
    "delegate",
];

impl<'a> OpenHandsReader<'_, '_, 'a> {
    /// Adds an action or an observation.
    pub(super) fn take_action(&mut self, event: &OpenHandsEvent<'a>) {
        self.note_model(event);
        let args = || event.args.fields::<OpenHandsArgs<'a>>();
        match event.action.string().as_deref() {
            Some("message") => {
                self.begin(event, if event.is_from("agent") { Role::Assistant } else { Role::User });
                let args = args();
                self.draft.push_text(PartKind::Text, args.content);
                for image in args.images.elements() {
                    self.draft.push_media(image);
                }
            }
            Some("system") => self.take_text(event, Role::System, args().content),
            Some("finish") => {
                let args = args();
                let is_text = |raw: &Raw<'_>| raw.is_string() && raw.text() != "\"\"";
                let said = args.final_thought.filter(is_text).or(args.thought.filter(is_text));
                self.take_text(event, Role::Assistant, said);
            }
            Some("condensation") => {
                let args = args();
                let condensed = OpenHandsCondensed {
                    forgotten: args.forgotten.elements().into_iter().map(Raw::text).collect(),
                    between: args.forgotten_start.integer().zip(args.forgotten_end.integer()),
                    summary: args.summary,
                    offset: args.offset,
                    time: event.time(),
                };
                self.alive.condense(self.draft, &condensed);
            }
            Some("change_agent_state" | "recall" | "null") => {}
            Some(other) => self.take_call(event, other),
            None if event.is_answer() => self.take_result(event),
            None => {}
        }
    }

    fn take_text(&mut self, event: &OpenHandsEvent<'a>, role: Role, content: Option<Raw<'a>>) {
        if content.unless_null().is_some() {
            self.begin(event, role);
            self.draft.push_text(PartKind::Text, content);
        }
    }

    fn take_call(&mut self, event: &OpenHandsEvent<'a>, action: &str) {
        let Some(id) = event.name() else { return };
        if self.answered.contains(id) || CALLS.contains(&action) {
            self.begin(event, Role::Assistant);
            self.calls.insert(id);
            let (tool, id, input) = (Some(action), Some(id), event.args);
            self.draft.push_call(ToolCall { tool, id, input, ..ToolCall::default() });
        }
    }

    fn take_result(&mut self, event: &OpenHandsEvent<'a>) {
        let cause = event.cause.map(Raw::text).filter(|cause| self.calls.contains(cause));
        if cause.is_none() {
            return;
        }
        let is_error = event.observation.is("error");
        self.begin(event, Role::Tool);
        self.draft.push_result(ToolResult {
            id: cause,
            status: if is_error { ToolStatus::Error } else { ToolStatus::Completed },
            failed: has_failed(event.extras),
            content: event.content,
            ..ToolResult::default()
        });
    }

    fn note_model(&mut self, event: &OpenHandsEvent<'_>) {
        if event.action.is_some() && event.metadata.is_some() {
            let response = event.metadata.fields::<OpenHandsMetadata<'_>>().response;
            let model = response.fields::<OpenHandsResponse<'_>>().model.owned();
            self.draft.origin.model = model.or(self.draft.origin.model.take());
        }
    }
}

raw_fields! {
    OpenHandsArgs { content: "content", images: "image_urls", thought: "thought", final_thought: "final_thought",
           forgotten: "forgotten_event_ids", forgotten_start: "forgotten_events_start_id",
           forgotten_end: "forgotten_events_end_id", summary: "summary", offset: "summary_offset" }
    /// The origin of an action.
    OpenHandsMetadata { response: "model_response" }
    OpenHandsResponse { model: "model" }
}
