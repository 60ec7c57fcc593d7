//! One conversation from each wire to each wire, and what gets lost on the way.

use secateur::{Action, Measures, MessageFacts, PartFacts, PartKind, Role};
use serde_json::Value;

use super::properties::faults;
use super::{RenderOptions, Rendered, render};
use crate::cut::{Rendering, Spot};
use crate::draft::TranscriptDraft;
use crate::format::Format;
use crate::read::read_as;
use crate::transcript::Transcript;
use crate::wire::request::tests::ALL;
use crate::wire_spec::Wire;

const OPTIONS: RenderOptions<'static> = RenderOptions::new("m");

fn read(wire: Wire, body: &str) -> Transcript<'_> {
    read_as(body.as_bytes(), Format::Request(wire), &Measures::default()).unwrap()
}

fn rendered(from: Wire, to: Wire) -> Rendered {
    let (_, body) = ALL.into_iter().find(|(wire, _)| *wire == from).unwrap();
    render(&read(from, body), to, &OPTIONS, &[])
}

fn turn(from: Wire, body: &str, to: Wire) -> (Value, Vec<(PartKind, &'static str)>) {
    let Rendered { body, losses, .. } = render(&read(from, body), to, &OPTIONS, &[]);
    assert_eq!(faults(to, &body), Vec::<String>::new(), "{body}");
    (serde_json::from_str(&body).unwrap(), losses.iter().map(|loss| (loss.kind, loss.why)).collect())
}

#[test]
fn every_wire_goes_to_every_wire() {
    for from in Wire::ALL {
        for to in Wire::ALL {
            let Rendered { body, losses, .. } = rendered(from, to);
            assert_eq!(faults(to, &body), Vec::<String>::new(), "{from} to {to}: {body}");
            for said in ["Be kind.", "Look", "read", "one"] {
                assert!(body.contains(said), "{from} to {to}: {said} in {body}");
            }
            // Images are translated; only what one provider keeps to itself gets lost.
            assert!(losses.iter().all(|loss| loss.kind != PartKind::Media && loss.bytes > 0), "{losses:?}");
        }
    }
}

#[test]
fn thinking_goes_home_and_nowhere_else() {
    let kept = |from: Wire, to: Wire| {
        let Rendered { body, losses, .. } = rendered(from, to);
        let lost = losses
            .iter()
            .filter(|loss| matches!(loss.kind, PartKind::Reasoning | PartKind::Signature))
            .count();
        (["c2ln", "cmVk", "ZW5j"].iter().filter(|proof| body.contains(**proof)).count(), lost)
    };
    for to in Wire::ALL {
        let is = |home: Wire| to == home;
        assert_eq!(kept(Wire::Anthropic, to), if is(Wire::Anthropic) { (2, 0) } else { (0, 3) }, "{to}");
        assert_eq!(kept(Wire::OpenAiChat, to), (0, 1), "{to}");
        let home = is(Wire::OpenAiResponses);
        assert_eq!(kept(Wire::OpenAiResponses, to), if home { (1, 0) } else { (0, 2) }, "{to}");
        assert_eq!(kept(Wire::Gemini, to), if is(Wire::Gemini) { (1, 0) } else { (0, 2) }, "{to}");
    }
}

#[test]
fn unsigned_thinking_is_lost() {
    let source = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
        {"type":"thinking","thinking":"one","signature":""},{"type":"thinking","thinking":"two"},
        {"type":"text","text":"b"},{"type":"thinking","thinking":"three","signature":"s"}]},
        {"role":"user","content":"c"}]}"#;
    let (body, losses) = turn(Wire::Anthropic, source, Wire::Anthropic);
    assert_eq!(body["messages"][1]["content"].as_array().map(Vec::len), Some(1));
    assert_eq!(losses.len(), 5, "{losses:?}");
}

#[test]
fn exchanges_are_made_whole() {
    let source = r#"{"messages":[
        {"role":"assistant","content":null,"tool_calls":[
            {"id":"a","type":"function","function":{"name":"read","arguments":"{}"}},
            {"id":"b","type":"function","function":{"name":"read","arguments":"{}"}},
            {"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]},
        {"role":"user","content":"wait"},
        {"role":"tool","tool_call_id":"b","content":"of b"},
        {"role":"tool","tool_call_id":"x","content":"of x"},
        {"role":"tool","tool_call_id":"a","content":"of a"}]}"#;
    let (body, losses) = turn(Wire::OpenAiChat, source, Wire::OpenAiChat);
    let said: Vec<String> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            let content = &message["content"];
            format!(
                "{} {}",
                message["role"].as_str().unwrap(),
                content.as_str().map_or(content.to_string(), str::to_owned)
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            "user (start of the conversation)",
            "assistant null",
            "tool of a",
            "tool of b",
            "tool [No result was recorded for this tool call]",
            "user wait",
            r#"user [{"type":"text","text":"[Result of a tool call that is not in this conversation]"},{"type":"text","text":"of x"}]"#,
        ]
    );
    assert_eq!(losses, []);
}

