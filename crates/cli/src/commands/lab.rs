//! `secateur lab`: what policies would have cost on sessions that were recorded, and what they would have missed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use secateur::{Measures, Profile};
use secateur_lab::{
    DEFAULT_POLICIES, LEAST_CALLS, PriceSheet, PriceSheets, Study, StudyData, StudyOptions, StudyRow,
    profiles,
};
use secateur_pages::PageHead;

use crate::batch::in_pool;
use crate::humanize::{counted, grouped};
use crate::logs;
use crate::progress::StepProgress;
use crate::settings_args::SettingsArgs;
use crate::table::Table;
use crate::terminal::{self, BOLD, print_json};

mod gather;
mod tune;
mod why;

/// Replay recorded sessions under pruning policies: what each would have cost and what it would have missed.
///
/// Without a path, the sessions of the agents on this machine are taken. Every policy is played from the first call of
/// each session on, and charged by the price sheet that the session was billed by. Nothing is written but what --html
/// names.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    other: Option<LabCommand>,
    #[command(flatten)]
    terms: LabTerms,
    /// A policy: a profile by name or by file, or one of the baselines. May be given more than once; without it, the
    /// usual twenty are compared.
    #[arg(long, value_name = "PROFILE")]
    profile: Vec<String>,
    /// Print a JSON array, one object an agent and policy.
    #[arg(long)]
    json: bool,
    /// Write a page for a browser as well: cost against misses, contexts over time, the spread over sessions.
    #[arg(long, value_name = "PAGE")]
    html: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    Why(why::WhyArgs),
    Tune(tune::TuneArgs),
}

/// Which sessions are replayed, and under which terms.
#[derive(Debug, Args)]
struct LabTerms {
    /// Files, databases or folders; folders are searched to the bottom.
    paths: Vec<PathBuf>,
    /// Prices for all sessions, instead of those that each was billed by: a model of the catalogue (claude-opus-5-5), a TOML
    /// file, or one of the sheets anthropic-5m, anthropic-1h, openai, deepseek, gemini, none.
    #[arg(long, value_name = "SHEET")]
    sheet: Option<String>,
    /// Compact sessions that reach a window of this many tokens, as their agents would.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(10_000..))]
    window: Option<u64>,
    /// Work on this many threads; one for each core by default.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl LabTerms {
    fn options(&self) -> Result<StudyOptions> {
        let sheet = self.sheet.as_deref().map(sheet).transpose()?;
        Ok(StudyOptions { sheet, window: self.window.map(|tokens| tokens as f64) })
    }

    /// Whose prices were taken, in words.
    fn prices(&self) -> String {
        match &self.sheet {
            Some(sheet) => format!("the price sheet {sheet}"),
            None => "the prices that each session was billed by".to_owned(),
        }
    }
}

/// A price sheet by name, that of a model, or the first of a file.
fn sheet(name: &str) -> Result<PriceSheet> {
    if Path::new(name).extension().is_none_or(|extension| extension != "toml") {
        let sheets = PriceSheets::builtin();
        let Err(error) = sheets.get(name) else { return Ok(sheets.get(name)?.clone()) };
        let config = SettingsArgs::default().read()?;
        return PriceSheet::of_model(config.catalogue(), name).ok_or(error.into());
    }
    let text = fs::read_to_string(name).with_context(|| format!("cannot read the price sheet {name}"))?;
    let sheets = PriceSheets::parse(&text, name)?;
    let first = sheets.iter().next().cloned();
    first.with_context(|| format!("{name} holds no price sheet; it begins with [[sheet]]"))
}

/// Profiles by name or by file.
fn named(names: &[impl AsRef<str>]) -> Result<Vec<Profile>> {
    let mut known = profiles();
    let mut named = Vec::with_capacity(names.len());
    for name in names {
        let mut name = name.as_ref().to_owned();
        if Path::new(&name).extension().is_some_and(|extension| extension == "toml") {
            let text =
                fs::read_to_string(&name).with_context(|| format!("cannot read the profile {name}"))?;
            name = known.add(&name, &text)?;
        }
        named.push(known.get(&name)?);
    }
    Ok(named)
}

/// What has to be measured for all of these.
fn measures(profiles: &[Profile]) -> Measures {
    let wanted = profiles.iter().map(|profile| profile.policy.measures());
    wanted.fold(Measures { source: true, excerpt: true, ..Measures::default() }, Measures::and)
}

