use secateur::{Action, Measures};

use crate::{Census, Rendering, read};

const SESSION: &str = r#"{"info":{"id":"s1","title":"Toy","version":"1.18","directory":"/home/ann/toy","model":{"id":"m-0"}},"messages":[
{"info":{"id":"a","role":"user"},"parts":[
  {"type":"text","text":"see @a.rs"},{"type":"text","synthetic":true,"text":"fn main"},
  {"type":"file","mime":"text/plain","url":"file:///a.rs"},
  {"type":"file","mime":"image/png","url":"file:///a.png"},
  {"type":"file","mime":"application/pdf","url":"data:application/pdf;base64,AAAA"}]},
{"info":{"id":"b","role":"assistant","modelID":"m-1","tokens":{"input":5,"output":2,"cache":{"read":7,"write":0}}},"parts":[
  {"id":"p1","type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{ "command": "false" },
    "output":"no","metadata":{"preview":"\"exit\"","exit":1},"time":{"start":1,"end":2,"compacted":3}}},
  {"id":"p2","type":"tool","tool":"bash","callID":"c2","state":{"status":"completed","input":{"command":"true"},
    "output":"","metadata":{"exit":0,"inner":{"exit":1}}}},
  {"id":"p3","type":"tool","tool":"bash","callID":"c3","state":{"status":"running","metadata":{"exit":1}}}]},
{"info":{"id":"c","role":"assistant","error":{},"tokens":{"input":0,"output":0,"cache":{"read":0,"write":0}}},"parts":[]}]}"#;

#[test]
fn a_session_is_counted() {
    let transcript = read(SESSION.as_bytes(), &Measures::default()).unwrap();
    let census = Census::of(&transcript.outline, transcript.format);
    assert_eq!((census.chars["user"], census.chars["user_meta"]), (9, 7));
    let inputs = [r#"{"command":"false"}"#, r#"{"command":"true"}"#, "{}"].map(str::len);
    assert_eq!(census.chars["tool_call"], inputs.iter().sum::<usize>() as u64);
    assert_eq!((census.errors, census.tool_results, census.unanswered_calls), (1, 2, 1));
    assert_eq!(census.images, 2);
    assert_eq!((census.api_calls_with_usage, census.sum_input_tokens), (1, 12));
}

#[test]
fn a_session_says_where_it_comes_from() {
    let origin = read(SESSION.as_bytes(), &Measures::default()).unwrap().origin;
    assert_eq!((origin.session.as_deref(), origin.title.as_deref()), (Some("s1"), Some("Toy")));
    assert_eq!((origin.version.as_deref(), origin.model.as_deref()), (Some("1.18"), Some("m-1")));
    assert_eq!(origin.project.as_deref(), Some("/home/ann/toy"));
}

#[test]
fn parts_keep_their_ids_and_marks() {
    let transcript = read(SESSION.as_bytes(), &Measures::default()).unwrap();
    assert_eq!(transcript.apply([], 0).unwrap().to_vec(), SESSION.as_bytes());
    let first = transcript.find_part("p1").unwrap();
    assert!(transcript.outline.is_cut(first) && transcript.outline.is_failure(first));
    let second = transcript.find_part("c2").unwrap();
    assert_eq!(transcript.part_id(second).as_deref(), Some("p2"));
    assert!(!transcript.outline.is_cut(second) && !transcript.outline.is_failure(second));
    let cut = Rendering { part: second, action: Action::Clear, placeholder: "[cleared]" };
    let marked = String::from_utf8(transcript.apply([cut], 9).unwrap().to_vec()).unwrap();
    assert_eq!(marked, SESSION.replace(r#""output":"""#, r#""output":"","time":{"compacted":9}"#));
}
