//! The traces of sessions: every source is read whole, since the lab looks at texts.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use secateur::Measures;
use secateur_formats::read_all;
use secateur_lab::{Trace, TraceLabel};
use secateur_sources::Source;

use crate::{batch, logs};

/// The traces of all sessions at these paths, or of those on the machine.
pub(super) fn traces(paths: &[PathBuf], threads: Option<usize>, measures: &Measures) -> Result<Vec<Trace>> {
    batch::read(&batch::sources(paths)?, paths, threads, |source| of(source, measures))
}

/// The traces of all sessions in a source.
pub(super) fn of(source: &Source, measures: &Measures) -> Result<Vec<Trace>> {
    let bytes = logs::bytes(source)?;
    let transcripts = read_all(&bytes.bytes, measures)
        .map_err(|error| anyhow!("{error}"))
        .with_context(|| format!("cannot read {}", logs::label(source)))?;
    let file = source.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = match &source.session {
        Some(session) => format!("{file}, {session}"),
        None => file.clone(),
    };
    let traces = transcripts.iter().flat_map(|transcript| {
        let agent = source.agent.map_or_else(|| transcript.format.name(), |agent| agent.name());
        let project = transcript.origin.project.clone().or_else(|| source.project.clone());
        let label = TraceLabel {
            agent: agent.to_owned(),
            project: project.unwrap_or_else(|| file.clone()),
            name: name.clone(),
        };
        Trace::of(transcript, &label)
    });
    Ok(traces.collect())
}
