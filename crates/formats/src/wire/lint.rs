//! What a provider would reject in a request, and its repair.
//!
//! Shortening a conversation can break it: a result without its call, half of a batch of parallel calls, an empty
//! message. The provider then responds with an error, and since the history is sent again each time, every later request
//! fails too. [`lint`] finds such faults before the request is sent; [`fix`] repairs those that it can.
//!
//! ```
//! use secateur_formats::{Wire, lint};
//!
//! let body = r#"{"model":"m","max_tokens":9,"messages":[
//!     {"role":"user","content":"go"},
//!     {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":{}}]},
//!     {"role":"user","content":"and now?"}]}"#;
//! let findings = lint::lint(Wire::Anthropic, body);
//! assert_eq!(findings[0].path, "$.messages[1].content[0]");
//! assert_eq!(findings[0].rule.name(), "call-without-result");
//!
//! let fixed = lint::fix(Wire::Anthropic, body);
//! assert!(fixed.remaining.is_empty());
//! assert!(lint::lint(Wire::Anthropic, &fixed.body).is_empty());
//! ```
//!
//! **No false alarms.** A finding is something that the provider is known to reject. What a provider only advises
//! against, what depends on the model or on a header, and what may no longer be enforced is not reported. So a body
//! without findings can still be rejected, but a body with one should not be sent. Left out on purpose: an Anthropic turn that does not
//! start with thinking (thinking is then switched off for the request, without an error), results before
//! their calls in the Responses format, a model turn with calls at the very end of Gemini's contents.
//!
//! **Repairs are edits.** `fix` replaces, removes and inserts text, and changes no other byte. A body without fixable
//! findings is returned as it is. One repair can uncover the next fault (a message that lost its last block is empty), so
//! `fix` repeats until nothing fixable is left. Fixing a fixed body changes nothing.
//!
//! Each wire's `lint` file holds its provider's rules, with the provider's own words in comments.

pub(crate) mod body;
pub(crate) mod media;
pub(crate) mod pairing;
pub(crate) mod report;
pub(crate) mod rule;

use std::borrow::Cow;

use serde::Serialize;

pub use rule::Rule;

use crate::wire_spec::Wire;
use body::{BodyNode, LintBody, ValueKind};
use report::FindingsReport;

/// The result of a call that has none.
pub(crate) const NO_RESULT: &str = "[No result was recorded for this tool call]";

/// The content of a message that would be empty.
pub(crate) const NO_CONTENT: &str = "[This message was empty]";

/// The first message of a conversation that does not start with its user.
pub(crate) const NO_START: &str = "[The beginning of this conversation is missing]";

/// The most rounds of `fix`. More than three are rare.
const ROUNDS: usize = 32;

/// Something that the provider would reject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Where it is, as a JSON path: `$.messages[3].content[0]`.
    pub path: String,
    /// The rule that is broken.
    pub rule: Rule,
    /// What is wrong.
    pub message: String,
    /// What [`fix`] does about it or, if it does nothing, what the sender should do.
    pub repair: String,
    /// Whether [`fix`] repairs it.
    pub fixable: bool,
}

/// A body after its repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed<'a> {
    /// The repaired body; borrowed if there was nothing to repair.
    pub body: Cow<'a, str>,
    /// What was found in the original and repaired. Paths are those of the original.
    pub repaired: Vec<Finding>,
    /// What is still wrong. Paths are those of the repaired body.
    pub remaining: Vec<Finding>,
}

/// Finds what the provider would reject in a request body.
///
/// The time taken is linear in the size of the body; the text of messages is not decoded.
pub fn lint(wire: Wire, body: &str) -> Vec<Finding> {
    match LintBody::read(body) {
        Ok(read) => check(wire, &read).findings,
        Err(error) => vec![not_json(&error)],
    }
}

/// Repairs what can be repaired in a request body.
pub fn fix(wire: Wire, body: &str) -> Fixed<'_> {
    let read = match LintBody::read(body) {
        Ok(read) => read,
        Err(error) => {
            return Fixed { body: body.into(), repaired: vec![], remaining: vec![not_json(&error)] };
        }
    };
    let report = check(wire, &read);
    if !report.is_fixable() {
        return Fixed { body: body.into(), repaired: vec![], remaining: report.findings };
    }
    let repaired = report.findings.iter().filter(|finding| finding.fixable).cloned().collect();
    let mut text = report.apply(&read);
    for _ in 1..ROUNDS {
        let Some(next) = repair_once(wire, &text).filter(|next| *next != text) else { break };
        text = next;
    }
    let remaining = lint(wire, &text);
    Fixed { body: text.into(), repaired, remaining }
}

/// One round of repairs; none if there is nothing to repair.
fn repair_once(wire: Wire, text: &str) -> Option<String> {
    let read = LintBody::read(text).ok()?;
    let report = check(wire, &read);
    report.is_fixable().then(|| report.apply(&read))
}

fn check(wire: Wire, body: &LintBody<'_>) -> FindingsReport {
    let mut report = FindingsReport::default();
    let Some(root) = body.root() else { return report };
    if root.kind() != ValueKind::Object {
        let message = "a request must be a JSON object".to_owned();
        report.unfixable(root, Rule::NotAnObject, message, "send an object");
        return report;
    }
    (wire.code().check)(body, root, &mut report);
    report
}

fn not_json(error: &str) -> Finding {
    Finding {
        path: "$".to_owned(),
        rule: Rule::NotJson,
        message: format!("the body is not valid JSON: {error}"),
        repair: "send valid JSON".to_owned(),
        fixable: false,
    }
}

/// Reports a required member if it is missing.
pub(crate) fn require(report: &mut FindingsReport, object: BodyNode<'_>, name: &str) {
    if object.get(name).is_none() {
        let message = format!("the member {name} is missing");
        report.unfixable(object, Rule::MissingField, message, &format!("add {name}"));
    }
}

/// The list of messages. Reports it if it is missing, empty or not a list.
pub(crate) fn message_list<'b>(
    report: &mut FindingsReport,
    root: BodyNode<'b>,
    name: &str,
) -> Option<BodyNode<'b>> {
    let Some(list) = root.get(name) else {
        require(report, root, name);
        return None;
    };
    if list.kind() != ValueKind::Array {
        let message = format!("{name} must be an array");
        report.unfixable(list, Rule::WrongType, message, "send an array of messages");
        return None;
    }
    if list.len() == 0 {
        let message = format!("{name} has no elements");
        report.unfixable(list, Rule::MissingField, message, "add at least one message");
        return None;
    }
    Some(list)
}

/// Reports that a request ends with a message of the model.
pub(crate) fn nothing_to_answer(report: &mut FindingsReport, last: BodyNode<'_>) {
    let message = "the request ends with a message of the model, so there is nothing to answer".to_owned();
    report.unfixable(last, Rule::NothingToAnswer, message, "end with a message of the user or a tool result");
}

/// The raw object with a member set.
pub(crate) fn with_member(object: &str, name: &str, value: &str) -> String {
    let edit = crate::json::set_member(object, 0..object.len(), name, value);
    let mut text = object.to_owned();
    text.replace_range(edit.range, &edit.text);
    text
}

/// A name with only the characters that providers allow, and no longer than `longest`.
pub(crate) fn plain_name(name: &str, longest: usize) -> String {
    let plain = name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).take(longest);
    let plain: String = plain.collect();
    if plain.is_empty() { "_".to_owned() } else { plain }
}

/// Whether a name has only letters, digits, underscores and hyphens, and at least one.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_plain)
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
