//! Reading many sessions at once, one thread for each core.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Result, anyhow};
use secateur::{Measures, Profile};
use secateur_sources::Source;

use super::row::Row;
use crate::logs;
use crate::next::Next;
use crate::progress::Progress;

/// What came of reading many sources.
#[derive(Default)]
pub(super) struct Outcome {
    /// The sessions that could be read.
    pub(super) rows: Vec<Row>,
    /// The numbers of the sources that could not, each with its error.
    pub(super) failures: Vec<(usize, anyhow::Error)>,
}

/// Reads all sources.
pub(super) fn read(
    sources: &[Source],
    threads: Option<usize>,
    profile: &Profile,
    next: &Next,
) -> Result<Outcome> {
    let threads = threads.or_else(|| thread::available_parallelism().ok().map(Into::into)).unwrap_or(1);
    let progress = Progress::over(sources);
    let (taken, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, sources.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = taken.fetch_add(1, Ordering::Relaxed);
                    let Some(source) = sources.get(index) else { return };
                    let outcome = read_one(source, profile, next);
                    progress.advance(source);
                    if let Ok(mut results) = results.lock() {
                        results.push((index, outcome));
                    }
                }
            });
        }
    });
    progress.finish();
    let mut results = results.into_inner().map_err(|_| anyhow!("a thread that read sessions failed"))?;
    results.sort_by_key(|(index, _)| *index);
    let mut all = Outcome::default();
    for (index, outcome) in results {
        match outcome {
            Ok(own) => all.rows.extend(own),
            Err(error) => all.failures.push((index, error)),
        }
    }
    Ok(all)
}

fn read_one(source: &Source, profile: &Profile, next: &Next) -> Result<Vec<Row>> {
    // What could be saved is told well enough without digests and hashes, for which every result would have to be
    // decoded and gone through once more.
    let measures = Measures { digest: false, source: false, ..profile.policy.measures() };
    let skims = logs::facts(source, None, &measures)?;
    skims.iter().map(|skim| Row::of(source, skim, profile, next)).collect()
}
