//! Limits in time and size.

use std::time::Duration;

use secateur_engine::provider::{Endpoint, ModelError};
use secateur_formats::Wire;
use serde_json::json;

use super::{Asked, ask, endpoint};
use secateur_testing::scripted_provider::{Script, ScriptedProvider, Step, answer, events};

const SHORT: u64 = 40;

async fn play(wire: Wire, script: Script, change: impl FnOnce(&mut Endpoint)) -> Asked {
    let server = ScriptedProvider::start(vec![script]).await;
    let mut endpoint = endpoint(wire, &server);
    change(&mut endpoint);
    ask(&endpoint).await
}

#[tokio::test]
async fn silence_is_not_borne_for_ever() {
    let silent = ModelError::Silent { after: Duration::from_millis(SHORT) };
    for wire in Wire::ALL {
        let body = answer(wire, "One two");
        let half = &body[..body.len() / 2];
        for script in [
            Script::silence(),
            Script::stream(half).then(Step::Stall),
            Script::json("{\"x\":").then(Step::Stall),
            Script::stream("").then(Step::Stall),
        ] {
            let asked = play(wire, script, |endpoint| endpoint.patience_ms = SHORT).await;
            assert_eq!(asked.error(), silent, "{wire}");
        }
    }
}

#[tokio::test]
async fn silence_in_an_error_does_not_hide_the_error() {
    // How long the beginning takes depends on the machine.
    for patience in (5..).map(|power| 1 << power) {
        let script = Script::refusal(403, "{\"mess").then(Step::Stall);
        let asked = play(Wire::OpenAiChat, script, |endpoint| endpoint.patience_ms = patience).await;
        match asked.error() {
            ModelError::Silent { .. } => {}
            ModelError::Refused { status: 403, message } if message == "no reason given" => {}
            error => {
                assert_eq!(error, ModelError::Refused { status: 403, message: "{\"mess".to_owned() });
                break;
            }
        }
    }
}

#[tokio::test]
async fn an_answer_that_drips_for_ever_runs_out_of_time() {
    let timeout = ModelError::Timeout { after: Duration::from_millis(SHORT) };
    for wire in Wire::ALL {
        for script in [Script::stream(": busy\n\n"), Script::json("{"), Script::refusal(500, "{")] {
            let gap = Duration::from_millis(2);
            let script = script.then(Step::Drip { bytes: b" ".to_vec(), gap });
            let asked = play(wire, script, |endpoint| endpoint.timeout_ms = SHORT).await;
            assert_eq!(asked.error(), timeout, "{wire}");
        }
    }
}

#[tokio::test]
async fn an_answer_has_a_most_of_bytes() {
    for wire in Wire::ALL {
        let text = "word ".repeat(20);
        for script in [Script::answer(wire, &text), Script::whole(wire, &text)] {
            let asked = play(wire, script.clone(), |endpoint| endpoint.most_bytes = 100).await;
            assert_eq!(asked.answer().text, text, "{wire}");
            let asked = play(wire, script, |endpoint| endpoint.most_bytes = 99).await;
            assert!(asked.heard.concat().len() < 100, "{wire}");
            assert_eq!(asked.error(), ModelError::TooLong { limit: 99 }, "{wire}");
        }
    }
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let word = |wire| match wire {
        Wire::OpenAiChat => json!({ "choices": [{ "delta": { "content": "word " } }] }),
        Wire::OpenAiResponses => json!({ "type": "response.output_text.delta", "delta": "word " }),
        Wire::Gemini => json!({ "candidates": [{ "content": { "parts": [{ "text": "word " }] } }] }),
        _ => json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": "word " } }),
    };
    for wire in Wire::ALL {
        let bytes = events(wire, &[word(wire)]).repeat(100).into_bytes();
        let script = Script::stream("").then(Step::Drip { bytes, gap: Duration::ZERO });
        let asked = play(wire, script, |endpoint| endpoint.most_bytes = 10_000).await;
        assert_eq!(asked.error(), ModelError::TooLong { limit: 10_000 }, "{wire}");
    }
}

#[tokio::test]
async fn an_event_without_end_is_given_up() {
    for (wire, script) in [
        (Wire::OpenAiChat, Script::stream("data: ")),
        (Wire::OpenAiResponses, Script::stream(": ")),
        (Wire::Anthropic, Script::json("{\"x\":\"")),
    ] {
        let bytes = vec![b'x'; 1 << 16];
        let script = script.then(Step::Drip { bytes, gap: Duration::ZERO });
        let asked = play(wire, script, |_| {}).await;
        assert_eq!(asked.error(), ModelError::TooLong { limit: 8 << 20 }, "{wire}");
    }
}

#[tokio::test]
async fn chatter_without_end_is_given_up() {
    for wire in Wire::ALL {
        let bytes = "event: ping\ndata: {\"type\":\"ping\"}\n\n".repeat(1_000).into_bytes();
        let script = Script::stream("").then(Step::Drip { bytes, gap: Duration::ZERO });
        let asked = play(wire, script, |endpoint| endpoint.most_bytes = 10).await;
        assert_eq!(asked.error(), ModelError::TooLong { limit: 8 << 20 }, "{wire}");
    }
}

#[tokio::test]
async fn the_body_of_an_error_is_read_only_so_far() {
    for wire in Wire::ALL {
        let script =
            Script::refusal(403, "").then(Step::Drip { bytes: vec![b'x'; 5_000], gap: Duration::ZERO });
        let ModelError::Refused { status: 403, message } = play(wire, script, |_| {}).await.error() else {
            panic!("{wire}")
        };
        assert_eq!(message.chars().count(), 401, "{wire}");
    }
}
