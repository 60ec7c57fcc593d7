//! Responses that are errors.

use std::time::Duration;

use secateur_engine::provider::{Delta, Endpoint, Finish, LanguageModel, ModelError};
use secateur_formats::Wire;
use serde_json::{Value, json};

use super::{QUESTION, ask, ask_as, endpoint, play};
use secateur_testing::scripted_provider::{Script, ScriptedProvider, Step, answer, events, whole};

/// The beginning of a good response: everything before its last event, with the words "One two".
fn beginning(wire: Wire) -> String {
    let body = answer(wire, "One two");
    let end = match wire {
        Wire::OpenAiChat => r#""delta":{},"#,
        Wire::OpenAiResponses => "event: response.completed",
        Wire::Gemini => r#""finishReason""#,
        _ => "event: message_delta",
    };
    let before = body.split(end).next().unwrap();
    let whole_events = before.rfind("\n\n").unwrap() + 2;
    body[..whole_events].to_owned()
}

#[tokio::test]
async fn half_an_answer_is_none_however_it_ends() {
    for wire in Wire::ALL {
        let half = Script::stream(beginning(wire));
        let torn = Script::stream(format!("{}data: {{\"typ", beginning(wire)));
        for script in [half.clone(), half.clone().then(Step::Cut), torn.clone(), torn.then(Step::Cut)] {
            let asked = play(wire, script).await;
            assert_eq!(asked.heard.concat(), "One two", "{wire}");
            assert_eq!(asked.error(), ModelError::CutOff { received: 7 }, "{wire}");
        }
        let asked = play(wire, Script::stream("")).await;
        assert_eq!(asked.error(), ModelError::CutOff { received: 0 }, "{wire}");
    }
    let done = format!("{}data: [DONE]\n\n", beginning(Wire::OpenAiChat));
    let asked = play(Wire::OpenAiChat, Script::stream(done)).await;
    assert_eq!(asked.error(), ModelError::CutOff { received: 7 }, "said to be done, but not why");
}

#[tokio::test]
async fn a_call_of_a_tool_is_an_error_in_every_shape() {
    let chat = |delta: Value| json!({ "choices": [{ "delta": delta }] });
    let item = |kind: &str| json!({ "type": "response.output_item.added", "item": { "type": kind } });
    let block = |kind: &str| json!({ "type": "content_block_start", "content_block": { "type": kind } });
    let gemini = |part: Value| json!({ "candidates": [{ "content": { "parts": [part] } }] });
    for (wire, event) in [
        (Wire::OpenAiChat, chat(json!({ "tool_calls": [{ "index": 0, "function": { "name": "ls" } }] }))),
        (Wire::OpenAiChat, chat(json!({ "function_call": { "name": "ls", "arguments": "" } }))),
        (Wire::OpenAiChat, json!({ "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] })),
        (Wire::OpenAiChat, json!({ "choices": [{ "delta": {}, "finish_reason": "function_call" }] })),
        (Wire::OpenAiResponses, item("function_call")),
        (Wire::OpenAiResponses, item("custom_tool_call")),
        (Wire::OpenAiResponses, item("web_search_call")),
        (Wire::OpenAiResponses, json!({ "type": "response.function_call_arguments.delta", "delta": "{" })),
        (
            Wire::OpenAiResponses,
            json!({ "type": "response.completed",
                "response": { "status": "completed", "output": [{ "type": "function_call", "name": "ls" }] } }),
        ),
        (Wire::Anthropic, block("tool_use")),
        (Wire::Anthropic, block("server_tool_use")),
        (Wire::Anthropic, block("mcp_tool_use")),
        (
            Wire::Anthropic,
            json!({ "type": "content_block_delta", "delta": { "type": "input_json_delta", "partial_json": "{" } }),
        ),
        (Wire::Anthropic, json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } })),
        (Wire::Gemini, gemini(json!({ "functionCall": { "name": "ls", "args": {} } }))),
        (Wire::Gemini, gemini(json!({ "executableCode": { "language": "PYTHON", "code": "1" } }))),
        (Wire::Gemini, json!({ "candidates": [{ "finishReason": "UNEXPECTED_TOOL_CALL" }] })),
        (Wire::Gemini, json!({ "candidates": [{ "finishReason": "MALFORMED_FUNCTION_CALL" }] })),
    ] {
        let body = beginning(wire) + &events(wire, std::slice::from_ref(&event));
        assert_eq!(play(wire, Script::stream(body)).await.error(), ModelError::CalledTool, "{wire}: {event}");
    }
    for (wire, body) in [
        (
            Wire::OpenAiChat,
            json!({ "choices": [{ "message": { "content": "so", "tool_calls": [{ "id": "c" }] } }] }),
        ),
        (Wire::OpenAiResponses, json!({ "status": "completed", "output": [{ "type": "function_call" }] })),
        (
            Wire::Anthropic,
            json!({ "content": [{ "type": "tool_use", "name": "ls" }], "stop_reason": "tool_use" }),
        ),
        (Wire::Gemini, gemini(json!({ "functionCall": { "name": "ls" } }))),
    ] {
        assert_eq!(
            play(wire, Script::json(body.to_string())).await.error(),
            ModelError::CalledTool,
            "{wire}"
        );
    }
}

