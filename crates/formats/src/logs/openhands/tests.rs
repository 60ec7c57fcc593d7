use secateur::{Action, Measures, MessageIx, PartIx, PartKind, Role, ToolStatus};

use super::LISTS;
use crate::{Census, Format, Rendering, Transcript, read, read_all_as};

const OLD: &str = r#"[
{"id":0,"timestamp":"2030-01-20T20:29:13.519638","source":"environment","message":"","observation":"agent_state_changed","content":"","extras":{}},
{"id":1,"source":"environment","action":"change_agent_state","args":{"agent_state":"init","thought":""}},
{"id":2,"source":"environment","cause":1,"observation":"null","content":"","extras":{}},
{"id":3,"source":"user","action":"message","args":{"content":"build it","image_urls":["data:image/png;base64,AA=="]}},
{"id":4,"source":"agent","action":"run","tool_call_metadata":{"model_response":{"model":"m-1","usage":{}}},
 "args":{"command":"mkdir a", "thought":"First a folder"}},
{"id":5,"source":"agent","cause":4,"observation":"run","content":"made","extras":{"metadata":{"exit_code":0}}},
{"id":6,"source":"agent","action":"run","args":{"command":"serve"}},
{"id":7,"source":"agent","cause":6,"observation":"run","content":"waiting","extras":{"metadata":{"exit_code":-1}}},
{"id":8,"source":"agent","action":"run","args":{"command":"false"}},
{"id":9,"source":"agent","cause":8,"observation":"run","content":"","extras":{"exit_code":null,"metadata":{"exit_code":1}}},
{"id":10,"source":"agent","action":"edit","args":{"path":"x"}},
{"id":11,"source":"agent","cause":10,"observation":"error","content":"no such file","extras":{}},
{"id":12,"source":"agent","action":"think","args":{"thought":"unanswered"}},
{"id":13,"source":"agent","action":"read","args":{"path":"late"}},
{"id":14,"source":"agent","action":"message","args":{"content":"done","image_urls":null}},
{"id":15,"source":"agent","action":"finish","args":{"final_thought":"bye","thought":""}}]"#;

const NEW: &str = r#"{"kind":"SystemPromptEvent","id":"e0","timestamp":"2030-01-01T00:00:00","source":"agent","system_prompt":{"type":"text","text":"rules"},"tools":[]}
{"kind":"ConversationStateUpdateEvent","id":"e1","timestamp":"2030-01-01T00:00:01","source":"environment","key":"x","value":1}
{"kind":"MessageEvent","id":"e2","timestamp":"2030-01-01T00:00:02","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"go"},{"type":"image","image_urls":["u"]}]},"extended_content":[{"type":"text","text":"a hint"}]}
{"kind":"ActionEvent","id":"e3","timestamp":"2030-01-01T00:00:03","source":"agent","thought":[{"type":"text","text":"both"}],"reasoning_content":"hm","thinking_blocks":[],"tool_name":"terminal","tool_call":{"id":"t:0","name":"terminal","arguments":"{\"command\": \"ls\"}"},"tool_call_id":"t:0","llm_response_id":"r1","action":{"command":"ls"}}
{"kind":"ActionEvent","id":"e4","timestamp":"2030-01-01T00:00:03","source":"agent","thought":[],"reasoning_content":null,"thinking_blocks":[],"tool_name":"terminal","tool_call":{"id":"t:1","name":"terminal","arguments":"{}"},"tool_call_id":"t:1","llm_response_id":"r1"}
{"kind":"ObservationEvent","id":"e5","timestamp":"2030-01-01T00:00:04","source":"environment","tool_name":"terminal","tool_call_id":"t:0","observation":{"content":[{"type":"text","text":"a b"}],"is_error":false,"exit_code":2}}
{"kind":"AgentErrorEvent","id":"e6","timestamp":"2030-01-01T00:00:05","source":"agent","tool_name":"terminal","tool_call_id":"t:1","error":"bad call"}
{"kind":"MessageEvent","id":"e7","timestamp":"2030-01-01T00:00:06","source":"agent","llm_message":{"role":"assistant","content":[{"type":"text","text":"next"}]}}
{"kind":"CondensationRequest","id":"e8","timestamp":"2030-01-01T00:00:06","source":"environment"}
{"kind":"Condensation","id":"e9","timestamp":"2030-01-01T00:00:07","source":"environment","forgotten_event_ids":["e3","e4","e5","e6"],"summary":"they listed","summary_offset":2,"llm_response_id":"r2"}
{"kind":"Unheard","id":"ea","timestamp":"2030-01-01T00:00:08","source":"agent"}
"#;

fn take(text: &str) -> Transcript<'_> {
    let transcript = read(text.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.format, Format::OpenHands);
    transcript
}

fn census(text: &str) -> Census {
    Census::of(&take(text).outline, Format::OpenHands)
}

/// The texts of what the model is given next, each with who says it.
fn context(text: &str) -> Vec<(Role, String)> {
    let context = take(text).context(None);
    let outline = &context.outline;
    let parts = outline.parts().filter(|&part| outline.kind(part) != PartKind::Compaction);
    parts.map(|part| (outline.role(outline.owner(part)), context.text_of(part).into_owned())).collect()
}

#[test]
fn observations_answer_what_caused_them() {
    let census = census(OLD);
    assert_eq!((census.messages, census.tool_calls, census.tool_results), (7, 5, 4));
    assert_eq!(
        (census.unpaired_results, census.unanswered_calls),
        (0, 1),
        "the last one was not carried out"
    );
    assert_eq!(census.errors, 2, "a failed command and an error; a command that still runs is neither");
    assert_eq!(census.images, 1);
    assert_eq!((census.chars["user"], census.chars["assistant"]), (8, 7));
    assert_eq!(take(OLD).origin.model.as_deref(), Some("m-1"));
    assert_eq!(take(OLD).outline.tool(PartIx(2)), Some("run"));
}

