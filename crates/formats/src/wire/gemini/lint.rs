//! What Google's Gemini API rejects.
//!
//! Results are matched to calls by number, not by name: the turn after a turn with calls must hold as many
//! results. "Please ensure that function call turn comes immediately after a user turn or after a function
//! response turn", "… that function response turn comes immediately after a function call turn", "… that the
//! number of function response parts is equal to the number of function call parts of the function call
//! turn". Members may be spelled in either of two ways, as in every API made of protocol buffers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::json::encode;
use crate::wire::lint::body::{BodyNode, LintBody, ValueKind};
use crate::wire::lint::pairing::{LintCall, LintResult, ResultStanding, pair};
use crate::wire::lint::report::FindingsReport;
use crate::wire::lint::rule::Rule;
use crate::wire::lint::{NO_CONTENT, NO_RESULT, NO_START, media, message_list, nothing_to_answer};

/// A request with inline data has at most 100 MB.
const LARGEST_BODY: usize = 100 * 1024 * 1024;
/// The longest name of a function.
const LONGEST_NAME: usize = 128;

struct GeminiTurn<'b> {
    node: BodyNode<'b>,
    is_model: bool,
    parts: Option<BodyNode<'b>>,
    calls: Vec<BodyNode<'b>>,
    results: Vec<BodyNode<'b>>,
}

pub(crate) fn check(body: &LintBody<'_>, root: BodyNode<'_>, report: &mut FindingsReport) {
    media::check_size(body, root, LARGEST_BODY, report);
    check_declarations(root, report);
    // A single object is accepted in the place of a list of one.
    if root.get("contents").is_some_and(|contents| contents.kind() == ValueKind::Object) {
        return;
    }
    let Some(list) = message_list(report, root, "contents") else { return };
    let before = report.findings.len();
    let mut contents = Vec::with_capacity(list.len());
    for node in list.items() {
        contents.push(read(node, report));
    }
    let order = check_order(list, &contents, report);
    if order || report.findings.iter().skip(before).any(|finding| finding.fixable) {
        // Which turn follows which shows only when these are put right.
        report.hold();
    }
    check_exchanges(list, &contents, report);
    // "Please ensure that multiturn requests ends with a user role or a function response", lately "Requests ending with a
    // model turn are not supported".
    if let Some(last) = contents.last().filter(|last| last.is_model && last.calls.is_empty()) {
        nothing_to_answer(report, last.node);
    }
}

/// "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric, underscores,
/// dots, colons or dashes".
fn check_declarations(root: BodyNode<'_>, report: &mut FindingsReport) {
    let tools = root.get("tools").into_iter().flat_map(BodyNode::items);
    let declared = tools.filter_map(|tool| tool.get_either("functionDeclarations", "function_declarations"));
    for name in declared.flat_map(BodyNode::items).filter_map(|declared| declared.get("name")) {
        let Some(text) = name.text() else { continue };
        let starts = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        let allowed =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | ':' | '-');
        if !starts || !text.chars().all(allowed) || text.len() > LONGEST_NAME {
            let message =
                format!("the name {text:?} is not a letter or _ followed by letters, digits and _.:-");
            report.unfixable(name, Rule::InvalidName, message, "rename the function");
        }
    }
}

