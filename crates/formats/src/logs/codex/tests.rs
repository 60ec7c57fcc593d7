use secateur::{Action, Category, Measures, MessageIx, Outline, PartIx, PartKind, Role};

use crate::{Census, Format, Rendering, Transcript, read};

/// A log of records of these types with these payloads; `'` stands for the quotes of JSON.
fn log(records: &[(&str, &str)]) -> String {
    let line = |&(kind, payload): &(&str, &str)| {
        let time = "2026-01-31T23:59:59.5Z";
        format!("{{'timestamp':'{time}','type':'{kind}','payload':{payload}}}\n").replace('\'', "\"")
    };
    records.iter().map(line).collect()
}

fn parse(log: &str) -> Transcript<'_> {
    let transcript = read(log.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.format, Format::Codex);
    transcript
}

fn census(transcript: &Transcript<'_>) -> Census {
    Census::of(&transcript.outline, transcript.format)
}

fn shape(outline: &Outline) -> Vec<(Role, Vec<PartKind>)> {
    let kinds = |message| outline.parts_of(message).map(|part| outline.kind(PartIx(part))).collect();
    outline.messages().map(|message| (outline.role(message), kinds(message))).collect()
}

fn context(transcript: &Transcript<'_>) -> Vec<u32> {
    transcript.outline.context(None).into_iter().map(|message| message.0).collect()
}

const ITEM: &str = "response_item";
const EVENT: &str = "event_msg";

const META: (&str, &str) = (
    "session_meta",
    "{'id':'s1','cwd':'/p','cli_version':'0.142.0','base_instructions':{'text':'Be brief.'}}",
);
const USER: (&str, &str) =
    (ITEM, "{'type':'message','role':'user','content':[{'type':'input_text','text':'hello'}]}");
const THOUGHT: (&str, &str) = (
    ITEM,
    "{'type':'reasoning','summary':[{'type':'summary_text','text':'hm'}],'content':null,'encrypted_content':'gAAA'}",
);
const SAID: (&str, &str) =
    (ITEM, "{'type':'message','role':'assistant','content':[{'type':'output_text','text':'Looking.'}]}");
const CALL: (&str, &str) = (
    ITEM,
    r"{'type':'function_call','name':'exec_command','arguments':'{ \'cmd\': \'ls\' }','call_id':'c1'}",
);
const PATCH: (&str, &str) =
    (ITEM, r"{'type':'custom_tool_call','name':'apply_patch','input':'*** Begin Patch\n','call_id':'c2'}");
const OUTPUT: (&str, &str) = (
    ITEM,
    r"{'type':'function_call_output','call_id':'c1','output':'Process exited with code 2\nOutput:\nno'}",
);
const PATCHED: (&str, &str) = (
    ITEM,
    r"{'type':'custom_tool_call_output','call_id':'c2','output':'{\'output\':\'ok\',\'metadata\':{\'exit_code\':0}}'}",
);
const TOKENS: (&str, &str) = (
    EVENT,
    "{'type':'token_count','info':{'total_token_usage':{'input_tokens':100,'total_tokens':130},\
     'last_token_usage':{'input_tokens':100,'cached_input_tokens':60,'output_tokens':30,'total_tokens':130}}}",
);
const MORE_TOKENS: (&str, &str) = (
    EVENT,
    "{'type':'token_count','info':{'total_token_usage':{'input_tokens':300,'total_tokens':340},\
     'last_token_usage':{'input_tokens':200,'cached_input_tokens':100,'output_tokens':10,'total_tokens':210}}}",
);

#[test]
fn the_items_of_one_answer_are_one_message() {
    let log = log(&[META, USER, THOUGHT, SAID, CALL, PATCH, TOKENS, OUTPUT, PATCHED, SAID, MORE_TOKENS]);
    let transcript = parse(&log);
    let expected = [
        (Role::System, vec![PartKind::Text]),
        (Role::User, vec![PartKind::Text]),
        (
            Role::Assistant,
            vec![PartKind::Reasoning, PartKind::Signature, PartKind::Text, PartKind::Call, PartKind::Call],
        ),
        (Role::Tool, vec![PartKind::Result]),
        (Role::Tool, vec![PartKind::Result]),
        (Role::Assistant, vec![PartKind::Text]),
    ];
    assert_eq!(shape(&transcript.outline), expected);
    let calls = transcript.outline.model_calls();
    assert_eq!(calls.iter().map(|call| call.message.0).collect::<Vec<_>>(), [2, 5]);
    assert_eq!(calls[0].time, Some(1_769_903_999_500));
    let result = transcript.find_part("c1").unwrap();
    assert_eq!(transcript.outline.tool(result), Some("exec_command"));
    let origin = &transcript.origin;
    assert_eq!((origin.session.as_deref(), origin.project.as_deref()), (Some("s1"), Some("/p")));
    assert_eq!(origin.version.as_deref(), Some("0.142.0"));
}

