//! How a log becomes traces: what is in the context of each call, and what that weighs.

use secateur::{Measures, PartIx, PartKind};
use secateur_formats::read;
use secateur_lab::{Trace, TraceLabel};
use serde_json::{Value, json};

use crate::support::{Log, output};

fn traces(log: &str) -> Vec<Trace> {
    let measures = Measures { source: true, excerpt: true, ..Measures::default() };
    Trace::of(&read(log.as_bytes(), &measures).expect("a valid log"), &TraceLabel::default())
}

#[test]
fn results_weigh_what_the_context_grew_by() {
    // An answer weighs what the provider counted, not its few characters; results have four characters a token.
    let mut log = Log::of("p", "Go.");
    for number in 0..12 {
        log = log.bash("make", &output(number, 8_000));
    }
    let trace = log.trace();
    let results: Vec<_> = trace.results().collect();
    assert_eq!(results.len(), 11, "no call has seen the last one");
    for &result in &results {
        let expected = trace.outline.units(result) as f64 / 4.0;
        assert!((trace.tokens(result) - expected).abs() < 0.05 * expected, "{}", trace.tokens(result));
    }
    assert!((trace.chars_per_token - 4.0).abs() < 0.2, "{}", trace.chars_per_token);
    assert_eq!((trace.first_call_with(results[0]), trace.first_call_with(results[5])), (1, 6));
}

/// A record of pi's first format, which has no ids: a compaction names the first entry that stays by its index.
fn pi(records: &[Value]) -> String {
    records.iter().map(|record| record.to_string() + "\n").collect()
}

#[test]
fn a_compaction_by_index_starts_another_trace() {
    let session = json!({ "type": "session", "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/p",
        "provider": "anthropic", "modelId": "claude-x", "thinkingLevel": "off" });
    let user = |text: &str| {
        json!({ "type": "message", "timestamp": "2026-01-01T00:00:00.000Z",
        "message": { "role": "user", "content": [{ "type": "text", "text": text }] } })
    };
    let turn = |number: usize, context: u64| {
        let call = json!({ "type": "toolCall", "id": format!("c{number}"), "name": "bash",
            "arguments": { "command": "make" } });
        let usage = json!({ "input": 1, "output": 10, "cacheRead": context - 1, "cacheWrite": 0 });
        let time = "2026-01-01T00:00:01.000Z";
        [
            json!({ "type": "message", "timestamp": time, "message": { "role": "assistant", "content": [call],
                "usage": usage, "stopReason": "toolUse" } }),
            json!({ "type": "message", "timestamp": time, "message": { "role": "toolResult",
                "toolCallId": format!("c{number}"), "toolName": "bash",
                "content": [{ "type": "text", "text": output(number, 4_000) }] } }),
        ]
    };
    let mut records = vec![session, user("Go.")];
    for number in 0..12 {
        records.extend(turn(number, 2_000 + 1_000 * number as u64));
    }
    let kept = records.len() - 2;
    records.push(
        json!({ "type": "compaction", "timestamp": "2026-01-01T00:00:02.000Z", "summary": "All is done.",
        "firstKeptEntryIndex": kept, "tokensBefore": 14_000 }),
    );
    for number in 12..24 {
        records.extend(turn(number, 3_000 + 1_000 * (number as u64 - 12)));
    }
    let traces = traces(&pi(&records));
    assert_eq!(traces.iter().map(|trace| trace.calls.len()).collect::<Vec<_>>(), [12, 12]);
    // What was compacted away is in no later context: only the result that stayed is there, and what came after.
    assert_eq!(traces[0].results().count(), 11);
    assert_eq!(traces[1].results().count(), 12);
    assert!(traces[1].texts.iter().any(|text| text.contains("All is done.")));
}

#[test]
fn what_the_agent_cut_itself_is_there_again() {
    // OpenCode marks what it cut and keeps the text. The provider then reports a smaller context.
    let part = |number: usize| {
        json!({ "id": format!("p{number}"), "type": "tool", "tool": "bash",
        "callID": format!("c{number}"), "state": { "status": "completed", "input": { "command": "make" },
            "output": output(number, 40_000), "time": if number < 3 { json!({ "start": 1, "end": 2, "compacted": 9 }) }
                else { json!({ "start": 1, "end": 2 }) } } })
    };
    let contexts = [1_000, 11_000, 21_000, 31_000, 41_000, 21_000, 31_000];
    let mut messages = vec![json!({ "info": { "role": "user", "id": "u" },
        "parts": [{ "id": "t", "type": "text", "text": "Go." }] })];
    for (number, context) in contexts.into_iter().enumerate() {
        messages.push(json!({ "info": { "role": "assistant", "id": format!("m{number}"),
            "tokens": { "input": 0, "output": 10, "reasoning": 0, "cache": { "read": context, "write": 0 } } },
            "parts": [part(number)] }));
    }
    let traces = traces(&json!(messages).to_string());
    let trace = &traces[0];
    assert_eq!(trace.results().count(), 7);
    assert!(trace.outline.parts().all(|part| !trace.outline.is_cut(part)));
    // Without the agent's own cut the context would have gone on growing.
    let contexts: Vec<f64> = trace.calls.iter().map(|call| call.context).collect();
    assert!(contexts.windows(2).all(|pair| pair[1] >= pair[0]), "{contexts:?}");
    assert!(contexts[6] > 50_000.0, "{contexts:?}");
}

#[test]
fn the_answer_is_no_part_of_its_own_context() {
    let trace = Log::of("p", "Go.").bash("a", "one").bash("b", "two").trace();
    let kinds = |call: usize| -> Vec<PartKind> {
        (0..trace.calls[call].parts).map(|part| trace.outline.kind(PartIx(part))).collect()
    };
    assert_eq!(kinds(0), [PartKind::Text]);
    assert_eq!(kinds(1), [PartKind::Text, PartKind::Call, PartKind::Result]);
    assert_eq!(trace.outline.part_count(), 4, "the last answer is there for its actions");
}
