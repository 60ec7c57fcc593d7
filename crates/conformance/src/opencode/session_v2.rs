//! OpenCode's session V2: what of a history is summarised, and what stays beside the summary as text.
//!
//! Two lines of development differ in the details: the development branch counts the newest messages from the back, the
//! branch v2 keeps whole turns and lists more kinds of messages. Both send the older part as text in a single message,
//! after what an earlier compaction kept as text. OpenCode's own wording of the prompt is neither reproduced nor
//! compared, except for its length.

use anyhow::Result;
use secateur::{Amount, Limits, OverflowRule, Profile, Usage};
use secateur_formats::json::utf16_len;
use serde_json::{Value, json};

use super::v2_messages::{Spoken, spoken};
use crate::case::Case;
use crate::number;

/// Tokens of a text of this number of UTF-16 units.
fn tokens(units: u64) -> u64 {
    (units + 2) / 4
}

fn tokens_of(text: &str) -> u64 {
    tokens(utf16_len(text))
}

/// Which line of development.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLine {
    /// The development branch.
    Development,
    /// The branch v2.
    BranchV2,
}

impl CodeLine {
    /// The length of the prompt's own words in UTF-16 units, without and with an earlier summary.
    fn prompt_units(self) -> [u64; 2] {
        match self {
            Self::Development => [1_315, 2_237],
            Self::BranchV2 => [1_215, 1_345],
        }
    }

    fn profile(self) -> &'static str {
        match self {
            Self::Development => "opencode@v2",
            Self::BranchV2 => "opencode@v2b",
        }
    }
}

/// A history in two parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DividedHistory {
    /// What is summarised.
    pub head: String,
    /// What stays.
    pub recent: String,
}

/// Divides a history; nothing if it has nothing to say. `budget` is what may stay, in tokens.
pub fn divide(spoken: &[Spoken], budget: u64, line: CodeLine) -> Option<DividedHistory> {
    if spoken.is_empty() {
        return None;
    }
    let mut left = budget;
    let fitting = spoken.iter().rev().enumerate().take_while(|(newer, message)| {
        let rest = left.checked_sub(tokens_of(&message.text));
        left = rest.unwrap_or(0);
        // A turn is never left without its end, however long that is.
        rest.is_some() || line == CodeLine::BranchV2 && *newer == 0
    });
    let mut split = spoken.len() - fitting.count();
    if line == CodeLine::BranchV2 {
        let begins_turn = |message: &Spoken| message.is_user;
        let turn = spoken.iter().take(split + 1).rposition(begins_turn).unwrap_or(0);
        // Everything would stay: then it is the last turn that does.
        split = if turn > 0 { turn } else { spoken.iter().rposition(begins_turn).unwrap_or(0) };
    }
    let (head, recent) = spoken.split_at(split);
    let told =
        |part: &[Spoken]| part.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n\n");
    Some(DividedHistory { head: told(head), recent: told(recent) })
}

/// The settings of a compaction: a profile's, with those of the configuration files in order.
struct V2Settings {
    overflow: OverflowRule,
    keep: u64,
    summary: u64,
}

impl V2Settings {
    fn new(profile: Profile, files: &[Value]) -> Self {
        let Profile { mut overflow, compaction, .. } = profile;
        let mut keep = compaction.tail.map_or(0, |tail| u64::try_from(tail.budget(0)).unwrap_or(0));
        for file in files {
            if let Some(auto) = file.get("auto").and_then(Value::as_bool) {
                overflow.auto = auto;
            }
            overflow.reserved = number(file, "/buffer").or(overflow.reserved);
            keep = file.pointer("/keep/tokens").and_then(Value::as_u64).unwrap_or(keep);
        }
        let summary = match compaction.summary {
            Amount::Tokens(tokens) => tokens.into(),
            Amount::Share(_) => 0,
        };
        Self { overflow, keep, summary }
    }

    fn to_json(&self) -> Value {
        let buffer = self.overflow.reserved.unwrap_or(self.overflow.reserved_default);
        json!({ "auto": self.overflow.auto, "buffer": buffer, "tokens": self.keep })
    }
}

fn limits(case: &Case) -> Limits {
    let limits = case.get("limits");
    Limits {
        context: number(limits, "/context").unwrap_or(0),
        input: number(limits, "/input"),
        output: number(limits, "/output"),
    }
}

/// The text of a member of a message.
fn said<'a>(message: Option<&'a Value>, key: &str) -> &'a str {
    message.and_then(|message| message.get(key)).and_then(Value::as_str).unwrap_or_default()
}