fn read<'b>(node: BodyNode<'b>, report: &mut FindingsReport) -> GeminiTurn<'b> {
    let mut content = GeminiTurn { node, is_model: false, parts: None, calls: vec![], results: vec![] };
    if node.kind() != ValueKind::Object {
        let message = "a content must be an object".to_owned();
        report.unfixable(node, Rule::WrongType, message, "send an object with role and parts");
        return content;
    }
    if let Some(role) = node.get("role").filter(|role| !role.is_null()) {
        let name = role.text().unwrap_or_default();
        content.is_model = name == "model";
        // "Please use a valid role: user, model." Older clients send results as `function` or `tool`.
        if !matches!(name.as_ref(), "user" | "model" | "function" | "tool" | "") {
            let message = format!("the role {} is unknown", role.raw());
            let becomes = if matches!(name.as_ref(), "assistant" | "ai" | "bot") { "model" } else { "user" };
            report.fixable(role, Rule::UnknownRole, message, &format!("it becomes {becomes}"));
            report.replace(role, encode(becomes));
        }
    }
    content.parts = node.get("parts").filter(|parts| parts.kind() == ValueKind::Array);
    let parts: Vec<BodyNode<'b>> = content.parts.into_iter().flat_map(BodyNode::items).collect();
    for &part in &parts {
        if part.get_either("functionCall", "function_call").is_some() {
            content.calls.push(part);
        } else if part.get_either("functionResponse", "function_response").is_some() {
            content.results.push(part);
        } else if part.kind() == ValueKind::Object && part.len() == 0 {
            // "required oneof field 'data' must have one initialized field".
            let message = "a part must hold something".to_owned();
            report.fixable(part, Rule::EmptyContent, message, "it is removed");
            report.drop(part);
        }
    }
    let is_empty = node.get("parts").is_none_or(BodyNode::is_null)
        || content.parts.is_some_and(|list| list.items().all(|part| report.drops(part)));
    if is_empty {
        // "contents.parts must not be empty".
        if parts.is_empty() {
            let message = "the content has no parts".to_owned();
            report.fixable(node, Rule::EmptyContent, message, "it says that it was empty");
        }
        for &part in &parts {
            report.keep(part);
        }
        report.set(node, "parts", &format!("[{}]", text_part(&encode(NO_CONTENT))));
    }
    content
}

/// A turn with calls must follow a turn of the user. After a turn of the model it is joined with that one.
fn check_order(list: BodyNode<'_>, contents: &[GeminiTurn<'_>], report: &mut FindingsReport) -> bool {
    let mut found = false;
    let mut join_into: Option<BodyNode<'_>> = None;
    for (index, content) in contents.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| contents.get(before));
        let out_of_order = content.is_model && before.is_none_or(|before| before.is_model);
        if content.calls.is_empty() || !out_of_order {
            join_into = content.parts;
            continue;
        }
        found = true;
        let message = "a turn with calls must follow a turn of the user or of results".to_owned();
        match (before.and(join_into), content.parts) {
            (Some(into), Some(parts)) => {
                report.fixable(content.node, Rule::RoleOrder, message, "it is joined with the turn before");
                for part in parts.items() {
                    report.insert(into, into.len(), part.raw().to_owned());
                }
                report.drop(content.node);
            }
            _ => {
                report.fixable(content.node, Rule::RoleOrder, message, "a short user turn is put before it");
                report.insert(list, index, user_content(&text_part(&encode(NO_START))));
                join_into = content.parts;
            }
        }
    }
    found
}

