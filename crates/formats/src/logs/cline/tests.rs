use secateur::{Action, Measures, MessageIx};

use crate::{Census, Format, Rendering, Transcript, read};

fn transcript(text: &str) -> Transcript<'_> {
    let transcript = read(text.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.format, Format::Cline);
    assert!(transcript.warnings.is_empty(), "{:?}", transcript.warnings);
    transcript
}

fn census(text: &str) -> Census {
    Census::of(&transcript(text).outline, Format::Cline)
}

const SESSION: &str = r#"{"version":1,"agent":"lead","sessionId":"s1","messages":[
 {"id":"m1","role":"user","content":[{"type":"text","text":"fix @a.rs"},{"type":"file","path":"/a.rs","content":"fn main"}],"ts":5},
 {"id":"m2","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"Reading."},
  {"type":"tool_use","id":"c1","name":"read_files","input":{ "files": [] }},{"type":"tool_use","id":"c2","name":"run","input":{}}],
  "modelInfo":{"id":"maker/m-1"},"metrics":{"inputTokens":100,"outputTokens":7,"cacheReadTokens":60,"cacheWriteTokens":0,"cost":0.1}},
 {"id":"m3","role":"user","content":[
  {"type":"tool_result","tool_use_id":"c1","name":"read_files","content":[{"query":"/a.rs","result":"one","success":true},{"query": "b"}]},
  {"type":"tool_result","tool_use_id":"c2","content":"two","is_error":true}]}
],"system_prompt":"You help."}"#;

const ARRAY: &str = r#"[{"role":"user","content":[{"type":"text","text":"<task>fix</task>"},{"type":"text","text":"<environment_details>\nTabs"},
  {"type":"image","source":{"type":"base64","data":"AAAA"}}]},
 {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read_file","input":{"path":"a.rs"}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"one"}]}]},
 {"role":"assistant","content":"Done."}]"#;

#[test]
fn a_session_is_counted() {
    let census = census(SESSION);
    assert_eq!((census.messages, census.tool_calls, census.tool_results, census.errors), (5, 2, 2, 1));
    assert_eq!((census.chars["system"], census.chars["user"], census.chars["user_meta"]), (9, 9, 7));
    let list = concat!(r#"{"query":"/a.rs","result":"one","success":true}"#, "\n", r#"{"query":"b"}"#);
    assert_eq!(census.chars["tool_result"], list.len() as u64 + 3);
    assert_eq!((census.sum_input_tokens, census.sum_cache_read, census.sum_output_tokens), (100, 60, 7));
    let transcript = transcript(SESSION);
    assert_eq!(transcript.outline.model_calls()[0].usage.input, 40);
    assert_eq!(transcript.outline.time(MessageIx(1)), Some(5));
    let origin = &transcript.origin;
    assert_eq!((origin.session.as_deref(), origin.model.as_deref()), (Some("s1"), Some("maker/m-1")));
    assert_eq!(origin.version.as_deref(), Some("1"));
}

#[test]
fn the_bare_array_of_the_extension_is_read() {
    let census = census(ARRAY);
    assert_eq!((census.messages, census.tool_calls, census.tool_results, census.images), (4, 1, 1, 1));
    assert_eq!((census.chars["user"], census.chars["user_meta"], census.chars["assistant"]), (16, 26, 5));
}

#[test]
fn arrays_of_others_are_left_to_them() {
    for text in [
        r#"[{"role":"user","content":"hi"}]"#,
        r#"[{"role":"assistant","content":[{"type":"toolCall","id":"c"}]},{"role":"toolResult","toolCallId":"c","content":[]}]"#,
    ] {
        assert_eq!(Format::detect(text.as_bytes()), Ok(Format::OpenClaw), "{text}");
    }
    let request = r#"{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}"#;
    assert_ne!(Format::detect(request.as_bytes()), Ok(Format::Cline));
}

#[test]
fn a_cut_changes_its_content_and_nothing_else() {
    for (text, old, new) in [
        (
            SESSION,
            r#"[{"query":"/a.rs","result":"one","success":true},{"query": "b"}]"#,
            r#"[{"type":"text","text":"[cleared]"}]"#,
        ),
        (ARRAY, r#"[{"type":"text","text":"one"}]"#, r#"[{"type":"text","text":"[cleared]"}]"#),
    ] {
        let transcript = transcript(text);
        assert_eq!(transcript.apply([], 0).unwrap().to_vec(), text.as_bytes());
        let part = transcript.find_part("c1").unwrap();
        let cut = Rendering { part, action: Action::Clear, placeholder: "[cleared]" };
        let after = String::from_utf8(transcript.apply([cut], 0).unwrap().to_vec()).unwrap();
        assert_eq!(after, text.replace(old, new));
        let before = census(text);
        assert_eq!(Census { chars: before.chars.clone(), ..census(&after) }, before);
    }
}

#[test]
fn odd_messages_are_passed_over() {
    let text = r#"{"sessionId":"s","system_prompt":7,"messages":[{"role":"user","content":"hi"},3,{},
        {"role":"robot","content":5,"metrics":[]},{"role":"assistant","content":[1,{},{"type":"tool_use"},
        {"type":"tool_result"},{"type":"text"}],"modelInfo":"m","metrics":{"inputTokens":0}}]}"#;
    let census = census(text);
    assert_eq!((census.messages, census.tool_calls, census.api_calls_with_usage), (2, 1, 0));
}
