//! OpenCode's compaction: drives the session machine through one, and records its effects as OpenCode's writes.
//!
//! A recording begins when OpenCode has written the marker and is about to summarise. So the machine is given the
//! messages with the marker as the newest, and either a usage that overflows or a request to compact. Its effects are
//! carried out in memory and written down in OpenCode's terms: a summary task is an assistant message that is empty at
//! first, the message that resumes the work is a synthetic user message, and a new pivot is an event. Nothing is
//! written that the machine did not ask for.
//!
//! OpenCode's own prompt for a summary is neither reproduced nor compared, except for its length together with what
//! plugins add to it. A prompt that a plugin puts in its place is compared.

use std::collections::VecDeque;

use anyhow::{Context, Result, bail};
use secateur::session::{
    ChangeSet, Consent, Effect, Event, Input, MessageKind, Operation, Proposal, RequestFacts, Seq,
    SessionMachine, SessionMessage, SessionPart, SessionState, SummaryTask, TurnState,
};
use secateur::{Limits, MessageIx, Outline, PartKind, Profile, Role, Sizes, Usage};
use secateur_formats::Format;
use serde_json::{Value, json};

use super::model_messages::{Outputs, model_messages};
use super::ui_messages::ui_messages;
use crate::case::Case;
use crate::{NOW, transcript};

/// The hook that OpenCode calls before it requests a summary.
const COMPACTING: &str = "experimental.session.compacting";
/// The length of OpenCode's own prompt for a summary in UTF-16 units: the recordings hold nothing else of it.
const PROMPT_UNITS: usize = 309;
/// A window that is larger than every recorded session.
const WINDOW: i64 = 1_000_000_000;
/// No compaction takes more inputs than this; more mean that the machine loops.
const MAX_INPUTS: usize = 100;

/// Runs a recorded compaction.
pub(super) fn run(case: &Case, profile: &Profile) -> Result<Value> {
    let text = serde_json::to_string(case.get("messages"))?;
    let outline = transcript(&text, Format::OpenCode, profile)?.outline;
    let messages: Vec<(Seq, SessionMessage)> =
        outline.messages().map(|message| (u64::from(message.0) + 1, entry(&outline, message))).collect();
    let parent = case.get("parentID");
    let mut users = case.list("messages").iter().filter_map(|message| message.get("info"));
    let user = users.find(|info| info.get("id") == Some(parent)).context("no message is the parent")?;
    let replay = CompactionReplay {
        case,
        profile,
        user,
        newest: messages.len() as u64,
        synthetic: 0,
        history: 0,
        writes: Vec::new(),
        events: Vec::new(),
        triggers: Vec::new(),
    };
    replay.run(messages)
}

/// The facts about a message, and what it is to a compaction.
fn entry(outline: &Outline, message: MessageIx) -> SessionMessage {
    let id = outline.ids().text(outline.id(message)).unwrap_or_default();
    let mut entry = SessionMessage::of(outline, message, id);
    if outline.is_marker(message) {
        entry.kind = MessageKind::Marker;
    } else if outline.is_summary(message) && outline.is_finished(message) {
        entry.kind = MessageKind::Summary;
    }
    entry
}

/// A compaction in progress, and what OpenCode would have written so far.
struct CompactionReplay<'a> {
    case: &'a Case,
    profile: &'a Profile,
    /// The message with the marker.
    user: &'a Value,
    newest: Seq,
    synthetic: u32,
    history: usize,
    writes: Vec<Value>,
    events: Vec<Value>,
    triggers: Vec<&'static str>,
}

