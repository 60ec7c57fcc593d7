//! Logs of command line agents: trees, rollouts and documents.

use serde_json::{Value, json};

use super::{Body, PIXEL, Sample, counts, lines};

/// A line of Claude Code.
fn said(kind: &str, id: &str, parent: Option<&str>, own: Value) -> Value {
    let mut line = json!({
        "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/src/garden", "sessionId": "s1",
        "version": "2.1.0", "gitBranch": "main", "type": kind, "uuid": id, "timestamp": "2030-01-01T00:00:01.000Z",
    });
    let (Value::Object(all), Value::Object(own)) = (&mut line, own) else { panic!("records are objects") };
    all.extend(own);
    line
}

/// One block of an answer; an answer is told in as many lines as it has blocks.
fn block(id: &str, parent: &str, message: &str, usage: [u64; 4], block: Value) -> Value {
    let ([input, read, write, output], content) = (usage, Value::Array(vec![block]));
    let message = json!({
        "id": message, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
        "stop_reason": null,
        "usage": { "input_tokens": input, "cache_read_input_tokens": read, "cache_creation_input_tokens": write,
                   "output_tokens": output },
    });
    said("assistant", id, Some(parent), json!({ "message": message, "requestId": "req" }))
}

fn user(id: &str, parent: &str, content: Value) -> Value {
    let mut message = json!({ "role": "user" });
    message["content"] = content;
    said("user", id, Some(parent), json!({ "message": message }))
}

pub(crate) fn claude_code() -> Sample {
    let result = |id: &str, content: Value, failed: bool| json!([{ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed }]);
    let call = |id: &str, name: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    let image =
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PIXEL } });
    let first = [10, 100, 20, 5];
    let records = [
        json!({ "type": "summary", "summary": "Ferns", "leafUuid": "a5" }),
        json!({ "type": "file-history-snapshot", "messageId": "u1", "snapshot": {}, "isSnapshotUpdate": false }),
        said("user", "u1", None, json!({ "message": { "role": "user", "content": "Water the ferns." } })),
        block(
            "a1",
            "u1",
            "m1",
            [10, 100, 20, 1],
            json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2ln" }),
        ),
        block("a2", "a1", "m1", first, json!({ "type": "text", "text": "I look." })),
        block("a3", "a2", "m1", first, call("toolu_1", "Read", json!({ "file_path": "fern.txt" }))),
        user("r1", "a3", result("toolu_1", json!([{ "type": "text", "text": "dry soil" }, image]), false)),
        block("a4", "a3", "m1", first, call("toolu_2", "Bash", json!({ "command": "ls pots" }))),
        said(
            "user",
            "r2",
            Some("a4"),
            json!({ "message": { "role": "user", "content": result("toolu_2", json!("no such pot"), true) },
                    "toolUseResult": "Error: no such pot" }),
        ),
        said("progress", "p1", Some("r2"), json!({ "data": { "type": "bash_progress", "output": "much" } })),
        block("a5", "r2", "m2", [12, 130, 0, 7], json!({ "type": "text", "text": "Done." })),
        said(
            "system",
            "b1",
            None,
            json!({ "subtype": "compact_boundary", "logicalParentUuid": "a5", "content": "Conversation compacted",
                    "compactMetadata": { "trigger": "auto", "preTokens": 142 } }),
        ),
        said(
            "user",
            "k1",
            Some("b1"),
            json!({ "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
                    "message": { "role": "user", "content": "They looked." } }),
        ),
        user("u2", "k1", json!([{ "type": "text", "text": "And now?" }])),
        block("a6", "u2", "m3", [30, 0, 40, 6], call("toolu_3", "Read", json!({ "file_path": "fern.txt" }))),
        user("r3", "a6", result("toolu_3", json!("wet soil"), false)),
        block("a7", "r3", "m4", [15, 70, 0, 3], json!({ "type": "text", "text": "Wet." })),
        block("a8", "a7", "m4", [15, 70, 0, 9], call("toolu_4", "Bash", json!({ "command": "sleep 9" }))),
    ];
    Sample {
        name: "claude-code.jsonl",
        format: "claude",
        body: Body::Text(lines(&records)),
        // Two questions, a summary, three answers with text and three results.
        counts: json!({
            "messages": 9, "tool_calls": 4, "tool_results": 3, "errors": 1, "unanswered_calls": 1, "images": 1,
            "compactions": 1, "api_calls_with_usage": 4, "peak_context_tokens": 142,
            "sum_input_tokens": 130 + 142 + 70 + 85, "sum_output_tokens": 5 + 7 + 6 + 9,
            "sum_cache_read": 100 + 130 + 70, "sum_cache_write": 20 + 40,
            "chars": { "user": 16 + 8, "assistant": 7 + 5 + 4, "reasoning": 3, "summary": 12,
                       "tool_call": 24 + 21 + 24 + 21, "tool_result": 8 + 11 + 8 },
        }),
    }
}

