use secateur::{Action, Category, Measures, MessageIx, PartIx, PartKind};

use crate::{Census, Format, Rendering, Transcript, read};

fn log(lines: &[&str]) -> String {
    let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/home/ann/toy"}"#;
    [&[header], lines].concat().join("\n") + "\n"
}

fn transcript(text: &str) -> Transcript<'_> {
    let transcript = read(text.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.format, Format::Pi);
    transcript
}

fn census(text: &str) -> Census {
    Census::of(&transcript(text).outline, Format::Pi)
}

/// The texts that the next request holds.
fn context(text: &str) -> Vec<String> {
    let context = transcript(text).context(None);
    let parts = context.outline.parts().filter(|&part| context.outline.kind(part) != PartKind::Compaction);
    parts.map(|part| crate::content::text(context.content(part).unwrap_or_default()).into_owned()).collect()
}

fn user(id: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

const CALL: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"x"},{"type":"text","text":"Looking."},{"type":"toolCall","id":"call_1|u","name":"read","arguments":{ "path": "a.rs" }},{"type":"toolCall","id":"call_2","name":"bash","arguments":{}}],"model":"m-1","usage":{"input":10,"output":5,"cacheRead":80,"cacheWrite":4,"totalTokens":99},"stopReason":"toolUse","timestamp":1767323046500}}"#;
const RESULT: &str = r#"{"type":"message","id":"b","parentId":"a","message":{"role":"toolResult","toolCallId":"call_1|u","toolName":"read","content":[{"type":"text","text":"one"},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"two"}],"details":{"diff":"long long long"},"isError":true,"timestamp":5}}"#;

