use secateur::{Action, Category, Measures, MessageIx, Outline, PartIx, PartKind, Role, ToolStatus};

use crate::{Census, Format, Rendering, Transcript, read};

/// A log of these lines; `'` stands for the quotes of JSON.
fn log(lines: &[&str]) -> String {
    lines.iter().map(|line| line.replace('\'', "\"") + "\n").collect()
}

fn parse(log: &str) -> Transcript<'_> {
    let transcript = read(log.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.format, Format::ClaudeCode);
    transcript
}

fn census(transcript: &Transcript<'_>) -> Census {
    Census::of(&transcript.outline, transcript.format)
}

/// Who speaks, and what each message consists of.
fn shape(outline: &Outline) -> Vec<(Role, Vec<PartKind>)> {
    let kinds = |message| outline.parts_of(message).map(|part| outline.kind(PartIx(part))).collect();
    outline.messages().map(|message| (outline.role(message), kinds(message))).collect()
}

/// The ids of the messages that the model would be given next.
fn context<'t>(transcript: &'t Transcript<'_>) -> Vec<&'t str> {
    let outline = &transcript.outline;
    let ids = outline.context(None).into_iter().map(|message| outline.ids().text(outline.id(message)));
    ids.map(|id| id.unwrap_or("?")).collect()
}

const ASK: &str = "{'type':'user','uuid':'u1','parentUuid':null,'sessionId':'s','cwd':'/p','version':'2.1',\
     'timestamp':'2026-01-31T23:59:59.5Z','message':{'role':'user','content':'hello'}}";
const CALL_A: &str = "{'type':'assistant','uuid':'a1','parentUuid':'u1','sessionId':'s','message':{'id':'m1',\
     'model':'x-1','content':[{'type':'tool_use','id':'t1','name':'Read','input':{'file_path':'/p/f'}}],\
     'usage':{'input_tokens':1,'output_tokens':2,'cache_read_input_tokens':10,'cache_creation_input_tokens':5}}}";
const RESULT_A: &str = "{'type':'user','uuid':'r1','parentUuid':'a1','sessionId':'s','message':{'content':[\
     {'type':'tool_result','tool_use_id':'t1','content':'first'}]},'toolUseResult':{'file':'first first first'}}";
const CALL_B: &str = "{'type':'assistant','uuid':'a2','parentUuid':'a1','sessionId':'s','message':{'id':'m1',\
     'model':'x-1','content':[{'type':'tool_use','id':'t2','name':'Bash','input':{'command':'ls'}}],\
     'usage':{'input_tokens':1,'output_tokens':40,'cache_read_input_tokens':10,'cache_creation_input_tokens':5}}}";
const RESULT_B: &str = "{'type':'user','uuid':'r2','parentUuid':'a2','sessionId':'s','message':{'content':[\
     {'type':'tool_result','tool_use_id':'t2','is_error':true,'content':[{'type':'text','text':'no'},\
     {'type':'tool_reference','tool_name':'x'},{'type':'image','source':{'data':'aaaa'}}]}]}}";
const END: &str = "{'type':'assistant','uuid':'a3','parentUuid':'r2','sessionId':'s','message':{'id':'m2',\
     'model':'x-1','content':[{'type':'thinking','thinking':'','signature':'sig'},{'type':'text','text':'done'}],\
     'usage':{'input_tokens':3,'output_tokens':4}}}";

#[test]
fn the_lines_of_one_answer_are_one_message_even_if_results_stand_between_them() {
    let log = log(&[ASK, CALL_A, RESULT_A, CALL_B, RESULT_B, END]);
    let transcript = parse(&log);
    let expected = [
        (Role::User, vec![PartKind::Text]),
        (Role::Assistant, vec![PartKind::Call, PartKind::Call]),
        (Role::Tool, vec![PartKind::Result]),
        (Role::Tool, vec![PartKind::Result]),
        (Role::Assistant, vec![PartKind::Reasoning, PartKind::Signature, PartKind::Text]),
    ];
    assert_eq!(shape(&transcript.outline), expected);
    assert_eq!(transcript.outline.time(MessageIx(0)), Some(1_769_903_999_500));
    let result = transcript.find_part("t1").unwrap();
    assert_eq!(
        (transcript.content(result), transcript.outline.tool(result)),
        (Some("\"first\""), Some("Read"))
    );
    // The results hang off different lines, and the conversation goes on from one of them: all the same both live.
    assert_eq!(context(&transcript), ["u1", "a1", "r1", "r2", "a3"]);
}