pub(crate) fn codex() -> Sample {
    let record = |kind: &str, payload: Value| json!({ "timestamp": "2030-01-01T00:00:01.000Z", "type": kind, "payload": payload });
    let item = |payload: Value| record("response_item", payload);
    let message = |role: &str, kind: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
    let tokens = |total: u64, input: u64, cached: u64, output: u64| {
        record(
            "event_msg",
            json!({ "type": "token_count", "info": {
                "total_token_usage": { "input_tokens": total, "total_tokens": total + output },
                "last_token_usage": { "input_tokens": input, "cached_input_tokens": cached, "output_tokens": output,
                                      "total_tokens": input + output },
                "model_context_window": 258_400 } }),
        )
    };
    let failed = "Process exited with code 2\nOutput:\nno such pot";
    let records = [
        record(
            "session_meta",
            json!({ "id": "s1", "cwd": "/src/garden", "cli_version": "0.142.0", "timestamp": "2030-01-01T00:00:00Z",
                    "base_instructions": { "text": "Be kind." } }),
        ),
        record("turn_context", json!({ "cwd": "/src/garden", "model": "gpt-5-codex" })),
        item(message("user", "input_text", "Water the ferns.")),
        record("event_msg", json!({ "type": "user_message", "message": "Water the ferns." })),
        item(json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "Hm." }],
                     "content": null, "encrypted_content": "ZW5j" })),
        item(message("assistant", "output_text", "I look.")),
        item(
            json!({ "type": "function_call", "name": "exec_command", "arguments": "{ \"cmd\": \"cat fern.txt\" }",
                     "call_id": "call_1" }),
        ),
        item(json!({ "type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls pots\"}",
                     "call_id": "call_2" })),
        item(json!({ "type": "function_call_output", "call_id": "call_1", "output": "dry soil" })),
        item(json!({ "type": "function_call_output", "call_id": "call_2", "output": failed })),
        tokens(100, 100, 60, 5),
        tokens(100, 100, 60, 5),
        item(message("assistant", "output_text", "Done.")),
        tokens(220, 120, 90, 7),
        record(
            "compacted",
            json!({ "message": "", "replacement_history": [message("user", "input_text", "Water the ferns."),
                                                            message("user", "input_text", "They looked.")] }),
        ),
        record("event_msg", json!({ "type": "context_compacted" })),
        item(message("user", "input_text", "And now?")),
        item(json!({ "type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch",
                     "call_id": "call_3" })),
        item(json!({ "type": "custom_tool_call_output", "call_id": "call_3",
                     "output": [{ "type": "input_text", "text": "ok" },
                                { "type": "input_image", "image_url": format!("data:image/png;base64,{PIXEL}") }] })),
        item(message("assistant", "output_text", "Wet.")),
        tokens(280, 60, 0, 3),
    ];
    Sample {
        name: "rollout-2030-01-01T00-00-00-s1.jsonl",
        format: "codex",
        body: Body::Text(lines(&records)),
        // Two questions, three answers, three results; the compaction and the history that it leaves are one each.
        counts: json!({
            "messages": 10, "tool_calls": 3, "tool_results": 3, "errors": 1, "images": 1, "compactions": 1,
            "api_calls_with_usage": 3, "peak_context_tokens": 120, "sum_input_tokens": 100 + 120 + 60,
            "sum_output_tokens": 5 + 7 + 3, "sum_cache_read": 60 + 90,
            "chars": { "system": 8, "user": 16 + 8, "assistant": 7 + 5 + 4, "reasoning": 3, "summary": 16 + 12,
                       "tool_call": 22 + 17 + 15, "tool_result": 8 + failed.len() + 2 },
        }),
    }
}

