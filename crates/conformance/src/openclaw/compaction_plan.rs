//! What OpenClaw of January 2026 compacts, with the rules of pi, on which it is built.
//!
//! The history is cut where about that number of recent tokens is left, never before a tool's result. If the cut falls into a
//! turn, the beginning of that turn is summarised on its own. Files that the summarised part read and changed are listed,
//! together with those of the compaction before.

use std::collections::BTreeSet;

use secateur_formats::json::{Printer, printed_len, utf16_len};
use serde_json::{Value, json};

use super::chunking::{chunk_ratio, chunks, history_share, is_oversized, split};
use crate::case::Case;
use crate::number;

/// Characters that an image in a tool's result counts for.
const IMAGE_CHARS: u64 = 4_800;

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

fn units(holder: &Value, key: &str) -> u64 {
    holder.get(key).and_then(Value::as_str).map_or(0, utf16_len)
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message.get("content").and_then(Value::as_array).into_iter().flatten()
}

/// The estimated tokens of a message: a quarter of its characters, rounded up.
pub fn estimate(message: &Value) -> u64 {
    let bare = units(message, "content");
    let chars = match role(message) {
        "user" => {
            bare + blocks(message)
                .filter(|block| kind(block) == "text")
                .map(|block| units(block, "text"))
                .sum::<u64>()
        }
        "assistant" => blocks(message).map(said_chars).sum(),
        "toolResult" | "custom" => bare + blocks(message).map(result_chars).sum::<u64>(),
        _ => 0,
    };
    chars.div_ceil(4)
}

fn said_chars(block: &Value) -> u64 {
    match kind(block) {
        "text" => units(block, "text"),
        "thinking" => units(block, "thinking"),
        "toolCall" => {
            let arguments = block.get("arguments").map_or_else(String::new, Value::to_string);
            units(block, "name") + printed_len(&arguments, Printer::JavaScript)
        }
        _ => 0,
    }
}

fn result_chars(block: &Value) -> u64 {
    match kind(block) {
        "text" => units(block, "text"),
        "image" => IMAGE_CHARS,
        _ => 0,
    }
}

/// The tokens of a context: what the last response reported, and an estimate of what came after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedTokens {
    /// What was reported.
    pub reported: u64,
    /// What came after it.
    pub trailing: u64,
    /// The index of the message that reported it.
    pub reporter: Option<usize>,
}

impl UsedTokens {
    /// All tokens of a context.
    pub fn total(&self) -> u64 {
        self.reported + self.trailing
    }

    /// Reads the messages of a context.
    fn of(messages: &[(&Value, u64)]) -> Self {
        let reported = |(message, _): &(&Value, u64)| {
            let stop = message.get("stopReason").and_then(Value::as_str);
            let is_whole = role(message) == "assistant" && !matches!(stop, Some("aborted" | "error"));
            message.get("usage").filter(|usage| is_whole && usage.is_object()).map(usage_tokens)
        };
        let last = messages.iter().enumerate().rev().find_map(|(at, message)| Some((at, reported(message)?)));
        let (reporter, reported) = last.unzip();
        let after = messages.get(reporter.map_or(0, |at| at + 1)..).unwrap_or_default();
        let trailing = after.iter().map(|(_, tokens)| tokens).sum();
        Self { reported: reported.unwrap_or(0), trailing, reporter }
    }
}

fn usage_tokens(usage: &Value) -> u64 {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
    match count("totalTokens") {
        0 => count("input") + count("output") + count("cacheRead") + count("cacheWrite"),
        total => total,
    }
}

/// What is summarised and where the kept history begins.
struct Preparation<'a> {
    first_kept: &'a Value,
    is_split: bool,
    tokens_before: u64,
    earlier_summary: Option<&'a str>,
    history: Vec<&'a Value>,
    /// The beginning of the turn that the cut falls into.
    prefix: Vec<&'a Value>,
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
}