#[test]
fn what_a_call_cost_counts_once_and_the_last_line_is_right() {
    let synthetic = "{'type':'assistant','uuid':'a4','parentUuid':'a3','sessionId':'s','message':{'id':'m3',\
         'model':'<synthetic>','content':[{'type':'text','text':'error'}],'usage':{'input_tokens':9}}}";
    let log = log(&[ASK, CALL_A, RESULT_A, CALL_B, RESULT_B, END, synthetic]);
    let transcript = parse(&log);
    let census = census(&transcript);
    assert_eq!((census.api_calls_with_usage, census.peak_context_tokens), (2, 16));
    assert_eq!((census.sum_input_tokens, census.sum_output_tokens), (19, 44));
    assert_eq!((census.sum_cache_read, census.sum_cache_write), (10, 5));
    assert_eq!(transcript.outline.model_calls()[0].message, MessageIx(1));
    assert_eq!(transcript.outline.model_calls()[1].message, MessageIx(4));
    assert_eq!(census.chars["assistant"], "doneerror".len() as u64);
    let origin = &transcript.origin;
    assert_eq!((origin.model.as_deref(), origin.project.as_deref()), (Some("x-1"), Some("/p")));
    assert_eq!((origin.session.as_deref(), origin.version.as_deref()), (Some("s"), Some("2.1")));
}

