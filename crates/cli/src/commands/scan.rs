//! `secateur scan`: all sessions on the machine, or below the given paths, at a glance.

use std::cmp::Reverse;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use clap::{Args, ValueEnum};
use secateur_sources::Source;

use crate::batch;
use crate::humanize::{counted, grouped, percent, shortened};
use crate::next_request::NextRequestArgs;
use crate::profile_args::ProfileArgs;
use crate::table::Table;
use crate::terminal::print_json;
use row::ScanRow;

mod row;

/// List sessions: how large each context is and what a profile would save.
///
/// Without a path, the usual folders of the known agents are searched. Nothing is written, and logs of any size are read
/// through a small buffer.
#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// Files, databases or folders, which are searched recursively.
    paths: Vec<PathBuf>,
    #[command(flatten)]
    profile: ProfileArgs,
    #[command(flatten)]
    next: NextRequestArgs,
    /// Only sessions of this agent or format, e.g. `claude`.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only sessions whose project contains this text.
    #[arg(long, value_name = "TEXT")]
    project: Option<String>,
    /// Only sessions changed within this time, e.g. `12h`, `7d`, `4w`.
    #[arg(long, value_name = "AGE", value_parser = age)]
    since: Option<Duration>,
    /// The order of the list.
    #[arg(long, value_enum, default_value_t = ScanOrder::Saved, value_name = "BY")]
    sort: ScanOrder,
    /// At most this many sessions.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// The number of threads [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print a JSON array with one object for each session.
    #[arg(long)]
    json: bool,
}

/// The order of a list of sessions, the largest or newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScanOrder {
    /// Tokens that the profile would save.
    Saved,
    /// The time of the last change.
    Age,
    /// The size of the next request.
    Context,
    /// The largest recorded request.
    Peak,
    /// The number of messages.
    Messages,
}

/// Parses an age such as `7d`.
fn age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("invalid age {text:?}: expected a number and m, h, d or w, e.g. 7d");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = match unit {
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(wrong()),
    };
    Ok(Duration::from_secs(number.saturating_mul(seconds)))
}

impl ScanArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let now = SystemTime::now();
        let sources = self.sources(now)?;
        let config = self.profile.config()?;
        let mut rows = batch::read(&sources, &self.paths, self.threads, |source| {
            ScanRow::all(source, &config, &self.next)
        })?;
        rows.retain(|row| self.matches(row));
        rows.sort_by(|one, other| {
            self.key(one).cmp(&self.key(other)).then_with(|| one.file.cmp(&other.file))
        });
        let sums = ScanTotals::of(&rows);
        rows.truncate(self.limit.unwrap_or(usize::MAX));
        if self.json {
            return print_json(out, &rows);
        }
        if sums.sessions == 0 {
            writeln!(out, "No sessions found{}.", self.searched())?;
            return Ok(());
        }
        table(out, &rows, now)?;
        sums.print(out, rows.len(), &config.profile().name)?;
        Ok(())
    }

    /// Where sessions were searched, for a report that found none.
    fn searched(&self) -> String {
        let is_filtered = self.agent.is_some() || self.project.is_some() || self.since.is_some();
        let filtered = if is_filtered { " that match these filters" } else { "" };
        if self.paths.is_empty() {
            let hint = "name a file or folder to search elsewhere";
            return format!("{filtered} in the usual folders of the known agents; {hint}");
        }
        let paths: Vec<_> = self.paths.iter().map(|path| path.display().to_string()).collect();
        format!("{filtered} in {}", paths.join(", "))
    }

    fn sources(&self, now: SystemTime) -> Result<Vec<Source>> {
        let mut sources = batch::sources(&self.paths)?;
        if let Some(since) = self.since {
            let is_recent = |source: &Source| {
                source
                    .modified
                    .is_none_or(|modified| now.duration_since(modified).unwrap_or_default() <= since)
            };
            sources.retain(is_recent);
        }
        Ok(sources)
    }

    fn matches(&self, row: &ScanRow) -> bool {
        let is_agent = |name: &String| row.agent.starts_with(name.as_str()) || row.format.name() == name;
        let in_project =
            |text: &String| row.project.as_ref().is_some_and(|project| project.contains(text.as_str()));
        self.agent.as_ref().is_none_or(is_agent) && self.project.as_ref().is_none_or(in_project)
    }

    fn key(&self, row: &ScanRow) -> Reverse<u64> {
        Reverse(match self.sort {
            ScanOrder::Saved => row.saved_tokens,
            ScanOrder::Age => row.modified.unwrap_or(0),
            ScanOrder::Context => row.estimated_tokens,
            ScanOrder::Peak => row.peak_context_tokens,
            ScanOrder::Messages => row.messages,
        })
    }
}

