//! The scripted model by itself: it finds its place in any history, refuses what a provider refuses, and keeps books.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

use secateur_testing::ScriptedModel;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

async fn post(model: &ScriptedModel, path: &str, body: &Value) -> (u16, String) {
    let (address, body) = (model.url().replace("http://", ""), body.to_string());
    let mut stream = TcpStream::connect(&address).await.unwrap();
    // The older protocol has no chunks that would have to be put together.
    let head = format!("POST {path} HTTP/1.0\r\nhost: {address}\r\n");
    let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

async fn ask(model: &ScriptedModel, path: &str, body: &Value) -> Value {
    let (status, body) = post(model, path, body).await;
    assert_eq!(status, 200, "{body}");
    serde_json::from_str(&body).unwrap()
}

async fn start(window: Option<u64>) -> ScriptedModel {
    ScriptedModel::with_window(window).await
}

fn schema() -> Value {
    json!({ "type": "object", "properties": { "command": { "type": "string" } }, "required": ["command"] })
}

fn anthropic(messages: &Value) -> Value {
    let tool = json!({ "name": "bash", "input_schema": schema() });
    json!({ "model": "m", "max_tokens": 100, "tools": [tool], "messages": messages })
}

const PROMPT: &str = "SCENARIO:long steps=4 bytes=100";

#[tokio::test]
async fn each_wire_has_its_own_call_of_the_shell() {
    let model = start(None).await;
    let function = json!({ "name": "bash", "parameters": schema() });
    let user = json!([{ "role": "user", "content": PROMPT }]);

    let answer = ask(&model, "/v1/messages", &anthropic(&user)).await;
    assert_eq!(answer["content"][1]["id"], "toolu_step_001_long_1");
    let command = answer["content"][1]["input"]["command"].clone();
    assert!(command.as_str().unwrap().contains("step 1 of long"), "{command}");

    let tools = json!([{ "type": "function", "function": function }]);
    let answer =
        ask(&model, "/v1/chat/completions", &json!({ "model": "m", "messages": user, "tools": tools })).await;
    let call = &answer["choices"][0]["message"]["tool_calls"][0];
    assert_eq!(call["function"]["arguments"], json!({ "command": command }).to_string());

    let tools = json!([{ "type": "function", "name": "bash", "parameters": schema() }]);
    let answer =
        ask(&model, "/v1/responses", &json!({ "model": "m", "input": PROMPT, "tools": tools })).await;
    assert_eq!(answer["output"][1]["call_id"], "call_step_001_long_1");

    let contents = json!([{ "role": "user", "parts": [{ "text": PROMPT }] }]);
    let body = json!({ "contents": contents, "tools": [{ "functionDeclarations": [function] }] });
    let answer = ask(&model, "/v1beta/models/m:generateContent", &body).await;
    assert_eq!(answer["candidates"][0]["content"]["parts"][1]["functionCall"]["args"]["command"], command);
}

#[tokio::test]
async fn the_work_goes_on_behind_whatever_names_the_highest_step() {
    let model = start(None).await;
    let text = |text: &str| json!([{ "role": "user", "content": text }]);
    let next = async |text: Value| {
        let answer = ask(&model, "/v1/messages", &anthropic(&text)).await;
        answer["content"].as_array().unwrap().clone()
    };
    // Every third step has two calls.
    let blocks = next(text(&format!("A summary: Reached step 2 of long.\n{PROMPT}"))).await;
    assert_eq!(blocks.iter().filter(|block| block["type"] == "tool_use").count(), 2);
    let blocks = next(text(&format!("{PROMPT}\ncommands: step 3 of long, step 4 of long"))).await;
    assert_eq!(blocks[0]["text"], "Finished long after 4 steps.");
    let blocks = next(text(&format!("step 4 of long is another run. {PROMPT} run=b"))).await;
    assert_eq!(blocks[1]["id"], "toolu_step_001_long-b_1");
}

#[tokio::test]
async fn a_stream_says_the_same_as_a_whole_answer() {
    let model = start(None).await;
    let mut body = anthropic(&json!([{ "role": "user", "content": PROMPT }]));
    let whole = ask(&model, "/v1/messages", &body).await;
    body["stream"] = true.into();
    let (_, stream) = post(&model, "/v1/messages", &body).await;
    let events = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = events.map(|data| serde_json::from_str(data).unwrap()).collect();
    let pieces = events.iter().filter_map(|event| event.pointer("/delta/partial_json")?.as_str());
    assert_eq!(pieces.collect::<String>(), whole["content"][1]["input"].to_string());
}

#[tokio::test]
async fn a_record_is_written_with_the_step_and_what_it_must_carry() {
    let model = start(None).await;
    let question = "[begin text 123]\nnever push\n[end text 123]\n[begin conversation 123]\n\
                    user: SCENARIO:long steps=9\nbash: step 5 of long\n[end conversation 123]";
    let system = "You keep the record of a conversation between a user and an assistant.";
    let body =
        json!({ "model": "m", "system": system, "messages": [{ "role": "user", "content": question }] });
    let answer = ask(&model, "/v1/messages", &body).await;
    let text = answer["content"][0]["text"].as_str().unwrap();
    for part in ["Reached step 5 of long.", "SCENARIO:long steps=9", "never push"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[tokio::test]
async fn what_was_cut_is_asked_for_and_looked_at() {
    let model = start(None).await;
    let shell = json!({ "type": "function", "name": "bash", "parameters": schema() });
    let schema = json!({ "type": "object", "properties": { "handle": {} }, "required": ["handle"] });
    let recall = json!({ "type": "function", "name": "recall", "parameters": schema });
    let tools = json!([shell, { "type": "namespace", "name": "mcp__secateur", "tools": [recall] }]);
    let next = async |done: &[(&str, &str)]| {
        let mut input = vec![json!({ "role": "user", "content": "SCENARIO:recall steps=2 bytes=100" })];
        for (id, text) in done {
            let call = json!({ "type": "function_call", "call_id": id, "name": "x", "arguments": "{}" });
            input.extend([call, json!({ "type": "function_call_output", "call_id": id, "output": text })]);
        }
        let body = json!({ "model": "m", "input": input, "tools": tools });
        ask(&model, "/v1/responses", &body).await["output"].clone()
    };
    let cut =
        ("call_step_001_recall_1", "[cut: bash awk, 130 characters; recall kbqzwmtahdue brings it back]");
    let output = next(&[cut]).await;
    assert_eq!([&output[1]["name"], &output[1]["namespace"]], ["recall", "mcp__secateur"]);
    assert_eq!(output[1]["arguments"], r#"{"handle":"kbqzwmtahdue"}"#);

    let id = output[1]["call_id"].as_str().unwrap();
    let line = |number: u64, rest: &str| format!("step 1 of recall, part 1, line {number}: {rest}\n");
    let (first, second) =
        (line(1, "7919 lies between 4999 and 3999"), line(2, "5831 lies between 25 and 7998"));
    let text = |output: &Value| output[0]["content"][0]["text"].as_str().unwrap().to_owned();
    let said = text(&next(&[cut, (id, &format!("Output:\n{first}{second}"))]).await);
    assert_eq!(said, "What was cut came back whole. This is step 2 of recall.");
    let said = text(&next(&[cut, (id, &first)]).await);
    assert_eq!(said, "What was cut did not come back whole. This is step 2 of recall.");

    let found = ("call_step_002_recall_1", "What was cut came back whole.");
    let said = text(&next(&[found]).await);
    assert_eq!(said, "Finished recall after 2 steps. What was cut came back whole.");
    assert_eq!(
        text(&next(&[("call_step_002_recall_1", "")]).await),
        "Finished recall after 2 steps. No result named a handle."
    );
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_counted() {
    let model = start(Some(100)).await;
    let long = anthropic(&json!([{ "role": "user", "content": "word ".repeat(100) }]));
    let (status, body) = post(&model, "/v1/messages", &long).await;
    assert_eq!(status, 400);
    assert!(body.contains("prompt is too long"), "{body}");
    assert_eq!(model.stats()["violations"], 1);
}

#[tokio::test]
async fn a_call_without_its_result_is_malformed() {
    let model = start(None).await;
    let call = json!([{ "type": "tool_use", "id": "t", "name": "bash", "input": {} }]);
    let user = json!({ "role": "user", "content": "on" });
    let body = anthropic(&json!([user, { "role": "assistant", "content": call }, user]));
    assert_eq!(post(&model, "/v1/messages", &body).await.0, 400);
    let call = json!([{ "id": "t", "type": "function", "function": { "name": "bash", "arguments": "{}" } }]);
    let messages = json!([user, { "role": "assistant", "tool_calls": call }, user]);
    assert_eq!(post(&model, "/v1/chat/completions", &json!({ "messages": messages })).await.0, 400);
    let input = json!([user, { "type": "function_call_output", "call_id": "t", "output": "" }]);
    assert_eq!(post(&model, "/v1/responses", &json!({ "input": input })).await.0, 400);
    assert_eq!(model.stats()["malformed"], 3);
}

#[tokio::test]
async fn a_history_that_grows_stays_cached_and_a_cut_breaks_it() {
    let model = start(None).await;
    let said = |role: &str, text: &str| json!({ "role": role, "content": text });
    let long = "many words ".repeat(1000);
    let mut messages = vec![said("user", &long), said("assistant", "yes"), said("user", "go on")];
    for _ in 0..2 {
        ask(&model, "/v1/messages", &anthropic(&json!(messages))).await;
        messages.extend([said("assistant", "well"), said("user", "go on")]);
    }
    messages[0] = said("user", "cut");
    ask(&model, "/v1/messages", &anthropic(&json!(messages))).await;
    let log = model.stats()["log"].clone();
    let of = |at: usize, key: &str| log[at][key].clone();
    assert_eq!([of(0, "cached"), of(0, "prefix_broken")], [json!(0), json!(false)]);
    assert!(of(1, "cached").as_u64().unwrap() > 2_000, "{log}");
    assert_eq!(of(1, "prefix_broken"), false);
    assert_eq!([of(2, "cached"), of(2, "prefix_broken")], [json!(0), json!(true)]);
}
