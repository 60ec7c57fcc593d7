//! `secateur recall`: fetches back what was cut, by the handle in its placeholder, or searches it.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;
use secateur_engine::{Engine, EngineError, Recalled, SearchHit};
use serde_json::json;
use serde_json::value::RawValue;

use crate::humanize::counted;
use crate::store_args::{self, StoreArgs, engine_error};
use crate::terminal::{self, print_json};

/// Fetch back what was cut or compacted away, or search it.
///
/// The placeholder of a cut names a handle: `[cut: …; recall kbqzwmtahdue brings it back]`. The original is kept until
/// `session forget` deletes it, also after a compaction. The search covers what left the context, not what is still in
/// it.
#[derive(Debug, Args)]
#[command(
    override_usage = "secateur recall [OPTIONS] <HANDLE>\n       secateur recall [OPTIONS] --search <WORDS>..."
)]
pub(crate) struct RecallArgs {
    /// The handle. With --session also the id of a tool call, `12` for message 12, or `12.0` for its first part.
    #[arg(required_unless_present = "search", conflicts_with = "search")]
    handle: Option<String>,
    /// Find originals that contain all of these words, newest first. Exit code 1 if there are none.
    #[arg(long, value_name = "WORDS", num_args = 1..)]
    search: Vec<String>,
    /// The session to search [default: all sessions, the last changed first]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The maximum number of results.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    limit: u8,
    #[command(flatten)]
    store: StoreArgs,
    /// Print JSON: an object with the text and the whole message, or an array of results.
    #[arg(long)]
    json: bool,
}

impl RecallArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        store_args::block_on(async {
            let engine = store_args::open_engine(&self.store, None).await?;
            if let Some(id) = &self.session {
                store_args::check_session(&engine, &self.store, id).await?;
            }
            match &self.handle {
                Some(handle) => self.recall(&engine, handle, out).await,
                None => self.search(&engine, out).await,
            }
        })
    }

    async fn recall(&self, engine: &Engine, handle: &str, out: &mut dyn Write) -> Result<ExitCode> {
        let recalled = engine.recall(handle, self.session.as_deref()).await;
        let recalled = recalled.map_err(|error| match error {
            EngineError::NotCut { .. } | EngineError::NotFound { .. } => anyhow!(
                "{error}; a placeholder names its handle after \"recall\", and `secateur recall --search WORDS` finds \
                 others"
            ),
            error => engine_error(error),
        })?;
        if self.json {
            let Recalled { session, seq, part, tool, subject, body, text } = recalled;
            let message = RawValue::from_string(String::from_utf8_lossy(&body).into_owned())?;
            let report = json!({ "session": session, "number": seq, "part": part, "tool": tool,
                "subject": subject, "text": text, "message": message });
            writeln!(out, "{report}")?;
        } else {
            writeln!(out, "{}", recalled.text)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn search(&self, engine: &Engine, out: &mut dyn Write) -> Result<ExitCode> {
        let (words, limit) = (self.search.join(" "), usize::from(self.limit));
        let hits = engine.search(&words, self.session.as_deref(), limit).await.map_err(engine_error)?;
        if self.json {
            print_json(out, &hits)?;
        } else {
            for hit in &hits {
                writeln!(out, "{}  {}, session {}", hit.handle, described(hit), hit.session)?;
                writeln!(out, "    {}", hit.snippet)?;
            }
            if hits.is_empty() {
                terminal::note("nothing that was cut contains all of these words");
            }
        }
        Ok(if hits.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// A search result in a few words.
pub(crate) fn described(hit: &SearchHit) -> String {
    let mut what = format!("message {}, {}", hit.number, counted(hit.characters as u64, "character"));
    for name in hit.subject.iter().chain(&hit.tool) {
        let name = name.lines().next().unwrap_or_default();
        what = format!("{}, {what}", name.chars().take(100).collect::<String>());
    }
    what
}
