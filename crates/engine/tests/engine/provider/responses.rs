//! How responses are understood.

use secateur::Usage;
use secateur_engine::provider::{Endpoint, Finish, ModelError};
use secateur_formats::Wire;
use serde_json::{Value, json};

use super::{Asked, ask, ask_model, endpoint, play};
use secateur_testing::scripted_provider::{Script, ScriptedProvider, Step, answer, events};

/// A text with letters of one to four bytes, line breaks and what JSON escapes.
const TEXT: &str = "One  ü\nand \u{4e09} \"🌿\"\ttwo.";

fn play_events(wire: Wire, list: &[Value]) -> impl Future<Output = Asked> + use<> {
    play(wire, Script::stream(events(wire, list)))
}

#[tokio::test]
async fn a_streamed_answer_is_heard_word_by_word_and_counted() {
    for wire in Wire::ALL {
        let asked = play(wire, Script::answer(wire, TEXT)).await;
        assert_eq!(asked.heard.concat(), TEXT, "{wire}");
        assert!(asked.heard.len() > 3, "{wire}: {:?}", asked.heard);
        let answer = asked.answer();
        assert_eq!((answer.text.as_str(), answer.finish), (TEXT, Finish::Complete), "{wire}");
        let usage = answer.usage.unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.output), (5, 2, 5), "{wire}");
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_is_read_too() {
    for wire in Wire::ALL {
        let asked = play(wire, Script::whole(wire, TEXT)).await;
        assert_eq!(asked.heard, [TEXT], "{wire}");
        let answer = asked.answer();
        assert_eq!((answer.text.as_str(), answer.finish), (TEXT, Finish::Complete), "{wire}");
        let usage = answer.usage.unwrap();
        assert_eq!((usage.input, usage.cache_read, usage.output), (5, 2, 5), "{wire}");
    }
}

#[tokio::test]
async fn an_answer_may_come_byte_by_byte_with_any_ends_of_lines() {
    for wire in Wire::ALL {
        for lines in ["\n", "\r\n", "\r"] {
            let body = answer(wire, TEXT).replace('\n', lines);
            let asked = play(wire, Script::stream(body).bytewise()).await;
            assert_eq!(asked.heard.concat(), TEXT, "{wire} {lines:?}");
            assert_eq!(asked.answer().text, TEXT, "{wire} {lines:?}");
        }
        assert_eq!(play(wire, Script::whole(wire, TEXT).bytewise()).await.answer().text, TEXT, "{wire}");
    }
}

#[tokio::test]
async fn an_answer_may_be_cut_between_any_two_bytes() {
    let text = "ü 🌿";
    for (wire, list) in [
        (
            Wire::OpenAiChat,
            vec![json!({ "choices": [{ "delta": { "content": text }, "finish_reason": "stop" }] })],
        ),
        (
            Wire::OpenAiResponses,
            vec![
                json!({ "type": "response.output_text.delta", "delta": text }),
                json!({ "type": "response.completed", "response": { "status": "completed" } }),
            ],
        ),
        (
            Wire::Anthropic,
            vec![
                json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": text } }),
                json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
            ],
        ),
        (
            Wire::Gemini,
            vec![
                json!({ "candidates": [{ "content": { "parts": [{ "text": text }] }, "finishReason": "STOP" }] }),
            ],
        ),
    ] {
        for lines in ["\n", "\r\n"] {
            let script = Script::stream(events(wire, &list).replace('\n', lines));
            let cuts = 0..=script.bytes().len();
            let server =
                ScriptedProvider::start(cuts.clone().map(|at| script.clone().split(at)).collect()).await;
            let model = endpoint(wire, &server).connect().unwrap();
            for at in cuts {
                let asked = ask_model(&model).await;
                assert_eq!(asked.heard, [text], "{wire} at {at}");
                assert_eq!(asked.answer().text, text, "{wire} at {at}");
            }
        }
    }
}

