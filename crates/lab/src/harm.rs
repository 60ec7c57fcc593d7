//! Harm: what later actions needed of results that were cut.
//!
//! A log shows what the model did with everything in view. If an action quotes a text that stood in one tool result
//! and nowhere else, that result had to be there: cut it before, and the model would have had to read it again. So
//! every verbatim use of a sole source is a need, and a policy does harm where it leaves a need without a source.
//!
//! What the model could have had from elsewhere is no need: what a user said, what the model itself had written
//! before, and what any programmer knows.

mod general;
mod index;
mod input;
mod words;

pub use general::General;

use foldhash::HashSet;
use secateur::{Class, Kind, PartIx};

use crate::trace::Trace;
use index::Index;
use input::Input;

/// Something that an action needs and that only tool results hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The call whose answer acts.
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
pub fn needs(traces: &[Trace], general: &General) -> Vec<Vec<Need>> {
    traces.iter().map(|trace| of_trace(trace, general)).collect()
}

/// The tool calls of a trace with what they say; nothing for other parts.
fn inputs(trace: &Trace) -> Vec<Option<Input<'_>>> {
    let read = |(part, text)| {
        let is_edit = trace.outline.class(part) == Class::Edit;
        (trace.outline.kind(part) == Kind::Call).then(|| Input::of(text, is_edit))
    };
    trace.outline.parts().zip(trace.texts.iter().map(String::as_str)).map(read).collect()
}

fn of_trace(trace: &Trace, general: &General) -> Vec<Need> {
    let inputs = inputs(trace);
    let (mut names, mut lines) = (Index::default(), Index::default());
    for input in inputs.iter().flatten() {
        input.words().chain(input.file_names()).for_each(|word| names.ask(word, |word| general.knows(word)));
        input.old_lines().for_each(|line| lines.ask(line, |_| false));
    }
    let is_source = sources(trace);
    let mut needs = Vec::new();
    let mut seen = 0;
    for (number, call) in trace.calls.iter().enumerate() {
        for part in seen..call.parts {
            let (ix, kind) = (part as usize, trace.outline.kind(PartIx(part)));
            let text = &*trace.texts[ix];
            match (&inputs[ix], kind) {
                (Some(input), _) => {
                    input.words().chain(input.hyphened()).for_each(|word| names.say(word));
                    input.lines().for_each(|line| lines.say(line));
                }
                (None, Kind::Result) if is_source.contains(&part) => {
                    words::words(text).for_each(|word| names.show(word, part));
                    words::hyphened(text).for_each(|(name, _)| names.show(name, part));
                    words::shown_lines(text, |line| lines.show(line, part));
                }
                (None, Kind::Text | Kind::Reasoning) => {
                    words::words(text).for_each(|word| names.say(word));
                    words::hyphened(text).for_each(|(name, _)| names.say(name));
                    words::lines(text).for_each(|line| lines.say(line));
                }
                _ => {}
            }
        }
        seen = call.parts.max(seen);
        let end = trace.calls.get(number + 1).map_or(trace.outline.part_count() as u32, |next| next.parts);
        for action in seen..end {
            let Some(input) = &inputs[action as usize] else { continue };
            let need = |text: &str, is_edit, sources: &[u32]| Need {
                call: number as u32,
                action: PartIx(action),
                text: text.to_owned(),
                is_edit,
                sources: sources.iter().copied().map(PartIx).collect(),
            };
            let mut told = HashSet::default();
            needs.extend(
                input
                    .old_lines()
                    .filter(|&line| told.insert(line))
                    .filter_map(|line| lines.sole(line).map(|sources| need(line, true, sources))),
            );
            told.clear();
            needs.extend(
                input
                    .words()
                    .chain(input.file_names())
                    .filter(|&word| told.insert(word))
                    .filter_map(|word| names.sole(word).map(|sources| need(word, false, sources))),
            );
        }
    }
    needs
}

fn sources(trace: &Trace) -> HashSet<u32> {
    trace.results().map(|part| part.0).collect()
}
