mod table;

use table::OVERFLOWS;

use super::*;

const OTHERS: &[(&str, u16, &str)] = &[
    (
        "Groq's rate",
        413,
        r#"{"error":{"message":"Request too large for model `llama` in organization `org` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}"#,
    ),
    (
        "OpenAI's rate",
        429,
        r#"{"error":{"message":"Request too large for gpt on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}"#,
    ),
    ("Bedrock's rate", 400, r#"{"message":"Too many tokens, please wait before trying again."}"#),
    (
        "OpenAI's longest answer",
        400,
        r#"{"error":{"message":"max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.","type":"invalid_request_error","param":"max_tokens","code":null}}"#,
    ),
    (
        "Anthropic's longest answer",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude"}}"#,
    ),
    (
        "Bedrock's longest answer",
        400,
        r#"{"message":"The maximum tokens you requested exceeds the model limit of 32768"}"#,
    ),
    ("a wrong key", 401, r#"{"error":{"message":"prompt is too long"}}"#),
    ("an answer", 200, r#"{"error":{"message":"prompt is too long"}}"#),
    (
        "somebody who quotes the request",
        422,
        r#"{"detail":[{"type":"extra_forbidden","loc":["body","x"],"msg":"Extra inputs are not permitted","input":"prompt is too long: 3 tokens > 2 maximum"}]}"#,
    ),
    ("nothing at all", 400, ""),
    ("a list of nothing", 400, "[[],{},null]"),
];

#[test]
fn providers_are_understood_when_a_prompt_does_not_fit() {
    for &(who, status, body, used, limit) in OVERFLOWS {
        assert_eq!(read_overflow(status, body), Some(ReportedOverflow { used, limit }), "{who}: {body}");
    }
}

#[test]
fn other_refusals_are_no_overflow() {
    for &(who, status, body) in OTHERS {
        assert_eq!(read_overflow(status, body), None, "{who}: {body}");
    }
}

#[test]
fn phrases_are_in_lower_case_and_each_is_told_from_the_others() {
    let all =
        WORDINGS.iter().flat_map(|wording| wording.used.iter().chain(wording.limit).chain([&wording.phrase]));
    for text in all.chain(&NAMES).chain(&NOT) {
        assert_eq!(**text, text.to_lowercase());
    }
    for (at, wording) in WORDINGS.iter().enumerate() {
        let first = WORDINGS.iter().position(|other| wording.phrase.contains(other.phrase));
        assert_eq!(first, Some(at), "{}", wording.phrase);
    }
}

#[test]
fn a_number_too_large_to_be_one_is_left_out() {
    let body = r#"{"message":"prompt is too long: 99999999999999999999999 tokens > 200000 maximum"}"#;
    assert_eq!(read_overflow(400, body), Some(ReportedOverflow { used: None, limit: Some(200_000) }));
}
