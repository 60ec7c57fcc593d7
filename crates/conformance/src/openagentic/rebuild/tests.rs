use super::*;
use serde_json::json;

fn contents(events: &Value, max_events: i64, max_bytes: i64) -> Vec<Value> {
    let rebuilt = rebuild(events.as_array().unwrap(), max_events, max_bytes);
    assert_eq!(rebuilt.messages.len(), rebuilt.responses.len());
    rebuilt.messages.into_iter().map(|message| message["content"].clone()).collect()
}

#[test]
fn a_call_and_its_result_take_both_shapes() {
    let events = [
        json!({"type": "tool.use", "tool_use_id": "t", "name": "Read", "input": {"p": [1, 2.5]}}),
        json!({"type": "tool.result", "tool_use_id": "t", "output": {"a": "漢\n", "b": null}}),
    ];
    let rebuilt = rebuild(&events, 10, 1000);
    let arguments = "{\"p\": [1, 2.5]}";
    let output = "{\"a\": \"漢\\n\", \"b\": null}";
    assert_eq!(
        rebuilt.messages[0]["tool_calls"][0]["function"],
        json!({"name": "Read", "arguments": arguments})
    );
    assert_eq!(rebuilt.messages[1], json!({"role": "tool", "tool_call_id": "t", "content": output}));
    assert_eq!(
        rebuilt.responses[1],
        json!({"type": "function_call_output", "call_id": "t", "output": output})
    );
}

#[test]
fn a_cleared_result_is_a_placeholder_and_an_orphan_is_dropped() {
    let events = json!([
        {"type": "tool.use", "tool_use_id": "lost", "name": "Read"},
        {"type": "assistant.message", "text": "s", "is_summary": true},
        {"type": "tool.result", "tool_use_id": "lost", "output": 1},
        {"type": "tool.use", "tool_use_id": "t", "name": "Read", "input": null},
        {"type": "tool.result", "tool_use_id": "t", "output": "long"},
        {"type": "tool.output_compacted", "tool_use_id": "t"},
        {"type": "user.compaction"}
    ]);
    assert_eq!(contents(&events, 10, 1000), [json!("s"), json!(""), json!(PLACEHOLDER), json!(MARKER)]);
}

#[test]
fn the_first_entry_that_does_not_fit_ends_the_walk() {
    let said = |text: &str| json!({"type": "user.message", "text": text});
    let events = json!([said("a"), said("long"), said("漢")]);
    assert_eq!(contents(&events, 10, 4), [json!("漢")]);
    assert_eq!(contents(&events, 2, 100), [json!("long"), json!("漢")]);
    assert!(contents(&events, 10, 0).is_empty());
}

#[test]
fn undo_and_redo_move_the_head() {
    let mut events = vec![
        json!({"type": "user.message", "text": "a", "seq": 1}),
        json!({"type": "user.message", "text": "b", "seq": 2}),
        json!({"type": "session.set_head", "head_seq": 1, "seq": 3}),
    ];
    assert_eq!(contents(&json!(events), 10, 100), [json!("a")]);
    events.push(json!({"type": "session.undo", "seq": 4}));
    assert_eq!(contents(&json!(events), 10, 100), [json!("a"), json!("b")]);
    events.push(json!({"type": "session.redo", "seq": 5}));
    assert_eq!(contents(&json!(events), 10, 100), [json!("a")]);
}