#[test]
fn results_are_measured_as_the_model_sees_them() {
    let log = log(&[ASK, CALL_A, RESULT_A, CALL_B, RESULT_B, END]);
    let transcript = parse(&log);
    let census = census(&transcript);
    let reference = r#"{"type":"tool_reference","tool_name":"x"}"#;
    assert_eq!(census.chars["tool_result"], ("first".len() + "no\n".len() + reference.len()) as u64);
    assert_eq!(
        census.chars["tool_call"],
        (r#"{"file_path":"/p/f"}"#.len() + r#"{"command":"ls"}"#.len()) as u64
    );
    assert_eq!((census.messages, census.images, census.errors, census.unanswered_calls), (4, 1, 1, 0));
    assert_eq!(transcript.outline.status(transcript.find_part("t2").unwrap()), ToolStatus::Error);
}

#[test]
fn what_a_program_says_for_the_user_is_told_apart() {
    let user = |uuid: &str, flags: &str, content: &str| {
        format!("{{'type':'user','uuid':'{uuid}','sessionId':'s'{flags},'message':{{'content':{content}}}}}")
    };
    let lines = [
        user("u1", "", "'plain < text'"),
        user("u2", "", "' \\n<command-name>x</command-name>'"),
        user("u3", ",'isMeta':true", "[{'type':'text','text':'caveat'}]"),
        user(
            "u4",
            "",
            "[{'type':'text','text':'\\u003cb>'},{'type':'text','text':'look'},{'type':'image','source':{}}]",
        ),
        user("u5", ",'isCompactSummary':true", "'in short'"),
    ];
    let log = log(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let transcript = parse(&log);
    let outline = &transcript.outline;
    let categories: Vec<Category> = outline.parts().map(|part| outline.category(part)).collect();
    let (user, meta) = (Category::User, Category::UserMeta);
    assert_eq!(categories, [user, meta, meta, meta, user, user, Category::Summary]);
    assert_eq!((census(&transcript).messages, census(&transcript).images), (6, 1));
}

#[test]
fn what_the_user_left_behind_is_counted_but_not_in_the_context() {
    let again = "{'type':'user','uuid':'u2','parentUuid':'x9','sessionId':'s','message':{'content':'other'}}";
    let lost = "{'type':'assistant','uuid':'a9','parentUuid':'u9','sessionId':'s','message':{'id':'m9',\
         'content':[{'type':'text','text':'lost'}]}}";
    let lines = [
        ASK,
        // The way back leads through records that are no messages.
        "{'type':'progress','uuid':'x9','parentUuid':'u1','sessionId':'s','data':{'message':{'content':'x'}}}",
        "{'type':'user','uuid':'u9','parentUuid':'x9','sessionId':'s','message':{'content':'left'}}",
        lost,
        "{'type':'assistant','uuid':'s1','parentUuid':null,'isSidechain':true,'sessionId':'s','message':{'id':'m8',\
         'content':[{'type':'text','text':'aside'}]}}",
        again,
    ];
    let log = log(&lines);
    let transcript = parse(&log);
    let outline = &transcript.outline;
    assert_eq!(context(&transcript), ["u1", "u2"]);
    assert_eq!(census(&transcript).messages, 5);
    assert_eq!(
        outline.context(Some(MessageIx(2))),
        [0, 1].map(MessageIx),
        "it was alive when it was answered"
    );
    assert_eq!(outline.gone(MessageIx(1)), Some(MessageIx(4)));
    assert_eq!(outline.gone(MessageIx(3)), Some(MessageIx(3)), "a sub-agent is never in the context");
}

#[test]
fn a_log_of_a_sub_agent_alone_is_a_conversation() {
    let side = |line: &str| line.replacen("'sessionId'", "'isSidechain':true,'sessionId'", 1);
    let log = log(&[&side(ASK), &side(CALL_A), &side(RESULT_A)]);
    assert_eq!(context(&parse(&log)), ["u1", "a1", "r1"]);
}

#[test]
fn a_missing_parent_does_not_cost_the_history() {
    let log = log(&[ASK, &CALL_A.replace("'parentUuid':'u1'", "'parentUuid':'gone'"), RESULT_A]);
    assert_eq!(context(&parse(&log)), ["u1", "a1", "r1"]);
    // Parents that lead in a circle end somewhere.
    let circle = self::log(&[&ASK.replace("'parentUuid':null", "'parentUuid':'r1'"), CALL_A, RESULT_A]);
    assert_eq!(context(&parse(&circle)), ["u1", "a1", "r1"]);
}

const BOUNDARY: &str = "{'type':'system','subtype':'compact_boundary','uuid':'b1','parentUuid':null,\
     'logicalParentUuid':'a3','sessionId':'s','compactMetadata':{'trigger':'auto','preTokens':9}}";
const SUMMARY: &str = "{'type':'user','uuid':'u5','parentUuid':'b1','sessionId':'s','isCompactSummary':true,\
     'message':{'content':'in short'}}";

#[test]
fn a_compaction_retires_what_it_summarises() {
    let log = log(&[ASK, CALL_A, RESULT_A, CALL_B, RESULT_B, END, BOUNDARY, SUMMARY]);
    let transcript = parse(&log);
    assert_eq!(context(&transcript), ["b1", "u5"]);
    let before = transcript.outline.context(Some(MessageIx(4)));
    assert_eq!(before, [0, 1, 2, 3].map(MessageIx));
    let census = census(&transcript);
    assert_eq!((census.compactions, census.messages, census.chars["summary"]), (1, 5, 8));
}

#[test]
fn what_a_compaction_kept_stands_behind_its_summary() {
    for kept in [
        "'preservedSegment':{'headUuid':'a1','anchorUuid':'u5','tailUuid':'a3'}",
        "'preservedMessages':{'anchorUuid':'u5','uuids':['a1','r1'],'allUuids':['a1','r1','a2','r2','a3','?',7]}",
    ] {
        let boundary = BOUNDARY.replace("'preTokens':9", kept);
        let again =
            "{'type':'user','uuid':'u6','parentUuid':'u5','sessionId':'s','message':{'content':'go on'}}";
        let log = log(&[ASK, CALL_A, RESULT_A, CALL_B, RESULT_B, END, &boundary, SUMMARY, again]);
        assert_eq!(context(&parse(&log)), ["b1", "u5", "a1", "r1", "r2", "a3", "u6"], "{kept}");
    }
}

#[test]
fn a_compaction_that_was_left_behind_or_never_finished_changes_nothing() {
    let back = "{'type':'user','uuid':'u6','parentUuid':'a3','sessionId':'s','message':{'content':'no'}}";
    let all = [ASK, CALL_A, RESULT_A, CALL_B, RESULT_B, END, BOUNDARY, SUMMARY, back];
    assert_eq!(context(&parse(&log(&all))), ["u1", "a1", "r1", "r2", "a3", "u6"]);
    assert_eq!(context(&parse(&log(&all[..7]))), ["u1", "a1", "r1", "r2", "a3"]);
}

#[test]
fn results_that_were_cleared_for_the_model_are_marked_as_cut() {
    let clear = "{'type':'system','subtype':'microcompact_boundary','uuid':'b2','parentUuid':'r2','sessionId':'s',\
         'microcompactMetadata':{'compactedToolIds':['t2','t7',1]}}";
    let end = END.replace("'parentUuid':'r2'", "'parentUuid':'b2'");
    let log = log(&[ASK, CALL_A, RESULT_A, CALL_B, RESULT_B, clear, &end]);
    let transcript = parse(&log);
    let outline = &transcript.outline;
    let cut: Vec<PartIx> = outline.parts().filter(|&part| outline.is_cut(part)).collect();
    assert_eq!(cut, [transcript.find_part("t2").unwrap()]);
    assert_eq!(context(&transcript), ["u1", "a1", "r1", "r2", "a3"]);
}

#[test]
fn clearing_a_result_changes_its_content_and_nothing_else() {
    let log = log(&[ASK, CALL_A, RESULT_A, CALL_B, RESULT_B, END]);
    let transcript = parse(&log);
    assert_eq!(transcript.apply([], 0).unwrap().to_vec(), log.as_bytes());
    let cut = |id| Rendering {
        part: transcript.find_part(id).unwrap(),
        action: Action::Clear,
        placeholder: "[cleared]",
    };
    let cleared = String::from_utf8(transcript.apply([cut("t1"), cut("t2")], 0).unwrap().to_vec()).unwrap();
    let list = log.find(r#"[{"type":"text","text":"no"}"#).unwrap();
    let end = list + log[list..].find("}}]").unwrap() + 3;
    let expected = log.replace(&log[list..end], r#"[{"type":"text","text":"[cleared]"}]"#);
    assert_eq!(cleared, expected.replace(r#""content":"first""#, r#""content":"[cleared]""#));
    let (before, after) = (census(&transcript), census(&parse(&cleared)));
    assert_eq!(after.chars["tool_result"], 18);
    assert_eq!(Census { chars: before.chars.clone(), images: 1, ..after }, before);
}

#[test]
fn odd_records_neither_stop_the_reading_nor_hide_the_format() {
    let lines = [
        "{'type':'file-history-snapshot','messageId':'x','snapshot':{},'isSnapshotUpdate':false}",
        "{'type':'summary','summary':'A weak title','leafUuid':'l'}",
        "{'type':'custom-title','customTitle':'A title','sessionId':'s'}",
        "{'type':'ai-title','aiTitle':'Another','sessionId':'s'}",
        "{oops",
        "[1,2]",
        "{'type':'user','uuid':7,'parentUuid':[],'sessionId':'s','message':'text'}",
        "{'type':'user','uuid':'u0','sessionId':'s','message':{'content':{'type':'text'}}}",
        "{'type':'assistant','uuid':'a0','sessionId':'s','message':{'content':[7,null,{'type':'new'},{}],'usage':3}}",
        "{'type':'system','subtype':'compact_boundary','compactMetadata':{'preservedSegment':{'headUuid':1}}}",
        ASK,
        "{'type':'user','uuid':'u3','sessi",
    ];
    let log = log(&lines);
    let transcript = parse(&log);
    assert_eq!(transcript.warnings.len(), 2, "{:?}", transcript.warnings);
    assert_eq!(transcript.origin.title.as_deref(), Some("A title"));
    assert_eq!(census(&transcript).chars["user"], 5);
    for line in lines.iter().take(4) {
        assert_eq!(Format::detect(self::log(&[line]).as_bytes()), Ok(Format::ClaudeCode), "{line}");
    }
}
