//! A session log as a request, to start a kept session with.

use std::borrow::Cow;

use anyhow::{Context, Result};
use secateur::Measures;
use secateur_formats::{Format, Loss, RenderOptions, Wire, render};

use crate::humanize::{counted, grouped};
use crate::session_file::SessionFileArgs;
use crate::terminal;

/// A session log as a request.
pub(crate) struct ImportedLog {
    /// The conversation as a request.
    pub(crate) body: String,
    /// The wire of the body.
    pub(crate) wire: Wire,
    /// The format of the log.
    pub(crate) format: Format,
    /// The model that the log names.
    pub(crate) model: Option<String>,
    /// Parts that the wire cannot hold.
    pub(crate) losses: Vec<Loss>,
}

/// Reads a log. Without a wire, the one that the log's agent uses.
pub(crate) fn read(args: &SessionFileArgs, wire: Option<Wire>) -> Result<ImportedLog> {
    let session = args.open()?;
    let wire = wire.or(session.format.wire()).unwrap_or(Wire::OpenAiChat);
    let context = args.read(&session, &Measures::default())?.context(None);
    for warning in &context.warnings {
        terminal::warn(format_args!("{}, {warning}", args.file.display()));
    }
    let model = context.origin.model.clone();
    let (body, losses) = if session.format == Format::Request(wire) {
        let text = std::str::from_utf8(&session.bytes).context("the request is not UTF-8")?;
        (Cow::Borrowed(text), Vec::new())
    } else {
        let options = RenderOptions { model: model.as_deref().unwrap_or_default(), max_tokens: None };
        let rendered = render(&context, wire, &options, &[]);
        (Cow::Owned(rendered.body), rendered.losses)
    };
    Ok(ImportedLog { body: body.into_owned(), wire, format: session.format, model, losses })
}

/// Notes on standard error what the wire could not hold.
pub(crate) fn note_losses(losses: &[Loss]) {
    if losses.is_empty() {
        return;
    }
    let bytes: u64 = losses.iter().map(|loss| loss.bytes).sum();
    terminal::note(format_args!(
        "left out: {}, {} bytes (`secateur convert` lists them)",
        counted(losses.len() as u64, "part"),
        grouped(bytes)
    ));
}
