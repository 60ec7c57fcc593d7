//! Calls and their results.
//!
//! "`tool_use` ids were found without `tool_result` blocks immediately after", "unexpected `tool_use_id`
//! found in `tool_result` blocks", "each tool_use must have a single result", "`tool_use` ids must be
//! unique": the API is strict about exchanges. Tools that the provider runs itself leave their results in the
//! same turn, and those must have their call somewhere before them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::{AnthropicMessage, AnthropicRole, literal_of, text_block};
use crate::json::encode;
use crate::wire::lint::body::BodyNode;
use crate::wire::lint::pairing::{LintCall, LintResult, ResultStanding, pair};
use crate::wire::lint::report::FindingsReport;
use crate::wire::lint::rule::Rule;
use crate::wire::lint::{NO_RESULT, is_plain_name, plain_name, with_member};

/// Calls and results with the places they have.
#[derive(Default)]
struct Pairings<'b> {
    calls: Vec<LintCall<'b>>,
    call_nodes: Vec<BodyNode<'b>>,
    answers: Vec<LintResult<'b>>,
    answer_nodes: Vec<BodyNode<'b>>,
    /// Of each result, whether another block stands before it in its turn.
    late: Vec<bool>,
}

pub(crate) fn check(
    list: BodyNode<'_>,
    messages: &mut [AnthropicMessage<'_>],
    turns: &[Range<usize>],
    report: &mut FindingsReport,
) {
    let found = collect(messages, turns, report);
    let (standings, answered) = pair(&found.calls, &found.answers);
    let renamed = rename(&found, report);
    // What is to be put before the next turn, by the number of the turn with the calls.
    let mut arrivals: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let id_of = |call: usize| renamed.get(&call).cloned();
    for (((answer, &node), standing), late) in
        found.answers.iter().zip(&found.answer_nodes).zip(&standings).zip(&found.late)
    {
        let id = answer.id.as_deref().unwrap_or_default();
        match *standing {
            ResultStanding::Placed(call) if !late => {
                if let Some(id) = id_of(call) {
                    report.set(node, "tool_use_id", &encode(&id));
                }
            }
            ResultStanding::Placed(call) | ResultStanding::Astray(call) => {
                let (why, what) = match standing {
                    ResultStanding::Placed(_) => ("comes after another block", "is moved before the others"),
                    _ => ("is not in the message after its call", "is moved there"),
                };
                let message = format!("the result of {id} {why}");
                report.fixable(node, Rule::MisplacedResult, message, &format!("it {what}"));
                report.drop(node);
                let text = match id_of(call) {
                    Some(id) => with_member(node.raw(), "tool_use_id", &encode(&id)),
                    None => node.raw().to_owned(),
                };
                let batch = found.calls.get(call).map(|call| call.batch).unwrap_or_default();
                arrivals.entry(batch).or_default().push(text);
            }
            ResultStanding::Repeated => {
                let message = format!("the call {id} has a result already");
                report.fixable(node, Rule::DuplicateResult, message, "this one is removed");
                report.drop(node);
            }
            ResultStanding::Contradicting => {
                let message = format!("the call {id} has another result already");
                report.fixable(node, Rule::DuplicateResult, message, "this one becomes text");
                replace_by_text(node, report);
            }
            ResultStanding::Orphaned => {
                let message = format!("there is no call with the id {id:?}");
                report.fixable(node, Rule::OrphanedResult, message, "it becomes text");
                replace_by_text(node, report);
            }
        }
    }
    for (call, node) in
        found.call_nodes.iter().enumerate().filter(|(call, _)| answered.get(*call) == Some(&None))
    {
        let Some(LintCall { id, batch }) = found.calls.get(call) else { continue };
        let message = format!("the call {id} has no result in the next message");
        report.fixable(*node, Rule::CallWithoutResult, message, "a result that says so is put in");
        let id = encode(id_of(call).as_deref().unwrap_or(id));
        let text = encode(NO_RESULT);
        let block =
            format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{text},"is_error":true}}"#);
        arrivals.entry(*batch).or_default().push(block);
    }
    for (batch, texts) in arrivals {
        deliver(list, messages, turns, batch, texts, report);
    }
}

