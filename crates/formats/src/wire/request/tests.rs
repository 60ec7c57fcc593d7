//! One conversation on every wire, and what each wire has of its own.

use secateur::{Action, Measures, PLACEHOLDER, PartIx, PartKind, Role, SurrogatePairs, ToolStatus};

use crate::cut::Rendering;
use crate::format::Format;
use crate::read::read_as;
use crate::transcript::Transcript;
use crate::wire_spec::Wire;

const ANTHROPIC: &str = r#"{"model": "claude-x", "max_tokens": 10, "system": [{"type":"text","text":"Be kind."}],
 "tools": [{"name":"read","input_schema":{"type":"object"}}], "messages": [
  {"role":"user","content":"Look\u0020there."},
  {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},
    {"type":"redacted_thinking","data":"cmVk"}, {"type":"text","text":"I look."},
    {"type":"tool_use","id":"t1","name":"read","input":{"path": "a.rs", "n": 1.50}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[
    {"type":"text","text":"one"}, {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"},
      "cache_control":{"type":"ephemeral"}}]}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t0","content":"two"},{"type":"text","text":"And?"},
    {"type":"image","source":{"type":"url","url":"https://example.org/a.png"}},
    {"type":"search_result","title":"x"}, {"type":"tool_result","tool_use_id":"t9"}]}]}"#;

const CHAT: &str = r#"{"model":"gpt-x","messages":[
  {"role":"developer","content":"Be kind."},
  {"role":"user","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
  {"role":"assistant","content":null,"reasoning_content":"Hm.","tool_calls":[
    {"id":"t1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.rs\"}"}},
    {"id":"t2","type":"custom","custom":{"name":"patch","input":"*** a"}}]},
  {"role":"tool","tool_call_id":"t1","content":"one"},
  {"role":"tool","tool_call_id":"t2","content":[{"type":"text","text":"two"}]},
  {"role":"assistant","content":"Done.","function_call":{"name":"old","arguments":"{}"}},
  {"role":"function","name":"old","content":"three"}]}"#;

const RESPONSES: &str = r#"{"model":"gpt-x","instructions":"Be kind.","input":[
  {"role":"user","content":"Look."},
  {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"ZW5j"},
  {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},
  {"type":"function_call","call_id":"t1","name":"read","arguments":"{\"path\":\"a.rs\"}"},
  {"type":"custom_tool_call","call_id":"t2","name":"patch","input":"*** a"},
  {"type":"function_call_output","call_id":"t1","output":"one"},
  {"type":"custom_tool_call_output","call_id":"t2","output":[{"type":"input_text","text":"two"},
    {"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},
  {"type":"item_reference","id":"msg_1"}, {"type":"web_search_call","id":"ws_1"},
  {"type":"computer_call_output","call_id":"t5","output":{"type":"computer_screenshot"}},
  {"type":"message","role":"user","content":[{"type":"input_text","text":"And?"}]}]}"#;

const GEMINI: &str = r#"{"systemInstruction":{"parts":[{"text":"Be kind."}]},"contents":[
  {"parts":[{"text":"Look."},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},
  {"role":"model","parts":[{"text":"Hm.","thought":true},{"functionCall":{"name":"read","args":{"n":1}},"thoughtSignature":"c2ln"},
    {"function_call":{"name":"read","args":{"n":2}}}, {"functionCall":{"id":"x","name":"list"}}]},
  {"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"one"}}},
    {"functionResponse":{"name":"read","response":{"lines":[1, 2]},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA"}}]}},
    {"functionResponse":{"id":"x","name":"list","response":{"output":"three"}}}]},
  {"role":"model","parts":[{"executableCode":{"code":"1"}},{"text":"Done."}]}]}"#;

/// The conversation of each wire.
pub(crate) const ALL: [(Wire, &str); 4] = [
    (Wire::Anthropic, ANTHROPIC),
    (Wire::OpenAiChat, CHAT),
    (Wire::OpenAiResponses, RESPONSES),
    (Wire::Gemini, GEMINI),
];

fn read(wire: Wire, body: &str) -> Transcript<'_> {
    let transcript = read_as(body.as_bytes(), Format::Request(wire), &Measures::default()).unwrap();
    assert_eq!(transcript.warnings, []);
    transcript
}