#[test]
fn calls_results_and_usage_are_counted() {
    let text = log(&[CALL, RESULT]);
    let transcript = transcript(&text);
    let census = census(&text);
    assert_eq!((census.messages, census.tool_calls, census.tool_results), (2, 2, 1));
    assert_eq!(
        (census.unanswered_calls, census.unpaired_results, census.errors, census.images),
        (1, 0, 1, 1)
    );
    assert_eq!((census.peak_context_tokens, census.sum_cache_read, census.sum_output_tokens), (94, 80, 5));
    assert_eq!(census.chars["tool_result"], 7);
    assert_eq!(census.chars["tool_call"], r#"{"path":"a.rs"}{}"#.len() as u64);
    let outline = &transcript.outline;
    assert_eq!(outline.model_calls()[0].time, Some(1_767_323_046_500));
    assert!(outline.is_finished(MessageIx(0)) && !outline.is_failed(MessageIx(0)));
    let origin = &transcript.origin;
    assert_eq!(origin.session.as_deref(), Some("s1"));
    assert_eq!(origin.version.as_deref(), Some("3"));
    assert_eq!(origin.project.as_deref(), Some("/home/ann/toy"));
    assert_eq!(origin.model.as_deref(), Some("m-1"));
}

#[test]
fn an_answer_that_failed_reports_no_usage() {
    let text = log(&[
        r#"{"type":"message","message":{"role":"assistant","content":"oh","stopReason":"error","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}}"#,
    ]);
    assert_eq!(census(&text).api_calls_with_usage, 0);
    assert_eq!(census(&text).chars["assistant"], 2);
    assert!(transcript(&text).outline.is_failed(MessageIx(0)));
}

#[test]
fn what_the_program_says_is_not_the_user() {
    let text = log(&[
        r#"{"type":"custom_message","customType":"note","content":"be brief","display":false}"#,
        r#"{"type":"message","message":{"role":"developer","content":[{"type":"text","text":"todo"}]}}"#,
        r#"{"type":"message","message":{"role":"user","content":"hi"}}"#,
        r#"{"type":"message","message":{"role":"bashExecution","command":"ls","output":"no","exitCode":2}}"#,
        r#"{"type":"message","message":{"role":"bashExecution","command":"env","output":"secret","exitCode":0,"excludeFromContext":true}}"#,
    ]);
    let census = census(&text);
    assert_eq!((census.chars["user_meta"], census.chars["user"], census.chars["tool_result"]), (12, 2, 8));
    assert_eq!(
        (census.tool_calls, census.tool_results, census.unpaired_results, census.errors),
        (0, 2, 0, 1)
    );
    assert_eq!(context(&text), ["be brief", "todo", "hi", "no"]);
}

#[test]
fn only_the_branch_of_the_last_entry_is_sent() {
    let text = log(&[
        &user("a", "s1", "one"),
        &user("b", "a", "left"),
        &user("c", "b", "left, too"),
        r#"{"type":"branch_summary","id":"d","parentId":"a","fromId":"c","summary":"tried"}"#,
        &user("e", "d", "two"),
    ]);
    assert_eq!(context(&text), ["one", "tried", "two"]);
    assert_eq!(census(&text).messages, 5);
    assert_eq!(census(&text).chars["summary"], 5);
    assert_eq!(census(&text).compactions, 0);
    let outline = transcript(&text).outline;
    assert_eq!(outline.gone(MessageIx(1)), Some(MessageIx(3)));
    // Going back to the very beginning leaves everything.
    let again =
        text + r#"{"type":"message","id":"f","parentId":null,"message":{"role":"user","content":"anew"}}"#;
    assert_eq!(context(&again), ["anew"]);
}

#[test]
fn a_branch_may_end_without_a_message() {
    let text = log(&[
        &user("a", "s1", "one"),
        &user("b", "a", "left"),
        r#"{"type":"label","id":"c","parentId":"a"}"#,
    ]);
    assert_eq!(context(&text), ["one"]);
}

#[test]
fn a_parent_that_could_not_be_read_does_not_cut_the_branch() {
    let text = log(&[
        &user("a", "s1", "one"),
        r#"{"type":"message","id":"b","parentId":"a","mess"#,
        &user("c", "b", "two"),
    ]);
    assert_eq!(context(&text), ["one", "two"]);
    assert_eq!(transcript(&text).warnings.len(), 1);
}

#[test]
fn a_compaction_keeps_what_it_names() {
    let text = log(&[
        &user("a", "s1", "one"),
        &user("b", "a", "two"),
        r#"{"type":"compaction","id":"c","parentId":"b","summary":"so far","firstKeptEntryId":"b","tokensBefore":9}"#,
        &user("d", "c", "three"),
    ]);
    assert_eq!(context(&text), ["so far", "two", "three"]);
    assert_eq!(census(&text).compactions, 1);
    assert_eq!(census(&text).chars["summary"], 6);
    let outline = transcript(&text).outline;
    assert_eq!(outline.gone(MessageIx(0)), Some(MessageIx(2)));
    assert_eq!(outline.gone(MessageIx(1)), None);
    // The next compaction keeps an entry from before this one, whose summary goes all the same.
    let again = text
        + r#"{"type":"compaction","id":"e","parentId":"d","summary":"all","firstKeptEntryId":"b"}"#
        + "\n"
        + &user("f", "e", "four");
    assert_eq!(context(&again), ["all", "two", "three", "four"]);
    // Going back to before the compactions undoes them.
    let back = again + "\n" + &user("g", "b", "other");
    assert_eq!(context(&back), ["one", "two", "other"]);
}

#[test]
fn old_files_name_what_is_kept_by_its_line() {
    let message =
        |text: &str| format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#);
    let compaction = |index: i64| {
        format!(
            r#"{{"type":"compaction","summary":"so far","firstKeptEntryIndex":{index},"tokensBefore":9}}"#
        )
    };
    for (index, expected) in
        [(2, vec!["so far", "two", "three"]), (99, vec!["so far", "three"]), (-1, vec!["so far", "three"])]
    {
        let text = log(&[&message("one"), &message("two"), &compaction(index), &message("three")]);
        assert_eq!(context(&text), expected, "{index}");
    }
}

#[test]
fn what_openclaw_cleared_is_cut() {
    let pruned = r#"{"type":"custom","customType":"openclaw.cache-ttl","data":{"prunedToolResults":[{"key":"tool:call1u:5","mode":"MODE"}],"frozenToolResults":[{"key":"tool:call1u:5","texts":["x"]}]},"id":"c","parentId":"b"}"#;
    for (mode, expected) in [("hard", true), ("clear", true), ("soft", false)] {
        let text = log(&[CALL, RESULT, &pruned.replace("MODE", mode)]);
        let transcript = transcript(&text);
        let part = transcript.find_part("call_1|u").unwrap();
        assert_eq!(transcript.outline.is_cut(part), expected, "{mode}");
    }
}

#[test]
fn titles_and_models_are_told() {
    let lines = concat!(
        r#"{"type":"title","v":1,"title":"Toy","pad":"    "}"#,
        "\n",
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05Z"}"#,
        "\n",
        r#"{"type":"model_change","id":"m","parentId":null,"model":"host/maker/m-2"}"#,
        "\n"
    );
    let origin = transcript(lines).origin;
    assert_eq!((origin.title.as_deref(), origin.model.as_deref()), (Some("Toy"), Some("maker/m-2")));
}

#[test]
fn a_cut_changes_its_content_and_nothing_else() {
    let text = log(&[CALL, RESULT]);
    let transcript = transcript(&text);
    assert_eq!(transcript.apply([], 0).unwrap().to_vec(), text.as_bytes());
    let part = transcript.find_part("call_1|u").unwrap();
    let cut = Rendering { part, action: Action::Clear, placeholder: "[cleared]" };
    let after = String::from_utf8(transcript.apply([cut], 0).unwrap().to_vec()).unwrap();
    let content = transcript.content(part).unwrap();
    assert!(content.starts_with(r#"[{"type":"text","text":"one"}"#), "{content}");
    assert_eq!(after, text.replace(content, r#"[{"type":"text","text":"[cleared]"}]"#));
    let (before, after) = (census(&text), census(&after));
    assert_eq!(after.chars["tool_result"], 9);
    assert_eq!(Census { chars: before.chars.clone(), images: 1, ..after }, before);
}

#[test]
fn odd_records_are_passed_over() {
    let text = log(&[
        "7",
        r#"{"type":5,"message":[],"id":{}}"#,
        r#"{"type":"message"}"#,
        r#"{"type":"message","message":{"role":"robot","content":1}}"#,
        r#"{"type":"message","message":{"role":"assistant","content":{"type":"text"}}}"#,
        r#"{"type":"message","message":{"role":"assistant","content":[1,{"type":"image"},{"type":"toolCall"}]}}"#,
        r#"{"type":"message","message":{"role":"toolResult"}}"#,
        r#"{"type":"compaction","firstKeptEntryId":5}"#,
        r#"{"type":"custom","customType":"openclaw.cache-ttl","data":{"prunedToolResults":{"key":"x"}}}"#,
        r#"{"type":"custom","customType":"openclaw.cache-ttl","data":{"prunedToolResults":[1,{"key":1,"mode":"hard"}]}}"#,
        &user("z", "y", "last"),
    ]);
    let transcript = transcript(&text);
    assert!(transcript.warnings.is_empty(), "{:?}", transcript.warnings);
    let outline = &transcript.outline;
    let last = PartIx(outline.part_count() as u32 - 1);
    assert_eq!(outline.category(last), Category::User);
}
