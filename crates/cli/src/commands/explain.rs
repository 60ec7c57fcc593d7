//! `secateur explain`: why a profile cuts or keeps each part.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Result, anyhow};
use clap::Args;
use secateur::{PartIx, Verdict};
use serde_json::json;

use crate::commands::profiles;
use crate::humanize::{grouped, percent, shortened};
use crate::plan_text;
use crate::plan_zone::PlanZone;
use crate::session_file::{PlannedFile, SessionFileArgs};
use crate::table::Table;
use crate::terminal::{self, print_json};

/// Explain the verdict on every part of a session, or on one part.
///
/// Parts are numbered from 0 within the context, as in `prune --json`. Messages are numbered from 0 within the whole
/// session, including those that a compaction has replaced, as in `context --at` and in the timeline of
/// `inspect --json`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    session: SessionFileArgs,
    /// The part: its id or call id in the session, or its number as in `prune --json`.
    part: Option<String>,
    /// Print JSON: an object for one part, or an array of all parts.
    #[arg(long)]
    json: bool,
}

impl ExplainArgs {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let session = self.session.open()?;
        let planned = self.session.plan(&session)?;
        for warning in &planned.transcript.warnings {
            terminal::warn(format_args!("{}, {warning}", self.session.file.display()));
        }
        match &self.part {
            Some(name) => self.part(out, &planned, find(&planned, name)?),
            None if self.json => {
                let parts = planned.transcript.outline.parts().map(|part| planned.facts(part));
                print_json(out, &parts.collect::<Vec<_>>())
            }
            None => self.all(out, &planned),
        }
    }

    fn all(&self, out: &mut dyn Write, planned: &PlannedFile<'_>) -> Result<()> {
        planned.head(out, &self.session.file)?;
        zones(out, planned)?;
        let verdicts = planned.sums(|part| plan_text::verdict(planned.verdict(part)));
        let mut verdicts: Vec<_> = verdicts.into_iter().collect();
        verdicts.sort_by_key(|(_, (_, units))| std::cmp::Reverse(*units));
        let whole: u64 = verdicts.iter().map(|(_, (_, units))| units).sum();
        let mut table = Table::new(["verdict", "parts", "characters", "share"]).right([1, 2, 3]);
        for (label, (parts, units)) in verdicts {
            table.row([label, grouped(parts), grouped(units), percent(units, whole)]);
        }
        write!(out, "{table}")?;
        if let Some(idle) = planned.plan.idle {
            writeln!(out, "\nNothing is cut: {}.", plan_text::idle(idle))?;
        }
        writeln!(out, "\nSettings of the profile:")?;
        profiles::settings(out, planned.profile)
    }

    fn part(&self, out: &mut dyn Write, planned: &PlannedFile<'_>, part: PartIx) -> Result<()> {
        if self.json {
            return print_json(out, &planned.facts(part));
        }
        let outline = &planned.transcript.outline;
        let owner = outline.owner(part);
        let mut line = |name: &str, value: String| writeln!(out, "{name:<12}{value}");
        let id = planned.transcript.part_id(part).unwrap_or("no id".into());
        line("part", format!("{} ({})", part.0, shortened(&id, 60)))?;
        line("message", format!("{} ({:?})", planned.message_of(part), outline.role(owner)))?;
        line("kind", format!("{:?}, {:?}", outline.kind(part), outline.status(part)))?;
        line("tool", shortened(outline.tool(part).unwrap_or("none"), 60))?;
        let (units, bytes) = (grouped(outline.units(part)), grouped(outline.bytes(part)));
        line("size", format!("{units} characters, {bytes} bytes"))?;
        line("zone", PlanZone::of(planned.plan.bounds, part).name().to_owned())?;
        line("verdict", plan_text::verdict(planned.verdict(part)))?;
        if let Verdict::Cut(cut) = planned.verdict(part) {
            let unit = plan_text::unit(planned.plan.totals.scale);
            let saved = grouped(cut.before.saturating_sub(cut.after));
            line("saves", format!("{saved} of {} {unit}", grouped(cut.before)))?;
        }
        if let Some(content) = planned.transcript.content(part) {
            line("content", shortened(content, 80))?;
        }
        Ok(())
    }
}

/// The part with this id or number.
fn find(planned: &PlannedFile<'_>, name: &str) -> Result<PartIx> {
    let by_number = || {
        let number: u32 = name.parse().ok()?;
        ((number as usize) < planned.transcript.outline.part_count()).then_some(PartIx(number))
    };
    planned.transcript.find_part(name).or_else(by_number).ok_or_else(|| {
        anyhow!(
            "the session has no part {name:?}; `secateur explain FILE --json` lists them all with their ids"
        )
    })
}

/// Prints the zones with their sizes.
fn zones(out: &mut dyn Write, planned: &PlannedFile<'_>) -> Result<()> {
    let sizes = planned.sums(|part| PlanZone::of(planned.plan.bounds, part));
    let mut table = Table::new(["zone", "parts", "characters"]).right([1, 2]);
    for (zone, (parts, units)) in sizes {
        table.row([zone.name().to_owned(), grouped(parts), grouped(units)]);
    }
    writeln!(out, "{table}")?;
    Ok(())
}

impl PlannedFile<'_> {
    /// How many parts have each label, and their characters.
    fn sums<L: Ord>(&self, label: impl Fn(PartIx) -> L) -> BTreeMap<L, (u64, u64)> {
        let mut sums: BTreeMap<L, (u64, u64)> = BTreeMap::new();
        for part in self.transcript.outline.parts() {
            let sum = sums.entry(label(part)).or_default();
            sum.0 += 1;
            sum.1 += self.transcript.outline.units(part);
        }
        sums
    }

    /// A part and its verdict as JSON.
    fn facts(&self, part: PartIx) -> serde_json::Value {
        let outline = &self.transcript.outline;
        json!({
            "part": part.0,
            "id": self.transcript.part_id(part),
            "message": self.message_of(part),
            "role": outline.role(outline.owner(part)),
            "kind": outline.kind(part),
            "status": outline.status(part),
            "tool": outline.tool(part),
            "units": outline.units(part),
            "bytes": outline.bytes(part),
            "images": outline.images(part),
            "zone": PlanZone::of(self.plan.bounds, part).name(),
            "verdict": self.verdict(part),
        })
    }
}