/// The entries of a session, of which those after the last compaction may be compacted.
struct SessionEntries<'a> {
    all: &'a [Value],
    start: usize,
}

impl<'a> SessionEntries<'a> {
    fn message(&self, at: usize) -> Option<&'a Value> {
        self.all.get(at).filter(|entry| kind(entry) == "message").and_then(|entry| entry.get("message"))
    }

    fn is_said_by(&self, at: usize, roles: &[&str]) -> bool {
        self.message(at).is_some_and(|message| roles.contains(&role(message)))
    }

    /// Whether an entry stands for a message that another branch or an extension left.
    fn is_inserted(&self, at: usize) -> bool {
        self.all.get(at).is_some_and(|entry| matches!(kind(entry), "branch_summary" | "custom_message"))
    }

    /// The index at which the kept history begins, if about `keep` tokens are kept.
    fn cut(&self, keep: u64) -> usize {
        let range = self.start..self.all.len();
        let is_valid = |at: &usize| {
            let message = self.message(*at);
            message.is_some_and(|message| role(message) != "toolResult") || self.is_inserted(*at)
        };
        let mut valid = range.clone().filter(is_valid);
        let Some(first) = valid.next() else { return self.start };
        let mut kept = 0;
        let full = range.clone().rev().find(|&at| {
            let Some(message) = self.message(at) else { return false };
            kept += estimate(message);
            kept >= keep
        });
        let after = |full: usize| range.clone().filter(is_valid).find(|&at| at >= full);
        let mut cut = full.and_then(after).unwrap_or(first);
        // Changes of settings before a message belong to it.
        let is_change = |at: usize| {
            self.all.get(at).is_some_and(|entry| !matches!(kind(entry), "message" | "compaction"))
        };
        while cut > self.start && is_change(cut - 1) {
            cut -= 1;
        }
        cut
    }

    /// The index at which the turn of an entry begins.
    fn turn_start(&self, cut: usize) -> Option<usize> {
        (self.start..=cut)
            .rev()
            .find(|&at| self.is_inserted(at) || self.is_said_by(at, &["user", "bashExecution"]))
    }
}

fn prepare(entries: &[Value], keep: u64) -> Option<Preparation<'_>> {
    let earlier = entries.iter().rposition(|entry| kind(entry) == "compaction");
    if earlier.is_some_and(|earlier| earlier + 1 == entries.len()) {
        return None;
    }
    let view = SessionEntries { all: entries, start: earlier.map_or(0, |earlier| earlier + 1) };
    let compaction = earlier.and_then(|earlier| entries.get(earlier));
    let cut = view.cut(keep);
    let first_kept = entries.get(cut)?.get("id")?;
    let turn = if view.is_said_by(cut, &["user"]) { None } else { view.turn_start(cut) };
    let said = |from: usize, to: usize| (from..to).filter_map(|at| view.message(at)).collect::<Vec<_>>();
    let (history, prefix) = (said(view.start, turn.unwrap_or(cut)), said(turn.unwrap_or(cut), cut));
    // The summary of the compaction before is part of the context, but not of what is summarised as history.
    let summary = compaction.map(|compaction| (compaction, units(compaction, "summary").div_ceil(4)));
    let rest = said(view.start, entries.len());
    let context: Vec<(&Value, u64)> =
        summary.into_iter().chain(rest.into_iter().map(|message| (message, estimate(message)))).collect();
    let (read, modified) = files(compaction, history.iter().chain(&prefix).copied());
    Some(Preparation {
        first_kept,
        is_split: turn.is_some(),
        tokens_before: UsedTokens::of(&context).total(),
        earlier_summary: compaction.and_then(|compaction| compaction.get("summary")?.as_str()),
        history,
        prefix,
        read,
        modified,
    })
}