#[test]
fn the_calls_of_one_response_are_one_message() {
    let transcript = take(NEW);
    let outline = &transcript.outline;
    assert!(transcript.warnings.is_empty());
    let kinds: Vec<PartKind> =
        outline.parts_of(MessageIx(2)).map(|part| outline.kind(PartIx(part))).collect();
    assert_eq!(kinds, [PartKind::Reasoning, PartKind::Text, PartKind::Call, PartKind::Call]);
    let census = census(NEW);
    assert_eq!((census.tool_calls, census.tool_results, census.errors), (2, 2, 2));
    assert_eq!((census.unpaired_results, census.unanswered_calls), (0, 0));
    assert_eq!((census.images, census.compactions), (1, 1));
    assert_eq!(census.chars["tool_call"], r#"{"command":"ls"}{}"#.len() as u64);
    assert_eq!((census.chars["user"], census.chars["user_meta"], census.chars["summary"]), (2, 6, 11));
    let error = transcript.find_part("t:1").unwrap();
    assert_eq!((outline.status(error), outline.kind(error)), (ToolStatus::Error, PartKind::Result));
    assert_eq!(outline.time(MessageIx(0)), Some(1_893_456_000_000));
}

#[test]
fn a_condensation_forgets_events_and_puts_its_summary_among_the_others() {
    let said = context(NEW);
    let texts: Vec<&str> = said.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["rules", "go", "a hint", "they listed", "next"]);
    // The next one takes the place of the first.
    let again = NEW.to_owned()
        + r#"{"kind":"Condensation","id":"eb","timestamp":"2030-01-01T00:00:09","source":"environment","forgotten_event_ids":["e7"],"summary":"all of it","summary_offset":1}"#;
    let texts: Vec<String> = context(&again).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["rules", "all of it", "go", "a hint"]);
    assert_eq!(census(&again).compactions, 2);
}

#[test]
fn a_message_stays_as_long_as_one_of_its_events_does() {
    let some = NEW.replace(r#"["e3","e4","e5","e6"]"#, r#"["e3","e5"]"#);
    assert!(context(&some).iter().any(|(_, text)| text == "both"));
}

#[test]
fn the_old_program_condenses_by_numbers() {
    let condensed = OLD.replace(
        r#"{"id":14,"#,
        r#"{"id":99,"source":"agent","action":"condensation","args":{"forgotten_events_start_id":4,
            "forgotten_events_end_id":13,"summary":"tried","summary_offset":1}},{"id":14,"#,
    );
    let said = context(&condensed);
    let texts: Vec<&str> =
        said.iter().map(|(_, text)| text.as_str()).filter(|text| !text.is_empty()).collect();
    assert_eq!(texts, ["build it", "data:image/png;base64,AA==", "tried", "done", "bye"]);
}

#[test]
fn lists_come_in_many_wrappings() {
    let expected = census(NEW);
    let array = format!("[{}]", NEW.trim_end().replace('\n', ","));
    assert_eq!(census(&array), expected);
    for name in LISTS {
        assert_eq!(census(&format!("{{\"id\":\"x\",\"{name}\":{array}}}")), expected);
        assert_eq!(census(&format!("{{\"{name}\":{OLD}}}\n")), census(OLD));
    }
}

#[test]
fn a_cut_changes_nothing_but_the_content() {
    for (text, id, old, new) in [
        (OLD, "4", r#""content":"made""#, r#""content":"[cleared]""#),
        (NEW, "t:0", r#"{"type":"text","text":"a b"}"#, r#"{"type":"text","text":"[cleared]"}"#),
    ] {
        let transcript = take(text);
        let part = transcript.find_part(id).unwrap();
        let cut = Rendering { part, action: Action::Clear, placeholder: "[cleared]" };
        assert_eq!(transcript.apply([], 0).unwrap().to_vec(), text.as_bytes());
        let cleared = String::from_utf8(transcript.apply([cut], 0).unwrap().to_vec()).unwrap();
        assert_eq!(cleared, text.replace(old, new));
        assert_eq!(Census { chars: census(text).chars, ..census(&cleared) }, census(text));
    }
}

#[test]
fn odd_events_do_not_take_the_others_with_them() {
    let odd = r#"[{"id":1,"source":"user","action":"message","args":7},{"action":{}},null,
        {"id":2,"source":"agent","kind":"Condensation","forgotten_event_ids":5,"summary":null,"summary_offset":-1},
        {"source":"agent","kind":"ActionEvent","tool_call":"x"},{"cause":9,"observation":"run","content":"?"}"#;
    let transcript = take(odd);
    assert_eq!(transcript.outline.message_count(), 3);
    assert_eq!(transcript.warnings.len(), 1, "it breaks off");
}

#[test]
fn however_little_is_there_is_read_and_left_as_it_is() {
    for text in [OLD, NEW] {
        for end in 1..text.len() {
            let bytes = &text.as_bytes()[..end];
            let Ok(transcripts) = read_all_as(bytes, Format::OpenHands, &Measures::default()) else {
                continue;
            };
            for transcript in transcripts {
                assert_eq!(transcript.apply([], 0).unwrap().to_vec(), bytes);
                assert!(transcript.outline.parts().all(|part| transcript.text_of(part).len() <= end));
            }
        }
    }
}
