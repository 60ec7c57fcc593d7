//! What results tell: files read and changed, commands and how they ended, errors and what resolved them.

use secateur::{PartIx, PartKind, ToolClass};
use secateur_formats::{About, subject};
use serde_json::Value;

use super::{LedgerBuilder, RESULT};
use crate::ledger::activity::{CommandActivity, FileActivity, OpenError, ProvenTool, ToolAction};
use crate::ledger::bounded_list::key;
use crate::ledger::call_status::{self, CallStatus};
use crate::ledger::clean_text::{clean, cut_front, cut_middle, one_line};
use crate::ledger::identifier::Speaker;
use crate::ledger::text_ends::TextEnds;
use crate::ledger::todo_list::TodoList;
use crate::ledger::user_words::UserWords;

/// Whether a tool of this name asks the user something.
pub(super) fn asks_user(tool: Option<&str>) -> bool {
    const NAMES: [&str; 7] = [
        "askuser",
        "askuserquestion",
        "askfollowupquestion",
        "askquestion",
        "question",
        "requestuserinput",
        "askhuman",
    ];
    let folded = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    tool.filter(|name| name.len() <= 32).is_some_and(|name| NAMES.contains(&&*folded(name)))
}

impl<'a> LedgerBuilder<'a, '_> {
    /// The running command whose status a call asks for, if any.
    fn asked_after(&self, part: PartIx) -> Option<&'a str> {
        let outline = &self.transcript.outline;
        let input = self.input(*self.asking.get(&outline.call(part))?)?;
        let name =
            ["session_id", "bash_id", "shellId", "task_id", "shell_id"].iter().find_map(
                |name| match input.get(name)? {
                    Value::String(name) => Some(name.clone()),
                    name => Some(name.to_string()),
                },
            )?;
        outline.subject(*self.running.get(&name)?)
    }

    pub(super) fn take_result(&mut self, part: PartIx) {
        let outline = &self.transcript.outline;
        let class = outline.class(part);
        let ends = TextEnds::of(self.transcript, part, RESULT);
        if call_status::was_skipped(&ends) {
            return;
        }
        if let Some(words) = call_status::objection(&ends.head) {
            self.say(words);
        }
        let outcome = CallStatus::of(outline, part, &ends);
        match (class, outline.subject(part)) {
            (ToolClass::Read, Some(path)) => self.take_file(part, path, ToolAction::Read, outcome, &ends),
            (ToolClass::Edit, Some(subject)) => {
                for path in self.edited(part, subject) {
                    self.take_file(part, path, ToolAction::Change, outcome, &ends);
                }
            }
            (ToolClass::Shell, Some(command)) => {
                let name = call_status::running(&ends);
                let outcome = if name.is_some() { CallStatus::Unknown } else { outcome };
                name.into_iter().for_each(|name| _ = self.running.insert(name, part));
                self.take_command(command, 1, outcome, &ends);
            }
            // The end of a command is often reported by a later call that asks for its status.
            (ToolClass::Shell, None) => {
                if let (Some(command), None) = (self.asked_after(part), call_status::running(&ends)) {
                    self.take_command(command, 0, outcome, &ends);
                }
            }
            (ToolClass::Other, _) if asks_user(outline.tool(part)) => self.take_answer(part, &ends),
            // A search that finds nothing is not an error that has to be fixed.
            (ToolClass::Search, _) => {}
            _ => {
                if class == ToolClass::Plan && !outcome.is_failure() {
                    let todos = TodoList::of_answer(&ends.head, self.redact);
                    self.ledger.todos.follow(todos.unwrap_or_default());
                }
                self.take_other(outline.tool(part).unwrap_or("tool"), outcome, &ends);
            }
        }
    }

    /// Keeps the user's answer to a tool's question.
    fn take_answer(&mut self, part: PartIx, ends: &TextEnds<'_>) {
        let call = self.asking.get(&self.transcript.outline.call(part)).copied();
        let input = call.and_then(|call| self.input(call)).unwrap_or_default();
        let first = input.get("questions").and_then(|questions| questions.get(0)).unwrap_or(&input);
        let question = first.get("question").and_then(Value::as_str).unwrap_or_default();
        let question = self.line(question, 200);
        if let Some(said) = UserWords::of(&ends.joined(), self.redact) {
            let first = self.ledger.said.is_empty();
            self.ledger.said.note(UserWords { first, after: question, ..said });
        }
    }

    /// The paths that an edit names. The subject of an edit by a command is that command if it names its files by a
    /// pattern.
    fn edited<'s>(&self, part: PartIx, about: &'s str) -> Vec<&'s str> {
        let outline = &self.transcript.outline;
        if about.contains(' ') && !about.contains('\n') {
            let call = outline.parts().take(part.0 as usize).rev().take(64).find(|&call| {
                outline.kind(call) == PartKind::Call && outline.call(call) == outline.call(part)
            });
            let raw = call.and_then(|call| self.transcript.content(call));
            let tool = outline.tool(part).unwrap_or_default();
            let project = self.transcript.origin.project.as_deref();
            if raw.is_some_and(|raw| matches!(subject(tool, raw, project).about, About::Command(_))) {
                return Vec::new();
            }
        }
        about.lines().collect()
    }

    fn take_file(
        &mut self,
        part: PartIx,
        path: &str,
        deed: ToolAction,
        outcome: CallStatus,
        ends: &TextEnds<'_>,
    ) {
        let path = one_line(&(self.redact)(&one_line(path)));
        let whole = key(&path);
        let kept = cut_front(&path, FileActivity::LONGEST);
        // Looking for a file in the wrong place leaves nothing to fix.
        if outcome.is_failure() && deed == ToolAction::Read && call_status::is_absent(ends) {
            return;
        }
        if outcome.is_failure() {
            return self.fail(deed, whole, kept, outcome, ends);
        }
        self.ledger.errors.remove(ToolAction::Read.key(whole));
        let mut file = FileActivity { key: whole, path: kept, ..FileActivity::default() };
        if deed == ToolAction::Change {
            self.ledger.errors.remove(ToolAction::Change.key(whole));
            file.changes = 1;
        } else {
            file.reads = 1;
            file.lines = FileActivity::range(self.transcript.outline.lines(part));
        }
        self.ledger.files.note(file);
    }

    fn take_command(&mut self, command: &str, runs: u32, outcome: CallStatus, ends: &TextEnds<'_>) {
        let command = clean(&(self.redact)(&clean(command)));
        // Join continued lines.
        let command = command.replace("\\\n", " ");
        let command = command.trim();
        if runs > 0 {
            self.identify(command, Speaker::Model);
        }
        let (essence, is_masked) = CommandActivity::essence(command);
        let whole = key(essence);
        // After a pipe the exit code is that of another program, so only the text counts.
        let outcome = if is_masked && !outcome.is_failure() && call_status::sounds_bad(ends) {
            CallStatus::Unknown
        } else {
            outcome
        };
        let text = CommandActivity::shown(command);
        if outcome.is_failure() {
            self.fail(ToolAction::Run, whole, text.clone(), outcome, ends);
        } else if outcome != CallStatus::Unknown {
            self.ledger.errors.remove(ToolAction::Run.key(whole));
        }
        self.ledger.commands.note(CommandActivity { key: whole, text, runs, outcome });
    }

    fn take_other(&mut self, tool: &str, outcome: CallStatus, ends: &TextEnds<'_>) {
        let tool = self.line(tool, 80);
        let whole = key(&tool);
        if outcome.is_failure() {
            return self.fail(ToolAction::Use, whole, tool, outcome, ends);
        }
        if outcome != CallStatus::Unknown {
            let proven = ToolAction::Use.key(whole);
            self.ledger.errors.remove(proven);
            self.ledger.proven.note(ProvenTool(proven));
        }
    }

    fn fail(
        &mut self,
        deed: ToolAction,
        whole: u64,
        subject: String,
        outcome: CallStatus,
        ends: &TextEnds<'_>,
    ) {
        let text = cut_middle(&call_status::error_lines(ends, self.redact), OpenError::LONGEST);
        self.ledger.errors.note(OpenError { key: deed.key(whole), deed, subject, outcome, text });
    }
}
