use secateur::{Action, Measures, PartIx, PartKind};

use crate::{Census, Format, Rendering, read, read_all_as, read_as};

const TEXT: &str = r#"{"environment":"e","trajectory":[{"action":"ls","observation":"a.py","response":"look"}],
"history":[{"role":"system","content":"rules","agent":"primary"},
 {"agent":"primary","content":"a demonstration","is_demo":true,"role":"user"},
 {"role":"user","content":"fix it"},
 {"role":"assistant","content":"look\n```\nls\n```","thought":"look","action":"ls"},
 {"role":"user","content":"a.py"},
 {"role":"assistant","content":"run\n```\npython a.py\n```"},
 {"role":"user","content":"Traceback (most recent call last):\n  ..."},
 {"role":"user","content":"what now?"},
 {"role":"assistant","content":"submit"}],
"info":{"exit_status":"submitted","swe_agent_version":"1.1.0"}}
"#;

const CALLS: &str = r#"{"history":[{"role":"system","content":"rules"},
 {"role":"user","content":[{"type":"text","text":"fix it"}]},
 {"role":"assistant","content":"both","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s"}],
  "tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\": \"ls\"}"}},
                {"id":"c2","type":"function","function":{"name":"bash","arguments":"{}"}}]},
 {"role":"tool","tool_call_ids":["c1"],"content":[{"type":"text","text":"OBSERVATION:\nTraceback (most recent call last):"}]},
 {"role":"tool","tool_call_ids":["c2"],"content":"two"},
 {"role":"assistant","content":null},
 {"role":"user","content":"call a tool"}],"info":{}}"#;

fn census(text: &str) -> Census {
    let transcript = read(text.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.format, Format::SweAgent);
    assert!(transcript.warnings.is_empty(), "{:?}", transcript.warnings);
    Census::of(&transcript.outline, transcript.format)
}

#[test]
fn what_follows_an_action_is_its_result() {
    let census = census(TEXT);
    assert_eq!((census.messages, census.tool_calls, census.tool_results, census.errors), (8, 0, 2, 1));
    assert_eq!(census.unanswered_calls, 1, "the last action");
    assert_eq!(census.chars["user"], "a demonstrationfix itwhat now?".len() as u64);
}

#[test]
fn functions_are_answered_by_id() {
    let census = census(CALLS);
    assert_eq!((census.messages, census.tool_calls, census.tool_results, census.errors), (5, 2, 2, 1));
    assert_eq!((census.unpaired_results, census.unanswered_calls), (0, 0));
    assert_eq!(census.chars["user"], "fix itcall a tool".len() as u64);
    assert_eq!(census.chars["reasoning"], 2);
    assert_eq!(census.chars["tool_call"], r#"{"command":"ls"}{}"#.len() as u64);
}

#[test]
fn one_answer_may_be_for_several_calls() {
    let both = CALLS.replace(r#"["c2"]"#, r#"["c2","c3"]"#);
    let census = census(&both);
    assert_eq!((census.tool_results, census.unpaired_results), (3, 1));
    assert_eq!(census.chars["tool_result"], self::census(CALLS).chars["tool_result"]);
}

#[test]
fn a_demonstration_in_turns_has_no_results() {
    let demo = r#"{"history":[{"role":"assistant","content":"a","is_demo":true},
        {"role":"user","content":"b","is_demo":true},{"role":"user","content":"go"}],"info":{}}"#;
    assert_eq!(census(demo).tool_results, 0);
}

#[test]
fn steps_stand_in_for_a_history() {
    let steps = r#"{"trajectory":[{"action":"ls\n","observation":"a.py","response":"look","state":"{}"},
        {"action":"submit","observation":null,"response":""},7]}"#;
    let census = census(steps);
    assert_eq!((census.messages, census.tool_results, census.unanswered_calls), (3, 1, 1));
}

#[test]
fn a_cut_changes_nothing_but_the_observation() {
    for (text, old, new) in [
        (TEXT, r#""content":"a.py""#, r#""content":"[cleared]""#),
        (CALLS, r#""content":"two""#, r#""content":"[cleared]""#),
    ] {
        let transcript = read(text.as_bytes(), &Measures::default()).unwrap();
        let content = transcript.outline.parts().find(|&part| {
            transcript.outline.kind(part) == PartKind::Result
                && old.ends_with(transcript.content(part).unwrap())
        });
        let cut = Rendering { part: content.unwrap(), action: Action::Clear, placeholder: "[cleared]" };
        assert_eq!(transcript.apply([], 0).unwrap().to_vec(), text.as_bytes());
        let cleared = String::from_utf8(transcript.apply([cut], 0).unwrap().to_vec()).unwrap();
        assert_eq!(cleared, text.replace(old, new));
        let again = census(&cleared);
        assert_eq!(Census { chars: census(text).chars, ..again }, census(text));
    }
}

#[test]
fn a_document_that_breaks_off_keeps_its_messages() {
    for (end, expected) in [("{\"role\":\"assistant\",\"content\":\"run", 5), ("\"history\"", 2)] {
        let text = &TEXT[..TEXT.find(end).unwrap() + end.len()];
        let transcript = read_as(text.as_bytes(), Format::SweAgent, &Measures::default()).unwrap();
        assert_eq!(transcript.outline.message_count(), expected);
        assert_eq!(transcript.warnings.len(), 1);
    }
    let odd = r#"{"history":[{"role":5,"content":{}},{"role":"tool","tool_call_ids":7},null],"info":1}"#;
    let transcript = read(odd.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.outline.message_count(), 2);
    assert_eq!(transcript.text_of(PartIx(0)), "{}");
}

#[test]
fn the_version_is_noted() {
    let transcript = read(TEXT.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.origin.version.as_deref(), Some("1.1.0"));
}

#[test]
fn however_little_is_there_is_read_and_left_as_it_is() {
    for text in [TEXT, CALLS] {
        for end in 1..text.len() {
            let bytes = &text.as_bytes()[..end];
            let Ok(transcripts) = read_all_as(bytes, Format::SweAgent, &Measures::default()) else {
                continue;
            };
            for transcript in transcripts {
                assert_eq!(transcript.apply([], 0).unwrap().to_vec(), bytes);
                assert!(transcript.outline.parts().all(|part| transcript.text_of(part).len() <= end));
            }
        }
    }
}
