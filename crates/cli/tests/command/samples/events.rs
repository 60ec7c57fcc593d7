//! Logs of events: pi, OpenClaw's database of the same records, and Copilot CLI.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Body, PIXEL, Sample, counts, lines};

/// What pi and OpenClaw write.
fn records() -> Vec<Value> {
    let message = |id: &str, parent: Option<&str>, message: Value| {
        json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2030-01-01T00:00:01.000Z",
                "message": message })
    };
    let user = |text: &str| json!({ "role": "user", "content": [{ "type": "text", "text": text }], "timestamp": 1_893_456_001_000_u64 });
    let answer = |content: Value, usage: [u64; 4]| {
        let [input, read, write, output] = usage;
        json!({ "role": "assistant", "content": content, "api": "anthropic-messages", "provider": "anthropic",
                "model": "claude-sonnet-4-5", "stopReason": "stop", "timestamp": 1_893_456_002_000_u64,
                "usage": { "input": input, "output": output, "cacheRead": read, "cacheWrite": write,
                           "totalTokens": input + output + read + write, "cost": { "total": 0.01 } } })
    };
    let result = |id: &str, tool: &str, content: Value, failed: bool| {
        json!({ "role": "toolResult", "toolCallId": id, "toolName": tool, "content": content, "isError": failed,
                "details": { "diff": "for the screen" }, "timestamp": 1_893_456_003_000_u64 })
    };
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    vec![
        json!({ "type": "session", "version": 3, "id": "s1", "timestamp": "2030-01-01T00:00:00.000Z",
                "cwd": "/src/garden" }),
        json!({ "type": "model_change", "id": "e0", "parentId": null, "timestamp": "2030-01-01T00:00:00.000Z",
                "provider": "anthropic", "modelId": "claude-sonnet-4-5" }),
        message("e1", Some("e0"), user("Water the ferns.")),
        message(
            "e2",
            Some("e1"),
            answer(
                json!([
                    { "type": "thinking", "thinking": "Hm.", "thinkingSignature": "c2ln" },
                    { "type": "text", "text": "I look." },
                    { "type": "toolCall", "id": "call_1", "name": "read", "arguments": { "path": "fern.txt" } },
                    { "type": "toolCall", "id": "call_2", "name": "bash", "arguments": { "command": "ls pots" } },
                ]),
                [10, 100, 20, 5],
            ),
        ),
        message(
            "e3",
            Some("e2"),
            result(
                "call_1",
                "read",
                json!([{ "type": "text", "text": "dry soil" },
                       { "type": "image", "data": PIXEL, "mimeType": "image/png" }]),
                false,
            ),
        ),
        message("e4", Some("e3"), result("call_2", "bash", text("no such pot"), true)),
        message("e5", Some("e4"), answer(text("Done."), [12, 130, 0, 7])),
        message("e6", Some("e5"), user("Thanks.")),
        json!({ "type": "compaction", "id": "e7", "parentId": "e6", "timestamp": "2030-01-01T00:00:05.000Z",
                "summary": "They looked.", "firstKeptEntryId": "e6", "tokensBefore": 149 }),
        message("e8", Some("e7"), user("And now?")),
        message(
            "e9",
            Some("e8"),
            answer(
                json!([{ "type": "toolCall", "id": "call_3", "name": "read", "arguments": { "path": "fern.txt" } }]),
                [30, 0, 40, 6],
            ),
        ),
        message("ea", Some("e9"), result("call_3", "read", text("wet soil"), false)),
        message("eb", Some("ea"), answer(text("Wet."), [15, 70, 0, 3])),
    ]
}