/// The shape of a transcript: the role of each message, and the kind and call id of each of its parts.
fn shape(transcript: &Transcript<'_>) -> String {
    let outline = &transcript.outline;
    let part = |part: PartIx| {
        let call = outline.ids().text(outline.call(part)).map_or_else(String::new, |id| format!(":{id}"));
        format!("{:?}{call}", outline.kind(part))
    };
    let message = |message| {
        let parts: Vec<String> = outline.parts_of(message).map(|index| part(PartIx(index))).collect();
        format!("{:?} {}", outline.role(message), parts.join(" "))
    };
    outline.messages().map(message).collect::<Vec<_>>().join("\n")
}

fn cut_all(transcript: &Transcript<'_>, action: Action, placeholder: &'static str) -> String {
    let outline = &transcript.outline;
    let is_cut =
        |&part: &PartIx| outline.kind(part) == PartKind::Result && transcript.content(part).is_some();
    let cuts = outline.parts().filter(is_cut).map(|part| Rendering { part, action, placeholder });
    String::from_utf8(transcript.apply(cuts, 0).unwrap().to_vec()).unwrap()
}

#[test]
fn each_wire_has_its_shape() {
    let shapes = ALL.map(|(wire, body)| shape(&read(wire, body)));
    assert_eq!(
        shapes[0],
        "System Text\nUser Text\nAssistant Reasoning Signature Signature Text Call:t1\nTool Result:t1\n\
         User Result:t0 Text Media Other Result:t9"
    );
    assert_eq!(
        shapes[1],
        "System Text\nUser Text Media\nAssistant Reasoning Call:t1 Call:t2\nTool Result:t1\nTool Result:t2\n\
         Assistant Text Call:old#1\nTool Result:old#1"
    );
    assert_eq!(
        shapes[2],
        "System Text\nUser Text\nAssistant Reasoning Signature Text Call:t1 Call:t2\nTool Result:t1\n\
         Tool Result:t2\nAssistant Other Other Other\nUser Text"
    );
    assert_eq!(
        shapes[3],
        "System Text\nUser Text Media\nAssistant Reasoning Call:read#1 Signature Call:read#2 Call:x\n\
         Tool Result:read#1 Result:read#2 Result:x\nAssistant Other Text"
    );
}

#[test]
fn facts_are_taken_from_the_blocks() {
    let transcript = read(Wire::Anthropic, ANTHROPIC);
    let outline = &transcript.outline;
    let result = transcript.find_part("t1").unwrap();
    assert_eq!((outline.status(result), outline.tool(result)), (ToolStatus::Error, Some("read")));
    assert_eq!((outline.images(result), outline.units(result)), (1, 3));
    assert_eq!(transcript.origin.model.as_deref(), Some("claude-x"));
    assert_eq!(outline.users().len(), 2);
    let gemini = read(Wire::Gemini, GEMINI);
    assert_eq!(gemini.outline.images(gemini.find_part("read#2").unwrap()), 1);
    assert_eq!(gemini.origin.model, None);
}

