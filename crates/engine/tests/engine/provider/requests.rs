//! What is sent.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use secateur::Limits;
use secateur_engine::provider::{Endpoint, LanguageModel, ModelRequest, TokensField};
use secateur_formats::{Wire, lint};

use super::{QUESTION, ask, ask_as, endpoint};
use secateur_testing::scripted_provider::{ReceivedRequest, Script, ScriptedProvider};

/// The request that an endpoint sends.
async fn sent(wire: Wire, change: impl FnOnce(&mut Endpoint)) -> ReceivedRequest {
    let server = ScriptedProvider::start(vec![Script::answer(wire, "yes")]).await;
    let mut endpoint = endpoint(wire, &server);
    change(&mut endpoint);
    ask_as(&endpoint, Some("sk-sesame")).await.answer();
    let seen = server.request();
    assert_eq!(lint::lint(wire, &seen.body), [], "{}", seen.body);
    assert_eq!(seen.method, "POST");
    assert_eq!(seen.header("content-type"), Some("application/json"));
    seen
}

fn pretty(seen: &ReceivedRequest) -> String {
    serde_json::to_string_pretty(&seen.json()).unwrap()
}

#[tokio::test]
async fn chat_completions_are_asked_in_the_usual_way() {
    let seen = sent(Wire::OpenAiChat, |_| {}).await;
    assert_eq!(seen.path, "/v1/chat/completions");
    assert_eq!(seen.header("authorization"), Some("Bearer sk-sesame"));
    assert_snapshot!(pretty(&seen), @r#"
    {
      "model": "m",
      "messages": [
        {
          "role": "system",
          "content": "Be short."
        },
        {
          "role": "user",
          "content": "What was said?"
        }
      ],
      "max_tokens": 300,
      "stream": true,
      "stream_options": {
        "include_usage": true
      }
    }
    "#);
}

#[tokio::test]
async fn responses_are_asked_not_to_be_kept() {
    let seen = sent(Wire::OpenAiResponses, |_| {}).await;
    assert_eq!(seen.path, "/v1/responses");
    assert_eq!(seen.header("authorization"), Some("Bearer sk-sesame"));
    assert_snapshot!(pretty(&seen), @r#"
    {
      "model": "m",
      "instructions": "Be short.",
      "input": "What was said?",
      "max_output_tokens": 300,
      "store": false,
      "stream": true
    }
    "#);
}

#[tokio::test]
async fn anthropic_is_asked_with_a_version_and_its_own_header_for_the_key() {
    let seen = sent(Wire::Anthropic, |_| {}).await;
    assert_eq!(seen.path, "/v1/messages");
    assert_eq!(seen.header("x-api-key"), Some("sk-sesame"));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("authorization"), None);
    assert_snapshot!(pretty(&seen), @r#"
    {
      "model": "m",
      "max_tokens": 300,
      "system": "Be short.",
      "messages": [
        {
          "role": "user",
          "content": "What was said?"
        }
      ],
      "stream": true
    }
    "#);
}

#[tokio::test]
async fn gemini_is_asked_for_events_and_has_its_model_in_the_path() {
    let seen = sent(Wire::Gemini, |_| {}).await;
    assert_eq!(seen.path, "/v1beta/models/m:streamGenerateContent?alt=sse");
    assert_eq!(seen.header("x-goog-api-key"), Some("sk-sesame"));
    assert_eq!(seen.header("authorization"), None);
    assert_snapshot!(pretty(&seen), @r#"
    {
      "systemInstruction": {
        "parts": [
          {
            "text": "Be short."
          }
        ]
      },
      "contents": [
        {
          "role": "user",
          "parts": [
            {
              "text": "What was said?"
            }
          ]
        }
      ],
      "generationConfig": {
        "maxOutputTokens": 300
      }
    }
    "#);
}

#[tokio::test]
async fn the_field_for_the_longest_answer_and_the_count_can_be_chosen() {
    let seen = sent(Wire::OpenAiChat, |endpoint| {
        endpoint.tokens_field = TokensField::MaxCompletionTokens;
        endpoint.include_usage = false;
    })
    .await;
    assert_snapshot!(pretty(&seen), @r#"
    {
      "model": "m",
      "messages": [
        {
          "role": "system",
          "content": "Be short."
        },
        {
          "role": "user",
          "content": "What was said?"
        }
      ],
      "max_completion_tokens": 300,
      "stream": true
    }
    "#);
}

#[tokio::test]
async fn no_more_than_the_longest_answer_of_the_model_is_asked_for() {
    let fields = ["/max_tokens", "/max_tokens", "/max_output_tokens", "/generationConfig/maxOutputTokens"];
    for (wire, field) in Wire::ALL.into_iter().zip(fields) {
        let seen = sent(wire, |endpoint| endpoint.output = Some(200)).await;
        assert_eq!(seen.json().pointer(field).unwrap(), 200, "{wire}");
        let seen = sent(wire, |endpoint| endpoint.output = Some(2_000)).await;
        assert_eq!(seen.json().pointer(field).unwrap(), QUESTION.max_tokens, "{wire}");
    }
}

#[tokio::test]
async fn a_blank_instruction_is_left_out() {
    for wire in Wire::ALL {
        let server = ScriptedProvider::start(vec![Script::answer(wire, "yes")]).await;
        let model = endpoint(wire, &server).connect().unwrap();
        model.send(&ModelRequest { system: " \n", ..QUESTION }, &mut |_| {}).await.unwrap();
        let seen = server.request();
        assert_eq!(lint::lint(wire, &seen.body), [], "{}", seen.body);
        for key in ["system", "instructions", "systemInstruction"] {
            assert!(seen.json().get(key).is_none(), "{wire}: {}", seen.body);
        }
        assert!(!seen.body.contains(r#""role":"system""#), "{wire}: {}", seen.body);
    }
}

#[tokio::test]
async fn headers_of_the_settings_are_sent_and_the_key_goes_where_they_say() {
    for wire in Wire::ALL {
        let seen = sent(wire, |endpoint| {
            endpoint.headers = BTreeMap::from([("X-Team".to_owned(), "gardeners".to_owned())]);
            endpoint.key_header = Some("api-key".to_owned());
        })
        .await;
        assert_eq!(seen.header("x-team"), Some("gardeners"));
        assert_eq!(seen.header("api-key"), Some("sk-sesame"));
        for name in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert_eq!(seen.header(name), None, "{wire}");
        }
    }
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    for wire in Wire::ALL {
        let server = ScriptedProvider::start(vec![Script::answer(wire, "yes")]).await;
        ask(&endpoint(wire, &server)).await.answer();
        let seen = server.request();
        for name in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert_eq!(seen.header(name), None, "{wire}");
        }
    }
}

#[tokio::test]
async fn the_whole_url_can_be_given_with_a_query() {
    let seen = sent(Wire::OpenAiChat, |endpoint| endpoint.url += "/d/x/chat/completions?api-version=1").await;
    assert_eq!(seen.path, "/d/x/chat/completions?api-version=1");
}

#[tokio::test]
async fn a_client_knows_its_name_and_limits() {
    let settings =
        Endpoint { context: 9, output: Some(4), ..Endpoint::new(Wire::Anthropic, "http://host", "m") };
    let model = settings.connect().unwrap();
    assert_eq!(model.name(), "m");
    assert_eq!(model.limits(), Limits { context: 9, input: None, output: Some(4) });
}
