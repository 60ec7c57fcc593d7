//! The pages that Secateur shows in a browser: the report of a session and the study of the lab.
//!
//! The scripts and styles lie under `web/`: plain ES modules without a framework or a build step. `web/components` is
//! what all pages share (elements, text, numbers, scales, charts, tables, theme); each page has a folder with its
//! markup, its style and its modules. Numbers are decided in Rust, the scripts only draw. The contract between the two
//! is a page's `data.js`, whose types `contract::check` compares with the data.
//!
//! [`WebPage::render`] makes one HTML file that needs no network: a session is private, and its report is read offline,
//! mailed, or kept for years. The modules are joined into one inline script (see `bundle`), because a file that is
//! opened from disk cannot import others, and an import map with `data:` addresses would need a policy that allows any
//! `data:` script. The policy in the page's head allows only that script and style, by their hashes. A server can send
//! the same modules as [`files`].
//!
//! ```
//! let head = secateur_pages::PageHead { title: "A <study>", summary: "Nothing was replayed." };
//! let html = secateur_pages::STUDY.render(&head, &serde_json::json!({ "title": "</script>" }));
//! assert!(html.contains("<title>A &lt;study&gt; · Secateur</title>"));
//! assert!(html.contains(r#"{"title":"\u003c/script>"}"#));
//! ```

mod bundle;
#[cfg(feature = "contract")]
pub mod contract;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// A file under `web/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebFile {
    /// Its path, such as `components/chart.js`.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! web_files {
    ($($path:literal),* $(,)?) => {
        &[$(WebFile { path: $path, text: include_str!(concat!("../web/", $path)) }),*]
    };
}

const FILES: &[WebFile] = web_files![
    "base.css",
    "components/bars.js",
    "components/chart.js",
    "components/dom.js",
    "components/labels.js",
    "components/numbers.js",
    "components/scale.js",
    "components/table.js",
    "components/text.js",
    "components/theme.js",
    "components/tip.js",
    "report/body.html",
    "report/context_chart.js",
    "report/data.js",
    "report/head.js",
    "report/main.js",
    "report/model.js",
    "report/part_detail.js",
    "report/part_filter.js",
    "report/part_list.js",
    "report/print.js",
    "report/report.css",
    "report/tables.js",
    "report/token_strip.js",
    "shell.html",
    "study/body.html",
    "study/contexts.js",
    "study/data.js",
    "study/headline.js",
    "study/main.js",
    "study/numbers_table.js",
    "study/pareto.js",
    "study/strips.js",
    "study/study.css",
];

/// All files under `web/`, for a server that sends them one by one.
pub fn files() -> &'static [WebFile] {
    FILES
}

/// The text of a file under `web/`; empty if there is none of that path.
fn text_of(path: &str) -> &'static str {
    FILES.iter().find(|file| file.path == path).map_or("", |file| file.text)
}

/// A page, by the files that it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebPage {
    body: &'static str,
    style: &'static str,
    script: &'static str,
}

/// The report of a session. Its data are the `ReportData` of `report/data.js`.
pub const REPORT: WebPage =
    WebPage { body: "report/body.html", style: "report/report.css", script: "report/main.js" };

/// The study of many sessions. Its data are the `StudyData` of `study/data.js`.
pub const STUDY: WebPage =
    WebPage { body: "study/body.html", style: "study/study.css", script: "study/main.js" };

/// The texts of a page that do not depend on its scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHead<'a> {
    /// The title of the document.
    pub title: &'a str,
    /// What the page says, in a sentence, for browsers without scripts.
    pub summary: &'a str,
}

impl WebPage {
    /// The page with its data, as one HTML document. The same data give the same bytes.
    pub fn render(&self, head: &PageHead<'_>, data: &impl Serialize) -> String {
        // A checkout may have changed line ends; a parser changes them back, and the hashes must fit what it reads.
        let style = [text_of("base.css"), text_of(self.style)].concat().replace('\r', "");
        let script = bundle::bundle(self.script).replace('\r', "");
        let policy = format!(
            "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
            hash(&style),
            hash(&script)
        );
        fill(text_of("shell.html"), |place| match place {
            "policy" => policy.clone(),
            "title" => escaped(head.title),
            "style" => style.clone(),
            "summary" => escaped(head.summary),
            "body" => text_of(self.body).to_owned(),
            "data" => inline_json(data),
            "script" => script.clone(),
            _ => String::new(),
        })
    }
}

/// Fills the `{{places}}` of a template. Only the template is searched for them, never what was filled in.
fn fill(template: &str, content: impl Fn(&str) -> String) -> String {
    let mut html = String::new();
    for (index, piece) in template.split("{{").enumerate() {
        match piece.split_once("}}") {
            Some((place, rest)) if index > 0 => {
                html.push_str(&content(place));
                html.push_str(rest);
            }
            _ => html.push_str(piece),
        }
    }
    html
}

/// Data as JSON that can lie inside a `script` element: without a `<`, nothing in it can end the element or begin a
/// comment. The two line separators are escaped for readers that parse JSON as JavaScript.
fn inline_json(data: &impl Serialize) -> String {
    // Structs of strings and numbers always have a JSON form; the page reports an error if it is missing.
    let plain = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    plain.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// A text as the content of an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The hash of an inline element, as a content security policy names it.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests;
