//! Fills a ledger from a transcript.
//!
//! Files, commands and errors are taken from results, since a call without a result has no known effect. Todo lists,
//! pages and sub-agents are taken from the inputs of calls. The outline tells which parts are relevant; the others
//! are not decoded.

mod results;

use std::borrow::Cow;
use std::collections::HashMap;

use secateur::{MessageIx, Name, PartIx, PartKind, Role, ToolClass};
use secateur_formats::json::decode;
use secateur_formats::{Format, Transcript};
use serde_json::Value;

use super::Ledger;
use super::activity::UseCount;
use super::clean_text::{clean, cut, cut_middle, one_line};
use super::earlier_summary::{EarlierSummary, begins_like_summary};
use super::identifier::{self, Speaker};
use super::text_ends::TextEnds;
use super::todo_list::TodoList;
use super::user_words::{self, UserWords};

/// How many bytes of each end of a result are read.
const RESULT: usize = 2_000;
/// How many bytes of each end of a message are read. People paste logs, models write reports.
const SPEECH: usize = 16_000;
/// The largest input that is parsed. Larger inputs contain files, not plans.
const INPUT: usize = 64 * 1024;
/// The longest last words of the model that are kept whole.
const LAST_WORDS: usize = 2_400;

/// One pass over a transcript.
pub(super) struct LedgerBuilder<'a, 'b> {
    transcript: &'a Transcript<'b>,
    redact: &'a dyn Fn(&str) -> String,
    ledger: Ledger,
    /// Calls that ask the user, or for the status of a running command, by the number of their id.
    asking: HashMap<Name, PartIx>,
    /// The results of commands that were still running, by the name that the tool gave them.
    running: HashMap<String, PartIx>,
}

impl<'a, 'b> LedgerBuilder<'a, 'b> {
    pub(super) fn new(transcript: &'a Transcript<'b>, redact: &'a dyn Fn(&str) -> String) -> Self {
        let ledger = Ledger::default();
        Self { transcript, redact, ledger, asking: HashMap::new(), running: HashMap::new() }
    }

    /// Reads all messages.
    pub(super) fn run(mut self) -> Ledger {
        let outline = &self.transcript.outline;
        for message in outline.messages() {
            self.take_summaries(message);
            if outline.is_summary(message) || outline.is_marker(message) {
                continue;
            }
            match outline.role(message) {
                Role::User => self.hear(message),
                Role::Assistant => self.listen(message),
                _ => {}
            }
            for part in outline.parts_of(message).map(PartIx) {
                match outline.kind(part) {
                    PartKind::Call => self.take_call(part),
                    PartKind::Result => self.take_result(part),
                    _ => {}
                }
            }
        }
        self.ledger
    }

    /// Keeps the summaries in a message.
    fn take_summaries(&mut self, message: MessageIx) {
        let outline = &self.transcript.outline;
        let texts = outline.parts_of(message).map(PartIx);
        for part in texts.filter(|&part| outline.kind(part) == PartKind::Text) {
            let is_user = outline.role(message) == Role::User;
            let text = || self.transcript.text_of(part);
            if outline.is_summary_part(part) || (is_user && begins_like_summary(&text())) {
                let summary = EarlierSummary::of(&text(), self.redact);
                summary.into_iter().for_each(|summary| self.ledger.summaries.note(summary));
            }
        }
    }

    /// The texts of a message that are no summaries.
    fn texts(&self, message: MessageIx) -> impl Iterator<Item = PartIx> + use<'a, 'b> {
        let outline = &self.transcript.outline;
        let is_text =
            |part: &PartIx| outline.kind(*part) == PartKind::Text && !outline.is_summary_part(*part);
        outline.parts_of(message).map(PartIx).filter(is_text)
    }

    /// Keeps what the user said in a message.
    fn hear(&mut self, message: MessageIx) {
        let outline = &self.transcript.outline;
        let mut said = String::new();
        for part in self.texts(message) {
            // Claude Code's own log marks typed commands as injected.
            let may_be_typed = self.transcript.format == Format::ClaudeCode;
            if outline.is_injected(part) && !may_be_typed {
                continue;
            }
            let ends = TextEnds::of(self.transcript, part, SPEECH);
            if outline.is_injected(part) && !user_words::holds_typed(&ends.head) {
                continue;
            }
            let spoken = user_words::spoken(&ends.joined());
            if !said.is_empty() && !spoken.is_empty() {
                said.push('\n');
            }
            said.push_str(&spoken);
        }
        self.say(&said);
    }

