//! tau-bench's result files: an array of runs `{task_id, trial, reward, info, traj}`, where `traj` is a list of chat
//! messages.
//!
//! One file holds hundreds of runs. It is read once; each run becomes a transcript of its own over the same text, so an
//! edit in one of them is an edit of the file.

use secateur::{Measures, MessageFacts, Role, ToolStatus};

use crate::chat;
use crate::document::read_list;
use crate::draft::{ToolResult, TranscriptDraft};
use crate::json::{Object, OptionalRaw, Raw, raw_fields};
use crate::probe::{Probe, TextShape};
use crate::spec::{FormatReader, FormatSpec};

pub(super) const SPEC: FormatSpec = FormatSpec::plain(matches, FormatReader::Many(read));

fn matches(probe: &Probe<'_>) -> bool {
    let is_array = probe.shape == TextShape::Array;
    is_array
        && probe.first(|run| run.starts("traj") == Some('[') && (run.has("task_id") || run.has("reward")))
}

/// Reads every run of a file.
fn read<'m>(text: &str, measures: &'m Measures) -> Vec<TranscriptDraft<'m>> {
    let mut warnings = Vec::new();
    let runs = read_list::<BenchRun<'_>>(text, &mut warnings);
    let mut drafts: Vec<_> =
        runs.into_iter().map(|run| read_run(text, &run.unwrap_or_default(), measures)).collect();
    if drafts.is_empty() {
        drafts.push(TranscriptDraft::new(text, measures));
    }
    if let Some(first) = drafts.first_mut() {
        first.warnings = warnings;
    }
    drafts
}

fn read_run<'m>(text: &str, run: &BenchRun<'_>, measures: &'m Measures) -> TranscriptDraft<'m> {
    let mut draft = TranscriptDraft::new(text, measures);
    draft.origin.session = match (run.task.map(Raw::spoken), run.trial.map(Raw::spoken)) {
        (Some(task), Some(trial)) => Some(format!("{task}/{trial}")),
        (task, _) => task,
    };
    for message in run.messages.iter().flatten() {
        take(&mut draft, message);
    }
    draft
}

fn take(draft: &mut TranscriptDraft<'_>, message: &TauBenchMessage<'_>) {
    let role = chat::role(message.role.string().as_deref());
    draft.push_message(MessageFacts { role, finished: role == Role::Assistant, ..MessageFacts::default() });
    if role == Role::Tool {
        let (tool, id, status) = (message.name.string(), message.call.string(), ToolStatus::Completed);
        let content = message.content;
        return draft.push_result(ToolResult { tool, id, status, content, ..ToolResult::default() });
    }
    chat::take_text(draft, message.content);
    chat::take_calls(draft, message.calls);
}

raw_fields! {
    TauBenchMessage { role: "role", content: "content", calls: "tool_calls", call: "tool_call_id", name: "name" }
    BenchRun { task: "task_id", trial: "trial", messages: "traj" => Vec<Object<TauBenchMessage<'a>>> }
}

#[cfg(test)]
mod tests {
    use secateur::{Action, PartKind};

    use super::*;
    use crate::{Census, Format, Rendering, read_all, read_all_as};

    const FILE: &str = r#"[
{"task_id":3,"reward":1.0,"info":{"traj":[1]},"traj":[
  {"role":"system","content":"be kind"},{"role":"user","content":"hi"},
  {"role":"assistant","content":null,"tool_calls":[
    {"id":"c1","type":"function","function":{"name":"look","arguments":"{\"id\": 7}"}},
    {"id":"c2","type":"function","function":{"name":"book","arguments":"{}"}}]},
  {"role":"tool","tool_call_id":"c1","name":"look","content":"seven"},
  {"role":"tool","tool_call_id":"c2","name":"book","content":"ok"},
  {"role":"assistant","content":"done","tool_calls":null}],"trial":2},
{"task_id":"a","traj":[{"role":"user","content":"x"},5],"trial":0},
{"task_id":"b","traj":{}}]"#;

    #[test]
    fn every_run_is_a_session_of_its_own() {
        let runs = read_all(FILE.as_bytes(), &Measures::default()).unwrap();
        let sessions: Vec<_> = runs.iter().map(|run| run.origin.session.as_deref()).collect();
        assert_eq!(sessions, [Some("3/2"), Some("a/0"), Some("b")]);
        let census = Census::of(&runs[0].outline, Format::TauBench);
        assert_eq!((census.messages, census.tool_calls, census.tool_results), (6, 2, 2));
        assert_eq!((census.unpaired_results, census.unanswered_calls), (0, 0));
        assert_eq!(census.chars["tool_call"], r#"{"id":7}{}"#.len() as u64);
        assert_eq!(runs[1].outline.message_count(), 1);
        assert_eq!(runs[2].outline.message_count(), 0);
        assert!(runs.iter().all(|run| run.warnings.is_empty()));
    }

    #[test]
    fn a_cut_in_one_run_is_an_edit_of_the_file() {
        let runs = read_all(FILE.as_bytes(), &Measures::default()).unwrap();
        let part = runs[0].find_part("c1").unwrap();
        assert_eq!(runs[0].outline.kind(part), PartKind::Result);
        assert_eq!(runs[0].outline.tool(part), Some("look"));
        let cut = Rendering { part, action: Action::Clear, placeholder: "[cleared]" };
        assert_eq!(runs[0].apply([], 0).unwrap().to_vec(), FILE.as_bytes());
        let cleared = String::from_utf8(runs[0].apply([cut], 0).unwrap().to_vec()).unwrap();
        assert_eq!(cleared, FILE.replace("\"seven\"", "\"[cleared]\""));
    }

    #[test]
    fn a_file_that_breaks_off_keeps_its_whole_runs() {
        let end = FILE.find("{\"task_id\":\"b\"").unwrap() + 10;
        let runs = read_all(&FILE.as_bytes()[..end], &Measures::default()).unwrap();
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[0].warnings.len(), 1);
    }

    #[test]
    fn every_prefix_can_be_read_and_stays_unchanged() {
        for text in [FILE] {
            for end in 1..text.len() {
                let bytes = &text.as_bytes()[..end];
                let Ok(transcripts) = read_all_as(bytes, Format::TauBench, &Measures::default()) else {
                    continue;
                };
                for transcript in transcripts {
                    assert_eq!(transcript.apply([], 0).unwrap().to_vec(), bytes);
                    assert!(transcript.outline.parts().all(|part| transcript.text_of(part).len() <= end));
                }
            }
        }
    }
}
