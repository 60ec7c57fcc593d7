//! A long made-up agent session in the formats of the four founding systems. It is the same every time.

use serde_json::{Value, json};

/// One tool call with its result.
pub(super) struct SampleStep {
    tool: &'static str,
    input: Value,
    output: String,
}

/// A user request and what the agent did.
pub(super) struct SampleTurn {
    pub(super) request: &'static str,
    steps: Vec<SampleStep>,
    reply: &'static str,
}

pub(super) struct SampleSession {
    pub(super) turns: Vec<SampleTurn>,
}

/// User requests, the agent's final texts, and how much it read for each, in thousands of characters.
const TURNS: [(&str, &str, u64); 10] = [
    (
        "Uploads over 1 GB fail. Find out why.",
        "The client gives up after one timeout; there is no retry.",
        62,
    ),
    (
        "Show every place that talks to the upload service.",
        "Seven call sites, all through `UploadClient::send`.",
        56,
    ),
    (
        "Add a retry with backoff to the client.",
        "Added `Backoff` and used it in `send`; unit tests pass.",
        50,
    ),
    (
        "The integration tests fail now. Look at their log.",
        "The fake server closes the connection too early; fixed.",
        88,
    ),
    ("Do the same for downloads.", "Downloads use the same `Backoff`; tests pass.", 54),
    ("Make the limits configurable.", "Two new keys in the configuration, documented.", 34),
    ("Why does CI take twenty minutes?", "The cache key changes on every run; pinned it.", 78),
    ("Review the whole change for races.", "One race in the progress counter; now an atomic.", 66),
    ("Write the release notes.", "Draft is in CHANGELOG.md.", 18),
    ("One last run of everything, please.", "All 412 tests pass.", 26),
];

const FILES: [&str; 8] = [
    "src/client.rs",
    "src/backoff.rs",
    "src/config.rs",
    "src/progress.rs",
    "tests/upload.rs",
    "tests/fake_server.rs",
    ".ci/build.yml",
    "CHANGELOG.md",
];

const WORDS: [&str; 16] = [
    "let",
    "client",
    "retry",
    "request",
    "->",
    "Result<Response>",
    "timeout",
    "chunk",
    "offset",
    "await?",
    "{",
    "}",
    "expected",
    "found",
    "ok",
    "// keep",
];

/// A generator of pseudo-random numbers with a fixed seed and algorithm, so that the session never changes.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list.get(self.next(list.len() as u64) as usize).copied().unwrap_or_default()
    }

    /// Text like a tool's output, of about this many characters.
    fn output(&mut self, characters: usize) -> String {
        let mut text = String::with_capacity(characters + 80);
        let mut line = 1;
        while text.len() < characters {
            text.push_str(&format!("{line:>5}\t"));
            for _ in 0..4 + self.next(6) {
                text.push_str(self.pick(&WORDS));
                text.push(' ');
            }
            text.push('\n');
            line += 1;
        }
        text
    }
}

impl SampleSession {
    pub(super) fn generate() -> Self {
        let mut numbers = Numbers(7);
        let turns = TURNS.iter().enumerate().map(|(number, &(request, reply, volume))| {
            let mut left = volume * 1000;
            let mut steps = Vec::new();
            if number == 2 {
                let output = "# House rules\nRun the linter before you say that you are done.\n".repeat(60);
                steps.push(SampleStep { tool: "skill", input: json!({ "name": "house-rules" }), output });
            }
            while left > 0 {
                let size = (2_000 + numbers.next(18_000)).min(left);
                left -= size;
                steps.push(numbers.step(size as usize));
            }
            SampleTurn { request, steps, reply }
        });
        Self { turns: turns.collect() }
    }
}

impl Numbers {
    fn step(&mut self, characters: usize) -> SampleStep {
        let file = self.pick(&FILES);
        let (tool, input) = match self.next(5) {
            0 | 1 => ("read", json!({ "filePath": file })),
            2 => ("grep", json!({ "pattern": self.pick(&WORDS), "path": "src" })),
            3 => ("edit", json!({ "filePath": file, "oldString": "timeout", "newString": "deadline" })),
            _ => ("bash", json!({ "command": "cargo test --workspace" })),
        };
        SampleStep { tool, input, output: self.output(characters) }
    }
}

/// The time of the first message in milliseconds since 1970. Each message comes a minute later.
const START: i64 = 1_767_600_000_000;