/// Three questions, a summary, three answers with text and three results.
fn expected() -> Value {
    counts(json!({
        "messages": 10, "tool_calls": 3, "tool_results": 3, "images": 1, "compactions": 1,
        "api_calls_with_usage": 4, "peak_context_tokens": 142, "sum_input_tokens": 130 + 142 + 70 + 85,
        "sum_output_tokens": 5 + 7 + 6 + 3, "sum_cache_read": 300, "sum_cache_write": 60,
        "chars": { "user": 16 + 7 + 8, "assistant": 7 + 5 + 4, "reasoning": 3, "summary": 12,
                   "tool_call": 19 + 21 + 19, "tool_result": 8 + 11 + 8 },
    }))
}

pub(crate) fn pi() -> Sample {
    Sample { name: "pi.jsonl", format: "pi", body: Body::Text(lines(&records())), counts: expected() }
}

pub(crate) fn openclaw() -> Sample {
    Sample { name: "openclaw-agent.sqlite", format: "pi", body: Body::Database(fill), counts: expected() }
}

fn fill(connection: &Connection) {
    connection
        .execute_batch(
            "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB,
                 event_utf8_bytes INTEGER, created_at INTEGER, navigation_json TEXT, PRIMARY KEY (session_id, seq))",
        )
        .unwrap();
    for (seq, record) in records().iter().enumerate() {
        let row = (seq as i64, record.to_string());
        connection
            .execute("INSERT INTO transcript_events VALUES ('s1', ?1, ?2, NULL, NULL, ?1, NULL)", row)
            .unwrap();
    }
}

pub(crate) fn copilot_cli() -> Sample {
    let event = |kind: &str, id: &str, parent: Option<&str>, data: Value| json!({ "type": kind, "data": data, "id": id, "parentId": parent, "timestamp": "2030-01-01T00:00:01.000Z" });
    let records = [
        event(
            "session.start",
            "e0",
            None,
            json!({ "sessionId": "s1", "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.64",
                    "startTime": "2030-01-01T00:00:00.000Z", "selectedModel": "gpt-5",
                    "context": { "cwd": "/src/garden" } }),
        ),
        event("system.message", "e1", Some("e0"), json!({ "role": "system", "content": "Be kind." })),
        event(
            "user.message",
            "e2",
            Some("e1"),
            json!({ "content": "Water the ferns.", "transformedContent": "Water the ferns.", "attachments": [] }),
        ),
        event("assistant.turn_start", "e3", Some("e2"), json!({ "turnId": "0" })),
        event(
            "assistant.message",
            "e4",
            Some("e3"),
            json!({ "messageId": "m1", "content": "I look.", "reasoningText": "Hm.", "toolRequests": [
                { "toolCallId": "call_1", "name": "view", "arguments": { "path": "fern.txt" }, "type": "function" },
                { "toolCallId": "call_2", "name": "bash", "arguments": { "command": "ls pots" }, "type": "function" },
            ] }),
        ),
        event(
            "tool.execution_start",
            "e5",
            Some("e4"),
            json!({ "toolCallId": "call_1", "toolName": "view", "arguments": { "path": "fern.txt" } }),
        ),
        event(
            "tool.execution_complete",
            "e6",
            Some("e5"),
            json!({ "toolCallId": "call_1", "success": true,
                    "result": { "content": "dry soil", "detailedContent": "for the screen" } }),
        ),
        event(
            "tool.execution_complete",
            "e7",
            Some("e6"),
            json!({ "toolCallId": "call_2", "success": false,
                    "error": { "message": "no such pot", "code": "failure" } }),
        ),
        event("assistant.turn_end", "e8", Some("e7"), json!({ "turnId": "0" })),
        event(
            "assistant.message",
            "e9",
            Some("e8"),
            json!({ "messageId": "m2", "content": "Done.", "toolRequests": [] }),
        ),
    ];
    Sample {
        name: "events.jsonl",
        format: "copilot",
        body: Body::Text(lines(&records)),
        counts: counts(json!({
            "chars": { "system": 8, "user": 16, "assistant": 7 + 5, "reasoning": 3, "tool_call": 19 + 21,
                       "tool_result": 8 + r#"{"message":"no such pot","code":"failure"}"#.len() },
        })),
    }
}
