use insta::assert_snapshot;
use secateur::{Action, Measures, PartIx};
use secateur_formats::{Rendering, Transcript, read};

use super::{SummaryPiece, gather};
use crate::summary::piece::ALLOWANCES;

fn shown(pieces: &[SummaryPiece]) -> String {
    pieces.iter().map(|piece| piece.show(&ALLOWANCES[0])).collect()
}

fn transcript(text: &str) -> Transcript<'_> {
    read(text.as_bytes(), &Measures::default()).unwrap()
}

const SESSION: &str = r#"{"model":"m","max_tokens":9,"system":"Be brief.","messages":[
    {"role":"user","content":[{"type":"text","text":"Make the test pass.\nHere it is:"},
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},
    {"role":"assistant","content":[{"type":"thinking","thinking":"A secret thought.","signature":"s"},
        {"type":"text","text":"I look at it."},
        {"type":"tool_use","id":"c1","name":"bash","input":{"command":"cargo test"}},
        {"type":"tool_use","id":"c2","name":"read","input":{"path":"a.rs"}}]},
    {"role":"user","content":[
        {"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"error: no such file"},
        {"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"fn main() {}"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]},
    {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"bash","input":{}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":""}]},
    {"role":"assistant","content":[{"type":"text","text":"Done."}]}]}"#;

#[test]
fn a_conversation_becomes_labelled_lines_in_order() {
    assert_snapshot!(shown(&gather(&transcript(SESSION), &[], &str::to_owned)), @r#"
    user: Make the test pass.
      Here it is:
    user: [1 image or other file, not shown]
    assistant: I look at it.
    tool call bash: {"command":"cargo test"}
    tool call read: {"path":"a.rs"}
    tool result (bash, failed): error: no such file
    tool result (read): fn main() {}
      [1 image or other file, not shown]
    tool call bash: {}
    tool result (bash): (no output)
    assistant: Done.
    "#);
}

#[test]
fn results_that_the_pruner_cut_show_their_placeholder() {
    let transcript = transcript(SESSION);
    let part = transcript.find_part("c2").unwrap();
    let cut = |action, part| Rendering { part, action, placeholder: "[cleared]" };
    let pieces = gather(&transcript, &[cut(Action::Clear, part)], &str::to_owned);
    assert!(shown(&pieces).contains("tool result (read): [cleared]\n"));
    let pieces = gather(&transcript, &[cut(Action::DropMedia, part)], &str::to_owned);
    assert!(shown(&pieces).contains("tool result (read): fn main() {}\n"));
}

#[test]
fn results_that_the_source_says_were_cut_show_a_placeholder() {
    let session = r#"[{"info":{"role":"assistant"},"parts":[{"id":"p1","type":"tool","tool":"bash","callID":"c1",
        "state":{"status":"completed","input":{"command":"ls"},"output":"long ago",
        "time":{"start":1,"end":2,"compacted":3}}}]}]"#;
    let shown = shown(&gather(&transcript(session), &[], &str::to_owned));
    assert!(shown.contains("tool result (bash): [Old tool result content cleared]\n"), "{shown}");
    assert!(!shown.contains("long ago"));
}

#[test]
fn an_earlier_summary_is_told_from_what_people_say() {
    let session = r#"[{"info":{"id":"m1","role":"user"},"parts":[{"id":"p0","type":"text","text":"Go on."}]},
        {"info":{"id":"m2","role":"assistant","summary":true},"parts":[{"id":"p1","type":"text","text":"All."}]}]"#;
    let shown = shown(&gather(&transcript(session), &[], &str::to_owned));
    assert_eq!(shown, "user: Go on.\nearlier summary: All.\n");
}

#[test]
fn a_call_and_its_result_have_a_number_in_common_also_if_ids_come_again() {
    let pieces = gather(&transcript(SESSION), &[], &str::to_owned);
    let calls: Vec<Option<u32>> = pieces.iter().map(|piece| piece.call).filter(Option::is_some).collect();
    assert_eq!(calls, [Some(1), Some(2), Some(1), Some(2), Some(3), Some(3)]);
}

#[test]
fn everything_goes_through_the_redactor() {
    let redact = |text: &str| text.replace("cargo", "[redacted]").replace("bash", "sh");
    let shown = shown(&gather(&transcript(SESSION), &[], &redact));
    assert!(shown.contains(r#"tool call sh: {"command":"[redacted] test"}"#), "{shown}");
    assert!(!shown.contains("cargo") && !shown.contains("bash"));
}

#[test]
fn a_cut_of_a_part_that_is_not_there_changes_nothing() {
    let transcript = transcript(SESSION);
    let cut = Rendering { part: PartIx(999), action: Action::Clear, placeholder: "" };
    assert_eq!(gather(&transcript, &[cut], &str::to_owned), gather(&transcript, &[], &str::to_owned));
}
