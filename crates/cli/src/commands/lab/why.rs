//! `secateur lab why`: every miss of a policy in one session, with the cut that took what was needed.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use secateur_lab::{CommonWords, PriceSheets, StudyOptions, TextNeed, Trace, find_needs, replay};
use serde::Serialize;

use super::{gather, measures, named, sheet};
use crate::humanize::{counted, shortened};
use crate::logs;
use crate::plan_text;
use crate::terminal::{BOLD, print_json};

/// List each miss: the action, the text that it needed, the cut that took it, and the reason of the cut.
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// A session: a file, or a database of sessions.
    file: PathBuf,
    /// The policy: a profile by name or by file, or one of the baselines.
    #[arg(long, value_name = "PROFILE", default_value = "balanced")]
    profile: String,
    /// The price sheet, by name or as a TOML file, instead of the one that the session was billed by.
    #[arg(long, value_name = "SHEET")]
    sheet: Option<String>,
    /// Print a JSON array, one object a miss.
    #[arg(long)]
    json: bool,
}

/// One miss with its action, its need and the cut.
#[derive(Serialize)]
struct ExplainedMiss {
    session: String,
    call: u32,
    action: String,
    about: Option<String>,
    needed: String,
    is_edit: bool,
    result: u32,
    result_of: String,
    result_about: Option<String>,
    result_chars: u64,
    cut_before_call: u32,
    reason: Option<secateur::Reason>,
}

impl WhyArgs {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let profiles = named(&[&self.profile])?;
        let Some(profile) = profiles.first() else { bail!("there is no profile {}", self.profile) };
        let mut traces = Vec::new();
        for source in logs::sessions_at(&self.file)? {
            traces.extend(gather::of(&source, &measures(&profiles))?);
        }
        let sheets = PriceSheets::builtin();
        let own = self.sheet.as_deref().map(sheet).transpose()?;
        let options = StudyOptions { sheet: own, ..StudyOptions::default() };
        let needs = find_needs(&traces, &CommonWords::of(&traces));
        let mut misses_found = Vec::new();
        let mut calls = 0;
        for (trace, needs) in traces.iter().zip(&needs) {
            calls += trace.calls.len();
            let run = replay(trace, profile, needs, &options.terms(&sheets, trace)?);
            let of = |miss: &secateur_lab::Miss| Some(tell(trace, needs.get(miss.need)?, miss));
            misses_found.extend(run.misses.iter().filter_map(of));
        }
        if self.json {
            return print_json(out, &misses_found);
        }
        for miss in &misses_found {
            print(out, miss)?;
        }
        let misses = if misses_found.len() == 1 { "miss" } else { "misses" };
        let (count, calls) = (misses_found.len(), counted(calls as u64, "call"));
        writeln!(out, "{count} {misses} in {calls} under {}.", profile.name)?;
        Ok(())
    }
}

fn tell(trace: &Trace, need: &TextNeed, miss: &secateur_lab::Miss) -> ExplainedMiss {
    let outline = &trace.outline;
    let tool = |part| outline.tool(part).unwrap_or("a tool").to_owned();
    let about = |part| outline.subject(part).map(|subject| shortened(subject, 100));
    ExplainedMiss {
        session: trace.name.clone(),
        call: miss.call,
        action: tool(need.action),
        about: about(need.action),
        needed: shortened(&need.text, 200),
        is_edit: need.is_edit,
        result: miss.source.0,
        result_of: tool(miss.source),
        result_about: about(miss.source),
        result_chars: outline.units(miss.source),
        cut_before_call: miss.cut_at,
        reason: miss.reason,
    }
}

fn print(out: &mut dyn Write, miss: &ExplainedMiss) -> Result<()> {
    let about = |about: &Option<String>| about.as_ref().map_or(String::new(), |about| format!(" {about}"));
    let what = if miss.is_edit { "replaces the line" } else { "names" };
    let ExplainedMiss { session, call, action, needed, result, result_of, result_chars, .. } = miss;
    writeln!(out, "{BOLD}call {call}{BOLD:#} of {session}: {action}{}", about(&miss.about))?;
    writeln!(out, "  {what}  {needed}")?;
    let reason = miss.reason.map_or("a compaction took it", plan_text::reason);
    writeln!(
        out,
        "  which only part {result} held, {result_of}{}, {result_chars} characters, cut before call {} because {reason}\n",
        about(&miss.result_about),
        miss.cut_before_call
    )?;
    Ok(())
}