#[tokio::test]
async fn the_last_marks_of_a_stream_may_be_missing() {
    for (wire, end) in [
        (Wire::OpenAiChat, "data: [DONE]\n\n"),
        (Wire::OpenAiChat, "\n\n"),
        (Wire::Anthropic, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"),
    ] {
        let body = answer(wire, TEXT);
        let asked = play(wire, Script::stream(body.strip_suffix(end).unwrap())).await;
        assert_eq!(asked.answer().text, TEXT, "{wire} without {end}");
    }
}

#[tokio::test]
async fn nothing_is_waited_for_after_the_last_event() {
    // Gemini has none: its streams end with the connection.
    for wire in Wire::ALL.into_iter().filter(|&wire| wire != Wire::Gemini) {
        let script = Script::answer(wire, TEXT).then(Step::Stall);
        assert_eq!(play(wire, script).await.answer().text, TEXT, "{wire}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_after_the_end_of_the_answer_does_not_matter() {
    for (wire, end) in [
        (Wire::OpenAiChat, "data: [DONE]"),
        (Wire::Anthropic, "event: message_stop"),
        (Wire::Gemini, "there is no such mark"),
    ] {
        let body = answer(wire, TEXT);
        let script = Script::stream(body.split(end).next().unwrap()).then(Step::Cut);
        assert_eq!(play(wire, script).await.answer().text, TEXT, "{wire}");
    }
}

#[tokio::test]
async fn comments_and_events_without_data_are_passed_over() {
    for wire in Wire::ALL {
        let body =
            format!(": busy\n\nevent: ping\n\nretry: 3\n\ndata:\n\nfoo: bar\n\n{}", answer(wire, TEXT));
        assert_eq!(play(wire, Script::stream(body)).await.answer().text, TEXT, "{wire}");
    }
}

#[tokio::test]
async fn the_end_of_an_answer_is_understood() {
    for (reason, finish) in [
        ("stop", Finish::Complete),
        ("length", Finish::Length),
        ("content_filter", Finish::Filtered),
        ("tired", Finish::Other),
    ] {
        let chunk = json!({ "choices": [{ "delta": { "content": "so" }, "finish_reason": reason }] });
        assert_eq!(play_events(Wire::OpenAiChat, &[chunk]).await.answer().finish, finish, "{reason}");
    }
    for (reason, finish) in [
        ("end_turn", Finish::Complete),
        ("stop_sequence", Finish::Complete),
        ("max_tokens", Finish::Length),
        ("model_context_window_exceeded", Finish::Length),
        ("refusal", Finish::Filtered),
        ("pause_turn", Finish::Other),
    ] {
        let asked = play_events(
            Wire::Anthropic,
            &[
                json!({ "type": "content_block_start", "content_block": { "type": "text", "text": "so" } }),
                json!({ "type": "message_delta", "delta": { "stop_reason": reason } }),
            ],
        );
        assert_eq!(asked.await.answer().finish, finish, "{reason}");
    }
    for (reason, finish) in [
        ("STOP", Finish::Complete),
        ("MAX_TOKENS", Finish::Length),
        ("SAFETY", Finish::Filtered),
        ("RECITATION", Finish::Filtered),
        ("PROHIBITED_CONTENT", Finish::Filtered),
        ("OTHER", Finish::Other),
    ] {
        let chunk = json!({ "candidates": [{ "content": { "parts": [{ "text": "so" }] },
            "finishReason": reason }] });
        assert_eq!(play_events(Wire::Gemini, &[chunk]).await.answer().finish, finish, "{reason}");
    }
    for (status, reason, finish) in [
        ("completed", Value::Null, Finish::Complete),
        ("incomplete", json!({ "reason": "max_output_tokens" }), Finish::Length),
        ("incomplete", json!({ "reason": "content_filter" }), Finish::Filtered),
        ("incomplete", Value::Null, Finish::Other),
    ] {
        let asked = play_events(
            Wire::OpenAiResponses,
            &[
                json!({ "type": "response.output_text.delta", "delta": "so" }),
                json!({ "type": format!("response.{status}"),
                "response": { "status": status, "incomplete_details": reason } }),
            ],
        );
        assert_eq!(asked.await.answer().finish, finish, "{status} {reason}");
    }
}

#[tokio::test]
async fn an_answer_of_all_the_tokens_it_was_allowed_is_not_complete_whatever_it_says() {
    // The scripted responses report five tokens.
    for (max, finish) in [(5, Finish::Length), (6, Finish::Complete)] {
        for wire in Wire::ALL {
            for script in [Script::answer(wire, TEXT), Script::whole(wire, TEXT)] {
                let server = ScriptedProvider::start(vec![script]).await;
                let asked = ask(&Endpoint { output: Some(max), ..endpoint(wire, &server) }).await;
                assert_eq!(asked.answer().finish, finish, "{wire} {max}");
            }
        }
    }
}

#[tokio::test]
async fn a_model_that_refuses_is_not_complete() {
    let chat = json!({ "choices": [{ "delta": { "content": "So", "refusal": "I will not" },
        "finish_reason": "stop" }] });
    assert_eq!(play_events(Wire::OpenAiChat, &[chat]).await.answer().finish, Finish::Filtered);
    let asked = play_events(
        Wire::OpenAiResponses,
        &[
            json!({ "type": "response.refusal.delta", "delta": "I will not" }),
            json!({ "type": "response.completed", "response": { "status": "completed" } }),
        ],
    );
    assert_eq!(asked.await.error(), ModelError::Empty { finish: Finish::Filtered });
    let blocked = json!({ "promptFeedback": { "blockReason": "SAFETY" }, "usageMetadata": {} });
    let expected = ModelError::Empty { finish: Finish::Filtered };
    assert_eq!(play_events(Wire::Gemini, std::slice::from_ref(&blocked)).await.error(), expected);
    assert_eq!(play(Wire::Gemini, Script::json(blocked.to_string())).await.error(), expected);
}

#[tokio::test]
async fn gemini_may_say_with_every_piece_that_it_stops() {
    let chunk = |text: &str, reason: &str| {
        json!({ "candidates": [{ "content": { "parts": [{ "text": text }] }, "finishReason": reason }],
            "usageMetadata": { "promptTokenCount": 7 } })
    };
    for (last, finish) in [("STOP", Finish::Complete), ("MAX_TOKENS", Finish::Length)] {
        let pieces = [chunk("One ", "STOP"), chunk("two ", "STOP"), chunk("three", last)];
        let streamed = play_events(Wire::Gemini, &pieces).await;
        assert_eq!(streamed.heard, ["One ", "two ", "three"]);
        let listed = play(Wire::Gemini, Script::json(json!(pieces).to_string())).await;
        for answer in [streamed.answer(), listed.answer()] {
            assert_eq!((answer.text.as_str(), answer.finish), ("One two three", finish));
        }
    }
}

#[tokio::test]
async fn a_response_that_comes_only_at_the_end_is_read_there() {
    let whole: Value =
        serde_json::from_str(&secateur_testing::scripted_provider::whole(Wire::OpenAiResponses, TEXT))
            .unwrap();
    let event = json!({ "type": "response.completed", "response": whole });
    let asked = play_events(Wire::OpenAiResponses, &[event]).await;
    assert_eq!(asked.heard, [TEXT]);
    assert_eq!(asked.answer().text, TEXT);
}

#[tokio::test]
async fn other_choices_and_parts_that_think_are_not_the_answer() {
    let asked = play_events(
        Wire::OpenAiChat,
        &[
            json!({ "choices": [{ "index": 1, "delta": { "content": "other" } }] }),
            json!({ "choices": [{ "index": 0, "delta": { "content": [
            { "type": "thinking", "thinking": [{ "type": "text", "text": "hm" }] },
            { "type": "text", "text": "this" },
        ] } }] }),
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }),
        ],
    );
    assert_eq!(asked.await.answer().text, "this");
    let candidate = |index: u64, parts: Value| json!({ "index": index, "content": { "parts": parts } });
    let asked = play_events(
        Wire::Gemini,
        &[
            json!({ "candidates": [
                candidate(1, json!([{ "text": "other" }])),
                candidate(0, json!([{ "text": "hm", "thought": true }, { "text": "this", "thoughtSignature": "s" }])),
            ] }),
            json!({ "candidates": [{ "finishReason": "STOP" }] }),
        ],
    );
    assert_eq!(asked.await.answer().text, "this");
}

#[tokio::test]
async fn thinking_is_counted_apart_from_the_output() {
    let usage = |total: i64| {
        json!({ "choices": [{ "delta": { "content": "so" }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 9, "total_tokens": total,
                "completion_tokens_details": { "reasoning_tokens": 4 } } })
    };
    let counted = Usage { input: 10, output: 5, reasoning: 4, total: Some(19), ..Usage::default() };
    let within = play_events(Wire::OpenAiChat, &[usage(19)]).await.answer();
    assert_eq!(within.usage, Some(counted));
    let beside = play_events(Wire::OpenAiChat, &[usage(23)]).await.answer();
    assert_eq!(beside.usage, Some(Usage { output: 9, total: Some(23), ..counted }));
    let gemini = json!({ "candidates": [{ "content": { "parts": [{ "text": "so" }] }, "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 4,
            "totalTokenCount": 19 } });
    assert_eq!(play_events(Wire::Gemini, &[gemini]).await.answer().usage, Some(counted));
}

#[tokio::test]
async fn counts_that_are_none_do_no_harm() {
    for usage in
        [json!(null), json!("many"), json!({}), json!({ "prompt_tokens": -1, "completion_tokens": "x" })]
    {
        let chunk =
            json!({ "choices": [{ "delta": { "content": "so" }, "finish_reason": "stop" }], "usage": usage });
        let counted = play_events(Wire::OpenAiChat, &[chunk]).await.answer().usage;
        assert_eq!(counted.unwrap_or_default(), Usage::default(), "{usage}");
    }
}
