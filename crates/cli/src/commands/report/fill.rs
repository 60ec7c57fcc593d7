//! The data of a report, made from a session and a profile.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use secateur::{
    Action, Calibration, Catalogue, Memory, MessagePick, Outline, PartIx, PartKind, Plan, Profile,
    ToolStatus, Verdict,
};
use secateur_formats::Transcript;

use super::data::{self, PartVerdict, ReportData};
use super::replay::{RequestSize, contexts};
use crate::commands::inspect::report::{self, about};
use crate::next_request::{NextRequestArgs, memory};
use crate::plan_text;
use crate::plan_zone::PlanZone;
use crate::savings::savings;

/// How much of a part is quoted.
const PREVIEW: usize = 400;

/// A session, and what happens to its parts, by their numbers in the whole session.
struct JudgedSession<'a> {
    whole: &'a Transcript<'a>,
    outline: &'a Outline,
    profile: &'a Profile,
    /// What was planned for.
    context: Outline,
    /// The number that a part has in the context.
    place: HashMap<PartIx, PartIx>,
    plan: Plan,
    /// Characters left of what is cut.
    left: HashMap<PartIx, u64>,
    meter: Calibration,
}

pub(super) fn report_data(
    whole: &Transcript<'_>,
    profile: &Profile,
    catalogue: &Catalogue,
    next: &NextRequestArgs,
    file: &str,
) -> Result<ReportData> {
    let outline = &whole.outline;
    let model = whole.origin.model.as_deref();
    let (context, parts) = if whole.format.prunes_itself() {
        (outline.clone(), outline.parts().collect())
    } else {
        outline.select(outline.context(None).into_iter().map(MessagePick::Message))
    };
    let situation = next.situation(profile, catalogue, &context, model, &mut Vec::new())?;
    let memory = memory(&context);
    let plan = profile.policy.plan(&context, &situation, &memory);
    let left = savings(&context, profile, &plan, &memory).collect();
    let place = parts.iter().enumerate().map(|(new, &old)| (old, PartIx(new as u32))).collect();
    let moments = outline.timeline();
    let meter = Calibration::of(&moments);
    let session = JudgedSession { whole, outline, profile, context, place, plan, left, meter };

    let sizes = contexts(outline, profile, &moments, &situation);
    let alive: u64 = live_parts(outline).map(|part| outline.sent(part)).sum();
    let kept: u64 = live_parts(outline).map(|part| session.after(part)).sum();
    let window = next.window.or(situation.window).map(|window| window as u64);
    let window = window.or_else(|| model.and_then(|name| u64::try_from(catalogue.find(name)?.context).ok()));
    let recorded_peak = moments.iter().filter_map(|moment| moment.recorded).max();
    let count = |kind: PartKind| outline.parts().filter(|&part| outline.kind(part) == kind).count() as u64;
    Ok(ReportData {
        title: whole.origin.title.clone().unwrap_or_else(|| file_name(file)),
        file: file.to_owned(),
        format: whole.format.to_string(),
        agent_version: whole.origin.version.clone(),
        model: model.map(str::to_owned),
        generator: concat!("secateur ", env!("CARGO_PKG_VERSION")).to_owned(),
        profile: data::ReportProfile { name: profile.name.clone(), about: profile.about.clone() },
        totals: data::ReportTotals {
            messages: outline.message_count() as u64,
            parts: outline.part_count() as u64,
            tool_calls: count(PartKind::Call),
            tool_results: count(PartKind::Result),
            before: meter.predict(alive),
            after: meter.predict(kept),
            window,
            recorded_peak,
        },
        categories: session.categories(),
        tools: session.tools(),
        calls: calls(&moments, &sizes),
        compactions: compactions(outline, &moments),
        zones: session.zones(),
        messages: messages(outline),
        parts: outline.parts().map(|part| session.part(part)).collect(),
        warnings: whole.warnings.iter().map(ToString::to_string).collect(),
    })
}

fn file_name(file: &str) -> String {
    file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned()
}

/// The parts that the next request would hold.
fn live_parts(outline: &Outline) -> impl Iterator<Item = PartIx> + '_ {
    outline.context(None).into_iter().flat_map(|message| outline.parts_of(message)).map(PartIx)
}

