//! Trajectories of research agents and benches, and aider's Markdown.

use serde_json::{Value, json};

use super::{Body, PIXEL, Sample, counts, lines};

pub(crate) fn openhands_v0() -> Sample {
    let events = json!([
        { "id": 0, "timestamp": "2030-01-01T00:00:00.000000", "source": "environment", "message": "",
          "observation": "agent_state_changed", "content": "", "extras": { "agent_state": "running" } },
        { "id": 1, "source": "user", "action": "message",
          "args": { "content": "Water the ferns.", "image_urls": [format!("data:image/png;base64,{PIXEL}")] } },
        { "id": 2, "source": "agent", "action": "message", "args": { "content": "I look.", "image_urls": null } },
        { "id": 3, "source": "agent", "action": "read", "args": { "path": "fern.txt", "thought": "" } },
        { "id": 4, "source": "agent", "cause": 3, "observation": "read", "content": "dry soil", "extras": {} },
        { "id": 5, "source": "agent", "action": "run", "args": { "command": "ls pots", "thought": "" } },
        { "id": 6, "source": "agent", "cause": 5, "observation": "run", "content": "no such pot",
          "extras": { "metadata": { "exit_code": 2 } } },
        { "id": 7, "source": "agent", "action": "message", "args": { "content": "Done.", "image_urls": null } },
    ]);
    Sample {
        name: "openhands-v0.json",
        format: "openhands",
        body: Body::Text(events.to_string()),
        counts: counts(json!({
            "images": 1,
            "chars": { "user": 16, "assistant": 7 + 5, "tool_call": 32 + 34, "tool_result": 8 + 11 },
        })),
    }
}