fn check_exchanges(list: BodyNode<'_>, contents: &[GeminiTurn<'_>], report: &mut FindingsReport) {
    let (mut calls, mut call_nodes) = (Vec::new(), Vec::new());
    let (mut answers, mut answer_nodes) = (Vec::new(), Vec::new());
    let names = CallNames::of(contents);
    for (index, content) in contents.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| contents.get(before));
        let expected = before.map_or(0, |before| before.calls.len());
        let batch = (expected > 0).then(|| index.saturating_sub(1));
        if content.results.len() != expected {
            for &part in &content.results {
                let id = names.of_part(part, "functionResponse", "function_response");
                answers.push(LintResult { id, batch, said: part.raw(), calls_before: calls.len() });
                answer_nodes.push(part);
            }
        }
        let next = contents.get(index + 1).map(|next| next.results.len());
        if next != Some(content.calls.len()) {
            for &part in &content.calls {
                let id = names.of_part(part, "functionCall", "function_call").unwrap_or_default();
                calls.push(LintCall { id, batch: index });
                call_nodes.push(part);
            }
        }
    }
    let (standings, answered) = pair(&calls, &answers);
    let mut arrivals: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for ((answer, &part), standing) in answers.iter().zip(&answer_nodes).zip(&standings) {
        let id = answer.id.as_deref().unwrap_or_default();
        match *standing {
            ResultStanding::Placed(_) => {}
            ResultStanding::Astray(call) => {
                let message = format!("the result of {id} is not in the turn after its call");
                report.fixable(part, Rule::MisplacedResult, message, "it is moved there");
                leave_text(part, report);
                let batch = calls.get(call).map(|call| call.batch).unwrap_or_default();
                arrivals.entry(batch).or_default().push(part.raw().to_owned());
            }
            ResultStanding::Repeated | ResultStanding::Contradicting | ResultStanding::Orphaned => {
                let message = format!("there is no call of {id} in the turn before that waits for a result");
                report.fixable(part, Rule::OrphanedResult, message, "it becomes text");
                report.replace(part, text_part(&encode(part.raw())));
            }
        }
    }
    for (number, (call, part)) in calls.iter().zip(&call_nodes).enumerate() {
        // A turn with calls at the end waits for its results.
        if answered.get(number) != Some(&None) || call.batch + 1 == contents.len() {
            continue;
        }
        let message = format!("the call of {} has no result in the next turn", call.id);
        report.fixable(*part, Rule::CallWithoutResult, message, "a result that says so is put in");
        let inner = part.get_either("functionCall", "function_call");
        let raw = |name: &str| inner.and_then(|inner| inner.get(name)).map(BodyNode::raw);
        let id = raw("id").map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
        let (name, text) = (raw("name").unwrap_or("\"unknown\""), encode(NO_RESULT));
        let result = format!(r#"{{"functionResponse":{{{id}"name":{name},"response":{{"error":{text}}}}}}}"#);
        arrivals.entry(call.batch).or_default().push(result);
    }
    for (batch, results) in arrivals {
        deliver(list, contents, batch, results, report);
    }
}

/// Takes a part away; if it was the only one, says so in its place.
fn leave_text(part: BodyNode<'_>, report: &mut FindingsReport) {
    if part.parent().items().all(|other| other.number() == part.number() || report.drops(other)) {
        report.replace(part, text_part(&encode("[A tool result was moved to its call]")));
    } else {
        report.drop(part);
    }
}

/// Puts results into the turn after a turn with calls; makes that turn if there is none for them.
fn deliver(
    list: BodyNode<'_>,
    contents: &[GeminiTurn<'_>],
    batch: usize,
    results: Vec<String>,
    report: &mut FindingsReport,
) {
    let next = contents.get(batch + 1).filter(|next| !next.is_model || !next.results.is_empty());
    match next.and_then(|next| next.parts) {
        Some(parts) => results.into_iter().for_each(|result| report.insert(parts, 0, result)),
        None => report.insert(list, batch + 1, user_content(&results.join(","))),
    }
}

/// What calls and results are called: by id if all have one, else by name.
struct CallNames {
    by_id: bool,
}

impl CallNames {
    fn of(contents: &[GeminiTurn<'_>]) -> Self {
        let parts = contents.iter().flat_map(|content| content.calls.iter().chain(&content.results));
        let mut inner =
            parts.filter_map(|part| part.children().find(|member| member.kind() == ValueKind::Object));
        Self { by_id: inner.all(|inner| inner.text_of("id").is_some_and(|id| !id.is_empty())) }
    }

    fn of_part<'b>(&self, part: BodyNode<'b>, name: &str, other: &str) -> Option<Cow<'b, str>> {
        part.get_either(name, other)?.text_of(if self.by_id { "id" } else { "name" })
    }
}

fn text_part(literal: &str) -> String {
    format!(r#"{{"text":{literal}}}"#)
}

fn user_content(parts: &str) -> String {
    format!(r#"{{"role":"user","parts":[{parts}]}}"#)
}
