use super::*;
use proptest::prelude::*;

#[test]
fn names_and_aliases_lead_back_to_the_wire() {
    for wire in Wire::ALL {
        assert_eq!(wire.name().parse(), Ok(wire));
        assert_eq!(wire.to_string().parse(), Ok(wire));
        assert_eq!(serde_json::to_string(&wire).unwrap(), format!("\"{}\"", wire.name()));
    }
    for (alias, wire) in [
        ("Claude", Wire::Anthropic),
        ("messages", Wire::Anthropic),
        ("openai", Wire::OpenAiChat),
        ("chat_completions", Wire::OpenAiChat),
        ("responses", Wire::OpenAiResponses),
        ("generateContent", Wire::Gemini),
        ("generate-content", Wire::Gemini),
    ] {
        assert_eq!(alias.parse(), Ok(wire), "{alias}");
    }
    let error = "smtp".parse::<Wire>().unwrap_err();
    assert!(error.to_string().contains("\"smtp\"") && error.to_string().contains("openai-chat"));
}

#[test]
fn a_request_is_known_by_what_only_its_format_has() {
    for (body, wire) in [
        (r#"{"contents":[{"parts":[{"text":"hi"}]}]}"#, Wire::Gemini),
        (r#"{"model":"m","input":"hi"}"#, Wire::OpenAiResponses),
        (r#"{"model":"m","input":[{"role":"user","content":"hi"}]}"#, Wire::OpenAiResponses),
        (r#"{"model":"m","previous_response_id":"r"}"#, Wire::OpenAiResponses),
        (r#"{"system":"s","messages":[{"role":"user","content":"hi"}]}"#, Wire::Anthropic),
        (r#"{"model":"x-claude-y","max_tokens":1,"messages":[]}"#, Wire::Anthropic),
        (r#"{"tools":[{"name":"a","input_schema":{}}],"messages":[]}"#, Wire::Anthropic),
        (r#"{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}"#, Wire::Anthropic),
        (r#"{"model":"claude-y","messages":[]}"#, Wire::Anthropic),
        (r#"{"model":"claude-y","stream":true,"messages":[]}"#, Wire::OpenAiChat),
        (r#"{"model":"x-claude-y","messages":[]}"#, Wire::OpenAiChat),
        (
            r#"{"model":"claude","max_tokens":1,"messages":[{"role":"system","content":""}]}"#,
            Wire::OpenAiChat,
        ),
        (r#"{"messages":[{"role":"assistant","tool_calls":[]}]}"#, Wire::OpenAiChat),
        (r#"{"tools":[{"type":"function","function":{}}],"messages":[]}"#, Wire::OpenAiChat),
        (r#"{"messages":[{"role":"user","content":"hi"}]}"#, Wire::OpenAiChat),
        ("\u{feff} {\"messages\":[]}", Wire::OpenAiChat),
    ] {
        assert_eq!(Wire::detect(body), Some(wire), "{body}");
    }
}

#[test]
fn text_that_only_speaks_of_a_format_is_no_evidence() {
    let body = r#"{"messages":[{"role":"user","content":"tool_calls"},
        {"role":"assistant","content":[{"type":"tool_use","input":{"role":"tool","tool_calls":[]}}]}]}"#;
    assert_eq!(Wire::detect(body), Some(Wire::Anthropic));
}

#[test]
fn session_files_and_other_documents_are_no_requests() {
    for body in [
        r#"{"sessionId":"s","messages":[{"role":"user"}]}"#,
        r#"{"info":{},"messages":[]}"#,
        r#"{"version":1,"agent":"lead","messages":[]}"#,
        r#"[{"role":"user","content":"hi"}]"#,
        r#"{"messages":{"a":1}}"#,
        r#"{"model":"m"}"#,
        "\"messages\"",
        "",
        "nonsense",
    ] {
        assert_eq!(Wire::detect(body), None, "{body}");
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in r#"[\[\]{}:," a-z"\\]{0,64}"#) {
        _ = Wire::detect(&text);
    }
}
