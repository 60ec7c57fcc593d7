//! The page of a report: one HTML file that needs nothing but a browser.
//!
//! A session is private, and a report of it is looked at on machines without a network, mailed, or kept beside the
//! session for years. So the page is a single file without frameworks, fonts or requests. The policy in its head
//! lets it load nothing and run only the style and the script whose digests it names; text of a session that
//! looks like markup stays text. The script builds every element by hand and never parses HTML.
//!
//! The data lie in the page as JSON, in a block that no browser runs. [`ReportData`] is the whole contract between the
//! command that reads a session and the page that draws it: numbers are decided in Rust, the script only draws.

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

use secateur::{PartKind, Role};
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Everything that the page shows. All sizes are in tokens.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ReportData {
    /// What the session is called; the page's heading.
    pub(crate) title: String,
    /// The file that was read.
    pub(crate) file: String,
    /// The file's format.
    pub(crate) format: String,
    /// The version of the agent that wrote the session.
    pub(crate) agent_version: Option<String>,
    /// The model that was asked last.
    pub(crate) model: Option<String>,
    /// Who made the report: name and version.
    pub(crate) generator: String,
    /// The profile that decided.
    pub(crate) profile: ReportProfile,
    /// The session in a few numbers.
    pub(crate) totals: ReportTotals,
    /// The context by origin.
    pub(crate) categories: Vec<ReportCategory>,
    /// The context by tool.
    pub(crate) tools: Vec<ReportTool>,
    /// The calls of the model, in order.
    pub(crate) calls: Vec<ReportCall>,
    /// Where the session was compacted.
    pub(crate) compactions: Vec<ReportCompaction>,
    /// The bands of the plan, in order.
    pub(crate) zones: Vec<ReportZone>,
    /// The messages, in order.
    pub(crate) messages: Vec<ReportMessage>,
    /// The parts, in order; a part's number is its place here.
    pub(crate) parts: Vec<ReportPart>,
    /// What could not be read.
    pub(crate) warnings: Vec<String>,
}

/// The profile that decided.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ReportProfile {
    /// Its name.
    pub(crate) name: String,
    /// What it does, in a sentence.
    pub(crate) about: String,
}

/// The session in a few numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ReportTotals {
    /// How many messages there are.
    pub(crate) messages: u64,
    /// How many parts there are.
    pub(crate) parts: u64,
    /// How many of them are tool calls.
    pub(crate) tool_calls: u64,
    /// How many of them are tool results.
    pub(crate) tool_results: u64,
    /// The context without pruning.
    pub(crate) before: u64,
    /// The context with the profile.
    pub(crate) after: u64,
    /// The model's window.
    pub(crate) window: Option<u64>,
    /// The largest context that the provider reported.
    pub(crate) recorded_peak: Option<u64>,
}

/// The context of one origin.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportCategory {
    /// `system`, `user`, `user_meta`, `assistant`, `reasoning`, `tool_call`, `tool_result`, `summary` or `media`.
    pub(crate) name: String,
    /// Its size without pruning.
    pub(crate) before: u64,
    /// Its size with the profile.
    pub(crate) after: u64,
}

/// The context of one tool: its calls and its results.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportTool {
    /// The tool's name.
    pub(crate) name: String,
    /// The class that the profile puts it into.
    pub(crate) class: String,
    /// How often it was called.
    pub(crate) calls: u64,
    /// Its size without pruning.
    pub(crate) before: u64,
    /// Its size with the profile.
    pub(crate) after: u64,
}

/// One call of the model.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportCall {
    /// The message that the model answered with.
    pub(crate) message: u64,
    /// When, in milliseconds since 1970.
    pub(crate) time: Option<i64>,
    /// The context as the provider reported it.
    pub(crate) recorded: Option<u64>,
    /// How much of it came out of the provider's cache.
    pub(crate) cached: Option<u64>,
    /// The context as estimated without pruning.
    pub(crate) estimated: u64,
    /// The context as estimated with the profile.
    pub(crate) pruned: u64,
    /// Whether the provider's cache had gone cold.
    pub(crate) cold: bool,
}

/// A place where the session was compacted.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportCompaction {
    /// The message that holds the summary.
    pub(crate) message: u64,
    /// The context before it.
    pub(crate) before: Option<u64>,
}

