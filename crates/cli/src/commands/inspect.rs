//! `secateur inspect`: what a session consists of, and how its context grew.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use secateur::Measures;
use secateur_formats::{Format, Skim};

use crate::humanize::{counted, grouped, percent, shortened};
use crate::logs::{self, FormatArg};
use crate::plan_text;
use crate::table::Table;
use crate::terminal::{self, BOLD, print_json};
use report::{CompactionRow, InspectReport, ResultRow, tokens};

pub(crate) mod report;
mod sparkline;

/// Show what a session consists of: by category and tool, over time, and its biggest and stalest results.
///
/// Works on the logs of agents, on their databases and folders, and on requests. The whole history is counted; "in the
/// context" is what the next request would hold.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// A session file, a database or folder of sessions, or a request.
    file: PathBuf,
    #[command(flatten)]
    format: FormatArg,
    /// How many of the biggest and stalest results to list.
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    /// Print one JSON object, or an array for several sessions.
    #[arg(long)]
    json: bool,
}

impl InspectArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let measures = Measures { source: true, ..Measures::default() };
        let mut all = Vec::new();
        for source in &logs::sessions_at(&self.file)? {
            let skims = logs::skim_source(source, self.format.format, &measures)?;
            all.extend(skims.into_iter().map(|skim| (logs::label(source), skim)));
        }
        for (label, skim) in &all {
            for warning in &skim.warnings {
                terminal::warn(format_args!("{label}, {warning}"));
            }
        }
        let facts = all.iter().map(|(label, skim)| InspectReport::of(label, skim, self.top));
        if self.json {
            let facts: Vec<_> = facts.collect();
            return match facts.as_slice() {
                [only] => print_json(out, only),
                many => print_json(out, &many),
            };
        }
        for (index, (facts, (_, skim))) in facts.zip(&all).enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            describe(out, &facts, skim)?;
        }
        Ok(())
    }
}

fn describe(out: &mut dyn Write, facts: &InspectReport<'_>, skim: &Skim) -> Result<()> {
    head(out, facts, skim)?;
    categories(out, facts)?;
    tools(out, facts)?;
    timeline(out, facts)?;
    items(out, "Biggest tool results in the context", &facts.biggest)?;
    items(out, "Stalest tool results in the context (size times requests since)", &facts.stalest)
}

fn head(out: &mut dyn Write, facts: &InspectReport<'_>, skim: &Skim) -> Result<()> {
    let census = &facts.census;
    let origin = &skim.origin;
    let version = origin.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
    let model = origin.model.as_deref().map_or_else(String::new, |model| format!(", {model}"));
    writeln!(out, "{}: {}{version}{model}", facts.file, noun(skim.format))?;
    for (name, value) in
        [("title", &origin.title), ("project", &origin.project), ("session", &origin.session)]
    {
        if let Some(value) = value {
            writeln!(out, "{name:<8} {}", shortened(value, 100))?;
        }
    }
    writeln!(
        out,
        "{}, {} ({} failed), {}, {}",
        counted(census.messages, "message"),
        counted(census.tool_calls, "tool call"),
        grouped(census.errors),
        counted(census.images, "image"),
        counted(census.compactions, "compaction"),
    )?;
    if census.unanswered_calls + census.unpaired_results > 0 {
        let (calls, results) =
            (counted(census.unanswered_calls, "call"), counted(census.unpaired_results, "result"));
        writeln!(out, "{calls} without a result, {results} without a call")?;
    }
    if census.api_calls_with_usage > 0 {
        writeln!(
            out,
            "{}: peak {} tokens; {} tokens in ({} from the cache), {} out",
            counted(census.api_calls_with_usage, "request"),
            grouped(census.peak_context_tokens),
            grouped(census.sum_input_tokens),
            percent(census.sum_cache_read, census.sum_input_tokens),
            grouped(census.sum_output_tokens),
        )?;
    }
    writeln!(out)?;
    Ok(())
}

