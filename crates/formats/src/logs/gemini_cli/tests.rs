use secateur::{Action, Measures, MessageIx, ToolStatus};

use crate::{Census, Format, Rendering, Transcript, read};

fn transcript(text: &str) -> Transcript<'_> {
    let transcript = read(text.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.format, Format::GeminiCli);
    transcript
}

fn census(text: &str) -> Census {
    Census::of(&transcript(text).outline, Format::GeminiCli)
}

/// The texts that the next request holds.
fn context(text: &str) -> Vec<String> {
    let context = transcript(text).context(None);
    let parts = context.outline.parts();
    parts.map(|part| crate::content::text(context.content(part).unwrap_or_default()).into_owned()).collect()
}

const CHAT: &str = r#"{
  "sessionId": "s1",
  "projectHash": "abc",
  "messages": [
    {"id":"a","timestamp":"2026-01-15T20:51:48.582Z","type":"user","content":"list it"},
    {"id":"b","timestamp":"2026-01-15T20:51:52.837Z","type":"gemini","content":"",
     "thoughts":[{"subject":"Plan","description":"I list.","timestamp":"x"}],
     "tokens":{"input":100,"output":7,"cached":60,"thoughts":5,"tool":0,"total":112},"model":"m-1",
     "toolCalls":[
       {"id":"c1","name":"read_file","args":{"file_path": "a"},"status":"success","resultDisplay":"shown",
        "result":[{"functionResponse":{"id":"c1","name":"read_file","response":{"output":"one\ntwo"}}},
                  {"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},
       {"id":"c2","name":"shell","args":{},"status":"cancelled",
        "result":[{"functionResponse":{"id":"c2","name":"shell","response":{"error": "no"}}}]},
       {"id":"c3","name":"shell","args":{},"status":"executing"}]},
    {"id":"i","type":"info","content":"An update is there."},
    {"id":"d","type":"gemini","content":"Done.","tokens":{"input":0,"output":0,"cached":0}}
  ]
}"#;

#[test]
fn a_chat_is_counted() {
    let census = census(CHAT);
    assert_eq!((census.messages, census.tool_calls, census.tool_results), (4, 3, 2));
    assert_eq!((census.unanswered_calls, census.errors, census.images), (1, 1, 1));
    assert_eq!(census.chars["reasoning"], 11);
    assert_eq!(census.chars["tool_result"], 7 + 2);
    assert_eq!(census.chars["assistant"], 5);
    assert_eq!((census.api_calls_with_usage, census.sum_input_tokens, census.sum_cache_read), (1, 100, 60));
    let transcript = transcript(CHAT);
    assert_eq!(transcript.outline.model_calls()[0].usage.input, 40);
    assert_eq!(transcript.outline.time(MessageIx(0)), Some(1_768_510_308_582));
    assert_eq!(transcript.origin.session.as_deref(), Some("s1"));
    assert_eq!(transcript.origin.model.as_deref(), Some("m-1"));
    let cancelled = transcript.find_part("c2").unwrap();
    assert_eq!(transcript.outline.status(cancelled), ToolStatus::Error);
}

#[test]
fn a_cut_changes_its_content_and_nothing_else() {
    let transcript = transcript(CHAT);
    assert_eq!(transcript.apply([], 0).unwrap().to_vec(), CHAT.as_bytes());
    let part = transcript.find_part("c1").unwrap();
    let cut = Rendering { part, action: Action::Clear, placeholder: "[cleared]" };
    let after = String::from_utf8(transcript.apply([cut], 0).unwrap().to_vec()).unwrap();
    assert_eq!(after, CHAT.replace(r#"{"output":"one\ntwo"}"#, r#"{"output":"[cleared]"}"#));
    let before = census(CHAT);
    assert_eq!(Census { chars: before.chars.clone(), ..census(&after) }, before);
}

#[test]
fn a_chat_that_breaks_off_keeps_what_was_whole() {
    let broken = &CHAT[..CHAT.find("An update").unwrap()];
    let transcript = transcript(broken);
    assert_eq!(transcript.outline.message_count(), 2);
    assert_eq!(transcript.warnings.len(), 1);
}

const HEAD: &str = r#"{"sessionId":"s1","projectHash":"abc","startTime":"2026-01-15T20:51:48Z","directories":["/home/ann/toy"]}"#;

fn line(id: &str, kind: &str, content: &str) -> String {
    format!(r#"{{"id":"{id}","type":"{kind}","content":"{content}"}}"#)
}

#[test]
fn the_last_version_of_a_message_counts() {
    let text =
        [HEAD, &line("a", "user", "hi"), &line("b", "gemini", ""), &line("b", "gemini", "hello")].join("\n");
    assert_eq!(context(&text), ["hi", "hello"]);
    assert_eq!(census(&text).messages, 2);
    assert_eq!(transcript(&text).origin.project.as_deref(), Some("/home/ann/toy"));
    assert_eq!(transcript(&text).apply([], 0).unwrap().to_vec(), text.as_bytes());
}

#[test]
fn going_back_leaves_what_followed() {
    let rewind = r#"{"$rewindTo":"b"}"#;
    let lines =
        [HEAD, &line("a", "user", "one"), &line("b", "user", "two"), &line("c", "gemini", "no"), rewind];
    let text = lines.join("\n") + "\n";
    assert_eq!(context(&text), ["one"]);
    let more = text.clone() + &line("b", "user", "again");
    assert_eq!(context(&more), ["one", "again"]);
    assert_eq!(census(&more).messages, 4);
    assert_eq!(transcript(&more).outline.gone(MessageIx(2)), Some(MessageIx(3)));
    let unknown = text + r#"{"$rewindTo":"zzz"}"#;
    assert_eq!(context(&unknown), [""; 0]);
}

#[test]
fn a_new_list_replaces_what_is_sent() {
    let set = format!(
        r#"{{"$set":{{"summary":"Toy","messages":[{},{}]}}}}"#,
        line("s", "user", "so far"),
        line("b", "user", "two")
    );
    let lines =
        [HEAD, &line("a", "user", "one"), &line("b", "user", "two"), &set, &line("c", "gemini", "three")];
    let text = lines.join("\n");
    let mut sent = context(&text);
    sent.sort();
    assert_eq!(sent, ["so far", "three", "two"]);
    assert_eq!(census(&text).messages, 4);
    assert_eq!(transcript(&text).origin.title.as_deref(), Some("Toy"));
}

#[test]
fn odd_messages_are_passed_over() {
    let text = r#"{"sessionId":5,"projectHash":"x","directories":{},"messages":[1,{},{"type":"gemini"},
        {"type":"gemini","content":{},"thoughts":[1,{}],"toolCalls":[2,{},{"result":[3]},{"result":{}}],"tokens":[]},
        {"type":"user"}]}"#;
    let transcript = transcript(text);
    assert!(transcript.warnings.is_empty(), "{:?}", transcript.warnings);
    assert_eq!(transcript.outline.message_count(), 3);
    let lines =
        [HEAD, "7", r#"{"$set":5}"#, r#"{"$rewindTo":{}}"#, "{oops", &line("a", "user", "one")].join("\n");
    assert_eq!(context(&lines), ["one"]);
}