/// The pieces of a prompt that are the conversation, joined.
fn joined(pieces: [&str; 2]) -> String {
    pieces.into_iter().filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The length of a whole prompt.
fn prompt_units(line: CodeLine, summary: &str, conversation: &str) -> u64 {
    let [first, update] = line.prompt_units();
    let own = if summary.is_empty() { first } else { update };
    own + utf16_len(summary) + utf16_len(conversation)
}

fn is_compaction(message: &Value) -> bool {
    message.get("type").is_some_and(|kind| kind == "compaction")
}

/// Runs a recorded compaction of the development branch.
pub(super) fn compact(case: &Case, profile: impl Fn(&str) -> Result<Profile>) -> Result<Value> {
    let line = CodeLine::Development;
    let settings = V2Settings::new(profile(line.profile())?, case.list("config"));
    let mut limits = limits(case);
    limits.output = number(case.get("generation"), "/maxTokens").or(limits.output);
    let nothing = json!({ "compacted": false, "prompt": null, "maxTokens": null, "events": [] });
    let request = json!({ "system": [], "messages": case.list("request_messages"), "tools": [] });
    let input = i64::try_from(tokens_of(&request.to_string())).unwrap_or(i64::MAX);
    let judged = settings.overflow.judge(&Usage { input, ..Usage::default() }, &limits);
    if limits.context <= 0 || case.get("force") != true && !judged.overflow {
        return Ok(nothing);
    }
    let messages: Vec<&Value> =
        case.list("entries").iter().filter_map(|entry| entry.get("message")).collect();
    let earlier = messages.iter().copied().find(|message| is_compaction(message));
    let Some(halves) = divide(&spoken(&messages, line), settings.keep, line)
        .filter(|halves| !halves.head.is_empty() || earlier.is_some())
    else {
        return Ok(nothing);
    };
    let conversation = joined([said(earlier, "recent"), &halves.head]);
    let units = prompt_units(line, said(earlier, "summary"), &conversation);
    let output = limits.output.and_then(|output| u64::try_from(output).ok()).filter(|&output| output > 0);
    let most = output.map_or(settings.summary, |output| output.min(settings.summary));
    let room = limits.context.saturating_sub(i64::try_from(most).unwrap_or(i64::MAX));
    if i64::try_from(tokens(units)).unwrap_or(i64::MAX) > room {
        return Ok(nothing);
    }
    let summary = summary(case.get("llm"));
    let event = |kind: &str, more: Value| {
        let mut data = json!({ "sessionID": "ses_x", "messageID": "msg_synth_1", "reason": "auto" });
        if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
            data.extend(more);
        }
        json!({ "type": format!("session.next.compaction.{kind}"), "data": data })
    };
    let mut events = vec![event("started", json!({}))];
    events.extend(
        summary.as_ref().map(|text| event("ended", json!({ "text": text, "recent": halves.recent }))),
    );
    Ok(json!({
        "compacted": summary.is_some(),
        "prompt": { "$units": units },
        "maxTokens": most,
        "events": events,
    }))
}

/// What a recorded model said; nothing if it failed or said nothing.
fn summary(events: &Value) -> Option<String> {
    let Some(events) = events.as_array() else { return Some("SUMMARY".to_owned()) };
    let kinds = |kind: &'static str| events.iter().filter(move |event| said(Some(event), "type") == kind);
    let text: String = kinds("text-delta").map(|event| said(Some(event), "text")).collect();
    let is_empty = text.trim_matches(secateur::is_js_space).is_empty();
    (!is_empty && kinds("provider-error").next().is_none()).then_some(text)
}

/// Runs a recorded plan of the branch v2.
pub(super) fn plan(case: &Case, profile: impl Fn(&str) -> Result<Profile>) -> Result<Value> {
    let line = CodeLine::BranchV2;
    let settings = V2Settings::new(profile(line.profile())?, case.list("config"));
    let messages: Vec<&Value> = case.list("messages").iter().collect();
    let used = messages.iter().rev().find_map(|message| {
        message.get("tokens").filter(|tokens| !tokens.is_null() && said(Some(message), "type") == "assistant")
    });
    let usage = used.map(super::usage).unwrap_or_default();
    let required = settings.overflow.judge(&usage, &limits(case)).overflow;
    let halves = divide(&spoken(&messages, line), settings.keep, line);
    let earlier = messages.iter().rev().copied().find(|message| {
        is_compaction(message) && message.get("status").is_some_and(|status| status == "completed")
    });
    let plan = halves.as_ref().map(|DividedHistory { head, recent }| {
        let kept = said(earlier, "recent");
        // With nothing older there is only what would have stayed.
        let (told, rest) = if kept.is_empty() && head.is_empty() {
            (recent.clone(), "")
        } else {
            (joined([kept, head]), recent.as_str())
        };
        let units = prompt_units(line, said(earlier, "summary"), &told);
        json!({ "prompt": { "$units": units }, "recent": rest })
    });
    let select = halves.map(|halves| json!({ "head": halves.head, "recent": halves.recent }));
    Ok(json!({ "settings": settings.to_json(), "required": required, "select": select, "plan": plan }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(messages: &[(bool, &str)], budget: u64, line: CodeLine) -> [String; 2] {
        let spoken = |&(is_user, text): &(bool, &str)| Spoken { is_user, text: text.to_owned() };
        let spoken: Vec<Spoken> = messages.iter().map(spoken).collect();
        let DividedHistory { head, recent } = divide(&spoken, budget, line).unwrap();
        [head, recent]
    }

    #[test]
    fn the_newest_messages_stay_as_far_as_they_fit() {
        let messages = [(true, "aaaa"), (false, "bbbb"), (true, "cccc")];
        assert_eq!(divided(&messages, 2, CodeLine::Development), ["aaaa", "bbbb\n\ncccc"]);
        assert_eq!(divided(&messages, 0, CodeLine::Development), ["aaaa\n\nbbbb\n\ncccc", ""]);
        assert_eq!(divide(&[], 9, CodeLine::Development), None);
    }

    #[test]
    fn the_branch_v2_keeps_whole_turns_and_at_least_one() {
        let messages = [(true, "aaaa"), (false, "bbbb"), (true, "cccc"), (false, "dddd")];
        for budget in [0, 1, 2, 9] {
            let halves = ["aaaa\n\nbbbb", "cccc\n\ndddd"];
            assert_eq!(divided(&messages, budget, CodeLine::BranchV2), halves, "{budget}");
        }
        assert_eq!(divided(&[(true, "aaaa"), (false, "bbbb")], 0, CodeLine::BranchV2), ["", "aaaa\n\nbbbb"]);
    }
}
