//! The sessions of a study: every source is read whole, since the lab looks at texts, one thread for each core.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow};
use secateur::Measures;
use secateur_formats::read_all;
use secateur_lab::{Label, Trace};
use secateur_sources::{Found, Homes, Source, at, find};

use crate::figures::counted;
use crate::progress::Progress;
use crate::{logs, paint};

/// The traces of all sessions at these paths, or of those on the machine.
pub(super) fn traces(paths: &[PathBuf], threads: Option<usize>, measures: &Measures) -> Result<Vec<Trace>> {
    let sources = sources(paths)?;
    let threads = threads.or_else(|| thread::available_parallelism().ok().map(Into::into)).unwrap_or(1);
    let progress = Progress::over(&sources);
    let (taken, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, sources.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = taken.fetch_add(1, Ordering::Relaxed);
                    let Some(source) = sources.get(index) else { return };
                    let outcome = of(source, measures);
                    progress.advance(source);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((index, outcome));
                }
            });
        }
    });
    progress.finish();
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    let (mut traces, mut failures) = (Vec::new(), Vec::new());
    for (index, outcome) in results {
        match outcome {
            Ok(own) => traces.extend(own),
            // A file that was named is expected to be a session; one that lay in a folder is not.
            Err(error) if sources.get(index).is_some_and(|source| paths.contains(&source.path)) => {
                return Err(error);
            }
            Err(error) => failures.push(error),
        }
    }
    if let Some(first) = failures.first() {
        let count = counted(failures.len() as u64, "file");
        paint::note(format_args!("{count} could not be read as a session, the first: {first:#}"));
    }
    Ok(traces)
}

fn sources(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut found = Found::default();
    if paths.is_empty() {
        found = find(&Homes::from_env());
    }
    for path in paths {
        let here = at(path).map_err(|error| logs::told(&error))?;
        found.sources.extend(here.sources);
        found.warnings.extend(here.warnings);
    }
    for warning in &found.warnings {
        paint::warn(warning);
    }
    Ok(found.sources)
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
        let label = Label {
            agent: agent.to_owned(),
            project: project.unwrap_or_else(|| file.clone()),
            name: name.clone(),
        };
        Trace::of(transcript, &label)
    });
    Ok(traces.collect())
}
