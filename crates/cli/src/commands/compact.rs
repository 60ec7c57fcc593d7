//! `secateur compact`: the request of a session log after a compaction.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use secateur::Layer;
use secateur::session::Event;
use secateur_engine::{Session, SessionOptions, Target};
use secateur_formats::Wire;
use serde::Serialize;
use toml::Value;

use crate::event_text::{number, sentences};
use crate::humanize::counted;
use crate::import::{self, ImportedLog};
use crate::logs::{self, FormatArg};
use crate::profile_args::ProfileArgs;
use crate::progress::SummaryDisplay;
use crate::session_file::SessionFileArgs;
use crate::store_args::{self, engine_error};
use crate::summariser_args::SummariserArgs;
use crate::target_args::TargetArgs;
use crate::terminal::print_json;

/// Compact a session log and print the request that the work would continue with.
///
/// A summary replaces older history; recent turns stay. This happens in memory, and the file is only read.
#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// The session: a file, or the database or folder that holds it.
    file: PathBuf,
    /// The provider's wire: anthropic, openai-chat, openai-responses or gemini [default: that of the log's agent]
    #[arg(long = "as", value_name = "WIRE")]
    wire: Option<Wire>,
    #[command(flatten)]
    profile: ProfileArgs,
    #[command(flatten)]
    target: TargetArgs,
    /// What the summary should focus on; used by a model only.
    #[arg(long, value_name = "TEXT")]
    focus: Option<String>,
    /// Print only the summary, as text.
    #[arg(long)]
    summary: bool,
    /// Write to this file instead of printing.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
    /// Which session, if the file holds several: its id, or its number from 1.
    #[arg(long, value_name = "ID|N")]
    session: Option<String>,
    /// Print one JSON object: the body, the summary and what happened.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    summariser: SummariserArgs,
}

/// What `--json` prints.
#[derive(Serialize)]
struct CompactReport<'a> {
    format: secateur_formats::Format,
    wire: Wire,
    profile: &'a str,
    before: ConversationSize,
    after: ConversationSize,
    events: &'a [Event],
    losses: &'a [secateur_formats::Loss],
    summary: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
}

/// How large a conversation is.
#[derive(Clone, Copy, Serialize)]
struct ConversationSize {
    messages: usize,
    tokens: i64,
}

impl ConversationSize {
    fn of(session: &Session) -> Self {
        Self { messages: session.live_messages().rows().len(), tokens: session.tokens() }
    }
}

impl CompactArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        if let Some(path) = &self.out {
            logs::refuse_same_file(path, &self.file)?;
        }
        let log = SessionFileArgs {
            profile: self.profile.clone(),
            ..SessionFileArgs::at(&self.file, self.format.format, self.session.clone())
        };
        let imported = import::read(&log, self.wire)?;
        store_args::block_on(self.compact(out, &imported))
    }

    async fn compact(&self, out: &mut dyn Write, log: &ImportedLog) -> Result<()> {
        let config = self.summariser.read(&self.profile.settings())?;
        // Only the requested compaction is made; automatic ones and pruning are off.
        let own = |key: &str, value: Value| Layer::set("secateur compact", key, value);
        let layers = vec![
            own("compaction.auto", Value::Boolean(false)),
            own("compaction.prune_at", Value::Array(Vec::new())),
        ];
        let engine = config.engine(secateur_store::open("sqlite::memory:").await?)?.with_layers(layers);
        let profile = Some(config.profile().name.clone());
        let opening = SessionOptions { wire: log.wire, profile, ..SessionOptions::default() };
        let mut session = engine.import(opening, log.beginning()).await.map_err(engine_error)?;
        let model = log.model.as_deref();
        let unknown = || Target::new(self.target.model.as_deref().or(model).unwrap_or_default(), 0);
        let target = self.target.known(config.catalogue(), model, None).unwrap_or_else(unknown);
        // The session learns the window from a request. That request may also cut results that are too long for it.
        let mut events = session.context(&target).await.map_err(engine_error)?.events;
        let mut before = ConversationSize::of(&session);
        if let Some(Event::Pruned { before: tokens, .. }) = events.first() {
            before.tokens = *tokens;
        }
        let progress = SummaryDisplay::start(&engine);
        events.extend(session.compact(self.focus.as_deref()).await.map_err(engine_error)?);
        progress.stop();
        if !events.iter().any(|event| matches!(event, Event::CompactionCompleted { .. })) {
            let why: Vec<String> = sentences(&events).collect();
            bail!("{}: {}", self.file.display(), why.join("; "));
        }
        let after = ConversationSize::of(&session);
        let request = session.context(&target).await.map_err(engine_error)?;
        let summary = summary(&session).await?;
        let shown = if self.summary { &summary } else { &request.body };
        if let Some(path) = &self.out {
            logs::write(path, shown)?;
        }
        if self.json {
            let report = CompactReport {
                format: log.format,
                wire: log.wire,
                profile: &session.profile().name,
                before,
                after,
                events: &events,
                losses: &log.losses,
                summary: &summary,
                body: self.out.is_none().then_some(request.body.as_str()),
            };
            return print_json(out, &report);
        }
        if self.out.is_none() {
            writeln!(out, "{shown}")?;
        }
        for sentence in sentences(&events) {
            anstream::eprintln!("{sentence}");
        }
        let size = |size: ConversationSize| {
            format!("{}, about {} tokens", counted(size.messages as u64, "message"), number(size.tokens))
        };
        anstream::eprintln!("before: {}\nafter:  {}", size(before), size(after));
        import::note_losses(&log.losses);
        Ok(())
    }
}

/// The text of the current summary.
pub(crate) async fn summary(session: &Session) -> Result<String> {
    let text = session.summary().await.map_err(engine_error)?;
    Ok(text.unwrap_or_default().trim_end().to_owned())
}