impl LabArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        match &self.other {
            Some(LabCommand::Why(why)) => return why.run(out),
            Some(LabCommand::Tune(tune)) => return tune.run(out),
            None => {}
        }
        let profiles =
            if self.profile.is_empty() { named(&DEFAULT_POLICIES)? } else { named(&self.profile)? };
        if let Some(page) = &self.html {
            self.terms.paths.iter().try_for_each(|path| logs::refuse_same_file(page, path))?;
        }
        let options = self.terms.options()?;
        let traces = gather::traces(&self.terms.paths, self.terms.threads, &measures(&profiles))?;
        let progress = StepProgress::new();
        let study = in_pool(self.terms.threads, || {
            let advance = |done, all| progress.advance(done, all);
            Study::of(traces, &profiles, &PriceSheets::builtin(), &options, advance)
        });
        drop(progress);
        let study = study??;
        if study.sessions.is_empty() {
            let is_named = !self.terms.paths.is_empty();
            let searched = if is_named { " there" } else { " in the usual folders of the known agents" };
            bail!(
                "no session of {LEAST_CALLS} calls or more was found{searched}; shorter ones say nothing about pruning"
            );
        }
        if let Some(page) = &self.html {
            logs::write(page, &html(&study))?;
        }
        if self.json {
            print_json(out, &study.rows())?;
        } else {
            self.print(out, &study)?;
        }
        if let Some(page) = &self.html {
            terminal::note(format_args!("the page is {}", page.display()));
        }
        Ok(())
    }

    fn print(&self, out: &mut dyn Write, study: &Study) -> Result<()> {
        let rows = study.rows();
        let mut agents: Vec<&str> = rows.iter().map(|row| &*row.agent).collect();
        agents.dedup();
        for agent in agents {
            let mut own: Vec<&StudyRow> = rows.iter().filter(|row| row.agent == agent).collect();
            own.sort_by(|one, other| one.cost_pct.total_cmp(&other.cost_pct));
            let Some(first) = own.first() else { continue };
            let (sessions, calls) =
                (counted(first.sessions as u64, "session"), counted(first.calls as u64, "call"));
            writeln!(out, "{BOLD}{agent}{BOLD:#}: {sessions}, {calls}")?;
            writeln!(out, "{}", table(&own, self.terms.window.is_some()))?;
        }
        let near: Vec<String> = study
            .replay_accuracy()
            .into_iter()
            .filter_map(|near| Some(format!("{} {:.1} %", near.agent, near.replayed_pct?)))
            .collect();
        let prices = self.terms.prices();
        writeln!(
            out,
            "Cost: the whole bill in % of no pruning, by {prices}; in brackets where it lies in 95 of\n\
             100 draws of sessions. Misses, breaks of a warm cache and results cut unseen: per 100 calls.\n\
             Over best: above the best schedule of cuts in hindsight that misses nothing; over bound: above\n\
             what no such schedule can beat."
        )?;
        if !near.is_empty() && self.terms.sheet.is_none() {
            let near = near.join(", ");
            writeln!(out, "Replayed without pruning, input costs this share of what was billed: {near}.")?;
        }
        Ok(())
    }
}

/// The page that shows a study.
fn html(study: &Study) -> String {
    let data = StudyData::of(study, "What pruning would have cost");
    let sessions = counted(data.sessions.len() as u64, "recorded session");
    let summary = format!("{sessions} replayed under {} policies.", data.policies.len());
    secateur_pages::STUDY.render(&PageHead { title: &data.title, summary: &summary }, &data)
}

fn table(rows: &[&StudyRow], compacts: bool) -> Table {
    let mut table = Table::new([
        "policy",
        "cost",
        "",
        "tokens",
        "misses",
        "breaks",
        "unseen",
        if compacts { "compactions" } else { "" },
        "over best",
        "over bound",
    ])
    .right([1, 3, 4, 5, 6, 7, 8, 9]);
    for row in rows {
        let (low, high) = row.cost_interval;
        table.row([
            row.policy.clone(),
            format!("{:.1} %", row.cost_pct),
            format!("[{low:.1}, {high:.1}]"),
            format!("{:.1} %", row.tokens_pct),
            format!("{:.2}", row.miss100),
            format!("{:.2}", row.breaks100),
            format!("{:.2}", row.unseen100),
            if compacts { grouped(row.compactions.into()) } else { String::new() },
            format!("{:+.1} %", row.pct_over_optimum),
            format!("{:+.1} %", row.pct_over_bound),
        ]);
    }
    table
}
