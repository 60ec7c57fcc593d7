//! Mutations that keep a document a document.
//!
//! Flipping bytes of JSON mostly yields what no parser gets past the first quote of. Half of the time,
//! therefore, one value of the tree is changed instead: removed, repeated, exchanged for another one of the
//! same document, or replaced by one of the words that mean something to a reader. The other half stays with
//! the fuzzer's own mutations, which find what no tree can hold: repeated keys, broken ends, odd spellings.

use libfuzzer_sys::fuzzer_mutate;
use serde_json::{Value, json};

/// Names and values that readers look for, whatever their format.
const WORDS: &[&str] = &[
    "",
    "info",
    "parts",
    "messages",
    "role",
    "user",
    "assistant",
    "toolResult",
    "system",
    "content",
    "metadata",
    "type",
    "text",
    "reasoning",
    "thinking",
    "thinkingSignature",
    "redacted_thinking",
    "data",
    "image",
    "file",
    "tool",
    "tool-x",
    "dynamic-tool",
    "toolName",
    "skill",
    "toolCall",
    "toolCallId",
    "callID",
    "name",
    "arguments",
    "state",
    "status",
    "completed",
    "error",
    "running",
    "pending",
    "output-available",
    "output-error",
    "input",
    "output",
    "attachments",
    "time",
    "created",
    "compacted",
    "compactedAt",
    "timestamp",
    "isError",
    "summary",
    "finish",
    "parentID",
    "parentId",
    "id",
    "compaction",
    "tail_start_id",
    "tokens",
    "cache",
    "read",
    "total",
    "user.message",
    "user.compaction",
    "assistant.message",
    "is_summary",
    "tool.use",
    "tool.result",
    "tool_use_id",
    "tool.output_compacted",
    "is_error",
    "session.undo",
    "session.set_head",
    "head_seq",
    "seq",
    "usage",
    "[Old tool result content cleared]",
    "a\n\"b\\c/\u{7f}\u{1}",
    "é漢\u{1f600}",
    "a long text that is worth a cut, twice",
];

/// Mutates a JSON document; for `fuzz_mutator!`.
pub fn json(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut dice = Dice::new(seed);
    let tree = data.get(..size).and_then(|bytes| serde_json::from_slice(bytes).ok());
    let text = tree.filter(|_| dice.roll(2) == 0).map(|tree| dice.spell(&dice.clone().change(tree)));
    put(data, size, max_size, text)
}

/// Mutates a text of one JSON value a line; for `fuzz_mutator!`.
pub fn lines(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut dice = Dice::new(seed);
    if dice.roll(4) == 0 {
        return json(data, size, max_size, seed);
    }
    let text = data.get(..size).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (one, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
    let tree = lines.get(one).and_then(|line| serde_json::from_str(line).ok());
    match (tree, dice.roll(4)) {
        (Some(tree), 0 | 1) => lines[one] = dice.change(tree).to_string(),
        (Some(tree), 2) => lines.insert(other, dice.change(tree).to_string()),
        (_, 3) if one < lines.len() => _ = lines.remove(one),
        _ => return put(data, size, max_size, None),
    }
    put(data, size, max_size, Some(lines.join("\n")))
}

/// Puts the text in place of the data; without a text that fits, the fuzzer has its own way.
fn put(data: &mut [u8], size: usize, max_size: usize, text: Option<String>) -> usize {
    let text = text.filter(|text| text.len() <= max_size);
    match text.as_ref().and_then(|text| Some((text, data.get_mut(..text.len())?))) {
        Some((text, place)) => {
            place.copy_from_slice(text.as_bytes());
            text.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
}

/// Random numbers from a seed.
#[derive(Clone)]
struct Dice(u64);

impl Dice {
    fn new(seed: u32) -> Self {
        Self(u64::from(seed) ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// A number below `sides`; zero if there are none.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % sides.max(1)
    }

    fn spell(&mut self, tree: &Value) -> String {
        let pretty = (self.roll(4) == 0).then(|| serde_json::to_string_pretty(tree).unwrap_or_default());
        pretty.unwrap_or_else(|| tree.to_string())
    }

    fn word(&mut self) -> String {
        WORDS[self.roll(WORDS.len())].to_owned()
    }

    fn simple(&mut self) -> Value {
        match self.roll(8) {
            0 => json!(null),
            1 => json!(true),
            2 => json!([0, 1, -1, 1_700_000_000_000_i64][self.roll(4)]),
            3 => json!({}),
            4 => json!([]),
            _ => json!(self.word()),
        }
    }

    /// Changes one value of the tree.
    fn change(&mut self, mut tree: Value) -> Value {
        let size = count(&tree);
        let other = match self.roll(2) {
            0 => self.simple(),
            _ => nth(&mut tree, &mut self.roll(size)).cloned().unwrap_or_default(),
        };
        let Some(value) = nth(&mut tree, &mut self.roll(size)) else { return tree };
        match (self.roll(4), value) {
            (0, value) => *value = other,
            (1, Value::Array(list)) => list.insert(self.roll(list.len() + 1), other),
            (1, Value::Object(fields)) => _ = fields.insert(self.word(), other),
            (2, Value::Array(list)) if !list.is_empty() => _ = list.remove(self.roll(list.len())),
            (2, Value::Object(fields)) => {
                let key = fields.keys().nth(self.roll(fields.len())).cloned();
                key.map(|key| fields.shift_remove(&key));
            }
            (3, Value::Array(list)) if !list.is_empty() => {
                let repeated = list[self.roll(list.len())].clone();
                list.insert(self.roll(list.len() + 1), repeated);
            }
            (_, Value::String(text)) => text.push_str(&self.word()),
            (_, value) => *value = self.simple(),
        }
        tree
    }
}

/// How many values the tree consists of.
fn count(tree: &Value) -> usize {
    1 + match tree {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The value that is met after `left` others.
fn nth<'a>(tree: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(tree);
    }
    *left -= 1;
    match tree {
        Value::Array(list) => list.iter_mut().find_map(|value| nth(value, left)),
        Value::Object(fields) => fields.values_mut().find_map(|value| nth(value, left)),
        _ => None,
    }
}
