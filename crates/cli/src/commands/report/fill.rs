//! The data of a report, made from a session and a profile.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;
use secateur::{
    Action, Calibration, Memory, MessagePick, Outline, PartIx, PartKind, Plan, Profile, ToolStatus,
};
use secateur_formats::Transcript;

use super::data::{self, PartVerdict, ReportData};
use super::replay::{RequestSize, contexts};
use crate::commands::explain::zone;
use crate::commands::inspect::report::{self, about};
use crate::next_request::{NextRequestArgs, memory};
use crate::plan_text;
use crate::savings::savings;

/// How much of a part is quoted.
const PREVIEW: usize = 400;

/// What happens to the parts of a session, by their numbers in the whole session.
struct JudgedParts {
    /// The number that a part has in the context that was planned for.
    place: HashMap<PartIx, PartIx>,
    plan: Plan,
    /// Characters left of what is cut.
    left: HashMap<PartIx, u64>,
}

/// The data of a report.
pub(super) fn report_data(
    whole: &Transcript<'_>,
    profile: &Profile,
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
    let situation = next.situation(profile, &context, model, &mut Vec::new())?;
    let memory = memory(&context);
    let plan = profile.policy.plan(&context, &situation, &memory);
    let left = savings(&context, profile, &plan, &memory).collect();
    let place = parts.iter().enumerate().map(|(new, &old)| (old, PartIx(new as u32))).collect();
    let judged = JudgedParts { place, plan, left };

    let moments = outline.timeline();
    let meter = Calibration::of(&moments);
    let sizes = contexts(outline, profile, &moments, &situation);
    let alive: u64 = live_parts(outline).map(|part| outline.sent(part)).sum();
    let kept: u64 = live_parts(outline).map(|part| judged.after(&context, outline, part)).sum();
    let window = next.window.map(|window| window as u64).or(situation.window.map(|window| window as u64));
    let window = window
        .or_else(|| model.and_then(|name| u64::try_from(crate::models::find_model(name).ok()?.context).ok()));
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
        categories: categories(outline, &context, &judged, &meter),
        tools: tools(outline, &context, &judged, &meter),
        calls: calls(&moments, &sizes),
        compactions: compactions(outline, &moments),
        zones: zones(outline, &judged),
        messages: messages(outline),
        parts: outline
            .parts()
            .map(|part| describe(whole, &context, profile, &judged, &meter, part))
            .collect(),
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

impl JudgedParts {
    /// The characters that are left of a part; of one that left the context, none.
    fn after(&self, context: &Outline, outline: &Outline, part: PartIx) -> u64 {
        if outline.gone(outline.owner(part)).is_some() {
            return 0;
        }
        let Some(place) = self.place.get(&part) else { return 0 };
        self.left.get(place).copied().unwrap_or_else(|| context.sent(*place))
    }
}

fn describe(
    whole: &Transcript<'_>,
    context: &Outline,
    profile: &Profile,
    judged: &JudgedParts,
    meter: &Calibration,
    part: PartIx,
) -> data::ReportPart {
    let outline = &whole.outline;
    let text = whole.text_of(part);
    let preview: String = text.chars().take(PREVIEW).collect();
    let is_gone = outline.gone(outline.owner(part)).is_some();
    let (verdict, reason) = match judged.place.get(&part) {
        Some(&place) if !is_gone => {
            match profile.policy.verdict(context, &Memory::default(), &judged.plan, place) {
                secateur::Verdict::Cut(cut) => {
                    let verdict = if matches!(cut.action, Action::Clear) {
                        PartVerdict::Cut
                    } else {
                        PartVerdict::Trimmed
                    };
                    (verdict, plan_text::reason(cut.reason).to_owned())
                }
                secateur::Verdict::Kept(why) => (PartVerdict::Kept, plan_text::keep(why).to_owned()),
            }
        }
        _ => (PartVerdict::Gone, "it is no longer in the context".to_owned()),
    };
    data::ReportPart {
        message: outline.owner(part).0.into(),
        kind: outline.kind(part),
        tool: outline.tool(part).map(str::to_owned),
        subject: about(outline, part),
        status: match outline.status(part) {
            ToolStatus::None => None,
            _ if outline.is_failure(part) => Some("failed".to_owned()),
            ToolStatus::Pending | ToolStatus::Running => Some("not finished".to_owned()),
            ToolStatus::Completed | ToolStatus::Error => Some("completed".to_owned()),
        },
        size: meter.scale(outline.sent(part)),
        after: meter.scale(judged.after(context, outline, part)),
        verdict,
        reason,
        clipped: preview.len() < text.len(),
        preview,
    }
}

fn categories(
    outline: &Outline,
    context: &Outline,
    judged: &JudgedParts,
    meter: &Calibration,
) -> Vec<data::ReportCategory> {
    let mut rows: BTreeMap<secateur::Category, (u64, u64)> = BTreeMap::new();
    for part in live_parts(outline) {
        let row = rows.entry(outline.category(part)).or_default();
        row.0 += outline.sent(part);
        row.1 += judged.after(context, outline, part);
    }
    let row = |(category, (before, after)): (secateur::Category, (u64, u64))| data::ReportCategory {
        name: category.name().to_owned(),
        before: meter.scale(before),
        after: meter.scale(after),
    };
    rows.into_iter().filter(|(_, (before, _))| *before > 0).map(row).collect()
}

fn tools(
    outline: &Outline,
    context: &Outline,
    judged: &JudgedParts,
    meter: &Calibration,
) -> Vec<data::ReportTool> {
    let mut rows: HashMap<&str, (PartIx, u64, u64, u64)> = HashMap::new();
    for part in live_parts(outline) {
        let Some(tool) = outline.tool(part) else { continue };
        let row = rows.entry(tool).or_insert((part, 0, 0, 0));
        row.1 += u64::from(outline.kind(part) == PartKind::Call);
        row.2 += outline.sent(part);
        row.3 += judged.after(context, outline, part);
    }
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|(name, (part, calls, before, after))| data::ReportTool {
            name: name.to_owned(),
            class: plan_text::class(outline.class(part)).to_owned(),
            calls,
            before: meter.scale(before),
            after: meter.scale(after),
        })
        .collect();
    rows.sort_by(|one, other| other.before.cmp(&one.before).then_with(|| one.name.cmp(&other.name)));
    rows
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
    let row = |own: report::CompactionRow| data::ReportCompaction {
        message: own.message.0.into(),
        before: own.before,
    };
    report::compactions(outline, moments).into_iter().map(row).collect()
}