    fn say(&mut self, text: &str) {
        if let Some(said) = UserWords::of(text, self.redact) {
            let first = self.ledger.said.is_empty();
            self.ledger.said.note(UserWords { first, ..said }.answering(&self.ledger.last_words));
            self.identify(text, Speaker::User);
        }
    }

    fn identify(&mut self, text: &str, speaker: Speaker) {
        let text = (self.redact)(&clean(text));
        for identifier in identifier::find(&text, speaker) {
            self.ledger.identifiers.note(identifier);
        }
    }

    /// Keeps the last words of the model.
    fn listen(&mut self, message: MessageIx) {
        for part in self.texts(message) {
            if self.transcript.outline.is_injected(part) {
                continue;
            }
            let ends = TextEnds::of(self.transcript, part, SPEECH);
            let text = ends.joined();
            if text.trim().is_empty() {
                continue;
            }
            self.identify(&text, Speaker::Model);
            self.ledger.last_words = cut_middle(clean(&(self.redact)(&clean(&text))).trim(), LAST_WORDS);
            self.ledger.boxes = TodoList::of_boxes(&text, self.redact).unwrap_or_default();
        }
    }

    fn line(&self, text: &str, most: usize) -> String {
        cut(&one_line(&(self.redact)(&one_line(text))), most)
    }

    /// The input of a call as a value; none if it is too large, or not an object.
    fn input(&self, part: PartIx) -> Option<Value> {
        let raw = self.transcript.content(part)?.trim();
        let text = if raw.starts_with('"') { decode(raw) } else { Cow::Borrowed(raw) };
        (raw.len() <= INPUT).then(|| serde_json::from_str(&text).ok())?.filter(Value::is_object)
    }

    fn take_call(&mut self, part: PartIx) {
        let outline = &self.transcript.outline;
        let class = outline.class(part);
        let member = |input: &Value, names: &[&str]| {
            names
                .iter()
                .find_map(|name| input.get(name)?.as_str().map(|text| self.line(text, UseCount::LONGEST)))
        };
        match class {
            ToolClass::Plan => {
                let todos = self.input(part).and_then(|input| TodoList::of_input(&input, self.redact));
                self.ledger.todos.follow(todos.unwrap_or_default());
            }
            ToolClass::Web => {
                let page = self
                    .input(part)
                    .and_then(|input| member(&input, &["url", "query", "q", "search_term", "urls"]));
                page.into_iter().for_each(|page| self.ledger.pages.note(UseCount::once(page)));
            }
            ToolClass::Agent => {
                let task = self.input(part).and_then(|input| {
                    let task = member(
                        &input,
                        &["description", "task_name", "task", "prompt", "message", "objective"],
                    )?;
                    let kind = member(&input, &["subagent_type", "agent_type", "agent", "agent_name"]);
                    Some(kind.map_or_else(|| task.clone(), |kind| format!("{kind}: {task}")))
                });
                task.into_iter().for_each(|task| {
                    self.ledger.agents.note(UseCount::once(cut(&task, UseCount::LONGEST)));
                });
            }
            ToolClass::Other if results::asks_user(outline.tool(part)) => {
                self.asking.insert(outline.call(part), part);
            }
            ToolClass::Other => {
                let raw = self.transcript.content(part).unwrap_or_default();
                let start = raw.get(..raw.floor_char_boundary(RESULT)).unwrap_or_default();
                let start = if raw.len() <= RESULT { decode(start) } else { Cow::Borrowed(start) };
                let tool = outline.tool(part).unwrap_or_default();
                let text = self.line(&format!("{tool} {start}"), UseCount::LONGEST);
                self.ledger.tools.note(UseCount::once(text));
            }
            ToolClass::Shell if outline.subject(part).is_none() => {
                self.asking.insert(outline.call(part), part);
            }
            _ => {}
        }
    }
}