/// The name of a file in this format.
fn noun(format: Format) -> String {
    match format {
        Format::Request(_) => format.to_string(),
        _ => format!("{format} session"),
    }
}

fn categories(out: &mut dyn Write, facts: &InspectReport<'_>) -> Result<()> {
    let all: u64 = facts.categories.iter().map(|row| row.chars).sum();
    let mut table =
        Table::new(["category", "parts", "characters", "share", "in the context"]).right([1, 2, 3, 4]);
    for row in &facts.categories {
        table.row([
            row.name.to_owned(),
            grouped(row.parts),
            grouped(row.chars),
            percent(row.chars, all),
            grouped(row.live_chars),
        ]);
    }
    writeln!(out, "{table}")?;
    Ok(())
}

fn tools(out: &mut dyn Write, facts: &InspectReport<'_>) -> Result<()> {
    if facts.tools.is_empty() {
        return Ok(());
    }
    let all: u64 = facts.tools.iter().map(|row| row.result_chars).sum();
    let headings = ["tool", "class", "calls", "failed", "input", "output", "share"];
    let mut table = Table::new(headings).right([2, 3, 4, 5, 6]);
    for row in &facts.tools {
        table.row([
            shortened(row.name, 40),
            plan_text::class(row.class).to_owned(),
            grouped(row.calls),
            grouped(row.failed),
            grouped(row.call_chars),
            grouped(row.result_chars),
            percent(row.result_chars, all),
        ]);
    }
    writeln!(out, "{table}")?;
    Ok(())
}

fn timeline(out: &mut dyn Write, facts: &InspectReport<'_>) -> Result<()> {
    let weights: Vec<u64> = facts.timeline.iter().map(tokens).collect();
    let (Some(first), Some(last), Some(peak)) = (weights.first(), weights.last(), weights.iter().max())
    else {
        return Ok(());
    };
    let kind =
        if facts.timeline.iter().any(|moment| moment.recorded.is_some()) { "recorded" } else { "estimated" };
    let requests = counted(weights.len() as u64, "request");
    writeln!(out, "{BOLD}Context at each of {requests} ({kind} tokens){BOLD:#}")?;
    writeln!(out, "  {}", sparkline::line(&weights, 72))?;
    let at = weights.iter().position(|weight| weight == peak).unwrap_or(0) + 1;
    let next = grouped(facts.context.estimated_tokens);
    let [first, peak, last] = [first, peak, last].map(|tokens| grouped(*tokens));
    writeln!(out, "  first {first}, peak {peak} at request {at}, last {last}; next about {next}")?;
    let cold = (1..).zip(&facts.timeline).filter(|(_, moment)| moment.cold);
    let cold: Vec<String> = cold.map(|(request, _): (usize, _)| request.to_string()).collect();
    if !cold.is_empty() {
        let shown = cold.get(..12).unwrap_or(&cold).join(", ");
        let more = if cold.len() > 12 { ", …" } else { "" };
        writeln!(out, "  {} with a cold cache: at {shown}{more}", counted(cold.len() as u64, "request"))?;
    }
    for CompactionRow { request, before, after, .. } in &facts.compacted {
        let [before, after] = [before, after].map(|tokens| tokens.map_or("?".to_owned(), grouped));
        writeln!(out, "  compacted before request {request}: {before} to {after} tokens")?;
    }
    writeln!(out)?;
    Ok(())
}

fn items(out: &mut dyn Write, title: &str, items: &[ResultRow<'_>]) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(out, "{BOLD}{title}{BOLD:#}")?;
    let mut table =
        Table::new(["part", "tool", "about", "characters", "requests since", ""]).right([0, 3, 4]);
    for item in items {
        table.row([
            item.part.to_string(),
            shortened(item.tool.unwrap_or("?"), 24),
            shortened(&item.about.clone().unwrap_or_default(), 44),
            grouped(item.chars),
            grouped(item.age),
            item.stale.unwrap_or_default().to_owned(),
        ]);
    }
    writeln!(out, "{table}")?;
    Ok(())
}