#[test]
fn calls_told_in_several_messages_are_one_batch() {
    let call = |id: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"n","input":{{}}}}]}}"#
        )
    };
    let result = |id: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"of {id}"}}]}}"#
        )
    };
    let source = format!(
        r#"{{"messages":[{},{},{},{},{}]}}"#,
        call("a"),
        call("b"),
        result("a"),
        result("b"),
        call("c")
    );
    let (body, _) = turn(Wire::Anthropic, &source, Wire::Gemini);
    let parts = |index: usize| body["contents"][index]["parts"].as_array().map_or(0, Vec::len);
    assert_eq!([parts(0), parts(1), parts(2), parts(3), parts(4)], [1, 2, 2, 1, 1]);
}

#[test]
fn inputs_keep_their_spelling() {
    let body = rendered(Wire::Anthropic, Wire::Gemini).body;
    assert!(body.contains(r#""args":{"path": "a.rs", "n": 1.50}"#), "{body}");
    let body = rendered(Wire::Anthropic, Wire::OpenAiResponses).body;
    assert!(body.contains(r#""arguments":"{\"path\": \"a.rs\", \"n\": 1.50}""#), "{body}");
    let body = rendered(Wire::OpenAiChat, Wire::OpenAiResponses).body;
    assert!(
        body.contains(r#""type":"custom_tool_call","call_id":"t2","name":"patch","input":"*** a""#),
        "{body}"
    );
    let body = rendered(Wire::OpenAiResponses, Wire::Anthropic).body;
    assert!(body.contains(r#""input":{"input":"*** a"}"#), "{body}");
}

#[test]
fn images_of_answers_follow_where_answers_are_text() {
    let source = r#"{"messages":[{"role":"user","content":"a"},
        {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"see"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
            {"type":"image","source":{"type":"file","file_id":"f"}}]}]}]}"#;
    let (body, losses) = turn(Wire::Anthropic, source, Wire::OpenAiChat);
    assert_eq!(body["messages"][2]["content"], "see\n[A file that cannot be sent here]");
    assert_eq!(body["messages"][3]["content"][1]["image_url"]["url"], "data:image/png;base64,AAAA");
    assert_eq!(losses.len(), 1);
    let (body, _) = turn(Wire::Anthropic, source, Wire::OpenAiResponses);
    assert_eq!(body["input"][2]["output"][1]["type"], "input_image");
}

#[test]
fn instructions_stand_where_the_wire_has_them() {
    let source = r#"{"messages":[{"role":"system","content":"one"},{"role":"user","content":"a"},
        {"role":"developer","content":"two"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}"#;
    let (body, _) = turn(Wire::OpenAiChat, source, Wire::Anthropic);
    assert_eq!((&body["system"], body["messages"].as_array().map(Vec::len)), (&"one\n\ntwo".into(), Some(3)));
    let (body, _) = turn(Wire::OpenAiChat, source, Wire::OpenAiResponses);
    assert_eq!((&body["instructions"], &body["input"][1]["role"]), (&"one".into(), &"developer".into()));
    let (body, _) = turn(Wire::OpenAiChat, source, Wire::OpenAiChat);
    assert_eq!(body["messages"][2]["role"], "system");
    let (body, _) = turn(Wire::OpenAiChat, source, Wire::Gemini);
    assert_eq!(body["systemInstruction"]["parts"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_cut_part_is_rendered_as_its_cut() {
    for (from, body) in ALL {
        let transcript = read(from, body);
        let results =
            transcript.outline.parts().filter(|&part| transcript.outline.kind(part) == PartKind::Result);
        let cuts: Vec<_> =
            results.map(|part| Rendering { part, action: Action::Clear, placeholder: "[cleared]" }).collect();
        for to in Wire::ALL {
            let whole = render(&transcript, to, &OPTIONS, &[]).body;
            let cut = render(&transcript, to, &OPTIONS, &cuts).body;
            assert_eq!(faults(to, &cut), Vec::<String>::new());
            assert!(whole.contains("\"one\"") && !cut.contains("\"one\""), "{from} to {to}: {cut}");
            assert!(cut.contains("[cleared]"), "{from} to {to}: {cut}");
        }
    }
}

#[test]
fn opaque_items_are_named_as_losses() {
    let (_, losses) = turn(Wire::OpenAiResponses, ALL[2].1, Wire::OpenAiResponses);
    assert_eq!(losses, [(PartKind::Other, "only the provider that it was made for can read it"); 3]);
}

#[test]
fn markdown_is_no_json() {
    let text = "[a link](https://example.org) and more\n";
    let measures = Measures::default();
    let mut draft = TranscriptDraft::new(text, &measures);
    draft.push_message(MessageFacts { role: Role::User, ..MessageFacts::default() });
    let facts = PartFacts { kind: PartKind::Text, ..PartFacts::default() };
    draft.push(facts, Spot { content: Some(0..text.len()), ..Spot::default() });
    let spec = Format::Aider.spec();
    let transcript = Transcript::new(Format::Aider, spec, draft, text.as_bytes(), text);
    let body = render(&transcript, Wire::OpenAiChat, &OPTIONS, &[]).body;
    assert!(body.contains(r#""content":"[a link](https://example.org) and more\n""#), "{body}");
}

#[test]
fn an_empty_session_is_a_request() {
    for wire in Wire::ALL {
        let (_, losses) = turn(wire, "{}", wire);
        assert_eq!(losses, []);
    }
}
