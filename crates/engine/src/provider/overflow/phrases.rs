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
    Wording {
        phrase: "prompt is too long",
        used: &["prompt is too long:", "prompt is too long ("],
        limit: &["tokens >", "maximum context length:", "maximum:"],
    },
    Wording { phrase: "exceed context limit:", used: &["exceed context limit:"], limit: &[" > "] },
    // vLLM since 0.16. Before the next one, whose phrase some versions contain too.
    Wording { phrase: "context length is only", used: &["you passed"], limit: &["context length is only"] },
    // OpenAI, Azure, DeepSeek, OpenRouter, vLLM, LiteLLM.
    Wording { phrase: "maximum context length is", used: COUNTED, limit: &["maximum context length is"] },
    // Mistral.
    Wording {
        phrase: "too large for model with",
        used: &["prompt contains"],
        limit: &["too large for model with"],
    },
    // SGLang.
    Wording { phrase: "maximum context length of", used: COUNTED, limit: &["maximum context length of"] },
    Wording {
        phrase: "is longer than the model's context length",
        used: &["the input ("],
        limit: &["context length ("],
    },
    Wording {
        phrase: "exceeds the maximum allowed length",
        used: &["input length ("],
        limit: &["maximum allowed length ("],
    },
    // vLLM.
    Wording {
        phrase: "longer than the maximum model length",
        used: &["(length"],
        limit: &["maximum model length of"],
    },
    // OpenAI's Responses, and its newest models in Chat Completions.
    Wording { phrase: "exceeds the context window", used: &[], limit: &[] },
    Wording {
        phrase: "exceed the configured limit",
        used: &["resulted in"],
        limit: &["configured limit of"],
    },
    // Gemini. One variant has only the second number.
    Wording {
        phrase: "exceeds the maximum number of tokens allowed",
        used: &["input token count (", "input token count is"],
        limit: &["tokens allowed"],
    },
    // llama.cpp.
    Wording {
        phrase: "exceeds the available context size",
        used: &["n_prompt_tokens =", "request ("],
        limit: &["n_ctx =", "available context size ("],
    },
    // LM Studio.
    Wording {
        phrase: "greater than the context length",
        used: &["tokens to keep from the initial prompt ("],
        limit: &["context length ("],
    },
    Wording { phrase: "loaded with context length of only", used: &[], limit: &["context length of only"] },
    // Ollama.
    Wording { phrase: "exceeds the context length", used: &[], limit: &[] },
    Wording { phrase: "exceeds maximum context length", used: &[], limit: &["maximum context length"] },
    Wording { phrase: "exceeded max context length", used: &[], limit: &[] },
    // Groq; Cerebras adds the numbers.
    Wording {
        phrase: "reduce the length of the messages",
        used: &["current length is"],
        limit: &["while limit is"],
    },
    // xAI.
    Wording {
        phrase: "maximum prompt length is",
        used: &["request contains"],
        limit: &["maximum prompt length is"],
    },
    // Bedrock.
    Wording { phrase: "input is too long for requested model", used: &[], limit: &[] },
    Wording { phrase: "too many input tokens", used: &["input token count:"], limit: &["max input tokens:"] },
    // Cohere, formerly and now.
    Wording {
        phrase: "too many tokens:",
        used: &["received"],
        limit: &["cannot exceed", "limit for this model is"],
    },
    // GitHub Copilot.
    Wording {
        phrase: "prompt token count of",
        used: &["prompt token count of"],
        limit: &["exceeds the limit of"],
    },
    // Moonshot.
    Wording { phrase: "exceeded model token limit", used: &["requested:"], limit: &["model token limit:"] },
    // MiniMax. The number in brackets is that of the error.
    Wording { phrase: "context window exceeds limit", used: &[], limit: &[] },
    // Alibaba.
    Wording { phrase: "range of input length should be", used: &[], limit: &["[1,"] },
    // Zhipu.
    Wording { phrase: "prompt exceeds max length", used: &[], limit: &[] },
    // Hugging Face's server, also behind Together.
    Wording { phrase: "tokens + `max_new_tokens` must be <=", used: &["given:"], limit: &["must be <="] },
];
