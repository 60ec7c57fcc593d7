//! The phrases by which providers say that a prompt does not fit.

/// A phrase, and where its numbers are. All in lower case.
pub(super) struct Wording {
    /// Words that no other error contains.
    pub(super) phrase: &'static str,
    /// What directly precedes the number of tokens used; the first one that is followed by a number counts.
    pub(super) used: &'static [&'static str],
    /// What directly precedes the limit.
    pub(super) limit: &'static [&'static str],
}

/// A phrase, what precedes the tokens used, and what precedes the limit.
const fn wording(
    phrase: &'static str,
    used: &'static [&'static str],
    limit: &'static [&'static str],
) -> Wording {
    Wording { phrase, used, limit }
}

/// Names of errors that always mean an overflow.
pub(super) const NAMES: [&str; 8] = [
    "context_length_exceeded",
    "context_window_exceeded",
    "context_window_exceeded_error",
    "exceed_context_size_error",
    "model_max_prompt_tokens_exceeded",
    "prompt_too_long",
    "request_too_large",
    "string_above_max_length",
];

/// Phrases of errors that mean something else.
pub(super) const NOT: [&str; 7] = [
    "per minute",
    "per min",
    "per day",
    "(tpm)",
    "rate limit",
    "please wait before trying again",
    "maximum allowed number of output tokens",
];

/// What precedes the count in variants of OpenAI's sentence.
const COUNTED: &[&str] = &[
    "total of at least",
    "a total of",
    "resulted in",
    "your request has",
    "requested about",
    "prompt contains at least",
    "you requested",
    "request contains",
    "prompt contains",
    "prompt is too long",
];

/// The phrases, more specific ones first.
pub(super) const WORDINGS: [Wording; 29] = [
    // Anthropic, also behind Bedrock and Vertex; Fireworks and others end it differently.
    wording(
        "prompt is too long",
        &["prompt is too long:", "prompt is too long ("],
        &["tokens >", "maximum context length:", "maximum:"],
    ),
    wording("exceed context limit:", &["exceed context limit:"], &[" > "]),
    // vLLM since 0.16. Before the next one, whose phrase some versions contain too.
    wording("context length is only", &["you passed"], &["context length is only"]),
    // OpenAI, Azure, DeepSeek, OpenRouter, vLLM, LiteLLM.
    wording("maximum context length is", COUNTED, &["maximum context length is"]),
    // Mistral.
    wording("too large for model with", &["prompt contains"], &["too large for model with"]),
    // SGLang.
    wording("maximum context length of", COUNTED, &["maximum context length of"]),
    wording("is longer than the model's context length", &["the input ("], &["context length ("]),
    wording("exceeds the maximum allowed length", &["input length ("], &["maximum allowed length ("]),
    // vLLM.
    wording("longer than the maximum model length", &["(length"], &["maximum model length of"]),
    // OpenAI's Responses, and its newest models in Chat Completions.
    wording("exceeds the context window", &[], &[]),
    wording("exceed the configured limit", &["resulted in"], &["configured limit of"]),
    // Gemini. One variant has only the second number.
    wording(
        "exceeds the maximum number of tokens allowed",
        &["input token count (", "input token count is"],
        &["tokens allowed"],
    ),
    // llama.cpp.
    wording(
        "exceeds the available context size",
        &["n_prompt_tokens =", "request ("],
        &["n_ctx =", "available context size ("],
    ),
    // LM Studio.
    wording(
        "greater than the context length",
        &["tokens to keep from the initial prompt ("],
        &["context length ("],
    ),
    wording("loaded with context length of only", &[], &["context length of only"]),
    // Ollama.
    wording("exceeds the context length", &[], &[]),
    wording("exceeds maximum context length", &[], &["maximum context length"]),
    wording("exceeded max context length", &[], &[]),
    // Groq; Cerebras adds the numbers.
    wording("reduce the length of the messages", &["current length is"], &["while limit is"]),
    // xAI.
    wording("maximum prompt length is", &["request contains"], &["maximum prompt length is"]),
    // Bedrock.
    wording("input is too long for requested model", &[], &[]),
    wording("too many input tokens", &["input token count:"], &["max input tokens:"]),
    // Cohere, formerly and now.
    wording("too many tokens:", &["received"], &["cannot exceed", "limit for this model is"]),
    // GitHub Copilot.
    wording("prompt token count of", &["prompt token count of"], &["exceeds the limit of"]),
    // Moonshot.
    wording("exceeded model token limit", &["requested:"], &["model token limit:"]),
    // MiniMax. The number in brackets is that of the error.
    wording("context window exceeds limit", &[], &[]),
    // Alibaba.
    wording("range of input length should be", &[], &["[1,"]),
    // Zhipu.
    wording("prompt exceeds max length", &[], &[]),
    // Hugging Face's server, also behind Together.
    wording("tokens + `max_new_tokens` must be <=", &["given:"], &["must be <="]),
];