/// The zones of the plan, as runs of parts.
fn zones(outline: &Outline, judged: &JudgedParts) -> Vec<data::ReportZone> {
    let mut zones: Vec<data::ReportZone> = Vec::new();
    for part in outline.parts() {
        let is_gone = outline.gone(outline.owner(part)).is_some();
        let name = match judged.place.get(&part) {
            Some(&place) if !is_gone => zone(judged.plan.bounds, place),
            _ => "left the context",
        };
        match zones.last_mut() {
            Some(last) if last.name == name => last.last_part = part.0.into(),
            _ => zones.push(data::ReportZone {
                name: name.to_owned(),
                first_part: part.0.into(),
                last_part: part.0.into(),
                about: meaning(name).to_owned(),
            }),
        }
    }
    zones
}

/// What a zone is, in a sentence.
fn meaning(zone: &str) -> &'static str {
    match zone {
        "active" => "The newest turns, which no cut touches.",
        "protected" => "Recent tool output that the profile protects.",
        "prunable" => "Older tool output, which the profile may cut.",
        "behind a summary" => "A summary stands for what lies before it.",
        "behind an earlier cut" => "Everything before an earlier cut was decided then.",
        "before the first user message" => "What comes before the first user message stays.",
        _ => "Compacted away, rolled back, or on a branch that was left.",
    }
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