fn table(out: &mut dyn Write, rows: &[ScanRow], now: SystemTime) -> Result<()> {
    let headings =
        ["agent", "project", "age", "messages", "tool output", "context", "recorded", "peak", "would save"];
    let mut table = Table::new(headings).right([2, 3, 4, 5, 6, 7, 8]);
    for row in rows {
        let known = |tokens: Option<u64>| tokens.map_or("–".to_owned(), grouped);
        let project = row.project.as_deref().or(row.title.as_deref()).unwrap_or(&row.file);
        table.row([
            row.agent.clone(),
            last_of(project, 22),
            row.modified.map_or("–".to_owned(), |modified| since(modified, now)),
            grouped(row.messages),
            percent(row.tool_output_chars, row.chars),
            grouped(row.estimated_tokens),
            known(row.recorded_tokens),
            known(Some(row.peak_context_tokens).filter(|&peak| peak > 0)),
            if row.saved_tokens == 0 {
                "–".to_owned()
            } else {
                format!("{} ({})", grouped(row.saved_tokens), percent(row.saved_tokens, row.estimated_tokens))
            },
        ]);
    }
    writeln!(out, "{table}")?;
    Ok(())
}

/// Totals of all sessions, including those that a limit hides.
struct ScanTotals {
    sessions: usize,
    context: u64,
    saved: u64,
}

impl ScanTotals {
    fn of(rows: &[ScanRow]) -> Self {
        Self {
            sessions: rows.len(),
            context: rows.iter().map(|row| row.estimated_tokens).sum(),
            saved: rows.iter().map(|row| row.saved_tokens).sum(),
        }
    }

    fn print(&self, out: &mut dyn Write, shown: usize, profile: &str) -> Result<()> {
        let shown = if shown < self.sessions { format!(" ({shown} shown)") } else { String::new() };
        writeln!(
            out,
            "{}{shown}; the profile {profile} would remove {} tokens ({}) from their next requests.",
            counted(self.sessions as u64, "session"),
            grouped(self.saved),
            percent(self.saved, self.context),
        )?;
        Ok(())
    }
}

/// The end of a path, because that is where projects differ.
fn last_of(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return shortened(text, width);
    }
    let kept: String = text.chars().skip(count + 1 - width).collect();
    format!("…{}", shortened(&kept, width))
}

/// How long ago, in the largest unit that fits.
fn since(modified: u64, now: SystemTime) -> String {
    let modified = UNIX_EPOCH + Duration::from_millis(modified);
    let seconds = now.duration_since(modified).unwrap_or_default().as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_a_number_and_a_unit() {
        assert_eq!(age("7d"), Ok(Duration::from_secs(604_800)));
        assert_eq!(age("90m"), Ok(Duration::from_secs(5_400)));
        for wrong in ["", "d", "7", "7y", "-1d", "ä"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_end_of_a_long_path_is_shown() {
        assert_eq!(last_of("/home/me/src/garden", 10), "…rc/garden");
        assert_eq!(last_of("/src", 10), "/src");
    }
}