/// Hands blocks to the message after a turn; if there is none that could take them, makes one.
fn deliver(
    list: BodyNode<'_>,
    messages: &mut [AnthropicMessage<'_>],
    turns: &[Range<usize>],
    batch: usize,
    texts: Vec<String>,
    report: &mut FindingsReport,
) {
    let next = turns.get(batch + 1).and_then(|turn| messages.get_mut(turn.start));
    match next.filter(|message| message.role == AnthropicRole::User && message.takes_blocks()) {
        Some(message) => message.arrivals.extend(texts),
        None => {
            let last = turns.get(batch).and_then(|turn| messages.get(turn.end.saturating_sub(1)));
            let at = last.map_or(list.len(), |message| message.index + 1);
            report.insert(list, at, format!(r#"{{"role":"user","content":[{}]}}"#, texts.join(",")));
        }
    }
}

fn collect<'b>(
    messages: &[AnthropicMessage<'b>],
    turns: &[Range<usize>],
    report: &mut FindingsReport,
) -> Pairings<'b> {
    let mut found = Pairings::default();
    let mut served = HashSet::new();
    for (number, turn) in turns.iter().enumerate() {
        let mut seen_other = false;
        for message in messages.get(turn.clone()).unwrap_or_default() {
            seen_other |= message.blocks.is_empty()
                && message
                    .content
                    .is_some_and(|content| content.text().is_some() && !content.is_blank_text());
            for &block in &message.blocks {
                let kind = block.type_name();
                match kind.as_ref() {
                    "tool_use" => take_call(&mut found, number, message.role, block, report),
                    "tool_result" => {
                        let follows = message.role == AnthropicRole::User && number > 0;
                        found.answers.push(LintResult {
                            id: block.text_of("tool_use_id"),
                            batch: follows.then(|| number.saturating_sub(1)),
                            said: block.get("content").map_or("", BodyNode::raw),
                            calls_before: found.calls.len(),
                        });
                        found.answer_nodes.push(block);
                        found.late.push(seen_other);
                    }
                    "server_tool_use" | "mcp_tool_use" => {
                        served.extend(block.text_of("id"));
                    }
                    kind if kind.ends_with("_tool_result") => check_served(block, kind, &served, report),
                    _ => {}
                }
                seen_other |= kind != "tool_result" && !report.drops(block);
            }
        }
    }
    found
}

/// A call needs an id and a place in a message of the assistant: "`tool_use` blocks can only be in
/// `assistant` messages".
fn take_call<'b>(
    found: &mut Pairings<'b>,
    batch: usize,
    role: AnthropicRole,
    block: BodyNode<'b>,
    report: &mut FindingsReport,
) {
    let id = block.text_of("id").filter(|id| !id.is_empty());
    match id.filter(|_| role == AnthropicRole::Assistant) {
        Some(id) => {
            found.calls.push(LintCall { id, batch });
            found.call_nodes.push(block);
        }
        None => {
            let message = "a call needs an id and must be in an assistant message".to_owned();
            report.fixable(block, Rule::MisplacedCall, message, "it becomes text");
            report.replace(block, text_block(&encode(block.raw())));
        }
    }
}

/// "Each `…_tool_result` block must have a corresponding `server_tool_use` block before it."
fn check_served(
    block: BodyNode<'_>,
    kind: &str,
    served: &HashSet<Cow<'_, str>>,
    report: &mut FindingsReport,
) {
    if block.text_of("tool_use_id").is_none_or(|id| served.contains(&id)) {
        return;
    }
    let message = format!("the {kind} has no call before it");
    report.fixable(block, Rule::OrphanedResult, message, "it is removed");
    report.drop(block);
}

/// New ids for calls whose id another has, or that has letters it must not: `^[a-zA-Z0-9_-]+$`.
fn rename(found: &Pairings<'_>, report: &mut FindingsReport) -> BTreeMap<usize, String> {
    let mut renamed = BTreeMap::new();
    let mut taken: HashSet<Cow<'_, str>> = HashSet::with_capacity(found.calls.len());
    let mut spoken_for: Option<HashSet<&str>> = None;
    for (number, (call, node)) in found.calls.iter().zip(&found.call_nodes).enumerate() {
        let is_first = taken.insert(call.id.clone());
        let (rule, message) = match (is_first, is_plain_name(&call.id)) {
            (true, true) => continue,
            (false, _) => (Rule::DuplicateCall, format!("an earlier call has the id {}, too", call.id)),
            (true, false) => {
                (Rule::InvalidId, format!("the id {:?} does not match ^[a-zA-Z0-9_-]+$", call.id))
            }
        };
        report.fixable(*node, rule, message, "the call and its result get another id");
        // Neither the id of a call that comes later nor one that was just given away.
        let spoken_for =
            spoken_for.get_or_insert_with(|| found.calls.iter().map(|call| call.id.as_ref()).collect());
        let plain = plain_name(&call.id, 48);
        let free = (number..).map(|suffix| format!("{plain}_{suffix}"));
        let mut free = free.filter(|id| !taken.contains(id.as_str()) && !spoken_for.contains(id.as_str()));
        let Some(id) = free.next() else { continue };
        taken.insert(Cow::Owned(id.clone()));
        report.set(*node, "id", &encode(&id));
        renamed.insert(number, id);
    }
    renamed
}

/// A block of text in the place of a result: what was said stays said.
fn replace_by_text(node: BodyNode<'_>, report: &mut FindingsReport) {
    match node.get("content") {
        // A list of blocks would need a place for several.
        Some(content) if !content.is_blank_text() && !content.is_null() && content.len() != 1 => {
            report.replace(node, text_block(&literal_of(content)));
        }
        Some(content) if content.len() == 1 => {
            let only = content.items().next();
            let text = only.and_then(|block| block.get("text")).filter(|text| !text.is_blank_text());
            report.replace(node, text_block(&literal_of(text.unwrap_or(content))));
        }
        _ => report.replace(node, text_block(&encode("[A tool result without content]"))),
    }
}