/// A band of parts that a plan treats alike.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportZone {
    /// Its name: `active turn`, `protected window`, `may be cut`, `behind a summary`.
    pub(crate) name: String,
    /// Its first part.
    pub(crate) first_part: u64,
    /// Its last part, which belongs to it.
    pub(crate) last_part: u64,
    /// What it is, in a sentence.
    pub(crate) about: String,
}

/// A message.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportMessage {
    /// Who speaks.
    pub(crate) role: Role,
    /// When, in milliseconds since 1970.
    pub(crate) time: Option<i64>,
    /// Whether it is a summary of what came before.
    pub(crate) summary: bool,
    /// Whether it is no longer in the context.
    pub(crate) gone: bool,
}

/// A part of a message, and what becomes of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ReportPart {
    /// The number of the message that it belongs to.
    pub(crate) message: u64,
    /// What it is.
    pub(crate) kind: PartKind,
    /// The tool that was called or that answered.
    pub(crate) tool: Option<String>,
    /// What it is about: a path with lines, or a command.
    pub(crate) subject: Option<String>,
    /// How the tool fared.
    pub(crate) status: Option<String>,
    /// Its size without pruning.
    pub(crate) size: u64,
    /// Its size with the profile.
    pub(crate) after: u64,
    /// What becomes of it.
    pub(crate) verdict: PartVerdict,
    /// Why, as a clause without its full stop.
    pub(crate) reason: String,
    /// How it begins, in at most 400 characters.
    pub(crate) preview: String,
    /// Whether it is longer than the preview.
    pub(crate) clipped: bool,
}

/// What becomes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PartVerdict {
    /// A placeholder takes its place.
    Cut,
    /// Its middle goes, its ends stay.
    Trimmed,
    /// It stays as it is.
    Kept,
    /// It has left the context already, behind a summary or an earlier cut.
    Gone,
}

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");

/// The script, in one function so that nothing of it is global. Later files use what earlier ones define.
const SCRIPT: &str = concat!(
    "(() => {\n'use strict';\n",
    include_str!("script/words.js"),
    include_str!("script/session.js"),
    include_str!("script/theme.js"),
    include_str!("script/tip.js"),
    include_str!("script/head.js"),
    include_str!("script/chart.js"),
    include_str!("script/strip.js"),
    include_str!("script/tables.js"),
    include_str!("script/detail.js"),
    include_str!("script/filter.js"),
    include_str!("script/list.js"),
    include_str!("script/print.js"),
    include_str!("script.js"),
    "})();\n",
);

/// The page that shows the data, as one HTML document.
pub(crate) fn page(data: &ReportData) -> String {
    // A checkout may have turned line ends; a parser turns them back, and the digests must fit what it sees.
    let style = STYLE.replace('\r', "");
    let script = SCRIPT.replace('\r', "");
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        digest(&style),
        digest(&script)
    );
    let mut html = String::with_capacity(TEMPLATE.len() + style.len() + script.len());
    // Only the template is searched for places to fill in, never what was filled in.
    for (index, piece) in TEMPLATE.split("{{").enumerate() {
        let (name, rest) = match piece.split_once("}}") {
            Some(split) if index > 0 => split,
            _ => ("", piece),
        };
        match name {
            "policy" => html.push_str(&policy),
            "style" => html.push_str(&style),
            "script" => html.push_str(&script),
            "data" => html.push_str(&json(data)),
            "title" => html.push_str(&escaped(&data.title)),
            "before" => html.push_str(&data.totals.before.to_string()),
            "after" => html.push_str(&data.totals.after.to_string()),
            _ => {}
        }
        html.push_str(rest);
    }
    html
}

/// The data as JSON that can lie inside a `script` element: without a `<`, nothing in it can end the element or
/// begin a comment. The two line separators are escaped for readers that take JSON for JavaScript.
fn json(data: &ReportData) -> String {
    // Structs of strings and numbers always have a JSON form; the page says so if it is missing.
    let plain = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    let mut safe = String::with_capacity(plain.len() + plain.len() / 16);
    for point in plain.chars() {
        match point {
            '<' => safe.push_str("\\u003c"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            _ => safe.push(point),
        }
    }
    safe
}

/// A text as the content of an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The digest of an inline element, as a content security policy names it.
fn digest(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

/// Bytes in Base64. A dependency would be longer than these lines, which only ever see digests.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits =
            (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(three.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            text.push(if digit <= three.len() { char::from(DIGITS[value]) } else { '=' });
        }
    }
    text
}
