//! OpenCode's compaction of August 2026, with the fields that it writes.
//!
//! The history is sent as text in a single message, without earlier markers and their summaries; the last of those goes
//! along as the prior summary. A tail of recent messages stays out of it. If a provider has refused the context, the
//! user's last message is left out as well and said again after the summary.
//!
//! OpenCode's own wording of the prompt, and of what it tells the model about refused media, is neither reproduced nor
//! compared, except for its length.

use std::ops::Range;

use anyhow::{Context, Result};
use secateur::{Limits, Profile, TailRule, Usage, tail_start};
use secateur_formats::json::utf16_len;
use serde_json::{Map, Value, json};

use super::august::{Reduction, attached_note, is_media, ui_messages};
use super::august_history::{is_said_by_user, without_compactions};
use super::conversation::conversation;
use super::limits;
use super::model_messages::{Outputs, model_messages};
use super::ui_messages::parts_of;
use crate::NOW;
use crate::case::Case;
use crate::value::{is_truthy_js, kind};

/// The hooks of a compaction, in order.
const COMPACTING: &str = "experimental.session.compacting";
const TRANSFORM: &str = "experimental.chat.messages.transform";
const AUTOCONTINUE: &str = "experimental.compaction.autocontinue";
/// The line between a plugin's prompt and the conversation.
const HISTORY_FOLLOWS: &str = "The following is the conversation history:";
/// The length of the prompt's own words in UTF-16 units, without and with a prior summary.
const PROMPT_UNITS: [u64; 2] = [1_315, 2_237];
/// The length of what the model is told when media were too large, with the empty line after it.
const MEDIA_NOTE_UNITS: u64 = 329;
/// The limits of a model that a case does not describe.
const USUAL_LIMITS: Limits = Limits { context: 200_000, input: None, output: Some(32_000) };

/// Runs a recorded compaction.
pub(super) fn run(case: &Case, profile: &Profile) -> Result<Value> {
    let id = case.get("parentID");
    let at = case.list("messages").iter().position(|message| message.pointer("/info/id") == Some(id));
    let at = at.context("no message is the parent")?;
    Ok(AugustCompaction::new(case, profile, at).run())
}

/// A compaction in progress, and what OpenCode would have written so far.
struct AugustCompaction<'a> {
    case: &'a Case,
    profile: &'a Profile,
    /// The message with the marker.
    parent: &'a Value,
    /// What is summarised, or kept as the tail.
    messages: &'a [Value],
    /// The message of the user that is said again.
    replayed: Option<&'a Value>,
    synthetic: u32,
    writes: Vec<Value>,
    triggers: Vec<&'static str>,
}

impl<'a> AugustCompaction<'a> {
    fn new(case: &'a Case, profile: &'a Profile, at: usize) -> Self {
        let all = case.list("messages");
        let last = all.iter().take(at).rposition(is_said_by_user).filter(|_| flag(case, "overflow"));
        // Something must be left to summarise.
        let again = last.filter(|&last| all.iter().take(last).any(is_said_by_user));
        Self {
            case,
            profile,
            parent: all.get(at).unwrap_or(&Value::Null),
            messages: again.and_then(|again| all.get(..again)).unwrap_or(all),
            replayed: again.and_then(|again| all.get(again)),
            synthetic: 0,
            writes: Vec::new(),
            triggers: vec![COMPACTING, TRANSFORM],
        }
    }

    fn run(mut self) -> Value {
        let history = match self.messages.split_last() {
            Some((last, older)) if last.pointer("/info/id") == self.parent.pointer("/info/id") => older,
            _ => self.messages,
        };
        let (visible, prior) = without_compactions(history);
        let tail = self.tail(&visible);
        let head = visible.get(..tail.unwrap_or(visible.len())).unwrap_or_default();
        let prompt = self.prompt(&conversation(head), prior.as_deref());
        let processed = self.case.get("processorResult").as_str().unwrap_or("continue");
        let summary = self.write_summary();
        if processed == "compact" {
            self.refuse(summary);
        } else {
            let start =
                tail.and_then(|tail| visible.get(tail)).and_then(|message| message.pointer("/info/id"));
            self.keep_tail(start);
            if processed == "continue" && flag(self.case, "auto") {
                self.go_on();
            }
        }
        let session = &self.info()["sessionID"];
        let completed = json!({ "type": "session.compacted", "data": { "sessionID": session } });
        let events: Vec<Value> = (processed == "continue").then_some(completed).into_iter().collect();
        json!({
            "result": if processed == "compact" { "stop" } else { processed },
            "prompt": prompt,
            "n_messages": 1,
            "tools": {},
            "system": [],
            "writes": self.writes,
            "events": events,
            "triggers": self.triggers,
        })
    }

