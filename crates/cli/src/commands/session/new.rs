//! `secateur session new`: a new session, empty or from a log.

use std::io::{Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use secateur_engine::SessionOptions;
use secateur_formats::Wire;
use serde_json::json;

use crate::event_text::number;
use crate::humanize::counted;
use crate::import;
use crate::logs::{self, FormatArg};
use crate::session_file::SessionFileArgs;
use crate::store_args::{self, StoreArgs, engine_error};
use crate::terminal::print_json;

/// The largest accepted envelope.
const LARGEST_ENVELOPE: u64 = 64 << 20;

/// Create a session and print its id.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The session's id [default: a new one]
    #[arg(long)]
    id: Option<String>,
    /// The wire of its messages: anthropic, openai-chat, openai-responses or gemini [default: openai-chat, or that of
    /// the log]
    #[arg(long = "as", value_name = "WIRE")]
    wire: Option<Wire>,
    /// The name of its profile (see `secateur profiles`) [default: balanced]
    #[arg(long, short, value_name = "NAME")]
    profile: Option<String>,
    /// A title for lists.
    #[arg(long)]
    title: Option<String>,
    /// The envelope: everything in a request except its messages, such as system prompt and tools. A JSON object in a
    /// file, or `-` for standard input.
    #[arg(long, value_name = "FILE|-")]
    envelope: Option<PathBuf>,
    /// Start with the conversation of a session log or a request; the file is only read.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
    /// Which session, if the file holds several: its id, or its number from 1.
    #[arg(long, value_name = "ID|N", requires = "from")]
    session: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl NewArgs {
    pub(super) async fn run(&self, out: &mut dyn Write) -> Result<()> {
        let log = |file: &PathBuf| SessionFileArgs::at(file, self.format.format, self.session.clone());
        let imported = self.from.as_ref().map(|file| import::read(&log(file), self.wire)).transpose()?;
        let opening = SessionOptions {
            id: self.id()?,
            wire: imported.as_ref().map(|log| log.wire).or(self.wire).unwrap_or(Wire::OpenAiChat),
            profile: Some(match &self.profile {
                Some(name) => name.clone(),
                None => self.store.settings.read()?.profile().name.clone(),
            }),
            title: self.title.clone(),
            envelope: self.envelope()?,
        };
        let wire = opening.wire;
        let engine = store_args::open_engine(&self.store, None).await?;
        let session = match &imported {
            Some(log) => engine.import(opening, log.beginning()).await,
            None => engine.create(opening).await,
        };
        let session = session.map_err(engine_error)?;
        let messages = session.live_messages().rows().len();
        if self.json {
            let report = json!({ "session": session.id(), "wire": wire, "profile": session.profile().name,
                "messages": messages, "tokens": session.tokens(),
                "losses": imported.map(|log| log.losses).unwrap_or_default() });
            return print_json(out, &report);
        }
        writeln!(out, "{}", session.id())?;
        if let Some(log) = imported {
            let (messages, tokens) = (counted(messages as u64, "message"), number(session.tokens()));
            anstream::eprintln!("{messages} of {} as {wire}, about {tokens} tokens", log.format);
            import::note_losses(&log.losses);
        }
        Ok(())
    }

    fn id(&self) -> Result<Option<String>> {
        match &self.id {
            Some(id) if id.is_empty() || id.chars().any(char::is_control) => {
                bail!("invalid --id {id:?}: expected at least one character and no control characters")
            }
            id => Ok(id.clone()),
        }
    }

    fn envelope(&self) -> Result<String> {
        let Some(file) = &self.envelope else { return Ok("{}".to_owned()) };
        let mut text = String::new();
        let doing = || format!("cannot read the envelope {}", file.display());
        let reader = logs::file_or_stdin(file).with_context(doing)?;
        reader.take(LARGEST_ENVELOPE).read_to_string(&mut text).with_context(doing)?;
        Ok(text)
    }
}
