//! `secateur overflow`: does a conversation overflow its model's window, and by which numbers?

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use secateur::{Limits, Measures, Overflow, OverflowRule, Term, Usage};
use secateur_formats::read;
use serde_json::json;

use crate::humanize::grouped;
use crate::models::find_model;
use crate::profile_args::ProfileArgs;

/// Say whether a usage overflows a model's window, as a profile sees it.
///
/// The usage is given by flags or taken from the newest model call of a session file; the limits are given by
/// flags or taken from a model of the catalogue.
#[derive(Debug, Args)]
pub(crate) struct OverflowArgs {
    /// A session file: its newest reported usage is judged.
    file: Option<PathBuf>,
    #[command(flatten)]
    profile: ProfileArgs,
    /// A model of the catalogue; the limits below go before it.
    #[arg(long)]
    model: Option<String>,
    /// The model's whole window, in tokens.
    #[arg(long, value_name = "TOKENS")]
    context: Option<i64>,
    /// The model's own limit for the input.
    #[arg(long, value_name = "TOKENS")]
    input_limit: Option<i64>,
    /// The model's longest answer.
    #[arg(long, value_name = "TOKENS")]
    output_limit: Option<i64>,
    /// Input that came from no cache.
    #[arg(long, value_name = "TOKENS")]
    input: Option<i64>,
    /// Output.
    #[arg(long, value_name = "TOKENS")]
    output: Option<i64>,
    /// Input read from the cache.
    #[arg(long, value_name = "TOKENS")]
    cache_read: Option<i64>,
    /// Input written to the cache.
    #[arg(long, value_name = "TOKENS")]
    cache_write: Option<i64>,
    /// Reasoning.
    #[arg(long, value_name = "TOKENS")]
    reasoning: Option<i64>,
    /// The provider's own total.
    #[arg(long, value_name = "TOKENS")]
    total: Option<i64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl OverflowArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let profile = self.profile.or_default()?;
        let limits = self.limits()?;
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
        Ok(ExitCode::SUCCESS)
    }

    fn limits(&self) -> Result<Limits> {
        let known = match &self.model {
            Some(name) => find_model(name)?.limits(),
            None => Limits::default(),
        };
        let context = self.context.unwrap_or(known.context);
        if self.model.is_none() && self.context.is_none() {
            bail!("the window is not known: name it with --context TOKENS or --model NAME");
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
                let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
                let transcript = read(&bytes, &Measures::default())
                    .with_context(|| format!("cannot read {}", file.display()))?;
                let call = transcript.outline.model_calls().last();
                call.with_context(|| format!("{} reports no usage; give it by flags", file.display()))?.usage
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

/// The verdict in a sentence.
pub(crate) fn sentence(rule: &OverflowRule, judged: Overflow) -> String {
    let Overflow { overflow, count, usable } = judged;
    match usable {
        None => "No overflow: the window is not known.".to_owned(),
        Some(_) if !rule.auto => "No overflow: looking for it is switched off (compaction.auto).".to_owned(),
        Some(usable) => {
            let verdict = if overflow { "Overflow" } else { "No overflow" };
            let bound = match rule.comparison {
                secateur::Comparison::MoreThan => "more than",
                secateur::Comparison::AtLeast => "at least",
            };
            let (count, usable) = (signed(count), signed(usable));
            format!("{verdict}: {count} tokens are counted, {usable} are usable, and {bound} that overflows.")
        }
    }
}

/// A number that may be below zero.
fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

/// What a rule counts.
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
        if rule.total == secateur::Given::Never { "" } else { ", or the provider's total if it gives one" };
    format!("{}{total}", terms.join(" + "))
}