    fn info(&self) -> &'a Value {
        self.parent.get("info").unwrap_or(&Value::Null)
    }

    /// The model that summarises, as the SDK's conversion wants it.
    fn reader(&self) -> Value {
        let agent = self.case.get("agents").pointer("/compaction/model");
        let model = agent.or_else(|| self.info().get("model")).unwrap_or(&Value::Null);
        json!({ "providerID": model["providerID"], "id": model["modelID"] })
    }

    /// The index of the first message of the tail.
    fn tail(&self, visible: &[&Value]) -> Option<usize> {
        let asked = |key: &str| self.case.get("config").pointer(&format!("/compaction/{key}"));
        let budget = asked("preserve_recent_tokens").and_then(Value::as_u64).unwrap_or_else(|| {
            let mut rule = self.profile.overflow.clone();
            rule.reserved = asked("reserved").and_then(Value::as_i64);
            let known =
                if self.case.get("limit").is_object() { limits(&self.case.input) } else { USUAL_LIMITS };
            let usable = rule.judge(&Usage::default(), &known).usable.unwrap_or(0);
            let tail = self.profile.compaction.tail.as_ref();
            tail.map_or(0, |tail| u64::try_from(tail.budget(usable)).unwrap_or(0))
        });
        let turns = asked("tail_turns").and_then(Value::as_i64);
        let rule =
            TailRule { budget, turns: turns.map(|most| u32::try_from(most.max(0)).unwrap_or(u32::MAX)) };
        let begins_turn = |at: usize| visible.get(at).is_some_and(|message| is_said_by_user(message));
        let reader = self.reader();
        let size = |range: Range<usize>| {
            let messages: Vec<Value> =
                visible.get(range).unwrap_or_default().iter().map(|message| (*message).clone()).collect();
            let sent =
                model_messages(&ui_messages(&messages, &reader, Reduction::default()), Outputs::August);
            (utf16_len(&Value::Array(sent).to_string()) + 2) / 4
        };
        // A tail that would be everything, or nothing, is no tail.
        let start = tail_start(rule, visible.len(), begins_turn, size, |_| true);
        (1..visible.len()).contains(&start).then_some(start)
    }

    /// A plugin's prompt with the conversation, or the length of OpenCode's with it and with what plugins add.
    fn prompt(&self, conversation: &str, prior: Option<&str>) -> Value {
        let plugin = self.case.get("plugin").get(COMPACTING).unwrap_or(&Value::Null);
        match plugin.get("prompt").and_then(Value::as_str) {
            Some("") => return "".into(),
            Some(own) => {
                let pieces = [own, HISTORY_FOLLOWS, conversation];
                let filled: Vec<&str> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
                return filled.join("\n\n").into();
            }
            None => {}
        }
        let contexts = plugin.get("context").and_then(Value::as_array).into_iter().flatten();
        let added = contexts.filter_map(Value::as_str).filter(|text| !text.is_empty());
        let added: u64 = added.map(|text| "\n\n".len() as u64 + utf16_len(text)).sum();
        let [first, update] = PROMPT_UNITS;
        let own = prior.map_or(first, |prior| update + utf16_len(prior));
        json!({ "$units": own + utf16_len(conversation) + added })
    }

    /// The summary's message, which is empty at first.
    fn write_summary(&mut self) -> Value {
        let (reader, info) = (self.reader(), self.info());
        let mut summary = json!({
            "id": self.name(),
            "role": "assistant",
            "parentID": info["id"],
            "sessionID": info["sessionID"],
            "mode": "compaction",
            "agent": "compaction",
            "summary": true,
            "path": { "cwd": "/cwd", "root": "/root" },
            "cost": 0,
            "tokens": { "output": 0, "input": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } },
            "modelID": reader["id"],
            "providerID": reader["providerID"],
            "time": { "created": NOW },
        });
        if let Some(variant) = info.pointer("/model/variant") {
            summary["variant"] = variant.clone();
        }
        self.write("message", &summary);
        summary
    }

    /// The summary's own request was too long: the message says so and counts as no summary.
    fn refuse(&mut self, mut summary: Value) {
        let message = if self.replayed.is_some() {
            "Conversation history too large to compact - exceeds model context limit"
        } else {
            "Session too large to compact - context exceeds model limit even after stripping media"
        };
        summary["error"] = json!({ "name": "ContextOverflowError", "data": { "message": message } });
        summary["finish"] = "error".into();
        self.write("message", &summary);
    }

    /// Notes on the marker where the tail begins.
    fn keep_tail(&mut self, start: Option<&Value>) {
        let mut markers = parts_of(self.parent).iter().filter(|part| kind(part) == "compaction");
        if let (Some(marker), Some(start)) = (markers.next(), start)
            && marker.get("tail_start_id") != Some(start)
        {
            let mut marker = marker.clone();
            marker["tail_start_id"] = start.clone();
            self.write("part", &marker);
        }
    }

    /// Says the user's last message again, or asks the model to go on unless a plugin objects.
    fn go_on(&mut self) {
        if let Some(replayed) = self.replayed {
            return self.replay(replayed);
        }
        self.triggers.push(AUTOCONTINUE);
        let allowed = self.case.get("plugin").get(AUTOCONTINUE).and_then(|hook| hook.get("enabled"));
        if !allowed.is_none_or(is_truthy_js) {
            return;
        }
        let resume = self.profile.compaction.resume.as_deref().unwrap_or_default();
        let words = if flag(self.case, "overflow") {
            json!({ "$units": MEDIA_NOTE_UNITS + utf16_len(resume) })
        } else {
            resume.into()
        };
        let message = self.write_user(self.info(), &[]);
        let part = json!({
            "type": "text",
            "metadata": { "compaction_continue": true },
            "synthetic": true,
            "text": words,
            "time": { "start": NOW, "end": NOW },
        });
        self.write_part(&part, &message);
    }

    fn replay(&mut self, replayed: &Value) {
        let info = replayed.get("info").unwrap_or(&Value::Null);
        let message = self.write_user(info, &["format", "tools", "system"]);
        for part in parts_of(replayed).iter().filter(|part| kind(part) != "compaction") {
            if kind(part) == "file" && is_media(part) {
                self.write_part(&json!({ "type": "text", "text": attached_note(part) }), &message);
            } else {
                self.write_part(part, &message);
            }
        }
    }

    /// Writes a message of the user as another one was. Returns its id.
    fn write_user(&mut self, like: &Value, also: &[&str]) -> Value {
        let id = Value::from(self.name());
        let mut message = Map::from_iter([
            ("id".to_owned(), id.clone()),
            ("role".to_owned(), "user".into()),
            ("sessionID".to_owned(), self.info()["sessionID"].clone()),
            ("time".to_owned(), json!({ "created": NOW })),
        ]);
        for key in ["agent", "model"].iter().chain(also) {
            message.extend(like.get(*key).map(|value| ((*key).to_owned(), value.clone())));
        }
        self.write("message", &message.into());
        id
    }

    fn write_part(&mut self, part: &Value, message: &Value) {
        let mut part = part.clone();
        part["id"] = self.name().into();
        part["messageID"] = message.clone();
        part["sessionID"] = self.info()["sessionID"].clone();
        self.write("part", &part);
    }

    fn write(&mut self, kind: &str, value: &Value) {
        self.writes.push(json!({ "kind": kind, "value": value }));
    }

    fn name(&mut self) -> String {
        self.synthetic += 1;
        format!("prt_synth_{}", self.synthetic)
    }
}

fn flag(case: &Case, key: &str) -> bool {
    is_truthy_js(case.get(key))
}
