//! Thinking that is bound to everything before it, as Anthropic's newer models do it, and what a client can ask for
//! because of that.
//!
//! A signature is a hash of the exact prefix: system prompt, tools, and all content before its block, without marks for
//! the cache. [`judge`] looks at each block of a request. What becomes of a request with a block that does not belong
//! there depends on the kind of the account and on what the request asks for.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};

const BINDING_BETA: &str = "thinking-binding-controls-2026-08-01";
const CLEARING_BETA: &str = "context-management-2025-06-27";
const CLEARING: &str = "clear_tool_uses_20250919";

/// What stands in the place of a result that the provider cleared.
const CLEARED: &str = "[cleared]";

/// How an account treats thinking that was made behind other content, if the request does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// It refuses the request.
    Strict,
    /// It drops the block and says nothing.
    Lenient,
}

/// A provider whose models bind their thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThinkingBinding {
    /// The kind of the account.
    pub account: Account,
    /// Whether it knows the headers; some gateways do not.
    pub knows_betas: bool,
}

/// What a provider did to a request that it accepted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The blocks of thinking that it dropped, as message and block.
    pub dropped: Vec<(usize, usize)>,
    /// Tool results that it cleared.
    pub cleared: u64,
    /// The bytes that were saved by that.
    pub cleared_bytes: u64,
    /// What it reports about both, as members of its response.
    pub report: Vec<(&'static str, Value)>,
}

/// The signature of a block of thinking that answers this request.
pub fn sign(body: &Value) -> String {
    let mut prefix = Prefix::of(body);
    messages(body).iter().for_each(|message| prefix.add(message));
    prefix.signature()
}

/// Judges the thinking of a request: what the provider does to it, or the message of its refusal.
pub fn judge(body: &Value, betas: &str, binding: ThinkingBinding) -> Result<Judgement, String> {
    let has = |beta: &str| betas.split(',').any(|value| value.trim() == beta);
    let (controls, clearing) = (has(BINDING_BETA), has(CLEARING_BETA));
    if !binding.knows_betas && (controls || clearing) {
        let unknown = if controls { BINDING_BETA } else { CLEARING_BETA };
        return Err(format!("Unexpected value(s) `{unknown}` for the `anthropic-beta` header"));
    }
    let asked = body.pointer("/thinking/block_binding");
    if asked.is_some() && !controls {
        return Err("thinking.adaptive.block_binding: Extra inputs are not permitted".to_owned());
    }
    if body.get("context_management").is_some() && !clearing {
        return Err("context_management: Extra inputs are not permitted".to_owned());
    }
    let wanted = asked.and_then(|asked| asked["prefix_mismatch_behavior"].as_str());
    let refuses = match wanted {
        Some(behaviour) => behaviour != "drop_block",
        None => binding.account == Account::Strict,
    };
    let mut judgement = Judgement::default();
    let mut prefix = Prefix::of(body);
    for (at, message) in messages(body).iter().enumerate() {
        for (index, block) in blocks(message).iter().enumerate() {
            if block["type"] != "thinking" || block["signature"] == prefix.before(message, index).as_str() {
                continue;
            }
            if refuses {
                return Err(format!(
                    "messages.{at}.content.{index}: Invalid `signature` in `thinking` block. The block is bound to a \
                     different conversation. Remove the block, or set \
                     `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". Content before this block \
                     differs from when it was created, first at `messages.0.content.0`."
                ));
            }
            judgement.dropped.push((at, index));
        }
        prefix.add(message);
    }
    if controls {
        let dropped = judgement.dropped.iter().map(|(at, index)| {
            let path = format!("messages.{at}.content.{index}");
            json!({ "type": "thinking_dropped", "path": path, "reason": "prefix_binding_mismatch" })
        });
        judgement.report.push(("input_transformations", dropped.collect()));
    }
    clear(body, &mut judgement);
    Ok(judgement)
}

