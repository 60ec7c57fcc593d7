//! `secateur overflow`: whether a usage overflows a model's window, and by which numbers.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use secateur::{Catalogue, Limits, Measures, Overflow, OverflowRule, Term, Usage};
use serde_json::json;

use crate::humanize::grouped;
use crate::models::find_model;
use crate::profile_args::ProfileArgs;
use crate::session_file::SessionFileArgs;

/// Check whether a usage overflows a model's window, by a profile's rule.
///
/// The usage comes from flags or from the newest model call of a session file. The limits come from flags or from the
/// model catalogue.
#[derive(Debug, Args)]
pub(crate) struct OverflowArgs {
    /// The session: a file, or the database or folder that holds it. Its newest reported usage is checked.
    file: Option<PathBuf>,
    /// Which session, if the file holds several: its id, or its number from 1.
    #[arg(long, value_name = "ID|N", requires = "file")]
    session: Option<String>,
    #[command(flatten)]
    profile: ProfileArgs,
    /// A model in the catalogue. The limits below override it.
    #[arg(long)]
    model: Option<String>,
    /// The model's window.
    #[arg(long, value_name = "TOKENS")]
    window: Option<i64>,
    /// The model's limit for the input alone.
    #[arg(long, value_name = "TOKENS")]
    input_limit: Option<i64>,
    /// The model's longest response.
    #[arg(long, value_name = "TOKENS")]
    output_limit: Option<i64>,
    /// Input tokens that were not read from or written to the cache.
    #[arg(long, value_name = "TOKENS")]
    input: Option<i64>,
    /// Output tokens.
    #[arg(long, value_name = "TOKENS")]
    output: Option<i64>,
    /// Input tokens read from the cache.
    #[arg(long, value_name = "TOKENS")]
    cache_read: Option<i64>,
    /// Input tokens written to the cache.
    #[arg(long, value_name = "TOKENS")]
    cache_write: Option<i64>,
    /// Reasoning tokens.
    #[arg(long, value_name = "TOKENS")]
    reasoning: Option<i64>,
    /// The provider's total.
    #[arg(long, value_name = "TOKENS")]
    total: Option<i64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl OverflowArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let config = self.profile.config()?;
        let profile = config.profile();
        let limits = self.limits(config.catalogue())?;
        let usage = self.usage()?;
        let judged = profile.overflow.judge(&usage, &limits);
        if self.json {
            let whole = json!({ "profile": profile.name, "usage": usage, "limits": limits, "overflow": judged.overflow,
                                "count": judged.count, "usable": judged.usable });
            writeln!(out, "{whole}")?;
        } else {
            writeln!(out, "{}", sentence(&profile.overflow, judged))?;
            writeln!(out, "profile {}: counts {}", profile.name, terms(&profile.overflow))?;
        }
        Ok(())
    }

    fn limits(&self, catalogue: &Catalogue) -> Result<Limits> {
        let known = match &self.model {
            Some(name) => find_model(catalogue, name)?.limits(),
            None => Limits::default(),
        };
        let context = self.window.unwrap_or(known.context);
        if self.model.is_none() && self.window.is_none() {
            bail!("the window is not known: give --window TOKENS or --model NAME");
        }
        Ok(Limits {
            context,
            input: self.input_limit.or(known.input),
            output: self.output_limit.or(known.output),
        })
    }

    fn usage(&self) -> Result<Usage> {
        let mut usage = match &self.file {
            None => Usage::default(),
            Some(file) => {
                let log = SessionFileArgs::at(file, None, self.session.clone());
                let session = log.open()?;
                let transcript = log.read(&session, &Measures::default())?;
                let call = transcript.outline.model_calls().last();
                call.with_context(|| {
                    format!("{} reports no usage; give it with flags such as --input", file.display())
                })?
                .usage
            }
        };
        let numbers = [
            (&mut usage.input, self.input),
            (&mut usage.output, self.output),
            (&mut usage.cache_read, self.cache_read),
            (&mut usage.cache_write, self.cache_write),
            (&mut usage.reasoning, self.reasoning),
        ];
        for (slot, given) in numbers {
            *slot = given.unwrap_or(*slot);
        }
        usage.total = self.total.or(usage.total);
        Ok(usage)
    }
}

/// The result as a sentence.
pub(crate) fn sentence(rule: &OverflowRule, judged: Overflow) -> String {
    let Overflow { overflow, count, usable } = judged;
    match usable {
        None => "fits: the window is not known".to_owned(),
        Some(_) if !rule.auto => "fits: overflow detection is off (compaction.auto)".to_owned(),
        Some(usable) => {
            let verdict = if overflow { "overflow" } else { "fits" };
            format!("{verdict}: {} of {} usable tokens", signed(count), signed(usable))
        }
    }
}

/// A number that may be negative.
fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

/// What a rule counts, and from where on it is an overflow.
fn terms(rule: &OverflowRule) -> String {
    let name = |term: &Term| match term {
        Term::Input => "input",
        Term::Output => "output",
        Term::CacheRead => "cache reads",
        Term::CacheWrite => "cache writes",
        Term::Reasoning => "reasoning",
    };
    let terms: Vec<&str> = rule.terms.iter().map(name).collect();
    let total =
        if rule.total == secateur::Given::Never { "" } else { ", or the provider's total if it reports one" };
    let bound = match rule.comparison {
        secateur::Comparison::MoreThan => "more than",
        secateur::Comparison::AtLeast => "at least",
    };
    format!("{}{total}; {bound} the usable tokens is an overflow", terms.join(" + "))
}
