//! A client that wants a summary, to go on with that instead of the conversation.

use secateur_formats::json::{Token, tokens};

/// Such a request is long, but no material: what is longer is something else that speaks of summaries.
const LONGEST: usize = 20_000;

/// The words of the agents that ask for one.
const WORDS: [&str; 8] = [
    "summary of the conversation",
    "summary of our conversation",
    "summarize the conversation",
    "summarize our conversation",
    "summarise the conversation",
    "context checkpoint compaction",
    "prompt for continuing our conversation",
    "checkpoint summary",
];

/// Whether a message asks for a summary of the conversation. What counts is its last block: some agents say it behind the
/// results of tools, which may speak of anything.
pub(crate) fn asks_for_summary(message: &str) -> bool {
    // Its last block lies at its end, whatever comes before. A few marks for the cache may follow.
    let tail = message.len().saturating_sub(LONGEST + 1_000);
    let tail = (tail..message.len()).find_map(|at| message.get(at..)).unwrap_or_default();
    speaks_of_summaries(tail)
        && last_text(message).is_some_and(|text| text.len() <= LONGEST && speaks_of_summaries(text))
}

fn speaks_of_summaries(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    WORDS.iter().any(|words| memchr::memmem::find(text.as_bytes(), words.as_bytes()).is_some())
}

/// What the user says in the last block of a message, as it is spelled; none if that block is something else.
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

    const WISH: &str = "Please make a detailed SUMMARY of the Conversation so far.";

    fn asks(message: &Value) -> bool {
        asks_for_summary(&message.to_string())
    }

    #[test]
    fn the_last_block_decides() {
        let text = json!({"type": "text", "text": WISH, "cache_control": {"type": "ephemeral"}});
        let result = |content: &Value| json!({"type": "tool_result", "tool_use_id": "c", "content": content});
        let long = result(&"output ".repeat(50_000).into());
        for (blocks, expected) in [
            (json!([text]), true),
            (json!([long, text]), true),
            (json!([result(&json!([text]))]), false),
            (json!([result(&WISH.into())]), false),
            (json!([text, result(&"42".into())]), false),
            (json!([text, {"type": "text", "text": "And now the tests."}]), false),
            (json!([{"type": "text", "text": format!("{}{WISH}", "word ".repeat(5_000))}]), false),
        ] {
            assert_eq!(asks(&json!({"role": "user", "content": blocks})), expected, "{blocks:.200}");
        }
    }

    #[test]
    fn every_language_is_understood() {
        let block = json!({"type": "input_text", "text": WISH});
        assert!(asks(&json!({"role": "user", "content": WISH})));
        assert!(asks(&json!({"type": "message", "role": "user", "content": [block]})));
        assert!(asks(
            &json!({"parts": [{"functionResponse": {"name": "bash"}}, {"text": WISH}], "role": "user"})
        ));
        assert!(!asks(&json!({"role": "tool", "content": WISH, "tool_call_id": "c"})));
        assert!(!asks(&json!({"content": [block], "role": "assistant"})));
        assert!(!asks(&json!({"type": "function_call_output", "call_id": "c", "output": WISH})));
        assert!(!asks_for_summary("") && !asks_for_summary("{\"content\":"));
    }
}