/// Clears tool results as the request asks: the oldest, except the newest ones and those of some tools.
fn clear(body: &Value, judgement: &mut Judgement) {
    let Some(edits) = body.pointer("/context_management/edits").and_then(Value::as_array) else { return };
    let mut applied = Vec::new();
    for edit in edits.iter().filter(|edit| edit["type"] == CLEARING) {
        let tokens = |bytes: u64| bytes / 4;
        let trigger = edit["trigger"]["value"].as_u64().unwrap_or(100_000);
        if tokens(body.to_string().len() as u64) <= trigger {
            continue;
        }
        let keep = edit["keep"]["value"].as_u64().unwrap_or(3) as usize;
        let excluded: Vec<&str> =
            edit["exclude_tools"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let all: Vec<&Value> = messages(body).iter().flat_map(blocks).collect();
        let tool = |id: &Value| {
            let call = all.iter().find(|block| block["type"] == "tool_use" && block["id"] == *id);
            call.and_then(|call| call["name"].as_str()).unwrap_or_default()
        };
        let results: Vec<&&Value> = all.iter().filter(|block| block["type"] == "tool_result").collect();
        let old = results.get(..results.len().saturating_sub(keep)).unwrap_or_default();
        let cleared = old.iter().filter(|result| !excluded.contains(&tool(&result["tool_use_id"])));
        let saved =
            cleared.clone().map(|result| result["content"].to_string().len().saturating_sub(CLEARED.len()));
        let (count, bytes) = (cleared.count() as u64, saved.sum::<usize>() as u64);
        if count == 0 || tokens(bytes) < edit["clear_at_least"]["value"].as_u64().unwrap_or(0) {
            continue;
        }
        judgement.cleared += count;
        judgement.cleared_bytes += bytes;
        applied.push(json!({
            "type": CLEARING, "cleared_tool_uses": count, "cleared_input_tokens": tokens(bytes),
        }));
    }
    judgement.report.push(("context_management", json!({ "applied_edits": applied })));
}

fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn blocks(message: &Value) -> &[Value] {
    message["content"].as_array().map_or(&[], Vec::as_slice)
}

/// Everything before a place in a request.
#[derive(Clone)]
struct Prefix(DefaultHasher);

impl Prefix {
    fn of(body: &Value) -> Self {
        let mut prefix = Self(DefaultHasher::new());
        [&body["system"], &body["tools"]].into_iter().for_each(|value| prefix.add(value));
        prefix
    }

    fn add(&mut self, value: &Value) {
        unmarked(value).to_string().hash(&mut self.0);
    }

    /// The signature of a block of this message, whose predecessors were added.
    fn before(&self, message: &Value, index: usize) -> String {
        let mut prefix = self.clone();
        blocks(message).iter().take(index).for_each(|block| prefix.add(block));
        prefix.signature()
    }

    fn signature(&self) -> String {
        format!("bound-{:016x}", self.0.finish())
    }
}

/// A value without marks for the cache. A text alone is the same as a list of one text.
fn unmarked(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "cache_control");
            let member = |(name, value): (&String, &Value)| match (name.as_str(), value) {
                ("content" | "system", Value::String(text)) => {
                    (name.clone(), json!([{ "type": "text", "text": text }]))
                }
                _ => (name.clone(), unmarked(value)),
            };
            Value::Object(kept.map(member).collect())
        }
        Value::Array(values) => values.iter().map(unmarked).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: ThinkingBinding = ThinkingBinding { account: Account::Strict, knows_betas: true };

    fn conversation() -> Value {
        let mut body = json!({ "system": "Be brief.", "messages": [{ "role": "user", "content": "Look." }] });
        for step in 0..3 {
            let thought = json!({ "type": "thinking", "thinking": "Hm.", "signature": sign(&body) });
            let call = json!({ "type": "tool_use", "id": format!("t{step}"), "name": "Bash", "input": {} });
            let result = json!({ "type": "tool_result", "tool_use_id": format!("t{step}"), "content": "x".repeat(4_000) });
            let messages = body["messages"].as_array_mut().unwrap();
            messages.push(json!({ "role": "assistant", "content": [thought, call] }));
            messages.push(json!({ "role": "user", "content": [result] }));
        }
        body
    }

    #[test]
    fn a_block_is_valid_only_behind_what_it_was_made_behind() {
        let mut body = conversation();
        assert_eq!(judge(&body, "", STRICT), Ok(Judgement::default()));
        body["messages"][6]["content"][0]["cache_control"] = json!({ "type": "ephemeral" });
        assert_eq!(judge(&body, "", STRICT), Ok(Judgement::default()), "marks for the cache do not count");
        body["messages"][2]["content"][0]["content"] = "cut".into();
        let refusal = judge(&body, "", STRICT).unwrap_err();
        assert!(refusal.starts_with("messages.3.content.0: Invalid `signature`"), "{refusal}");
        let lenient = ThinkingBinding { account: Account::Lenient, ..STRICT };
        assert_eq!(judge(&body, "", lenient).unwrap().dropped, [(3, 0), (5, 0)]);
        body["thinking"] =
            json!({ "type": "adaptive", "block_binding": { "prefix_mismatch_behavior": "drop_block" } });
        assert!(judge(&body, "", STRICT).unwrap_err().contains("Extra inputs"), "both or none");
        assert_eq!(judge(&body, BINDING_BETA, STRICT).unwrap().dropped, [(3, 0), (5, 0)]);
        assert!(judge(&body, BINDING_BETA, ThinkingBinding { knows_betas: false, ..STRICT }).is_err());
    }

    #[test]
    fn what_the_provider_clears_leaves_thinking_valid() {
        let mut body = conversation();
        let tokens = |value: u64| json!({ "type": "input_tokens", "value": value });
        body["context_management"] = json!({ "edits": [{
            "type": CLEARING, "trigger": tokens(10), "keep": { "type": "tool_uses", "value": 1 },
            "clear_at_least": tokens(1_500), "exclude_tools": [],
        }] });
        let judgement = judge(&body, CLEARING_BETA, STRICT).unwrap();
        assert_eq!((judgement.cleared, judgement.dropped.len()), (2, 0));
        body["context_management"]["edits"][0]["exclude_tools"] = json!(["Bash"]);
        assert_eq!(judge(&body, CLEARING_BETA, STRICT).unwrap().cleared, 0);
    }
}