#[test]
fn a_question_alone_is_a_conversation() {
    let responses = read(Wire::OpenAiResponses, r#"{"model":"m","input":"Hello"}"#);
    assert_eq!((shape(&responses), responses.content(PartIx(0))), ("User Text".into(), Some("\"Hello\"")));
    let gemini = read(Wire::Gemini, r#"{"contents":{"parts":{"text":"Hello"}}}"#);
    assert_eq!(shape(&gemini), "User Text");
}

#[test]
fn nothing_cut_is_nothing_changed() {
    for (wire, body) in ALL {
        assert_eq!(read(wire, body).apply([], 0).unwrap().to_vec(), body.as_bytes(), "{wire}");
    }
}

#[test]
fn a_cleared_result_changes_nothing_else() {
    let cut = cut_all(&read(Wire::Anthropic, ANTHROPIC), Action::Clear, "[cleared]");
    let before = read(Wire::Anthropic, ANTHROPIC);
    let list = before.content(before.find_part("t1").unwrap()).unwrap();
    let left = r#"[{"type":"text","text":"[cleared]","cache_control":{"type":"ephemeral"}}]"#;
    assert_eq!(cut, ANTHROPIC.replace(list, left).replace("\"two\"", "\"[cleared]\""));

    let cut = cut_all(&read(Wire::OpenAiChat, CHAT), Action::Clear, "[cleared]");
    let left = CHAT.replace("\"one\"", "\"[cleared]\"").replace("\"two\"", "\"[cleared]\"");
    assert_eq!(cut, left.replace("\"three\"", "\"[cleared]\""));

    let cut = cut_all(&read(Wire::Gemini, GEMINI), Action::Clear, "[cleared]");
    let left = GEMINI.replace(r#"{"output":"one"}"#, r#"{"output":"[cleared]"}"#);
    let left = left.replace(r#"{"lines":[1, 2]}"#, r#"{"output":"[cleared]"}"#);
    let left = left.replace(r#"[{"inlineData":{"mimeType":"image/png","data":"AA"}}]"#, "[]");
    assert_eq!(cut, left.replace("\"three\"", "\"[cleared]\""));
}

#[test]
fn every_action_leaves_a_request() {
    let trim = Action::Trim { head: 1, tail: 1, pairs: SurrogatePairs::Whole };
    for (wire, body) in ALL {
        let before = read(wire, body);
        for (action, placeholder) in
            [(Action::Clear, "[cleared]"), (Action::Clear, ""), (trim, ""), (Action::DropMedia, "")]
        {
            let cut = cut_all(&before, action, placeholder);
            let after = read(wire, &cut);
            assert!(serde_json::from_str::<serde_json::Value>(&cut).is_ok(), "{wire} {action:?}");
            assert!(!cut.contains(r#""text":"""#), "{wire} {action:?}");
            assert_eq!(shape(&after), shape(&before), "{wire} {action:?}");
            let results = after.outline.parts().filter(|&part| after.outline.kind(part) == PartKind::Result);
            assert_eq!(results.map(|part| after.outline.images(part)).sum::<u64>(), 0, "{wire} {action:?}");
        }
    }
}

#[test]
fn dropping_media_keeps_texts_and_cache_marks() {
    let cut = cut_all(&read(Wire::Anthropic, ANTHROPIC), Action::DropMedia, "");
    assert!(cut.contains(r#"{"type":"text","text":"one"}"#) && cut.contains("\"content\":\"two\""), "{cut}");
    assert_eq!(cut.matches("ephemeral").count(), 1);
}

#[test]
fn dropping_media_keeps_what_stands_beside_them() {
    let cut = cut_all(&read(Wire::Gemini, GEMINI), Action::DropMedia, "");
    assert_eq!(cut, GEMINI.replace(r#"[{"inlineData":{"mimeType":"image/png","data":"AA"}}]"#, "[]"));
}

#[test]
fn what_failed_is_never_silent() {
    let cut = cut_all(&read(Wire::Anthropic, ANTHROPIC), Action::Clear, " ");
    assert!(cut.contains(PLACEHOLDER), "{cut}");
    assert!(cut.contains(r#""tool_use_id":"t0","content":" ""#), "{cut}");
}

#[test]
fn an_empty_list_becomes_a_text() {
    let body = r#"{"model":"m","input":[{"type":"function_call_output","call_id":"t","output":[ ]}]}"#;
    let cut = cut_all(&read(Wire::OpenAiResponses, body), Action::Clear, "gone");
    assert_eq!(cut, body.replace("[ ]", "\"gone\""));
}

#[test]
fn a_body_that_breaks_off_is_read_as_far_as_it_goes() {
    for (wire, body) in ALL {
        let broken = &body[..body.len() - 3];
        let bytes = broken.as_bytes();
        let transcript = read_as(bytes, Format::Request(wire), &Measures::default()).unwrap();
        assert_eq!(transcript.warnings.len(), 1, "{wire}");
        assert!(transcript.outline.message_count() >= 3, "{wire}");
        assert_eq!(transcript.apply([], 0).unwrap().to_vec(), bytes);
    }
}

#[test]
fn nonsense_is_no_panic() {
    for body in [
        r#"{"messages":[1,null,{},{"role":3,"content":{}},{"role":"user","content":[1,{"type":"tool_result"}]}]}"#,
        r#"{"input":[1,{"type":"function_call"},{"type":"function_call_output"},{"type":"reasoning","summary":1}]}"#,
        r#"{"contents":[1,{"parts":1},{"parts":[1,{"functionCall":1},{"functionResponse":[]}]}]}"#,
        r#"{"messages":"x","input":7,"contents":null,"system":3}"#,
        "[]",
    ] {
        for wire in Wire::ALL {
            let bytes = body.as_bytes();
            let transcript = read_as(bytes, Format::Request(wire), &Measures::default()).unwrap();
            assert_eq!(transcript.apply([], 0).unwrap().to_vec(), bytes);
            assert!(
                transcript.outline.messages().all(|message| transcript.outline.role(message) != Role::System
                    || transcript.outline.parts_of(message).len() == 1)
            );
        }
    }
}
