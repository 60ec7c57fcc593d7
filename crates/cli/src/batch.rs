//! Reading many sessions at once, on all cores: those that a user names, or all on the machine.

use std::path::PathBuf;

use anyhow::{Context, Result};
use rayon::prelude::*;
use secateur_sources::{AgentFolders, FoundSources, Source, find, find_at};

use crate::humanize::counted;
use crate::progress::ByteProgress;
use crate::{logs, terminal};

/// The sessions at these paths; without a path, those of the agents on this machine.
pub(crate) fn sources(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut found = FoundSources::default();
    if paths.is_empty() {
        found = find(&AgentFolders::from_env());
    }
    for path in paths {
        let here = find_at(path).map_err(|error| logs::source_error(&error))?;
        found.sources.extend(here.sources);
        found.warnings.extend(here.warnings);
    }
    found.warnings.iter().for_each(terminal::warn);
    Ok(found.sources)
}

/// Runs `work` on a pool of this many threads, or of one for each core.
pub(crate) fn in_pool<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T> {
    let threads = threads.map_or(0, |count| count.max(1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool.context("cannot start threads")?.install(work))
}

/// Reads all sources and returns the results in their order. A file that the user named must be a session. Files found in
/// a folder may not be, so their errors become one note.
pub(crate) fn read<T: Send>(
    sources: &[Source],
    paths: &[PathBuf],
    threads: Option<usize>,
    of: impl Fn(&Source) -> Result<Vec<T>> + Sync,
) -> Result<Vec<T>> {
    let progress = ByteProgress::over(sources);
    let read_one = |source: &Source| {
        let outcome = of(source);
        progress.advance(source);
        outcome
    };
    let outcomes: Vec<_> = in_pool(threads, || sources.par_iter().map(read_one).collect())?;
    drop(progress);
    let (mut all, mut failures) = (Vec::new(), Vec::new());
    for (source, outcome) in sources.iter().zip(outcomes) {
        match outcome {
            Ok(own) => all.extend(own),
            Err(error) if paths.contains(&source.path) => return Err(error),
            Err(error) => failures.push(error),
        }
    }
    if let Some(first) = failures.first() {
        let count = counted(failures.len() as u64, "file");
        terminal::note(format_args!("{count} could not be read as a session. The first: {first:#}"));
    }
    Ok(all)
}
