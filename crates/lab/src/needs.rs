//! Needs: what later actions took from tool results.
//!
//! A log shows what the model did with everything in view. If an action quotes a text that stood in tool results and
//! nowhere else, one of them had to be there: had all been cut before, the model would have had to read again. So every
//! verbatim use of what only results showed is a need, and a policy misses it if it has cut all of its sources.
//!
//! What the model could have had from elsewhere is no need: what a user said, what the model itself had written
//! before, and common words. Only verbatim use is seen; what an action owes to having understood a result
//! is not.

mod common_words;
mod index;
mod input;
mod words;

pub use common_words::CommonWords;

use foldhash::HashSet;
use secateur::{MessageIx, PartIx, PartKind};

use crate::trace::Trace;
use index::TextIndex;
use input::ToolInput;

/// Something that an action needs and that only tool results hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextNeed {
    /// The call whose response acts.
    pub call: u32,
    /// The action: a tool call.
    pub action: PartIx,
    /// The text that it uses.
    pub text: String,
    /// It is a line of the text that an edit replaces; otherwise a name in an input.
    pub is_edit: bool,
    /// The results that hold it, oldest first.
    pub sources: Vec<PartIx>,
}

/// What the actions of each trace need, in the order in which they act; of one action, lines before names.
pub fn find_needs(traces: &[Trace], common: &CommonWords) -> Vec<Vec<TextNeed>> {
    traces.iter().map(|trace| NeedFinder::of(trace, common)).collect()
}

/// A trace as it is read from call to call.
struct NeedFinder<'a> {
    trace: &'a Trace,
    inputs: &'a [Option<ToolInput<'a>>],
    /// The results that are whole.
    results: HashSet<PartIx>,
    names: TextIndex<'a>,
    lines: TextIndex<'a>,
}

impl<'a> NeedFinder<'a> {
    fn of(trace: &Trace, common: &CommonWords) -> Vec<TextNeed> {
        let inputs = input::all(trace);
        let results = trace.results().collect();
        let mut finder = NeedFinder {
            trace,
            inputs: &inputs,
            results,
            names: TextIndex::default(),
            lines: TextIndex::default(),
        };
        for input in inputs.iter().flatten() {
            input.used_names().for_each(|name| finder.names.ask(name, |name| common.contains(name)));
            input.old_lines().for_each(|line| finder.lines.ask(line, |_| false));
        }
        let mut needs = Vec::new();
        let mut seen = 0;
        for (number, call) in trace.calls.iter().enumerate() {
            (seen..call.parts).for_each(|part| finder.see(PartIx(part)));
            seen = call.parts.max(seen);
            for action in trace.outline.parts_of(MessageIx(call.messages)).map(PartIx) {
                finder.act(number as u32, action, &mut needs);
            }
        }
        needs
    }

    /// Takes in a part that is in the context from now on.
    fn see(&mut self, part: PartIx) {
        let ix = part.0 as usize;
        let (Some(text), Some(input)) = (self.trace.texts.get(ix), self.inputs.get(ix)) else { return };
        match (input, self.trace.outline.kind(part)) {
            (Some(input), _) => {
                input.names().for_each(|name| self.names.say(name));
                input.lines().for_each(|line| self.lines.say(line));
            }
            (None, PartKind::Result) if self.results.contains(&part) => {
                words::names(text).for_each(|name| self.names.show(name, part));
                words::shown_lines(text).for_each(|line| self.lines.show(line, part));
            }
            (None, PartKind::Text | PartKind::Reasoning) => {
                words::names(text).for_each(|name| self.names.say(name));
                words::lines(text).for_each(|line| self.lines.say(line));
            }
            _ => {}
        }
    }

    /// Adds what an action needs of what was seen so far. What the same response says before it acts is not in the
    /// context yet, so it does not count as said.
    fn act(&self, call: u32, action: PartIx, needs: &mut Vec<TextNeed>) {
        let Some(Some(input)) = self.inputs.get(action.0 as usize) else { return };
        let mut need = |text: &str, is_edit, sources: &[PartIx]| {
            needs.push(TextNeed { call, action, text: text.to_owned(), is_edit, sources: sources.to_vec() });
        };
        let mut seen_texts = HashSet::default();
        for line in input.old_lines().filter(|&line| seen_texts.insert(line)) {
            if let Some(sources) = self.lines.sole(line) {
                need(line, true, sources);
            }
        }
        seen_texts.clear();
        for name in input.used_names().filter(|&name| seen_texts.insert(name)) {
            if let Some(sources) = self.names.sole(name) {
                need(name, false, sources);
            }
        }
    }
}
