//! Recognises requests of clients that write a summary themselves.

use secateur_formats::json::{Token, tokens};

/// The longest text of such a request, in bytes. A longer one is material that happens to mention summaries.
const MAX_LENGTH: usize = 20_000;

/// Phrases of the agents that do this, in lower case.
const PHRASES: [&str; 8] = [
    "summary of the conversation",
    "summary of our conversation",
    "summarize the conversation",
    "summarize our conversation",
    "summarise the conversation",
    "context checkpoint compaction",
    "prompt for continuing our conversation",
    "checkpoint summary",
];

/// Whether a message asks for a summary of the conversation. Only its last block counts: some agents put the request
/// after tool results, which may contain anything.
pub(crate) fn asks_for_summary(message: &str) -> bool {
    // The last block is at the end of the message. A few `cache_control` marks may follow.
    let tail = message.len().saturating_sub(MAX_LENGTH + 1_000);
    let tail = (tail..message.len()).find_map(|at| message.get(at..)).unwrap_or_default();
    mentions_summaries(tail)
        && last_text(message).is_some_and(|text| text.len() <= MAX_LENGTH && mentions_summaries(text))
}

fn mentions_summaries(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    PHRASES.iter().any(|phrase| memchr::memmem::find(text.as_bytes(), phrase.as_bytes()).is_some())
}

/// The raw text of the last block of a user message; none if that block is not text.
fn last_text(message: &str) -> Option<&str> {
    /// A message is an object with a list of blocks.
    const BLOCK: usize = 3;
    let (mut depth, mut key, mut last) = (0usize, "", None);
    for (_, token) in tokens(message) {
        match token {
            Token::ObjectStart | Token::ArrayStart => {
                depth += 1;
                if depth == BLOCK {
                    last = None;
                }
            }
            Token::ObjectEnd | Token::ArrayEnd => depth = depth.saturating_sub(1),
            Token::Key(name) => key = name,
            Token::String(text) => match (depth, key) {
                (1, "\"role\"") if text != "\"user\"" => return None,
                (1, "\"content\"") | (BLOCK, "\"text\"") => last = Some(text),
                _ => {}
            },
            _ => {}
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const REQUEST: &str = "Please make a detailed SUMMARY of the Conversation so far.";

    fn asks(message: &Value) -> bool {
        asks_for_summary(&message.to_string())
    }

    #[test]
    fn the_last_block_decides() {
        let text = json!({"type": "text", "text": REQUEST, "cache_control": {"type": "ephemeral"}});
        let result = |content: &Value| json!({"type": "tool_result", "tool_use_id": "c", "content": content});
        let long = result(&"output ".repeat(50_000).into());
        for (blocks, expected) in [
            (json!([text]), true),
            (json!([long, text]), true),
            (json!([result(&json!([text]))]), false),
            (json!([result(&REQUEST.into())]), false),
            (json!([text, result(&"42".into())]), false),
            (json!([text, {"type": "text", "text": "And now the tests."}]), false),
            (json!([{"type": "text", "text": format!("{}{REQUEST}", "word ".repeat(5_000))}]), false),
        ] {
            assert_eq!(asks(&json!({"role": "user", "content": blocks})), expected, "{blocks:.200}");
        }
    }

    #[test]
    fn every_wire_is_understood() {
        let block = json!({"type": "input_text", "text": REQUEST});
        assert!(asks(&json!({"role": "user", "content": REQUEST})));
        assert!(asks(&json!({"type": "message", "role": "user", "content": [block]})));
        assert!(asks(
            &json!({"parts": [{"functionResponse": {"name": "bash"}}, {"text": REQUEST}], "role": "user"})
        ));
        assert!(!asks(&json!({"role": "tool", "content": REQUEST, "tool_call_id": "c"})));
        assert!(!asks(&json!({"content": [block], "role": "assistant"})));
        assert!(!asks(&json!({"type": "function_call_output", "call_id": "c", "output": REQUEST})));
        assert!(!asks_for_summary("") && !asks_for_summary("{\"content\":"));
    }
}
