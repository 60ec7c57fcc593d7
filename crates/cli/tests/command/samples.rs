//! One small session in every format, and what is in each.
//!
//! They tell one story, so that what differs between two of them is the format: a user asks for the ferns to be
//! watered, the model makes two calls at once, one of which fails, and is done. What a format has of its own, such as a
//! compaction, an image or a call without a result, is in its sample too. The counts are made by hand.

mod agents;
mod benches;
mod events;
pub(crate) mod opencode;
mod requests;

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

/// A session on disk.
pub(crate) struct Sample {
    /// The name of its file or folder, as its agent would choose it.
    pub(crate) name: &'static str,
    pub(crate) format: &'static str,
    pub(crate) body: Body,
    /// What `inspect` counts: one object, or an array of them. What is missing in an object is zero.
    pub(crate) counts: Value,
}

/// What a session consists of on disk.
pub(crate) enum Body {
    Text(String),
    /// Files by their paths.
    Folder(Vec<(String, String)>),
    Database(fn(&Connection)),
}

impl Sample {
    /// Writes it to this path.
    pub(crate) fn lay_at(&self, path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match &self.body {
            Body::Text(text) => fs::write(path, text).unwrap(),
            Body::Folder(files) => {
                for (name, text) in files {
                    let file = path.join(name);
                    fs::create_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(file, text).unwrap();
                }
            }
            Body::Database(fill) => fill(&Connection::open(path).unwrap()),
        }
    }

    /// Writes it into this folder and gives its path.
    pub(crate) fn lay(&self, folder: &Path) -> String {
        let path = folder.join(self.name);
        self.lay_at(&path);
        path.to_str().unwrap().to_owned()
    }

    /// Its text, if it is one file of text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.body {
            Body::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The wire, if it is a request.
    pub(crate) fn wire(&self) -> Option<&'static str> {
        self.format.strip_suffix("-request")
    }
}

/// The names of the wires.
pub(crate) const WIRES: [&str; 4] = ["anthropic", "openai-chat", "openai-responses", "gemini"];

/// Every sample.
pub(crate) fn all() -> Vec<Sample> {
    let mut samples = logs();
    samples.extend(requests::all());
    samples
}

/// The samples that are logs of agents.
pub(crate) fn logs() -> Vec<Sample> {
    vec![
        agents::claude_code(),
        agents::codex(),
        agents::gemini_cli(),
        agents::cline(),
        agents::ui_messages(),
        opencode::export(),
        opencode::folder(),
        opencode::database(),
        events::pi(),
        events::openclaw(),
        events::copilot_cli(),
        benches::openhands_v0(),
        benches::openhands_v1(),
        benches::swe_agent(),
        benches::tau_bench(),
        benches::aider(),
    ]
}

/// The sample of this format.
pub(crate) fn of(format: &str) -> Sample {
    all().into_iter().find(|sample| sample.format == format).unwrap()
}

/// Records, one a line.
fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// The counts that the plain story has in every format, with these laid over them.
fn counts(own: Value) -> Value {
    let mut counts = json!({ "messages": 5, "tool_calls": 2, "tool_results": 2, "errors": 1 });
    let (Value::Object(all), Value::Object(own)) = (&mut counts, own) else { panic!("counts are objects") };
    all.extend(own);
    counts
}

/// An image of one pixel, or what passes for it.
const PIXEL: &str = "iVBORw0KGgo=";