impl SampleSession {
    /// The steps of a turn, numbered through the whole session.
    fn numbered<'a>(&self, turn: &'a SampleTurn, counter: &mut u64) -> Vec<(u64, &'a SampleStep)> {
        turn.steps
            .iter()
            .map(|step| {
                *counter += 1;
                (*counter, step)
            })
            .collect()
    }

    /// As an OpenCode export.
    pub(super) fn opencode(&self) -> Value {
        let mut messages = Vec::new();
        let (mut counter, mut context) = (0, 14_000u64);
        for (number, turn) in self.turns.iter().enumerate() {
            let user = format!("msg_{number:03}u");
            let time = START + messages.len() as i64 * 60_000;
            messages.push(json!({
                "info": { "id": user, "role": "user", "time": { "created": time } },
                "parts": [{ "id": format!("prt_{number:03}u"), "type": "text", "text": turn.request }],
            }));
            let mut parts = Vec::new();
            for (call, step) in self.numbered(turn, &mut counter) {
                context += step.output.len() as u64 * 10 / 32;
                parts.push(json!({
                    "id": format!("prt_{call:04}"), "type": "tool", "tool": step.tool, "callID": format!("call_{call}"),
                    "state": { "status": "completed", "input": step.input, "output": step.output, "title": step.tool,
                               "metadata": {}, "time": { "start": time, "end": time + 900 } },
                }));
            }
            parts.push(json!({ "id": format!("prt_{number:03}a"), "type": "text", "text": turn.reply }));
            messages.push(json!({
                "info": { "id": format!("msg_{number:03}z"), "role": "assistant", "parentID": user, "mode": "build",
                          "providerID": "anthropic", "modelID": "claude-sonnet-4-5", "finish": "stop",
                          "time": { "created": time + 60_000 },
                          "tokens": { "input": 12, "output": 420, "reasoning": 0,
                                      "cache": { "read": context - 2_000, "write": 1_988 } } },
                "parts": parts,
            }));
        }
        json!({ "info": { "id": "ses_demo", "title": "Uploads over 1 GB" }, "messages": messages })
    }

    /// As Chat Completions messages: for each turn, what is appended between two requests to the model.
    pub(super) fn chat(&self) -> Vec<Vec<Vec<Value>>> {
        let mut counter = 0;
        let mut turns = Vec::new();
        for turn in &self.turns {
            let mut steps = vec![vec![json!({ "role": "user", "content": turn.request })]];
            for (call, step) in self.numbered(turn, &mut counter) {
                let id = format!("call_{call}");
                let function = json!({ "name": step.tool, "arguments": step.input.to_string() });
                steps.push(vec![
                    json!({ "role": "assistant", "content": null,
                        "tool_calls": [{ "id": id, "type": "function", "function": function }] }),
                    json!({ "role": "tool", "tool_call_id": id, "content": step.output }),
                ]);
            }
            steps.push(vec![json!({ "role": "assistant", "content": turn.reply })]);
            turns.push(steps);
        }
        turns
    }

    /// As OpenClaw's messages.
    pub(super) fn openclaw(&self) -> Value {
        let mut messages = Vec::new();
        let mut counter = 0;
        for turn in &self.turns {
            let time = START + messages.len() as i64 * 60_000;
            messages.push(json!({ "role": "user", "content": turn.request, "timestamp": time }));
            for (call, step) in self.numbered(turn, &mut counter) {
                let id = format!("call_{call}");
                messages.push(json!({ "role": "assistant", "timestamp": time,
                    "content": [{ "type": "toolCall", "id": id, "name": step.tool, "arguments": step.input }] }));
                messages.push(
                    json!({ "role": "toolResult", "toolCallId": id, "toolName": step.tool, "timestamp": time,
                    "content": [{ "type": "text", "text": step.output }], "isError": false }),
                );
            }
            messages.push(json!({ "role": "assistant", "timestamp": time,
                "content": [{ "type": "text", "text": turn.reply }] }));
        }
        Value::Array(messages)
    }

    /// As the events of openagentic-sdk.
    pub(super) fn openagentic(&self) -> Value {
        let mut events = Vec::new();
        let mut counter = 0;
        for turn in &self.turns {
            events.push(json!({ "type": "user.message", "text": turn.request }));
            for (call, step) in self.numbered(turn, &mut counter) {
                let id = format!("call_{call}");
                events.push(
                    json!({ "type": "tool.use", "tool_use_id": id, "name": step.tool, "input": step.input }),
                );
                events.push(json!({ "type": "tool.result", "tool_use_id": id, "output": step.output }));
            }
            events.push(json!({ "type": "assistant.message", "text": turn.reply }));
        }
        Value::Array(events)
    }

    /// As Qwery's messages.
    pub(super) fn qwery(&self) -> Value {
        let mut messages = Vec::new();
        let mut counter = 0;
        for (number, turn) in self.turns.iter().enumerate() {
            messages.push(json!({ "id": format!("u{number}"), "role": "user", "metadata": {},
                "content": { "parts": [{ "type": "text", "text": turn.request }] } }));
            for (call, step) in self.numbered(turn, &mut counter) {
                messages.push(json!({ "id": format!("a{call}"), "role": "assistant", "metadata": {},
                    "content": { "parts": [{ "type": format!("tool-{}", step.tool), "toolCallId": format!("call_{call}"),
                        "state": "output-available", "input": step.input, "output": step.output }] } }));
            }
            messages.push(json!({ "id": format!("z{number}"), "role": "assistant", "metadata": {},
                "content": { "parts": [{ "type": "text", "text": turn.reply }] } }));
        }
        Value::Array(messages)
    }
}

/// Appends a finished compaction to an OpenCode session: the marker, the summary, and one more request.
pub(super) fn compact(session: &mut Value, tail: Option<&str>) {
    let mut marker = json!({ "id": "prt_c", "type": "compaction", "auto": true });
    if let Some(tail) = tail {
        marker["tail_start_id"] = json!(tail);
    }
    let more = [
        json!({ "info": { "id": "msg_c", "role": "user" }, "parts": [marker] }),
        json!({ "info": { "id": "msg_s", "role": "assistant", "parentID": "msg_c", "summary": true, "finish": "stop" },
                "parts": [{ "id": "prt_s", "type": "text", "text": "Uploads and downloads now retry with backoff." }] }),
        json!({ "info": { "id": "msg_n", "role": "user" },
                "parts": [{ "id": "prt_n", "type": "text", "text": "Thanks. Tag the release." }] }),
    ];
    if let Some(messages) = session.get_mut("messages").and_then(Value::as_array_mut) {
        messages.extend(more);
    }
}
