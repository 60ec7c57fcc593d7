//! A session log as a request, to start a kept session with.

use anyhow::Result;
use secateur::Measures;
use secateur_engine::SessionBeginning;
use secateur_formats::{Format, Loss, Rendered, Wire};

use crate::humanize::{counted, grouped};
use crate::session_file::SessionFileArgs;
use crate::terminal;

/// A session log as a request.
pub(crate) struct ImportedLog {
    pub(crate) body: String,
    /// The texts in it that summarise what came before.
    summaries: Vec<String>,
    pub(crate) wire: Wire,
    pub(crate) format: Format,
    /// The model that the log names.
    pub(crate) model: Option<String>,
    /// Parts that the wire cannot hold.
    pub(crate) losses: Vec<Loss>,
}

impl ImportedLog {
    /// What a session begins with.
    pub(crate) fn beginning(&self) -> SessionBeginning<'_> {
        SessionBeginning { body: &self.body, summaries: &self.summaries }
    }
}

/// Reads a log. Without a wire, the one that the log's agent uses.
pub(crate) fn read(args: &SessionFileArgs, wire: Option<Wire>) -> Result<ImportedLog> {
    let session = args.open()?;
    let wire = wire.or(session.format.wire()).unwrap_or(Wire::OpenAiChat);
    let context = session.context(&args.read(&session, &Measures::default())?, None)?;
    for warning in &context.warnings {
        terminal::warn(format_args!("{}, {warning}", args.file.display()));
    }
    let model = context.origin.model.clone();
    let rendered = session.request(&context, wire, model.as_deref().unwrap_or_default())?;
    let Rendered { body, losses, summaries } = rendered;
    Ok(ImportedLog { body, summaries, wire, format: session.format, model, losses })
}

/// Notes on standard error what the wire could not hold.
pub(crate) fn note_losses(losses: &[Loss]) {
    if let Some(text) = losses_text(losses) {
        terminal::note(text);
    }
}

/// What the wire could not hold, if anything.
pub(crate) fn losses_text(losses: &[Loss]) -> Option<String> {
    let bytes: u64 = losses.iter().map(|loss| loss.bytes).sum();
    let (parts, bytes) = (counted(losses.len() as u64, "part"), grouped(bytes));
    (!losses.is_empty()).then(|| format!("left out: {parts}, {bytes} bytes (`secateur convert` lists them)"))
}
