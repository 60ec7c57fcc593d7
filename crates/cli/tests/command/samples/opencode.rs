//! OpenCode three times: what it exports, the folder of its earlier versions, and its database.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Body, Sample, counts};

fn info() -> Value {
    json!({ "id": "ses_1", "slug": "quiet-fern", "projectID": "prj", "directory": "/src/garden", "title": "Ferns",
            "version": "1.18.0", "time": { "created": 1_893_456_000_000_u64, "updated": 1_893_456_009_000_u64 } })
}

/// The messages, each with its parts: ids in the order of time.
fn messages() -> Vec<(Value, Vec<Value>)> {
    let tokens = |input: u64, read: u64, write: u64, output: u64| json!({ "input": input, "output": output, "reasoning": 0, "cache": { "read": read, "write": write } });
    let answer = |id: &str, own: Value| {
        let mut info = json!({ "id": id, "sessionID": "ses_1", "role": "assistant", "parentID": "msg_1",
            "modelID": "claude-sonnet-4-5", "providerID": "anthropic", "mode": "build", "finish": "stop",
            "path": { "cwd": "/src/garden", "root": "/src/garden" }, "cost": 0.01,
            "time": { "created": 1_893_456_002_000_u64, "completed": 1_893_456_003_000_u64 } });
        let (Value::Object(all), Value::Object(own)) = (&mut info, own) else { panic!("infos are objects") };
        all.extend(own);
        info
    };
    let part = |id: &str, message: &str, own: Value| {
        let mut part = json!({ "id": id, "sessionID": "ses_1", "messageID": message });
        let (Value::Object(all), Value::Object(own)) = (&mut part, own) else { panic!("parts are objects") };
        all.extend(own);
        part
    };
    let time = json!({ "start": 1_893_456_002_100_u64, "end": 1_893_456_002_200_u64 });
    vec![
        (
            json!({ "id": "msg_1", "sessionID": "ses_1", "role": "user", "agent": "build",
                    "time": { "created": 1_893_456_001_000_u64 } }),
            vec![part("prt_10", "msg_1", json!({ "type": "text", "text": "Water the ferns." }))],
        ),
        (
            answer("msg_2", json!({ "tokens": tokens(10, 100, 20, 5) })),
            vec![
                part("prt_20", "msg_2", json!({ "type": "step-start" })),
                part("prt_21", "msg_2", json!({ "type": "reasoning", "text": "Hm.", "time": time })),
                part("prt_22", "msg_2", json!({ "type": "text", "text": "I look." })),
                part(
                    "prt_23",
                    "msg_2",
                    json!({ "type": "tool", "tool": "read", "callID": "call_1", "state": { "status": "completed",
                        "input": { "filePath": "fern.txt" }, "output": "dry soil", "title": "fern.txt",
                        "metadata": { "preview": "for the screen" }, "time": time } }),
                ),
                part(
                    "prt_24",
                    "msg_2",
                    json!({ "type": "tool", "tool": "bash", "callID": "call_2", "state": { "status": "error",
                        "input": { "command": "ls pots" }, "error": "no such pot", "time": time } }),
                ),
                part("prt_25", "msg_2", json!({ "type": "step-finish", "tokens": tokens(10, 100, 20, 5) })),
            ],
        ),
        (
            answer("msg_3", json!({ "tokens": tokens(12, 130, 0, 7) })),
            vec![part("prt_30", "msg_3", json!({ "type": "text", "text": "Done." }))],
        ),
        (
            json!({ "id": "msg_4", "sessionID": "ses_1", "role": "user", "agent": "build",
                    "time": { "created": 1_893_456_004_000_u64 } }),
            vec![part("prt_40", "msg_4", json!({ "type": "compaction", "auto": true }))],
        ),
        (
            answer(
                "msg_5",
                json!({ "tokens": tokens(50, 0, 0, 9), "mode": "compaction", "agent": "compaction",
                                    "summary": true, "parentID": "msg_4" }),
            ),
            vec![part("prt_50", "msg_5", json!({ "type": "text", "text": "They looked." }))],
        ),
        (
            json!({ "id": "msg_6", "sessionID": "ses_1", "role": "user", "agent": "build",
                    "time": { "created": 1_893_456_006_000_u64 } }),
            vec![part("prt_60", "msg_6", json!({ "type": "text", "text": "And now?" }))],
        ),
        (
            answer("msg_7", json!({ "tokens": tokens(30, 0, 40, 6), "parentID": "msg_6" })),
            vec![
                part(
                    "prt_70",
                    "msg_7",
                    json!({ "type": "tool", "tool": "read", "callID": "call_3", "state": { "status": "completed",
                        "input": { "filePath": "fern.txt" }, "output": "wet soil", "title": "fern.txt",
                        "metadata": {}, "time": time } }),
                ),
                part(
                    "prt_71",
                    "msg_7",
                    json!({ "type": "tool", "tool": "bash", "callID": "call_4", "state": { "status": "running",
                        "input": { "command": "sleep 9" }, "time": { "start": 1_893_456_007_000_u64 } } }),
                ),
            ],
        ),
    ]
}