#[test]
fn inputs_and_outputs_are_measured_without_their_wrapping() {
    let log = log(&[META, USER, THOUGHT, SAID, CALL, PATCH, OUTPUT, PATCHED]);
    let transcript = parse(&log);
    let census = census(&transcript);
    assert_eq!(census.chars["tool_call"], (r#"{"cmd":"ls"}"#.len() + "*** Begin Patch\n".len()) as u64);
    assert_eq!(
        census.chars["tool_result"],
        ("Process exited with code 2\nOutput:\nno".len() + "ok".len()) as u64
    );
    assert_eq!((census.chars["reasoning"], census.chars["system"]), (2, 9));
    assert_eq!((census.messages, census.errors, census.unanswered_calls), (4, 1, 0));
}

#[test]
fn events_that_repeat_items_are_not_read_twice() {
    let message = (EVENT, "{'type':'agent_message','message':'Looking.'}");
    let ended = (EVENT, "{'type':'exec_command_end','call_id':'c1','aggregated_output':'no','exit_code':2}");
    let log = log(&[USER, message, SAID, ended, (EVENT, "{'type':'user_message','message':'hello'}")]);
    assert_eq!(census(&parse(&log)).messages, 2);
}

#[test]
fn what_a_call_cost_counts_once() {
    let none = (EVENT, "{'type':'token_count','info':null,'rate_limits':{}}");
    let log = log(&[USER, none, SAID, TOKENS, none, TOKENS, MORE_TOKENS, TOKENS]);
    let census = census(&parse(&log));
    assert_eq!((census.api_calls_with_usage, census.peak_context_tokens), (3, 200));
    assert_eq!((census.sum_input_tokens, census.sum_cache_read, census.sum_output_tokens), (400, 220, 70));
}

#[test]
fn what_a_program_says_for_the_user_is_told_apart() {
    let user = |text: &str| {
        format!("{{'type':'message','role':'user','content':[{{'type':'input_text','text':'{text}'}}]}}")
    };
    let texts = ["<environment_context>", "# AGENTS.md instructions for /p", "# Agents", "hello"].map(user);
    let mut records: Vec<(&str, &str)> = texts.iter().map(|text| (ITEM, text.as_str())).collect();
    records
        .push((ITEM, "{'type':'message','role':'developer','content':[{'type':'input_text','text':'x'}]}"));
    let log = log(&records);
    let transcript = parse(&log);
    let outline = &transcript.outline;
    let categories: Vec<Category> = outline.parts().map(|part| outline.category(part)).collect();
    let (user, meta) = (Category::User, Category::UserMeta);
    assert_eq!(categories, [meta, meta, user, user, Category::System]);
    assert_eq!(census(&transcript).messages, 4, "instructions are no message");
}

const COMPACTED: (&str, &str) = (
    "compacted",
    "{'message':'','replacement_history':[\
     {'type':'message','role':'user','content':[{'type':'input_text','text':'hello'}]},\
     {'type':'message','role':'developer','content':[{'type':'input_text','text':'rules'}]},\
     {'type':'compaction','encrypted_content':'gAAA'}]}",
);

#[test]
fn a_compaction_replaces_the_history_but_not_the_instructions() {
    let log = log(&[META, USER, SAID, COMPACTED, (EVENT, "{'type':'context_compacted'}"), SAID]);
    let transcript = parse(&log);
    let outline = &transcript.outline;
    assert_eq!(context(&transcript), [0, 3, 4, 5, 6, 7]);
    let kinds: Vec<PartKind> = outline.parts().map(|part| outline.kind(part)).collect();
    assert_eq!(kinds[3..7], [PartKind::Compaction, PartKind::Text, PartKind::Text, PartKind::Signature]);
    assert_eq!(outline.summaries(), [4, 5, 6].map(MessageIx));
    let census = census(&transcript);
    assert_eq!((census.compactions, census.chars["summary"], census.chars["assistant"]), (1, 10, 16));
    assert_eq!(census.messages, 5, "the mark counts, and so does the new history, once");
    assert_eq!(outline.context(Some(MessageIx(2))), [0, 1].map(MessageIx));
}

#[test]
fn a_compaction_of_an_older_version_is_its_summary() {
    let log = log(&[USER, SAID, ("compacted", "{'message':'in short'}"), SAID]);
    let transcript = parse(&log);
    assert_eq!(context(&transcript), [2, 3, 4]);
    assert_eq!(census(&transcript).chars["summary"], 8);
}

#[test]
fn instructions_that_come_again_replace_the_earlier_ones_in_front() {
    let again = (META.0, "{'id':'s2','cwd':'/q','base_instructions':{'text':'Be terse, please.'}}");
    let log = log(&[META, USER, again, SAID]);
    let transcript = parse(&log);
    assert_eq!(context(&transcript), [2, 1, 3]);
    assert_eq!(census(&transcript).chars["system"], 26);
    assert_eq!(transcript.origin.session.as_deref(), Some("s1"));
}

#[test]
fn turns_that_were_rolled_back_leave_the_context() {
    let injected =
        (ITEM, "{'type':'message','role':'user','content':[{'type':'input_text','text':'<turn_aborted>'}]}");
    let back = |turns: &'static str| (EVENT, turns);
    let one = back("{'type':'thread_rolled_back','num_turns':1}");
    let all = [META, USER, SAID, USER, SAID, injected, one];
    let whole = log(&all);
    assert_eq!(context(&parse(&whole)), [0, 1, 2], "also if nothing comes after it");
    let on = log(&[&all[..], &[USER, SAID]].concat());
    let transcript = parse(&on);
    assert_eq!(context(&transcript), [0, 1, 2, 7, 8]);
    assert_eq!(census(&transcript).messages, 7);
    let twice = log(&[&all[..], &[USER, back("{'type':'thread_rolled_back','num_turns':2}"), USER]].concat());
    assert_eq!(context(&parse(&twice)), [0, 9]);
    let none = log(&[&all[..6], &[back("{'type':'thread_rolled_back','num_turns':-1}")]].concat());
    assert_eq!(context(&parse(&none)), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn searches_of_the_provider_are_in_the_context_but_not_counted() {
    let records = [
        USER,
        (ITEM, "{'type':'web_search_call','status':'completed','action':{'type':'open_page','url':'x'}}"),
        (ITEM, "{'type':'tool_search_call','call_id':'c','arguments':{'query':'x'}}"),
        (ITEM, "{'type':'tool_search_output','call_id':'c','tools':[{'type':'namespace','name':'n'}]}"),
    ];
    let log = log(&records);
    let transcript = parse(&log);
    let expected = [
        (Role::User, vec![PartKind::Text]),
        (Role::Assistant, vec![PartKind::Other, PartKind::Other]),
        (Role::Other, vec![PartKind::Other]),
    ];
    assert_eq!(shape(&transcript.outline), expected);
    let census = census(&transcript);
    assert_eq!((census.messages, census.tool_calls, census.tool_results), (1, 0, 0));
}

#[test]
fn clearing_a_result_changes_its_content_and_nothing_else() {
    let shown = (
        ITEM,
        "{'type':'function_call_output','call_id':'c3','output':[{'type':'input_text','text':'a'},\
         {'type':'input_image','image_url':'data:,x'}]}",
    );
    let log = log(&[META, USER, CALL, PATCH, OUTPUT, PATCHED, shown]);
    let transcript = parse(&log);
    assert_eq!(transcript.apply([], 0).unwrap().to_vec(), log.as_bytes());
    for id in ["c1", "c2", "c3"] {
        let part = transcript.find_part(id).unwrap();
        let cut = Rendering { part, action: Action::Clear, placeholder: "[cleared]" };
        let cleared = String::from_utf8(transcript.apply([cut], 0).unwrap().to_vec()).unwrap();
        let content = transcript.content(part).unwrap();
        let new = if id == "c3" { r#"[{"type":"input_text","text":"[cleared]"}]"# } else { "\"[cleared]\"" };
        assert_eq!(cleared, log.replace(content, new));
        let after = census(&parse(&cleared));
        assert_eq!((after.messages, after.tool_results), (4, 3));
    }
}

#[test]
fn odd_records_neither_stop_the_reading_nor_hide_the_format() {
    let mut odd = log(&[
        ("world_state", "{'x':1}"),
        ("turn_context", "{'model':'gpt-x','cwd':7}"),
        (ITEM, "7"),
        (ITEM, "{'type':'ghost_snapshot'}"),
        (ITEM, "{'type':'agent_message','content':[{'type':'input_text','text':'psst'}]}"),
        (ITEM, "{'type':'message','role':3,'content':{'a':1}}"),
        (ITEM, "{'type':'function_call','name':null,'arguments':5}"),
        (ITEM, "{'type':'function_call_output'}"),
        ("compacted", "{'replacement_history':{'a':[1]}}"),
        ("compacted", "{'replacement_history':[1,null,{'type':7},[]]}"),
        (META.0, "{'base_instructions':null}"),
        (EVENT, "{'type':'token_count','info':{'last_token_usage':[]}}"),
        USER,
    ]);
    odd.push_str("{\"timestamp\":\"2026\"\n[]\n{\"type\":\"response_item\",\"payl");
    let transcript = parse(&odd);
    assert_eq!(transcript.warnings.len(), 2, "{:?}", transcript.warnings);
    assert_eq!(transcript.origin.model.as_deref(), Some("gpt-x"));
    assert_eq!(census(&transcript).compactions, 2);
    let last = transcript.outline.messages().next_back().unwrap();
    assert!(transcript.outline.context(None).contains(&last));
}