pub(crate) fn gemini_cli() -> Sample {
    let call = |id: &str, name: &str, args: Value, response: Value, status: &str| {
        json!({ "id": id, "name": name, "args": args, "status": status, "timestamp": "2030-01-01T00:00:02.000Z",
                "result": [{ "functionResponse": { "id": id, "name": name, "response": response } }],
                "resultDisplay": "for the screen" })
    };
    let tokens = |input: u64, cached: u64, output: u64| json!({ "input": input, "output": output, "cached": cached, "thoughts": 0, "tool": 0, "total": input + output });
    let document = json!({
        "sessionId": "s1", "projectHash": "0a", "startTime": "2030-01-01T00:00:00.000Z",
        "lastUpdated": "2030-01-01T00:00:09.000Z",
        "messages": [
            { "id": "1", "timestamp": "2030-01-01T00:00:01.000Z", "type": "user", "content": "Water the ferns." },
            { "id": "2", "timestamp": "2030-01-01T00:00:02.000Z", "type": "gemini", "content": "I look.",
              "thoughts": [], "model": "gemini-2.5-flash", "tokens": tokens(100, 60, 5),
              "toolCalls": [
                  call("g1", "read_file", json!({ "path": "fern.txt" }), json!({ "output": "dry soil" }), "success"),
                  call("g2", "list_directory", json!({ "path": "pots" }), json!({ "error": "no such pot" }), "error"),
              ] },
            { "id": "3", "timestamp": "2030-01-01T00:00:03.000Z", "type": "info", "content": "Update available" },
            { "id": "4", "timestamp": "2030-01-01T00:00:04.000Z", "type": "gemini", "content": "Done.",
              "model": "gemini-2.5-flash", "tokens": tokens(120, 90, 7) },
        ],
    });
    Sample {
        name: "session-2030-01-01T00-00-s1.json",
        format: "gemini",
        body: Body::Text(format!("{document:#}")),
        counts: counts(json!({
            "api_calls_with_usage": 2, "peak_context_tokens": 120, "sum_input_tokens": 220, "sum_output_tokens": 12,
            "sum_cache_read": 150,
            "chars": { "user": 16, "assistant": 7 + 5, "tool_call": 19 + 15,
                       "tool_result": 8 + 11 },
        })),
    }
}

pub(crate) fn cline() -> Sample {
    // What came from the cache is part of the input.
    let metrics = |input: u64, read: u64, write: u64, output: u64| {
        json!({ "inputTokens": input, "outputTokens": output, "cacheReadTokens": read, "cacheWriteTokens": write,
                "cost": 0.01 })
    };
    let document = json!({
        "version": 1, "updated_at": "2030-01-01T00:00:09.000Z", "agent": "cline", "sessionId": "s1",
        "system_prompt": "Be kind.",
        "messages": [
            { "id": "1", "role": "user", "content": [{ "type": "text", "text": "Water the ferns." }],
              "ts": 1_893_456_001_000_u64 },
            { "id": "2", "role": "assistant", "ts": 1_893_456_002_000_u64, "metrics": metrics(130, 100, 20, 5),
              "content": [
                  { "type": "text", "text": "I look." },
                  { "type": "tool_use", "id": "toolu_1", "name": "read_files", "input": { "path": "fern.txt" } },
                  { "type": "tool_use", "id": "toolu_2", "name": "run_commands", "input": { "command": "ls pots" } },
              ] },
            { "id": "3", "role": "user", "ts": 1_893_456_003_000_u64, "content": [
                { "type": "tool_result", "tool_use_id": "toolu_1", "name": "read_files", "content": "dry soil" },
                { "type": "tool_result", "tool_use_id": "toolu_2", "name": "run_commands", "content": "no such pot",
                  "is_error": true },
            ] },
            { "id": "4", "role": "assistant", "ts": 1_893_456_004_000_u64, "metrics": metrics(142, 130, 0, 7),
              "content": [{ "type": "text", "text": "Done." }] },
        ],
    });
    Sample {
        name: "s1.messages.json",
        format: "cline",
        body: Body::Text(document.to_string()),
        counts: counts(json!({
            "api_calls_with_usage": 2, "peak_context_tokens": 142, "sum_input_tokens": 272, "sum_output_tokens": 12,
            "sum_cache_read": 230, "sum_cache_write": 20,
            "chars": { "system": 8, "user": 16, "assistant": 7 + 5, "tool_call": 19 + 21, "tool_result": 8 + 11 },
        })),
    }
}

pub(crate) fn ui_messages() -> Sample {
    let messages = json!([
        { "id": "1", "role": "user", "parts": [
            { "type": "text", "text": "Water the ferns." },
            { "type": "file", "mediaType": "image/png", "url": format!("data:image/png;base64,{PIXEL}") } ] },
        { "id": "2", "role": "assistant", "parts": [
            { "type": "step-start" },
            { "type": "reasoning", "text": "Hm.", "state": "done" },
            { "type": "text", "text": "I look.", "state": "done" },
            { "type": "tool-read", "toolCallId": "v1", "state": "output-available", "input": { "path": "fern.txt" },
              "output": "dry soil" },
            { "type": "dynamic-tool", "toolName": "list", "toolCallId": "v2", "state": "output-error",
              "input": { "path": "pots" }, "errorText": "no such pot" },
            { "type": "step-start" },
            { "type": "text", "text": "Done.", "state": "done" },
            { "type": "tool-read", "toolCallId": "v3", "state": "input-available", "input": { "path": "x" } } ] },
    ]);
    Sample {
        name: "messages.json",
        format: "ui-messages",
        body: Body::Text(messages.to_string()),
        counts: counts(json!({
            "tool_calls": 3, "unanswered_calls": 1, "images": 1,
            "chars": { "user": 16, "assistant": 7 + 5, "reasoning": 3, "tool_call": 19 + 15 + 12,
                       "tool_result": 8 + 11 },
        })),
    }
}