/// The files that were only read, and those that were changed.
fn files<'a>(
    compaction: Option<&Value>,
    messages: impl Iterator<Item = &'a Value>,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let listed = |key: &str| {
        let list = compaction.and_then(|compaction| compaction.get("details")?.get(key)?.as_array());
        list.into_iter().flatten().filter_map(|path| Some(path.as_str()?.to_owned())).collect::<BTreeSet<_>>()
    };
    let (mut read, mut modified) = (listed("readFiles"), listed("modifiedFiles"));
    for call in messages.flat_map(blocks).filter(|block| kind(block) == "toolCall") {
        let path = call.pointer("/arguments/path").and_then(Value::as_str).filter(|path| !path.is_empty());
        let Some(path) = path else { continue };
        match call.get("name").and_then(Value::as_str) {
            Some("read") => _ = read.insert(path.to_owned()),
            Some("write" | "edit") => _ = modified.insert(path.to_owned()),
            _ => {}
        }
    }
    read.retain(|path| !modified.contains(path));
    (read, modified)
}

impl Preparation<'_> {
    fn to_json(&self) -> Value {
        let ids = |messages: &[&Value]| -> Vec<Value> {
            messages.iter().map(|message| message.get("mid").cloned().unwrap_or_default()).collect()
        };
        let mut printed = json!({
            "firstKeptEntryId": self.first_kept,
            "isSplitTurn": self.is_split,
            "tokensBefore": self.tokens_before,
            "summarize": ids(&self.history),
            "prefix": ids(&self.prefix),
            "files": { "readFiles": self.read, "modifiedFiles": self.modified },
        });
        if let Some(summary) = self.earlier_summary {
            printed["previousSummary"] = summary.into();
        }
        printed
    }
}

/// Runs a recorded plan.
pub(super) fn run(case: &Case) -> Value {
    let entries = case.list("entries");
    let messages: Vec<(&Value, u64)> = entries
        .iter()
        .filter(|entry| kind(entry) == "message")
        .filter_map(|entry| entry.get("message"))
        .map(|message| (message, estimate(message)))
        .collect();
    let tokens: Vec<u64> = messages.iter().map(|(_, tokens)| *tokens).collect();
    let context = UsedTokens::of(&messages);
    let settings = case.get("settings");
    let setting = |pointer: &str| number(settings, pointer).unwrap_or(0);
    let room = number(&case.input, "/contextWindow").unwrap_or(0).saturating_sub(setting("/reserveTokens"));
    let is_full = i64::try_from(context.total()).unwrap_or(i64::MAX) > room;
    let should = settings.get("enabled") == Some(&Value::Bool(true)) && is_full;
    let keep = u64::try_from(setting("/keepRecentTokens")).unwrap_or(0);
    let window = case.get("contextWindow").as_f64().unwrap_or(0.0);
    let parts = case.get("parts").as_f64().unwrap_or(f64::NAN);
    let most = case.get("maxChunkTokens").as_u64().unwrap_or(0);
    let share = history_share(&tokens, window, case.get("maxHistoryShare").as_f64(), parts);
    let lengths =
        |ranges: Vec<std::ops::Range<usize>>| ranges.iter().map(ExactSizeIterator::len).collect::<Vec<_>>();
    json!({
        "tokens": tokens,
        "context": {
            "tokens": context.total(),
            "usageTokens": context.reported,
            "trailingTokens": context.trailing,
            "lastUsageIndex": context.reporter,
        },
        "shouldCompact": should,
        "prep": prepare(entries, keep).map(|preparation| preparation.to_json()),
        "split": lengths(split(&tokens, parts)),
        "chunks": lengths(chunks(&tokens, most)),
        "ratio": chunk_ratio(&tokens, window),
        "oversized": tokens.iter().map(|&tokens| is_oversized(tokens, window)).collect::<Vec<_>>(),
        "share": {
            "kept": (share.first_kept..tokens.len()).collect::<Vec<_>>(),
            "droppedChunks": share.dropped_chunks,
            "droppedTokens": share.dropped_tokens,
            "keptTokens": share.kept_tokens,
            "budgetTokens": share.budget,
        },
    })
}
