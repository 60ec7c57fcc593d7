use secateur::{Action, Measures, MessageIx, PartIx};

use crate::{Census, Format, Rendering, Transcript, read, read_all_as};

const CHAT: &str = r#"[
{"id":"m1","role":"user","metadata":{"createdAt":1700000000000},
 "parts":[{"type":"text","text":"look"},{"type":"file","mediaType":"image/png","url":"data:image/png;base64,AA=="}]},
{"id":"m2","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"hm","state":"done"},
 {"type":"tool-search","toolCallId":"c1","state":"output-available","input":{"q": "x"},"output":{"hits": [1, 2]}},
 {"type":"dynamic-tool","toolName":"fetch","toolCallId":"c2","state":"output-error","input":{},"errorText":"404"},
 {"type":"tool-search","toolCallId":"c3","state":"output-available","input":{"q":"y"},"output":"none"},
 {"type":"tool-search","toolCallId":"c4","state":"input-available","input":{"q":"z"}},
 {"type":"source-url","sourceId":"s","url":"u"},{"type":"data-weather","data":{"text":"sunny"}},
 {"type":"text","text":"found"},{"type":"text","text":"more"}]}]"#;

const FOURTH: &str = r#"{"messages":[
{"id":"a","role":"user","content":"hi","createdAt":"2030-01-01T00:00:00.000Z",
 "experimental_attachments":[{"url":"u","contentType":"image/png"}]},
{"id":"b","role":"assistant","content":"done","toolInvocations":[
 {"state":"result","toolCallId":"c1","toolName":"add","args":{"a":1},"result":2},
 {"state":"call","toolCallId":"c2","toolName":"ask","args":{}}]},
{"id":"c","role":"assistant","content":"ok","parts":[{"type":"reasoning","reasoning":"so","details":[]},
 {"type":"tool-invocation","toolInvocation":{"state":"result","toolCallId":"c3","toolName":"add","args":{},"result":"3"}},
 {"type":"text","text":"ok"}]}]}"#;

fn take(text: &str) -> Transcript<'_> {
    let transcript = read(text.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.format, Format::UiMessages);
    assert!(transcript.warnings.is_empty());
    transcript
}

fn census(text: &str) -> Census {
    Census::of(&take(text).outline, Format::UiMessages)
}

#[test]
fn a_tool_part_is_a_call_and_its_result() {
    let census = census(CHAT);
    assert_eq!((census.messages, census.tool_calls, census.tool_results, census.errors), (6, 4, 3, 1));
    assert_eq!((census.unpaired_results, census.unanswered_calls, census.images), (0, 1, 1));
    assert_eq!(census.chars["tool_result"], r#"{"hits":[1,2]}404none"#.len() as u64);
    assert_eq!(census.chars["tool_call"], r#"{"q":"x"}{}{"q":"y"}{"q":"z"}"#.len() as u64);
    assert_eq!((census.chars["reasoning"], census.chars["assistant"]), (2, 9));
    let transcript = take(CHAT);
    let outline = &transcript.outline;
    assert_eq!(outline.tool(transcript.find_part("c1").unwrap()), Some("search"));
    assert_eq!(outline.tool(transcript.find_part("c2").unwrap()), Some("fetch"));
    assert_eq!(outline.time(MessageIx(0)), Some(1_700_000_000_000));
}

#[test]
fn the_shapes_of_the_fourth_version_are_known() {
    let census = census(FOURTH);
    assert_eq!((census.messages, census.tool_calls, census.tool_results), (5, 3, 2));
    assert_eq!((census.unanswered_calls, census.images, census.errors), (1, 1, 0));
    assert_eq!((census.chars["assistant"], census.chars["reasoning"]), (6, 2), "content repeats the parts");
    assert_eq!(take(FOURTH).outline.time(MessageIx(0)), Some(1_893_456_000_000));
}

#[test]
fn a_cut_changes_nothing_but_the_output() {
    for (text, id, old, new) in [
        (CHAT, "c1", r#"{"hits": [1, 2]}"#, r#"{"output":"[cleared]"}"#),
        (CHAT, "c3", r#""output":"none""#, r#""output":"[cleared]""#),
        (FOURTH, "c1", r#""result":2"#, r#""result":"[cleared]""#),
        (FOURTH, "c3", r#""result":"3""#, r#""result":"[cleared]""#),
    ] {
        let transcript = take(text);
        let part = transcript.find_part(id).unwrap();
        let cut = Rendering { part, action: Action::Clear, placeholder: "[cleared]" };
        assert_eq!(transcript.apply([], 0).unwrap().to_vec(), text.as_bytes());
        let cleared = String::from_utf8(transcript.apply([cut], 0).unwrap().to_vec()).unwrap();
        assert_eq!(cleared, text.replace(old, new));
        assert_eq!(take(&cleared).text_of(part), "[cleared]");
        assert_eq!(Census { chars: census(text).chars, ..census(&cleared) }, census(text));
    }
}

#[test]
fn others_are_left_to_others() {
    for (text, format) in [
        (r#"[{"info":{"id":"m"},"parts":[{"type":"text","text":"x"}]}]"#, Some(Format::OpenCode)),
        (
            r#"[{"id":"a","role":"user","content":{"parts":[{"type":"text","text":"x"}]}}]"#,
            Some(Format::Qwery),
        ),
        (r#"[{"role":"user","content":"x"}]"#, Some(Format::OpenClaw)),
        (r#"[{"role":"user","parts":[{"text":"x"}]}]"#, Some(Format::OpenClaw)),
        (
            r#"[{"role":"system","content":"x"},{"role":"user","parts":[{"type":"text","text":"x"}]}]"#,
            Some(Format::UiMessages),
        ),
        (
            r#"{"id":"chat","messages":[{"id":"m","role":"user","parts":[]}],"trigger":"submit"}"#,
            Some(Format::UiMessages),
        ),
    ] {
        assert_eq!(Format::detect(text.as_bytes()).ok(), format, "{text}");
    }
}

#[test]
fn odd_parts_do_not_take_the_others_with_them() {
    let odd = r#"[{"id":1,"role":7,"parts":[5,null,{"type":"tool-"},{"type":9},{"type":"tool-invocation"},
        {"type":"tool-x","state":"output-available","input":null},{"type":"text","text":"still here"}]},"x"]"#;
    let transcript = take(odd);
    let last = PartIx(transcript.outline.part_count() as u32 - 1);
    assert_eq!(transcript.text_of(last), "still here");
    assert_eq!(transcript.outline.message_count(), 2);
}

#[test]
fn however_little_is_there_is_read_and_left_as_it_is() {
    for text in [CHAT, FOURTH] {
        for end in 1..text.len() {
            let bytes = &text.as_bytes()[..end];
            let Ok(transcripts) = read_all_as(bytes, Format::UiMessages, &Measures::default()) else {
                continue;
            };
            for transcript in transcripts {
                assert_eq!(transcript.apply([], 0).unwrap().to_vec(), bytes);
                assert!(transcript.outline.parts().all(|part| transcript.text_of(part).len() <= end));
            }
        }
    }
}
