//! How OpenClaw of September 2026 remembers cuts across restarts: a hidden entry of the transcript, `openclaw.cache-ttl`.
//!
//! A result is known by the id of its call and its time; if several share both, by a hash of its text. The entry lists
//! the cut results with how they were cut. A trim is made again from the history, a clearing brings its placeholder. What
//! was cut before the session was reset counts no more.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secateur::{Action, Memory, PartIx};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The kind of the entry.
const ENTRY: &str = "openclaw.cache-ttl";

/// The results of a history with their names.
pub struct NamedResults {
    /// The name of a result and the hash of its text, by the number of its message.
    names: BTreeMap<usize, (String, String)>,
    /// Names that several results would share.
    ambiguous: Vec<String>,
}

impl NamedResults {
    /// Names the results of a history.
    pub fn of(messages: &[Value]) -> Self {
        let is_result = |message: &Value| message.get("role").is_some_and(|role| role == "toolResult");
        let results = || messages.iter().enumerate().filter(|(_, message)| is_result(message));
        let (mut seen, mut ambiguous) = (BTreeSet::new(), Vec::new());
        for name in results().filter_map(|(_, message)| base_name(message)) {
            if !seen.insert(name.clone()) && !ambiguous.contains(&name) {
                ambiguous.push(name);
            }
        }
        let mut occurrences: BTreeMap<String, u64> = BTreeMap::new();
        let mut names = BTreeMap::new();
        for (at, message) in results() {
            let hash = text_hash(message);
            let base = base_name(message);
            let name = match base.clone().filter(|name| !ambiguous.contains(name)) {
                Some(name) => name,
                None => {
                    let id = message.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
                    let source = id.map_or_else(|| format!("text:{hash}"), |id| format!("id:{id}"));
                    let shared = format!("fallback:{}:{source}", base.as_deref().unwrap_or("tool"));
                    let count = occurrences.entry(shared.clone()).or_default();
                    *count += 1;
                    format!("{shared}:{}", *count - 1)
                }
            };
            names.insert(at, (name, hash));
        }
        Self { names, ambiguous }
    }

    /// The number of the message of the result with this name.
    fn message(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(_, (own, _))| own == name).map(|(&at, _)| at)
    }

    /// The entry's content. `cuts` are the cut parts in the order in which they were cut first, with their messages.
    pub fn marker(&self, memory: &Memory, cuts: &[(PartIx, usize)]) -> Value {
        let actions: BTreeMap<PartIx, _> = memory.cuts().collect();
        let named = || {
            cuts.iter().filter_map(|(part, message)| {
                let (name, hash) = self.names.get(message)?;
                Some((name, hash, *actions.get(part)?))
            })
        };
        let pruned = named().map(|(name, _, cut)| match cut.action {
            Action::Clear => json!({ "key": name, "mode": "hard", "placeholder": memory.placeholder(cut) }),
            _ => json!({ "key": name, "mode": "soft" }),
        });
        let frozen = named().map(|(name, hash, _)| json!({ "key": name, "sourceHash": hash }));
        json!({
            "prunedToolResults": pruned.collect::<Vec<_>>(),
            "ambiguousToolResultBaseKeys": self.ambiguous,
            "frozenToolResults": frozen.collect::<Vec<_>>(),
        })
    }
}

fn base_name(message: &Value) -> Option<String> {
    let call = message.get("toolCallId").and_then(Value::as_str).filter(|call| !call.is_empty())?;
    let time = message.get("timestamp").filter(|time| time.is_number())?;
    Some(format!("tool:{call}:{time}"))
}

/// The hash of a result's texts, written as a list.
fn text_hash(message: &Value) -> String {
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts = blocks.filter(|block| block.get("type").is_some_and(|kind| kind == "text"));
    let texts: Value =
        texts.filter_map(|block| block.get("text")).filter(|text| text.is_string()).cloned().collect();
    URL_SAFE_NO_PAD.encode(Sha256::digest(texts.to_string().as_bytes()))
}

/// How a result was cut before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoredCut {
    /// It was trimmed.
    Soft,
    /// It was replaced by this placeholder.
    Hard(String),
}

/// The cuts that a transcript's entries tell of, by the number of the result's message.
pub fn restored(entries: &[Value], results: &NamedResults) -> Vec<(usize, RestoredCut)> {
    let kind = |entry: &Value, key: &str, kind: &str| entry.get(key).is_some_and(|own| own == kind);
    let since = entries.iter().rposition(|entry| kind(entry, "type", "reset")).map_or(0, |at| at + 1);
    let recent = entries.get(since..).unwrap_or_default();
    let last =
        recent.iter().rev().find(|entry| kind(entry, "type", "custom") && kind(entry, "customType", ENTRY));
    let listed = last.and_then(|entry| entry.pointer("/data/prunedToolResults")?.as_array());
    let cut = |mark: &Value| {
        let message = results.message(mark.get("key")?.as_str()?)?;
        let restored = match mark.get("mode")?.as_str()? {
            "soft" => RestoredCut::Soft,
            "hard" => RestoredCut::Hard(mark.get("placeholder")?.as_str()?.to_owned()),
            _ => return None,
        };
        Some((message, restored))
    };
    listed.into_iter().flatten().filter_map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(call: &str, text: &str) -> Value {
        let content = json!([{"type": "text", "text": text}]);
        json!({"role": "toolResult", "toolCallId": call, "timestamp": 3, "content": content})
    }

    #[test]
    fn results_that_share_call_and_time_are_told_apart_by_their_text() {
        let results =
            NamedResults::of(&[json!({"role": "user"}), result("a", "x"), result("a", "y"), result("b", "")]);
        let names: Vec<&str> = results.names.values().map(|(name, _)| name.as_str()).collect();
        assert!(names[0].starts_with("fallback:tool:a:3:text:") && names[0].ends_with(":0"), "{names:?}");
        assert_ne!(names[0], names[1]);
        assert_eq!(names[2], "tool:b:3");
        assert_eq!(results.ambiguous, ["tool:a:3"]);
    }

    #[test]
    fn a_hash_is_that_of_the_list_of_texts() {
        assert_eq!(
            text_hash(&result("a", &"x".repeat(5_000))),
            "RtfzBhguW912Yzhq_plVpKauFy0ftXcdT_JZvgZZJaE"
        );
    }

    #[test]
    fn what_was_cut_before_a_reset_counts_no_more() {
        let results = NamedResults::of(&[result("a", "x"), result("b", "x")]);
        let listed = json!([{"key": "tool:a:3", "mode": "soft"}, {"key": "tool:b:3", "mode": "hard", "placeholder": "p"},
            {"key": "tool:c:3", "mode": "soft"}]);
        let marker = json!({"type": "custom", "customType": ENTRY, "data": {"prunedToolResults": listed}});
        let expected = [(0, RestoredCut::Soft), (1, RestoredCut::Hard("p".to_owned()))];
        assert_eq!(restored(std::slice::from_ref(&marker), &results), expected);
        assert!(restored(&[marker, json!({"type": "reset"})], &results).is_empty());
    }
}