impl CompactionReplay<'_> {
    fn run(mut self, messages: Vec<(Seq, SessionMessage)>) -> Result<Value> {
        let mut machine = SessionMachine::new(self.profile, SessionState::default(), []);
        let mut inputs = VecDeque::from([Input::Appended { messages }]);
        if self.case.get("auto") == true {
            let limits = Limits { context: WINDOW, ..Limits::default() };
            inputs.push_back(Input::Requested(RequestFacts { limits, now: NOW, ..RequestFacts::default() }));
            // A response that fills the window by itself says nothing about the length of the messages.
            let usage = Usage { output: WINDOW, ..Usage::default() };
            inputs.push_back(Input::Responded { usage, turn: TurnState::Open, sent: None, now: NOW });
        } else {
            inputs.push_back(Input::Compact { now: NOW });
        }
        for _ in 0..MAX_INPUTS {
            let Some(input) = inputs.pop_front() else { return Ok(self.finish(&machine)) };
            for effect in machine.handle(input) {
                inputs.extend(self.carry_out(effect));
            }
        }
        bail!("a compaction that does not end")
    }

    /// The outcome in the shape of the recording.
    fn finish(self, machine: &SessionMachine) -> Value {
        let result = if machine.state().pivot.is_some() { "continue" } else { "stop" };
        let prompt = json!({ "role": "user", "content": [{ "type": "text", "text": self.prompt() }] });
        json!({
            "result": result,
            "prompt": prompt,
            "history_len": self.history,
            // A summary task has neither tools nor a system prompt.
            "tools": {},
            "system": [],
            "writes": self.writes,
            "events": self.events,
            "triggers": self.triggers,
        })
    }

    /// The prompt for a summary: a plugin's, or the length of OpenCode's with what plugins add.
    fn prompt(&self) -> Value {
        let plugin = self.case.get("plugin").get(COMPACTING).unwrap_or(&Value::Null);
        if let Some(prompt) = plugin.get("prompt").filter(|prompt| prompt.is_string()) {
            return prompt.clone();
        }
        let contexts = plugin.get("context").and_then(Value::as_array).into_iter().flatten();
        let added = contexts.filter_map(Value::as_str).map(|text| "\n\n".len() + text.encode_utf16().count());
        json!({ "$units": PROMPT_UNITS + added.sum::<usize>() })
    }

    /// Carries out an effect; returns the input that the machine waits for, if it waits for one.
    fn carry_out(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Consult { ticket, about } => {
                Some(Input::Consulted { ticket, consent: self.consult(&about) })
            }
            Effect::Store(record) => Some(self.store(&record)),
            Effect::Summarise(task) => Some(self.summarise(&task)),
            Effect::Send { .. } | Effect::Reject(_) | Effect::Done => None,
        }
    }

    /// Plugins are notified of a compaction and cannot refuse it. The processor decides whether the work resumes: it
    /// may have stopped after its summary.
    fn consult(&mut self, about: &Proposal) -> Consent {
        let stopped = || !matches!(self.case.get("processorResult").as_str(), None | Some("continue"));
        match about {
            Proposal::Prune(_) => Consent::Given,
            Proposal::Compaction(_) => {
                self.triggers.push(COMPACTING);
                Consent::Given
            }
            Proposal::Resume if stopped() => Consent::Refused,
            Proposal::Resume => Consent::Given,
        }
    }

    /// OpenCode writes the summary's message first and fills it while the response streams.
    fn summarise(&mut self, task: &SummaryTask) -> Input {
        let agent = self.case.get("agents").pointer("/compaction/model");
        let model = agent.or_else(|| self.user.get("model")).unwrap_or(&Value::Null);
        let reader = json!({ "providerID": model["providerID"], "id": model["modelID"] });
        let asked = |seq: &Seq| {
            let message = usize::try_from(seq - 1).ok().and_then(|at| self.case.list("messages").get(at));
            message.cloned()
        };
        let marker = self.case.list("messages").last().cloned();
        let sent: Vec<Value> = task.head.iter().filter_map(asked).chain(marker).collect();
        self.history = model_messages(&ui_messages(&sent, &reader), Outputs::January).len();
        let id = self.name("msg");
        self.write(
            "message",
            &json!({
                "id": id,
                "role": "assistant",
                "parentID": self.user["id"],
                "sessionID": self.user["sessionID"],
                "mode": "compaction",
                "agent": "compaction",
                "summary": true,
                "path": { "cwd": "/cwd", "root": "/root" },
                "cost": 0,
                "tokens": { "output": 0, "input": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } },
                "modelID": model["modelID"],
                "providerID": model["providerID"],
                "time": { "created": NOW },
            }),
        );
        Input::Summarised {
            task: task.id,
            summary: made_message(id, Role::Assistant, MessageKind::Summary),
            now: NOW,
        }
    }

    fn store(&mut self, record: &ChangeSet) -> Input {
        let mut made = Vec::new();
        for operation in &record.operations {
            match operation {
                Operation::Prune { .. } => {}
                Operation::Mark { .. } => {
                    let part = json!({ "type": "compaction", "auto": self.case.get("auto") });
                    made.push(self.write_user(MessageKind::Marker, part));
                }
                Operation::Compact(turnover) => {
                    made.push(made_message(String::new(), Role::Assistant, MessageKind::Summary));
                    made.extend(turnover.resume.then(|| self.resume()));
                }
                Operation::Resume => made.push(self.resume()),
            }
        }
        let completed =
            record.events.iter().filter(|event| matches!(event, Event::CompactionCompleted { .. }));
        let session = &self.user["sessionID"];
        let events =
            completed.map(|_| json!({ "type": "session.compacted", "data": { "sessionID": session } }));
        self.events.extend(events);
        let messages = made.into_iter().map(|entry| {
            self.newest += 1;
            (self.newest, entry)
        });
        Input::Stored {
            ticket: record.ticket,
            messages: messages.collect(),
            operation: 1,
            handles: Vec::new(),
        }
    }

    fn resume(&mut self) -> SessionMessage {
        let part = json!({
            "type": "text",
            "synthetic": true,
            "text": self.profile.compaction.resume,
            "time": { "start": NOW, "end": NOW },
        });
        self.write_user(MessageKind::Resume, part)
    }

    /// Writes a user message of one part.
    fn write_user(&mut self, nature: MessageKind, mut part: Value) -> SessionMessage {
        let message = self.name("msg");
        let info = json!({
            "id": message,
            "role": "user",
            "sessionID": self.user["sessionID"],
            "time": { "created": NOW },
            "agent": self.user["agent"],
            "model": self.user["model"],
        });
        self.write("message", &info);
        part["id"] = self.name("prt").into();
        part["messageID"] = message.as_str().into();
        part["sessionID"] = self.user["sessionID"].clone();
        self.write("part", &part);
        made_message(message, Role::User, nature)
    }

    fn write(&mut self, kind: &str, value: &Value) {
        self.writes.push(json!({ "kind": kind, "value": value }));
    }

    fn name(&mut self, kind: &str) -> String {
        self.synthetic += 1;
        format!("{kind}_synth_{}", self.synthetic)
    }
}

/// The facts about a message that the compaction made.
fn made_message(id: String, role: Role, nature: MessageKind) -> SessionMessage {
    let sizes = Sizes { units: 30, points: 30, bytes: 30, ..Sizes::default() };
    let part = SessionPart { kind: PartKind::Text, sizes, ..SessionPart::default() };
    SessionMessage { id, role, kind: nature, parts: vec![part], ..SessionMessage::default() }
}