#[tokio::test]
async fn a_blank_answer_is_none() {
    for wire in Wire::ALL {
        for text in ["", " \n\t "] {
            let expected = ModelError::Empty { finish: Finish::Complete };
            assert_eq!(play(wire, Script::answer(wire, text)).await.error(), expected, "{wire}");
            assert_eq!(play(wire, Script::whole(wire, text)).await.error(), expected, "{wire}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_malformed() {
    let broken = [
        "data: {\"type\":\n\n",
        "data: 7\n\n",
        "data: []\n\n",
        "data: {\"choices\":7,\"type\":7,\"candidates\":7}\n\n",
        "data: \"text\"\n\n",
    ];
    for wire in Wire::ALL {
        for body in broken {
            let body = beginning(wire) + body;
            let error = play(wire, Script::stream(body.as_str())).await.error();
            assert!(matches!(error, ModelError::Malformed { .. }), "{wire}: {body} {error}");
        }
        let mut latin = beginning(wire).into_bytes();
        latin.extend(b"data: {\"type\":\"\xff\"}\n\n");
        let error = play(wire, Script::stream(latin)).await.error();
        assert!(matches!(error, ModelError::Malformed { .. }), "{wire}: {error}");
        let half = whole(wire, "so");
        for body in ["", "{}", "[]", "no", &half[..half.len() / 2]] {
            let error = play(wire, Script::json(body)).await.error();
            assert!(matches!(error, ModelError::Malformed { .. }), "{wire}: {body} {error}");
        }
        let page = Script::stream("<html>Welcome</html>").header("content-type", "text/html");
        let error = play(wire, page).await.error();
        assert!(error.to_string().contains("check the url"), "{wire}: {error}");
    }
}

#[tokio::test]
async fn a_deep_nest_of_brackets_is_malformed_and_nothing_worse() {
    for wire in Wire::ALL {
        let deep = format!("data: {{\"x\":{}\n\n", "[".repeat(100_000));
        let error = play(wire, Script::stream(deep)).await.error();
        assert!(matches!(error, ModelError::Malformed { .. }), "{wire}: {error}");
        let error = play(wire, Script::refusal(400, "[".repeat(60_000))).await.error();
        assert!(matches!(error, ModelError::Refused { status: 400, .. }), "{wire}: {error}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_means_what_it_would_mean_before() {
    let failed = |error: Value| json!({ "type": "response.failed", "response": { "status": "failed", "error": error } });
    let anthropic =
        |kind: &str, message: &str| json!({ "type": "error", "error": { "type": kind, "message": message } });
    let gemini = |code: u16, status: &str, message: &str| json!({ "error": { "code": code, "status": status, "message": message } });
    let server = |status| ModelError::Server { status, retry_after: None, message: "busy".to_owned() };
    let limited = ModelError::RateLimited { retry_after: None, message: "busy".to_owned() };
    let overflow = ModelError::Overflow { used: Some(9), limit: Some(8) };
    let long = "prompt is too long: 9 tokens > 8 maximum";
    for (wire, event, expected) in [
        (Wire::OpenAiChat, json!({ "error": { "message": "busy", "code": 502 } }), server(502)),
        (Wire::OpenAiChat, json!({ "error": { "message": "busy", "type": "server_error" } }), server(500)),
        (
            Wire::OpenAiChat,
            json!({ "error": { "message": "busy", "code": "rate_limit_exceeded" } }),
            limited.clone(),
        ),
        (Wire::OpenAiChat, json!({ "error": { "message": long, "code": 400 } }), overflow.clone()),
        (Wire::OpenAiResponses, failed(json!({ "code": "server_error", "message": "busy" })), server(500)),
        (
            Wire::OpenAiResponses,
            failed(json!({ "code": "rate_limit_exceeded", "message": "busy" })),
            limited.clone(),
        ),
        (
            Wire::OpenAiResponses,
            json!({ "type": "error", "code": "context_length_exceeded", "message": "too long" }),
            ModelError::Overflow { used: None, limit: None },
        ),
        (
            Wire::OpenAiResponses,
            json!({ "type": "error", "error": { "type": "server_error", "message": "busy" } }),
            server(500),
        ),
        (Wire::Anthropic, anthropic("overloaded_error", "busy"), server(529)),
        (Wire::Anthropic, anthropic("rate_limit_error", "busy"), limited),
        (Wire::Anthropic, anthropic("api_error", "busy"), server(500)),
        (Wire::Anthropic, anthropic("invalid_request_error", long), overflow.clone()),
        (Wire::Gemini, gemini(503, "UNAVAILABLE", "busy"), server(503)),
        (Wire::Gemini, gemini(400, "INVALID_ARGUMENT", long), overflow),
    ] {
        let body = beginning(wire) + &events(wire, std::slice::from_ref(&event));
        assert_eq!(play(wire, Script::stream(body)).await.error(), expected, "{wire}: {event}");
    }
}

#[tokio::test]
async fn an_error_with_status_200_is_an_error() {
    for wire in Wire::ALL {
        let body = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "busy" } });
        let error = play(wire, Script::json(body.to_string())).await.error();
        assert!(matches!(error, ModelError::Server { status: 529, .. }), "{wire}: {error}");
    }
}

#[tokio::test]
async fn an_overflow_is_distinguished_from_other_refusals() {
    for wire in Wire::ALL {
        let body = r#"{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#;
        let error = play(wire, Script::refusal(400, body)).await.error();
        assert_eq!(error, ModelError::Overflow { used: Some(210_000), limit: Some(200_000) }, "{wire}");
        let error = play(wire, Script::refusal(413, "<html>too large</html>")).await.error();
        assert_eq!(error, ModelError::Overflow { used: None, limit: None }, "{wire}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    for wire in Wire::ALL {
        let target = ScriptedProvider::start(vec![Script::answer(wire, "yes")]).await;
        let script = Script::refusal(307, "").header("location", &target.url());
        let error = play(wire, script).await.error();
        assert!(matches!(error, ModelError::Refused { status: 307, .. }), "{wire}: {error}");
        assert!(target.requests().is_empty(), "{wire}");
    }
}

#[tokio::test]
async fn a_key_that_comes_back_in_an_error_is_not_passed_on() {
    for wire in Wire::ALL {
        let body = json!({ "error": { "message": "wrong key sk-sesame for \u{1b}[1mteam gardeners\n!" } });
        let event = json!({ "type": "error", "error": { "code": 401, "message": "wrong key sk-sesame" } });
        let bad = "data: {\"type\":\"sk-sesame\",\"delta\":\"sk-sesame\",\"choices\":\"sk-sesame\",\
                   \"candidates\":\"sk-sesame\"}\n\n";
        for script in [
            Script::refusal(401, body.to_string()),
            Script::refusal(500, "sk-sesame gardeners"),
            Script::stream(events(wire, &[event])),
            Script::stream(bad),
        ] {
            let server = ScriptedProvider::start(vec![script]).await;
            let mut endpoint = Endpoint { retries: 0, ..endpoint(wire, &server) };
            endpoint.headers.insert("x-team".to_owned(), "gardeners".to_owned());
            let error = ask_as(&endpoint, Some("sk-sesame")).await.error();
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("sesame") && !shown.contains("gardeners"), "{wire}: {shown}");
            assert!(!shown.contains('\u{1b}'), "{wire}: {shown}");
        }
    }
}

#[tokio::test]
async fn a_closed_port_is_a_failure_of_the_network() {
    let server = ScriptedProvider::start(vec![]).await;
    let settings =
        Endpoint { url: format!("{}/v1?key=sesame", server.url()), ..endpoint(Wire::OpenAiChat, &server) };
    drop(server);
    let error = ask(&settings).await.error();
    assert!(matches!(error, ModelError::Network { .. }), "{error}");
    assert!(!error.to_string().contains("sesame"), "{error}");
}

#[tokio::test]
async fn dropping_the_question_hangs_up() {
    for wire in Wire::ALL {
        let script = Script::stream(beginning(wire)).then(Step::Stall);
        let server = ScriptedProvider::start(vec![script]).await;
        let model = endpoint(wire, &server).connect().unwrap();
        let heard = std::sync::Arc::new(tokio::sync::Notify::new());
        let hear = std::sync::Arc::clone(&heard);
        let asking = tokio::spawn(async move {
            let mut deltas = move |_: Delta<'_>| hear.notify_one();
            model.send(&QUESTION, &mut deltas).await
        });
        heard.notified().await;
        asking.abort();
        server.wait_for_disconnects(1).await;
        assert_eq!(server.requests().len(), 1, "{wire}");
    }
}

#[tokio::test]
async fn dropping_the_question_before_anything_came_hangs_up() {
    for wire in Wire::ALL {
        let server = ScriptedProvider::start(vec![Script::silence()]).await;
        let model = endpoint(wire, &server).connect().unwrap();
        let asking = tokio::spawn(async move { model.send(&QUESTION, &mut |_| {}).await });
        server.wait_for_requests(1).await;
        asking.abort();
        server.wait_for_disconnects(1).await;
    }
}

#[tokio::test]
async fn a_pause_within_patience_is_no_failure() {
    for wire in Wire::ALL {
        let body = answer(wire, "One two");
        let (head, tail) = body.split_at(body.len() / 2);
        let script = Script::stream(head)
            .then(Step::Pause(Duration::from_millis(20)))
            .then(Step::Chunk(tail.as_bytes().to_vec()));
        assert_eq!(play(wire, script).await.answer().text, "One two", "{wire}");
    }
}
