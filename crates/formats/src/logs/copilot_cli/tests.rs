use secateur::{Action, Measures, MessageIx};

use crate::{Census, Format, Rendering, Transcript, read};

fn log(events: &[(&str, &str)]) -> String {
    let event = |(index, (kind, data)): (usize, &(&str, &str))| {
        let time = "2026-06-23T23:33:07.454Z";
        format!(r#"{{"type":"{kind}","data":{data},"id":"e{index}","timestamp":"{time}","parentId":null}}"#)
    };
    let start =
        r#"{"sessionId":"s1","version":1,"copilotVersion":"1.0.64","context":{"cwd":"/home/ann/toy"}}"#;
    let events = [&[("session.start", start)], events].concat();
    events.iter().enumerate().map(event).collect::<Vec<_>>().join("\n") + "\n"
}

fn transcript(text: &str) -> Transcript<'_> {
    let transcript = read(text.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.format, Format::CopilotCli);
    assert!(transcript.warnings.is_empty(), "{:?}", transcript.warnings);
    transcript
}

fn census(text: &str) -> Census {
    Census::of(&transcript(text).outline, Format::CopilotCli)
}

const USER: (&str, &str) = (
    "user.message",
    r#"{"content":"hello","transformedContent":"<time>now</time>\nhello","attachments":[]}"#,
);
const CALLS: (&str, &str) = (
    "assistant.message",
    r#"{"model":"m-1","content":"","toolRequests":[{"toolCallId":"c1","name":"view","arguments":{"path": "/a"}},{"toolCallId":"c2","name":"bash","arguments":{}}],"reasoningText":"hm"}"#,
);
const RESULT: (&str, &str) = (
    "tool.execution_complete",
    r#"{"toolCallId":"c1","success":true,"result":{"content":"1. one","detailedContent":"a long diff"}}"#,
);
const ERROR: (&str, &str) = (
    "tool.execution_complete",
    r#"{"toolCallId":"c2","success":false,"error":{"message": "no", "code":"failure"}}"#,
);

#[test]
fn events_are_counted() {
    let text = log(&[("hook.start", r#"{"input":{"toolResult":"1. one"}}"#), USER, CALLS, RESULT, ERROR]);
    let census = census(&text);
    assert_eq!((census.messages, census.tool_calls, census.tool_results, census.errors), (4, 2, 2, 1));
    assert_eq!((census.unpaired_results, census.unanswered_calls), (0, 0));
    assert_eq!((census.chars["user"], census.chars["assistant"], census.chars["reasoning"]), (5, 0, 2));
    assert_eq!(census.chars["tool_result"], 6 + r#"{"message":"no","code":"failure"}"#.len() as u64);
    assert_eq!(census.api_calls_with_usage, 0);
    let transcript = transcript(&text);
    let origin = &transcript.origin;
    assert_eq!((origin.session.as_deref(), origin.model.as_deref()), (Some("s1"), Some("m-1")));
    assert_eq!(
        (origin.version.as_deref(), origin.project.as_deref()),
        (Some("1.0.64"), Some("/home/ann/toy"))
    );
    assert_eq!(transcript.outline.time(MessageIx(0)), Some(1_782_257_587_454));
    let result = transcript.find_part("c1").unwrap();
    assert_eq!(transcript.outline.tool(result), Some("view"));
}

#[test]
fn what_is_put_around_a_users_words_is_told_apart() {
    let text = log(&[USER]);
    let transcript = transcript(&text);
    let outline = &transcript.outline;
    let mut parts = outline.parts();
    let (said, added) = (parts.next().unwrap(), parts.next().unwrap());
    assert_eq!(transcript.content(said), Some(r#""<time>now</time>\nhello""#));
    assert_eq!((outline.units(said), outline.units(added)), (5, 17));
    assert!(outline.is_injected(added) && !outline.is_injected(said));
    // Without what was sent, what was written has to do.
    assert_eq!(census(&log(&[("user.message", r#"{"content":"hello"}"#)])).chars["user"], 5);
}

#[test]
fn only_the_newest_system_prompt_is_sent() {
    let prompt = ("system.message", r#"{"role":"system","content":"You help."}"#);
    let text = log(&[prompt, USER, prompt, USER]);
    assert_eq!(census(&text).chars["system"], 18);
    let outline = transcript(&text).outline;
    assert_eq!(outline.context(None), [MessageIx(1), MessageIx(2), MessageIx(3)]);
}

#[test]
fn a_summary_replaces_what_was_said() {
    let prompt = ("system.message", r#"{"content":"You help."}"#);
    let compaction =
        ("session.compaction_complete", r#"{"success":true,"summaryContent":"so far","tokensRemoved":9}"#);
    let text = log(&[prompt, USER, compaction, USER]);
    let census = census(&text);
    assert_eq!((census.compactions, census.chars["summary"], census.messages), (1, 6, 3));
    let outline = transcript(&text).outline;
    assert_eq!(outline.context(None), [MessageIx(0), MessageIx(2), MessageIx(3)]);
    // One that failed did nothing, and one without a summary does not say what it dropped.
    let failed = ("session.compaction_complete", r#"{"success":false,"error":"no"}"#);
    let silent = ("session.compaction_complete", r#"{"success":true}"#);
    let text = log(&[USER, failed, silent, USER]);
    assert_eq!(Census::of(&transcript(&text).outline, Format::CopilotCli).compactions, 1);
    assert!(transcript(&text).outline.context(None).contains(&MessageIx(0)));
}

#[test]
fn what_a_subagent_says_is_not_in_the_context() {
    let inner = ("assistant.message", r#"{"content":"inside","parentToolCallId":"c1"}"#);
    let text = log(&[USER, CALLS, inner, RESULT]);
    let outline = transcript(&text).outline;
    assert_eq!(outline.context(None), [MessageIx(0), MessageIx(1), MessageIx(3)]);
    assert_eq!(census(&text).chars["assistant"], 6);
}

#[test]
fn a_cut_changes_its_content_and_nothing_else() {
    let text = log(&[USER, CALLS, RESULT, ERROR]);
    let transcript = transcript(&text);
    assert_eq!(transcript.apply([], 0).unwrap().to_vec(), text.as_bytes());
    let part = transcript.find_part("c1").unwrap();
    let cut = Rendering { part, action: Action::Clear, placeholder: "[cleared]" };
    let after = String::from_utf8(transcript.apply([cut], 0).unwrap().to_vec()).unwrap();
    assert_eq!(after, text.replace(r#""1. one""#, r#""[cleared]""#));
    let before = census(&text);
    assert_eq!(Census { chars: before.chars.clone(), ..census(&after) }, before);
}

#[test]
fn odd_events_are_passed_over() {
    let text = log(&[
        ("user.message", "[]"),
        ("user.message", "{}"),
        ("assistant.message", r#"{"content":{},"toolRequests":{"a":1},"reasoningText":5}"#),
        ("assistant.message", r#"{"toolRequests":[1,{}]}"#),
        ("tool.execution_complete", r#"{"result":5}"#),
        ("session.compaction_complete", r#"{"summaryContent":{}}"#),
    ]);
    assert_eq!(census(&text).tool_calls, 1);
}