/// Two questions, two answers, a summary and three results; a call that still runs has none.
fn expected() -> Value {
    counts(json!({
        "messages": 8, "tool_calls": 4, "tool_results": 3, "unanswered_calls": 1, "compactions": 1,
        "api_calls_with_usage": 4, "peak_context_tokens": 142, "sum_input_tokens": 130 + 142 + 50 + 70,
        "sum_output_tokens": 5 + 7 + 9 + 6, "sum_cache_read": 230, "sum_cache_write": 60,
        "chars": { "user": 16 + 8, "assistant": 7 + 5, "reasoning": 3, "summary": 12,
                   "tool_call": 23 + 21 + 23 + 21, "tool_result": 8 + 11 + 8 },
    }))
}

pub(crate) fn export() -> Sample {
    let message = |(info, parts): (Value, Vec<Value>)| json!({ "info": info, "parts": parts });
    let messages: Vec<Value> = messages().into_iter().map(message).collect();
    let document = json!({ "info": info(), "messages": messages });
    Sample {
        name: "opencode.json",
        format: "opencode",
        body: Body::Text(format!("{document:#}\n")),
        counts: expected(),
    }
}

pub(crate) fn folder() -> Sample {
    let mut files = vec![("storage/session/prj/ses_1.json".to_owned(), info().to_string())];
    for (info, parts) in messages() {
        let message = info["id"].as_str().unwrap().to_owned();
        files.push((format!("storage/message/ses_1/{message}.json"), info.to_string()));
        for part in parts {
            let id = part["id"].as_str().unwrap();
            files.push((format!("storage/part/{message}/{id}.json"), part.to_string()));
        }
    }
    Sample { name: "opencode-folder", format: "opencode", body: Body::Folder(files), counts: expected() }
}

pub(crate) fn database() -> Sample {
    Sample { name: "opencode.db", format: "opencode", body: Body::Database(fill), counts: expected() }
}

fn fill(connection: &Connection) {
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT,
                 directory TEXT, title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER);
             CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER,
                 time_updated INTEGER, data TEXT);
             CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
                 time_created INTEGER, time_updated INTEGER, data TEXT);
             INSERT INTO session VALUES ('ses_1', 'prj', NULL, 'quiet-fern', '/src/garden', 'Ferns', '1.18.0',
                 1893456000000, 1893456009000);",
        )
        .unwrap();
    for (time, (mut info, parts)) in messages().into_iter().enumerate() {
        let message = without_ids(&mut info);
        let row = (&message, time as i64, info.to_string());
        connection.execute("INSERT INTO message VALUES (?1, 'ses_1', ?2, ?2, ?3)", row).unwrap();
        for mut part in parts {
            let row = (without_ids(&mut part), &message, part.to_string());
            connection.execute("INSERT INTO part VALUES (?1, ?2, 'ses_1', 1, 1, ?3)", row).unwrap();
        }
    }
}

/// The database keeps ids in columns of their own.
fn without_ids(record: &mut Value) -> String {
    let record = record.as_object_mut().unwrap();
    record.remove("sessionID");
    record.remove("messageID");
    record.remove("id").unwrap().as_str().unwrap().to_owned()
}
