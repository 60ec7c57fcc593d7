//! What results tell: files that were read and changed, commands and how they ended, errors and what made them good.

use secateur::{Class, Kind, PartIx};
use secateur_formats::{About, subject};
use serde_json::Value;

use super::{RESULT, Reading};
use crate::ledger::excerpt::{clean, cut_front, cut_middle, one_line};
use crate::ledger::identifier::Speaker;
use crate::ledger::outcome::{self, Outcome};
use crate::ledger::recent::key;
use crate::ledger::speech::Said;
use crate::ledger::todo::Todos;
use crate::ledger::window::Window;
use crate::ledger::work::{Command, Deed, Failure, File, Proven};

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

impl<'a> Reading<'a, '_> {
    /// The command that a call asks after, if it does.
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
        let window = Window::of(self.transcript, part, RESULT);
        if outcome::was_skipped(&window) {
            return;
        }
        if let Some(words) = outcome::objection(&window.head) {
            self.say(words);
        }
        let outcome = Outcome::of(outline, part, &window);
        match (class, outline.subject(part)) {
            (Class::Read, Some(path)) => self.take_file(part, path, Deed::Read, outcome, &window),
            (Class::Edit, Some(subject)) => {
                for path in self.edited(part, subject) {
                    self.take_file(part, path, Deed::Change, outcome, &window);
                }
            }
            (Class::Shell, Some(command)) => {
                let name = outcome::running(&window);
                let outcome = if name.is_some() { Outcome::Unknown } else { outcome };
                name.into_iter().for_each(|name| _ = self.running.insert(name, part));
                self.take_command(command, 1, outcome, &window);
            }
            // How a command ended is often told by a later call that asks after it.
            (Class::Shell, None) => {
                if let (Some(command), None) = (self.asked_after(part), outcome::running(&window)) {
                    self.take_command(command, 0, outcome, &window);
                }
            }
            (Class::Other, _) if asks_user(outline.tool(part)) => self.take_answer(part, &window),
            // That a search found nothing is no error that anybody has to mend.
            (Class::Search, _) => {}
            _ => {
                if class == Class::Plan && !outcome.is_failure() {
                    let todos = Todos::of_answer(&window.head, self.redact);
                    self.ledger.todos.follow(todos.unwrap_or_default());
                }
                self.take_other(outline.tool(part).unwrap_or("tool"), outcome, &window);
            }
        }
    }

    /// Keeps what the user answered to a question that was asked by a tool.
    fn take_answer(&mut self, part: PartIx, window: &Window<'_>) {
        let call = self.asking.get(&self.transcript.outline.call(part)).copied();
        let input = call.and_then(|call| self.input(call)).unwrap_or_default();
        let first = input.get("questions").and_then(|questions| questions.get(0)).unwrap_or(&input);
        let question = first.get("question").and_then(Value::as_str).unwrap_or_default();
        let question = self.line(question, 200);
        if let Some(said) = Said::of(&window.joined(), self.redact) {
            let first = self.ledger.said.is_empty();
            self.ledger.said.note(Said { first, after: question, ..said });
        }
    }

    /// The paths that an edit names. The subject of an edit by a command is that command if it names its files by a
    /// pattern.
    fn edited<'s>(&self, part: PartIx, about: &'s str) -> Vec<&'s str> {
        let outline = &self.transcript.outline;
        if about.contains(' ') && !about.contains('\n') {
            let call =
                outline.parts().take(part.0 as usize).rev().take(64).find(|&call| {
                    outline.kind(call) == Kind::Call && outline.call(call) == outline.call(part)
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

    fn take_file(&mut self, part: PartIx, path: &str, deed: Deed, outcome: Outcome, window: &Window<'_>) {
        let path = one_line(&(self.redact)(&one_line(path)));
        let whole = key(&path);
        let kept = cut_front(&path, File::LONGEST);
        // Looking for a file in the wrong place leaves nothing to mend.
        if outcome.is_failure() && deed == Deed::Read && outcome::is_absent(window) {
            return;
        }
        if outcome.is_failure() {
            return self.fail(deed, whole, kept, outcome, window);
        }
        self.ledger.errors.remove(Deed::Read.key(whole));
        let mut file = File { key: whole, path: kept, ..File::default() };
        if deed == Deed::Change {
            self.ledger.errors.remove(Deed::Change.key(whole));
            file.changes = 1;
        } else {
            file.reads = 1;
            file.lines = File::range(self.transcript.outline.lines(part));
        }
        self.ledger.files.note(file);
    }

    fn take_command(&mut self, command: &str, runs: u32, outcome: Outcome, window: &Window<'_>) {
        let command = clean(&(self.redact)(&clean(command)));
        // A line that goes on is one line.
        let command = command.replace("\\\n", " ");
        let command = command.trim();
        if runs > 0 {
            self.identify(command, Speaker::Model);
        }
        let (essence, is_masked) = Command::essence(command);
        let whole = key(essence);
        // Behind a pipe the exit code is that of another program; then only the words tell.
        let outcome = if is_masked && !outcome.is_failure() && outcome::sounds_bad(window) {
            Outcome::Unknown
        } else {
            outcome
        };
        let text = Command::shown(command);
        if outcome.is_failure() {
            self.fail(Deed::Run, whole, text.clone(), outcome, window);
        } else if outcome != Outcome::Unknown {
            self.ledger.errors.remove(Deed::Run.key(whole));
        }
        self.ledger.commands.note(Command { key: whole, text, runs, outcome });
    }

    fn take_other(&mut self, tool: &str, outcome: Outcome, window: &Window<'_>) {
        let tool = self.line(tool, 80);
        let whole = key(&tool);
        if outcome.is_failure() {
            return self.fail(Deed::Use, whole, tool, outcome, window);
        }
        if outcome != Outcome::Unknown {
            let proven = Deed::Use.key(whole);
            self.ledger.errors.remove(proven);
            self.ledger.proven.note(Proven(proven));
        }
    }

    fn fail(&mut self, deed: Deed, whole: u64, subject: String, outcome: Outcome, window: &Window<'_>) {
        let text = cut_middle(&outcome::excerpt(window, self.redact), Failure::LONGEST);
        self.ledger.errors.note(Failure { key: deed.key(whole), deed, subject, outcome, text });
    }
}