pub(crate) fn openhands_v1() -> Sample {
    let event = |kind: &str, id: &str, source: &str, own: Value| {
        let mut event =
            json!({ "kind": kind, "id": id, "timestamp": "2030-01-01T00:00:01", "source": source });
        let (Value::Object(all), Value::Object(own)) = (&mut event, own) else {
            panic!("events are objects")
        };
        all.extend(own);
        event
    };
    let action = |id: &str, call: &str, tool: &str, arguments: &str, thought: Value, response: &str| {
        event(
            "ActionEvent",
            id,
            "agent",
            json!({ "thought": thought, "reasoning_content": null, "thinking_blocks": [], "tool_name": tool,
                    "tool_call": { "id": call, "name": tool, "arguments": arguments, "origin": "completion" },
                    "tool_call_id": call, "llm_response_id": response, "action": {} }),
        )
    };
    let observation = |id: &str, call: &str, tool: &str, text: &str, failed: bool| {
        event(
            "ObservationEvent",
            id,
            "environment",
            json!({ "tool_name": tool, "tool_call_id": call, "observation": {
                "content": [{ "type": "text", "text": text }], "is_error": failed } }),
        )
    };
    let message = |id: &str, source: &str, role: &str, text: &str| {
        event(
            "MessageEvent",
            id,
            source,
            json!({ "llm_message": { "role": role, "content": [{ "type": "text", "text": text }] } }),
        )
    };
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let events = [
        event(
            "SystemPromptEvent",
            "e0",
            "agent",
            json!({ "system_prompt": { "type": "text", "text": "Be kind." }, "tools": [] }),
        ),
        message("e1", "user", "user", "Water the ferns."),
        action("e2", "file_editor:0", "file_editor", r#"{"path": "fern.txt"}"#, text("I look."), "r1"),
        action("e3", "terminal:1", "terminal", r#"{"command":"ls pots"}"#, json!([]), "r1"),
        observation("e4", "file_editor:0", "file_editor", "dry soil", false),
        observation("e5", "terminal:1", "terminal", "no such pot", true),
        event("CondensationRequest", "e6", "environment", json!({})),
        event(
            "Condensation",
            "e7",
            "environment",
            json!({ "forgotten_event_ids": ["e2", "e3", "e4", "e5"], "summary": "They looked.",
                    "summary_offset": 2, "llm_response_id": "r2" }),
        ),
        action("e8", "file_editor:2", "file_editor", r#"{"path":"fern.txt"}"#, json!([]), "r3"),
        observation("e9", "file_editor:2", "file_editor", "wet soil", false),
        message("ea", "agent", "assistant", "Wet."),
    ];
    Sample {
        name: "openhands-v1.jsonl",
        format: "openhands",
        body: Body::Text(lines(&events)),
        // A question, two answers with text, a summary and three results.
        counts: counts(json!({
            "messages": 7, "tool_calls": 3, "tool_results": 3, "compactions": 1,
            "chars": { "system": 8, "user": 16, "assistant": 7 + 4, "summary": 12, "tool_call": 19 + 21 + 19,
                       "tool_result": 8 + 11 + 8 },
        })),
    }
}

pub(crate) fn swe_agent() -> Sample {
    let call = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "bash", "arguments": arguments } });
    let failure = "Traceback (most recent call last):\nno such pot";
    let trajectory = json!({
        "environment": "garden",
        "trajectory": [{ "action": "cat fern.txt", "observation": "dry soil", "response": "I look.", "state": {},
                         "thought": "I look." }],
        "history": [
            { "role": "system", "content": "Be kind.", "agent": "main" },
            { "role": "user", "content": [{ "type": "text", "text": "Water the ferns." }], "agent": "main" },
            { "role": "assistant", "content": "I look.", "agent": "main", "tool_calls":
                [call("call_1", r#"{"command": "cat fern.txt"}"#), call("call_2", r#"{"command":"ls pots"}"#)] },
            { "role": "tool", "content": [{ "type": "text", "text": "dry soil" }], "agent": "main",
              "tool_call_ids": ["call_1"] },
            { "role": "tool", "content": failure, "agent": "main", "tool_call_ids": ["call_2"] },
            { "role": "assistant", "content": "Done.", "agent": "main" },
        ],
        "info": { "exit_status": "submitted", "swe_agent_version": "1.1.0",
                  "model_stats": { "tokens_sent": 272, "tokens_received": 12, "api_calls": 2 } },
    });
    Sample {
        name: "garden.traj",
        format: "sweagent",
        body: Body::Text(format!("{trajectory:#}")),
        counts: counts(json!({
            "chars": { "system": 8, "user": 16, "assistant": 7 + 5, "tool_call": 26 + 21,
                       "tool_result": 8 + failure.len() },
        })),
    }
}

pub(crate) fn tau_bench() -> Sample {
    let call = |id: &str, name: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    let runs = json!([
        { "task_id": 0, "reward": 1.0, "info": { "task": {} }, "trial": 0, "traj": [
            { "role": "system", "content": "Be kind." },
            { "role": "user", "content": "Water the ferns." },
            { "role": "assistant", "content": "I look.", "tool_calls":
                [call("call_1", "look", r#"{"path": "fern.txt"}"#), call("call_2", "list", r#"{"path":"pots"}"#)] },
            { "role": "tool", "tool_call_id": "call_1", "name": "look", "content": "dry soil" },
            { "role": "tool", "tool_call_id": "call_2", "name": "list", "content": "Error: no such pot" },
            { "role": "assistant", "content": "Done.", "tool_calls": null },
        ] },
        { "task_id": 1, "reward": 0.0, "info": {}, "trial": 0, "traj": [
            { "role": "system", "content": "Be kind." },
            { "role": "user", "content": "And now?" },
            { "role": "assistant", "content": null, "tool_calls": [call("call_3", "look", "{}")] },
        ] },
    ]);
    Sample {
        name: "tau-bench.json",
        format: "tau-bench",
        body: Body::Text(runs.to_string()),
        // Every message of a run counts, also the system's; nothing says which results are errors.
        counts: json!([
            { "messages": 6, "tool_calls": 2, "tool_results": 2,
              "chars": { "system": 8, "user": 16, "assistant": 7 + 5, "tool_call": 19 + 15, "tool_result": 8 + 18 } },
            { "messages": 3, "tool_calls": 1, "unanswered_calls": 1,
              "chars": { "system": 8, "user": 8, "tool_call": 2 } },
        ]),
    }
}

pub(crate) fn aider() -> Sample {
    let chat = "\n# aider chat started at 2030-01-01 00:00:00\n\n> Aider v0.86.1  \n> Main model: gpt-5 with diff edit \
                format  \n\n#### Water the ferns.  \n\nI look.\n\n> Tokens: 1k sent, 2 received.  \n\n#### And now?  \
                \n\nDone.\n";
    Sample {
        name: ".aider.chat.history.md",
        format: "aider",
        body: Body::Text(chat.to_owned()),
        // The heading, three lines that the program printed, two questions and two answers.
        counts: json!({ "messages": 8, "chars": {
            "user": "#### Water the ferns.  \n".len() + "#### And now?  \n".len(),
            "assistant": "I look.\n".len() + "Done.\n".len(),
            "user_meta": "# aider chat started at 2030-01-01 00:00:00\n".len() + "> Aider v0.86.1  ".len()
                + "> Main model: gpt-5 with diff edit format  \n".len() + "> Tokens: 1k sent, 2 received.  \n".len() } }),
    }
}
