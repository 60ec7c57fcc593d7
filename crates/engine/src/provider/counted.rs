//! Token counts as providers report them.

use secateur::Usage;
use secateur_formats::Wire;
use serde_json::Value;

/// Reads usage from the object in which a provider reports it. In a stream whose counts grow, `before` is the usage
/// so far.
///
/// ```
/// use secateur::Usage;
/// use secateur_engine::provider::counted;
/// use secateur_formats::Wire;
///
/// let said = serde_json::json!({"prompt_tokens": 100, "completion_tokens": 20,
///     "prompt_tokens_details": {"cached_tokens": 80}});
/// let usage = counted(Wire::OpenAiChat, &said, Usage::default());
/// assert_eq!((usage.input, usage.cache_read, usage.output), (20, 80, 20));
/// ```
pub fn counted(wire: Wire, said: &Value, before: Usage) -> Usage {
    match wire {
        Wire::Anthropic => anthropic(said, before),
        Wire::OpenAiChat => chat(said),
        Wire::OpenAiResponses => responses(said),
        Wire::Gemini => gemini(said),
    }
}

/// The counts of a stream grow: the beginning has the input, the end the output, and some servers report only at the
/// end.
fn anthropic(said: &Value, before: Usage) -> Usage {
    let most = |before: i64, pointer: &str| before.max(tokens(said, pointer));
    Usage {
        input: most(before.input, "/input_tokens"),
        output: most(before.output, "/output_tokens"),
        cache_read: most(before.cache_read, "/cache_read_input_tokens"),
        cache_write: most(before.cache_write, "/cache_creation_input_tokens"),
        cache_write_1h: most(before.cache_write_1h, "/cache_creation/ephemeral_1h_input_tokens"),
        ..before
    }
}

fn chat(said: &Value) -> Usage {
    let (prompt, completion) = (tokens(said, "/prompt_tokens"), tokens(said, "/completion_tokens"));
    let cached = tokens(said, "/prompt_tokens_details/cached_tokens");
    let reasoning = tokens(said, "/completion_tokens_details/reasoning_tokens");
    let total = count(said, "/total_tokens");
    // Most providers count thinking as part of the completion, xAI beside it. The total tells which.
    let beside =
        reasoning > 0 && total == prompt.checked_add(completion).and_then(|sum| sum.checked_add(reasoning));
    Usage {
        input: prompt.saturating_sub(cached).max(0),
        output: if beside { completion } else { completion.saturating_sub(reasoning).max(0) },
        reasoning,
        cache_read: cached,
        total,
        ..Usage::default()
    }
}

fn responses(said: &Value) -> Usage {
    let cached = tokens(said, "/input_tokens_details/cached_tokens");
    let reasoning = tokens(said, "/output_tokens_details/reasoning_tokens");
    Usage {
        input: tokens(said, "/input_tokens").saturating_sub(cached).max(0),
        output: tokens(said, "/output_tokens").saturating_sub(reasoning).max(0),
        reasoning,
        cache_read: cached,
        total: count(said, "/total_tokens"),
        ..Usage::default()
    }
}

/// Here the prompt includes cached tokens, and the response does not include thinking.
fn gemini(said: &Value) -> Usage {
    let prompt = tokens(said, "/promptTokenCount").saturating_add(tokens(said, "/toolUsePromptTokenCount"));
    let cached = tokens(said, "/cachedContentTokenCount");
    Usage {
        input: prompt.saturating_sub(cached).max(0),
        output: tokens(said, "/candidatesTokenCount"),
        reasoning: tokens(said, "/thoughtsTokenCount"),
        cache_read: cached,
        total: count(said, "/totalTokenCount"),
        ..Usage::default()
    }
}

fn tokens(said: &Value, pointer: &str) -> i64 {
    count(said, pointer).unwrap_or(0)
}

/// A value that is not a number was not counted.
fn count(said: &Value, pointer: &str) -> Option<i64> {
    said.pointer(pointer).and_then(Value::as_i64).filter(|&count| count >= 0)
}
