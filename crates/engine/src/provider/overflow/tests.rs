use super::*;

/// Who says it, with which status, what, and what is to be understood: the number used and the limit.
type Row = (&'static str, u16, &'static str, Option<u64>, Option<u64>);

const OVERFLOWS: &[Row] = &[
    (
        "Anthropic",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"},"request_id":"req_1"}"#,
        Some(210_000),
        Some(200_000),
    ),
    (
        "Anthropic, with the answer",
        400,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again"}}"#,
        Some(242_959),
        Some(200_000),
    ),
    (
        "Anthropic, by bytes",
        413,
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        None,
        None,
    ),
    (
        "Bedrock",
        400,
        r#"{"message":"The model returned the following errors: prompt is too long: 227255 tokens > 200000 maximum"}"#,
        Some(227_255),
        Some(200_000),
    ),
    ("Bedrock", 400, r#"{"message":"Input is too long for requested model."}"#, None, None),
    (
        "Bedrock",
        400,
        r#"{"message":"400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9999 "}"#,
        Some(9_999),
        Some(8_192),
    ),
    (
        "OpenAI",
        400,
        r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        Some(204_308),
        Some(128_000),
    ),
    (
        "OpenAI, with the answer",
        400,
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 8256 tokens (64 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        Some(8_256),
        Some(8_192),
    ),
    (
        "OpenAI, Responses",
        400,
        r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#,
        None,
        None,
    ),
    (
        "OpenAI, newest models",
        400,
        r#"{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300100 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        Some(300_100),
        Some(272_000),
    ),
    (
        "OpenAI, by characters",
        400,
        r#"{"error":{"message":"Invalid 'input': string too long. Expected a string with maximum length 10485760, but got a string with length 10485999 instead.","type":"invalid_request_error","param":"input","code":"string_above_max_length"}}"#,
        None,
        None,
    ),
    (
        "Gemini",
        400,
        r#"[{"error":{"code":400,"message":"The input token count (2845475) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
        Some(2_845_475),
        Some(1_048_576),
    ),
    (
        "Gemini, one number",
        400,
        r#"{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed 1048576.","status":"INVALID_ARGUMENT"}}"#,
        None,
        Some(1_048_576),
    ),
    (
        "llama.cpp",
        400,
        r#"{"error":{"code":400,"message":"request (9012 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9012,"n_ctx":8192}}"#,
        Some(9_012),
        Some(8_192),
    ),
    (
        "llama.cpp, before",
        400,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9012,"n_ctx":8192}}"#,
        Some(9_012),
        Some(8_192),
    ),
    (
        "vLLM",
        400,
        r#"{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion. None","type":"BadRequestError","param":null,"code":400}"#,
        Some(122_946),
        Some(16_384),
    ),
    (
        "vLLM, later",
        400,
        r#"{"error":{"message":"This model's maximum context length is 16384 tokens. However, your request has 18225 input tokens. Please reduce the length of the input messages. None","type":"BadRequestError","param":null,"code":400}}"#,
        Some(18_225),
        Some(16_384),
    ),
    (
        "vLLM, latest",
        400,
        r#"{"error":{"message":"You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only 1024 tokens, resulting in a maximum input length of 1014 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=1015)","type":"BadRequestError","param":"input_tokens","code":400}}"#,
        Some(1_015),
        Some(1_024),
    ),
    (
        "vLLM, the engine itself",
        400,
        r#"{"object":"error","message":"The decoder prompt (length 40960) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller than the number of text tokens.","type":"BadRequestError","code":400}"#,
        Some(40_960),
        Some(32_768),
    ),
    (
        "SGLang",
        400,
        r#"{"object":"error","message":"Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input or enable --allow-auto-truncate.","type":"BadRequestError","code":400}"#,
        Some(160_062),
        Some(59_862),
    ),
    (
        "SGLang",
        400,
        r#"{"object":"error","message":"Requested token count exceeds the model's maximum context length of 65536 tokens. You requested a total of 66000 tokens: 65000 tokens from the input messages and 1000 tokens for the completion.","type":"BadRequestError","code":400}"#,
        Some(66_000),
        Some(65_536),
    ),
    (
        "SGLang",
        400,
        r#"{"object":"error","message":"The input (70000 tokens) is longer than the model's context length (65536 tokens).","code":400}"#,
        Some(70_000),
        Some(65_536),
    ),
    ("Ollama", 400, r#"{"error":"the input length exceeds the context length"}"#, None, None),
    (
        "Ollama",
        400,
        r#"{"error":{"message":"prompt too long; exceeded max context length by 4 tokens","type":"invalid_request_error"}}"#,
        None,
        None,
    ),
    (
        "OpenRouter",
        400,
        r#"{"error":{"message":"This endpoint's maximum context length is 16384 tokens. However, you requested about 94307 tokens (94307 of text input). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.","code":400,"metadata":{"provider_name":null}}}"#,
        Some(94_307),
        Some(16_384),
    ),
    (
        "OpenRouter, quoting its provider",
        400,
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}","provider_name":"Anthropic"}}}"#,
        Some(210_000),
        Some(200_000),
    ),
    (
        "Groq",
        400,
        r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        None,
        None,
    ),
    (
        "Cerebras",
        400,
        r#"{"message":"Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}"#,
        Some(42_328),
        Some(40_000),
    ),
    (
        "xAI",
        400,
        r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 136973 tokens."}"#,
        Some(136_973),
        Some(131_072),
    ),
    (
        "Mistral",
        400,
        r#"{"object":"error","message":"Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_message_error","param":null,"code":"3051"}"#,
        Some(65_673),
        Some(32_768),
    ),
    (
        "DeepSeek",
        400,
        r#"{"error":{"message":"This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}"#,
        Some(131_134),
        Some(131_072),
    ),
    (
        "Cohere",
        400,
        r#"{"message":"too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value."}"#,
        Some(6_354),
        Some(2_048),
    ),
    (
        "Copilot",
        400,
        r#"{"error":{"message":"prompt token count of 70123 exceeds the limit of 64000","code":"model_max_prompt_tokens_exceeded"}}"#,
        Some(70_123),
        Some(64_000),
    ),
    (
        "Moonshot",
        400,
        r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)","type":"invalid_request_error"}}"#,
        Some(140_000),
        Some(131_072),
    ),
    (
        "Alibaba",
        400,
        r#"{"error":{"code":"invalid_parameter_error","message":"Range of input length should be [1, 30720]","type":"invalid_request_error"}}"#,
        None,
        Some(30_720),
    ),
    (
        "Hugging Face",
        422,
        r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens and 512 `max_new_tokens`","error_type":"validation"}"#,
        Some(9_000),
        Some(8_192),
    ),
    (
        "Fireworks",
        400,
        r#"{"error":{"object":"error","type":"invalid_request_error","message":"The prompt is too long: 140000, model maximum context length: 131071"}}"#,
        Some(140_000),
        Some(131_071),
    ),
    ("a proxy on the way", 413, "<html><h1>413 Request Entity Too Large</h1></html>", None, None),
    ("a proxy on the way", 413, "", None, None),
    ("a name alone", 400, r#"{"error":{"code":"context_length_exceeded"}}"#, None, None),
    (
        "a status that should be another",
        500,
        r#"{"error":"This model's maximum context length is 16,384 tokens. However, your messages resulted in 20,001 tokens."}"#,
        Some(20_001),
        Some(16_384),
    ),
];

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
        assert_eq!(overflow(status, body), Some(Overflow { used, limit }), "{who}: {body}");
    }
}

#[test]
fn other_refusals_are_no_overflow() {
    for &(who, status, body) in OTHERS {
        assert_eq!(overflow(status, body), None, "{who}: {body}");
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
    assert_eq!(overflow(400, body), Some(Overflow { used: None, limit: Some(200_000) }));
}