impl JudgedSession<'_> {
    /// The number of a part in the context; none if it has left it.
    fn place(&self, part: PartIx) -> Option<PartIx> {
        let is_gone = self.outline.gone(self.outline.owner(part)).is_some();
        self.place.get(&part).copied().filter(|_| !is_gone)
    }

    /// The characters that are left of a part; of one that left the context, none.
    fn after(&self, part: PartIx) -> u64 {
        let left = |place| self.left.get(&place).copied().unwrap_or_else(|| self.context.sent(place));
        self.place(part).map_or(0, left)
    }

    fn part(&self, part: PartIx) -> data::ReportPart {
        let outline = self.outline;
        let text = self.whole.text_of(part);
        let preview: String = text.chars().take(PREVIEW).collect();
        let verdict =
            |place| self.profile.policy.verdict(&self.context, &Memory::default(), &self.plan, place);
        let (verdict, reason) = match self.place(part).map(verdict) {
            Some(Verdict::Cut(cut)) => {
                let is_whole = cut.action == Action::Clear;
                let verdict = if is_whole { PartVerdict::Cut } else { PartVerdict::Trimmed };
                (verdict, plan_text::reason(cut.reason))
            }
            Some(Verdict::Kept(why)) => (PartVerdict::Kept, plan_text::keep(why)),
            None => (PartVerdict::Gone, "it is no longer in the context"),
        };
        let status = match outline.status(part) {
            ToolStatus::None => None,
            _ if outline.is_failure(part) => Some("failed"),
            ToolStatus::Pending | ToolStatus::Running => Some("not finished"),
            ToolStatus::Completed | ToolStatus::Error => Some("completed"),
        };
        data::ReportPart {
            message: outline.owner(part).0.into(),
            kind: outline.kind(part),
            tool: outline.tool(part).map(str::to_owned),
            subject: about(outline, part),
            status: status.map(str::to_owned),
            size: self.meter.scale(outline.sent(part)),
            after: self.meter.scale(self.after(part)),
            verdict,
            reason: reason.to_owned(),
            clipped: preview.len() < text.len(),
            preview,
        }
    }

    fn categories(&self) -> Vec<data::ReportCategory> {
        let mut rows: BTreeMap<secateur::Category, (u64, u64)> = BTreeMap::new();
        for part in live_parts(self.outline) {
            let row = rows.entry(self.outline.category(part)).or_default();
            row.0 += self.outline.sent(part);
            row.1 += self.after(part);
        }
        let row = |(category, (before, after)): (secateur::Category, (u64, u64))| data::ReportCategory {
            name: category.name().to_owned(),
            before: self.meter.scale(before),
            after: self.meter.scale(after),
        };
        rows.into_iter().filter(|(_, (before, _))| *before > 0).map(row).collect()
    }

    fn tools(&self) -> Vec<data::ReportTool> {
        let mut rows: HashMap<&str, (PartIx, u64, u64, u64)> = HashMap::new();
        for part in live_parts(self.outline) {
            let Some(tool) = self.outline.tool(part) else { continue };
            let row = rows.entry(tool).or_insert((part, 0, 0, 0));
            row.1 += u64::from(self.outline.kind(part) == PartKind::Call);
            row.2 += self.outline.sent(part);
            row.3 += self.after(part);
        }
        let row = |(name, (part, calls, before, after)): (&str, (PartIx, u64, u64, u64))| data::ReportTool {
            name: name.to_owned(),
            class: plan_text::class(self.outline.class(part)).to_owned(),
            calls,
            before: self.meter.scale(before),
            after: self.meter.scale(after),
        };
        let mut rows: Vec<_> = rows.into_iter().map(row).collect();
        rows.sort_by(|one, other| other.before.cmp(&one.before).then_with(|| one.name.cmp(&other.name)));
        rows
    }

    /// The zones of the plan, as runs of parts.
    fn zones(&self) -> Vec<data::ReportZone> {
        let mut zones: Vec<data::ReportZone> = Vec::new();
        for part in self.outline.parts() {
            let zone = self.place(part).map_or(PlanZone::Gone, |place| PlanZone::of(self.plan.bounds, place));
            match zones.last_mut() {
                Some(last) if last.name == zone.name() => last.last_part = part.0.into(),
                _ => zones.push(data::ReportZone {
                    name: zone.name().to_owned(),
                    first_part: part.0.into(),
                    last_part: part.0.into(),
                    about: zone.meaning().to_owned(),
                }),
            }
        }
        zones
    }
}

/// The requests. What is estimated is scaled to what the provider reported, so that the curves can be compared.
fn calls(moments: &[secateur::TimelinePoint], sizes: &[RequestSize]) -> Vec<data::ReportCall> {
    let mut meter = Calibration::default();
    let rows = moments.iter().zip(sizes).map(|(moment, size)| {
        if let Some(recorded) = moment.recorded {
            meter.observe(size.whole, recorded);
        }
        data::ReportCall {
            message: moment.message.0.into(),
            time: moment.time,
            recorded: moment.recorded,
            cached: moment.cached,
            estimated: meter.predict(size.whole),
            pruned: meter.predict(size.pruned).min(meter.predict(size.whole)),
            cold: moment.cold,
        }
    });
    rows.collect()
}

fn compactions(outline: &Outline, moments: &[secateur::TimelinePoint]) -> Vec<data::ReportCompaction> {
    let rows = report::compactions(outline, moments).into_iter();
    rows.map(|row| data::ReportCompaction { message: row.message.0.into(), before: row.before }).collect()
}

fn messages(outline: &Outline) -> Vec<data::ReportMessage> {
    let row = |message| data::ReportMessage {
        role: outline.role(message),
        time: outline.time(message),
        summary: outline.is_summary(message),
        gone: outline.gone(message).is_some(),
    };
    outline.messages().map(row).collect()
}
