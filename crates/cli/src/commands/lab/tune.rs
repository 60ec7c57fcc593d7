//! `secateur lab tune`: parameters that fit one's own sessions, if that can be shown.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use secateur_lab::{Claim, LEAST_CALLS, PriceSheets, TuneOptions, Tuned, TuningComparison};

use super::{LabTerms, gather, measures, named};
use crate::batch::in_pool;
use crate::humanize::counted;
use crate::logs;
use crate::progress::StepProgress;
use crate::terminal::print_json;

/// Search the presets' parameters on recorded sessions and write them as a profile.
///
/// Half of the projects are searched on, the others are left for the verdict. What cannot be shown on those is not
/// claimed: then the profile is `balanced` as it is, and its comment says so.
#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    terms: LabTerms,
    /// Where the profile goes.
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// The name of the profile.
    #[arg(long, value_name = "NAME", default_value = "tuned")]
    name: String,
    /// The most misses per 100 calls; by default those of `balanced` and a quarter of one more.
    #[arg(long, value_name = "N", value_parser = misses)]
    misses: Option<f64>,
    /// Write what was found even if no gain could be shown.
    #[arg(long)]
    keep: bool,
    /// Print what was measured as one JSON object.
    #[arg(long)]
    json: bool,
}

fn misses(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    if number.is_finite() && number >= 0.0 { Ok(number) } else { Err("a number, 0 or more".to_owned()) }
}

impl TuneArgs {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<()> {
        self.terms.paths.iter().try_for_each(|path| logs::refuse_same_file(&self.out, path))?;
        let options = TuneOptions {
            name: self.name.clone(),
            study: self.terms.options()?,
            misses: self.misses,
            keep: self.keep,
            date: Some(jiff::Zoned::now().date().to_string()),
            ..TuneOptions::default()
        };
        let presets = named(&["careful", "balanced", "frugal"])?;
        let mut traces = gather::traces(&self.terms.paths, self.terms.threads, &measures(&presets))?;
        traces.retain(|trace| trace.calls.len() >= LEAST_CALLS);
        let progress = StepProgress::new();
        let tuned = in_pool(self.terms.threads, || {
            let advance = |done, all| progress.advance(done, all);
            secateur_lab::tune(&traces, &PriceSheets::builtin(), &options, advance)
        });
        drop(progress);
        let tuned = tuned??;
        logs::write(&self.out, &tuned.profile)?;
        if self.json { print_json(out, &tuned) } else { self.print(out, &tuned) }
    }

    fn print(&self, out: &mut dyn Write, tuned: &Tuned) -> Result<()> {
        for change in &tuned.changes {
            writeln!(out, "  {} = {}  (balanced: {})", change.key, change.to, change.from)?;
        }
        say(out, "searched on", &tuned.training)?;
        say(out, "left for the verdict", &tuned.held_out)?;
        let verdict = match tuned.claim {
            Claim::Cheaper => "A gain is shown on sessions that were not searched on.",
            Claim::Safer => "Fewer misses are shown on sessions that were not searched on.",
            Claim::Traded => "It is cheaper, but misses more than was allowed; that is no gain.",
            Claim::NotShown => "No gain over balanced could be shown on sessions that were not searched on.",
            Claim::Unchanged => "Nothing better than balanced was found.",
        };
        let written = if tuned.is_written { "holds these values" } else { "is balanced as it is" };
        writeln!(out, "{verdict} {} {written}.", self.out.display())?;
        Ok(())
    }
}

fn say(out: &mut dyn Write, what: &str, part: &TuningComparison) -> Result<()> {
    let (low, high) = part.cost.interval;
    writeln!(
        out,
        "{what}: {}, {}: cost {:.1} % (balanced {:.1} %), difference {:+.2} [{low:+.2}, {high:+.2}] points; misses \
         {:.2} (balanced {:.2}) per 100 calls",
        counted(part.sessions as u64, "session"),
        counted(part.calls as u64, "call"),
        part.cost.tuned,
        part.cost.balanced,
        part.cost.difference,
        part.misses.tuned,
        part.misses.balanced,
    )?;
    Ok(())
}
