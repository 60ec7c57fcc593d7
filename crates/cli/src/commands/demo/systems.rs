//! What each founding system would do with the sample session: zones, cuts, overflow and pivot.

use std::io::Write;

use anyhow::Result;
use secateur::{
    Action, Catalogue, Cut, Family, Keep, Memory, MessageIx, Outline, PartIx, PartKind, Plan, Profile,
    Profiles, RatioMode, Role, Situation, Verdict,
};
use secateur_formats::{Format, Transcript, read_as};
use serde_json::Value;

use super::sample_session::{SampleSession, compact};
use crate::commands::overflow;
use crate::humanize::{grouped, percent};
use crate::models::find_model;
use crate::plan_text;
use crate::table::Table;
use crate::terminal::{BOLD, GREEN, RED, YELLOW};

/// The model of the sample session.
const MODEL: &str = "claude-sonnet-4-5";

/// How many characters of tool output one block of a bar stands for.
const PER_BLOCK: u64 = 4_000;

pub(super) fn show(out: &mut dyn Write, sample: &SampleSession) -> Result<()> {
    let session = sample.opencode();
    let text = session.to_string();
    composition(out, &text)?;
    zones(out, sample, &text)?;
    profiles(out, sample)?;
    overflows(out, &text)?;
    pivots(out, &session)
}

/// The session as OpenCode's own profile reads it.
fn in_opencode(text: &str) -> Result<(Profile, Transcript<'_>)> {
    let profile = Profiles::builtin().get("opencode")?;
    let transcript = read_as(text.as_bytes(), Format::OpenCode, &profile.policy.measures())?;
    Ok((profile, transcript))
}

/// Prints what the session consists of.
fn composition(out: &mut dyn Write, text: &str) -> Result<()> {
    let (_, transcript) = in_opencode(text)?;
    let outline = &transcript.outline;
    let units = |kind: PartKind| -> u64 {
        outline.parts().filter(|&part| outline.kind(part) == kind).map(|part| outline.units(part)).sum()
    };
    let (results, texts, calls) = (units(PartKind::Result), units(PartKind::Text), units(PartKind::Call));
    let whole = results + texts + calls;
    let count = outline.parts().filter(|&part| outline.kind(part) == PartKind::Result).count() as u64;
    writeln!(out, "{BOLD}A long session{BOLD:#}\n")?;
    writeln!(
        out,
        "An agent has worked on {} user requests with {} tool calls. Of {} characters, {} are tool output ({}).\n",
        outline.messages().filter(|&message| outline.role(message) == Role::User).count(),
        grouped(count),
        grouped(whole),
        grouped(results),
        percent(results, whole)
    )?;
    Ok(())
}

/// Draws the three zones turn by turn.
fn zones(out: &mut dyn Write, sample: &SampleSession, text: &str) -> Result<()> {
    let (profile, transcript) = in_opencode(text)?;
    let plan = profile.policy.plan(&transcript.outline, &Situation::default(), &Memory::default());
    writeln!(
        out,
        "{BOLD}Its three zones{BOLD:#} in OpenCode: the newest two turns are never cut, the 40,000 tokens of tool\n\
         output before them are protected, and older output is cut if it is more than 20,000 tokens.\n"
    )?;
    let outline = &transcript.outline;
    for (number, turn) in sample.turns.iter().enumerate() {
        let response = MessageIx(number as u32 * 2 + 1);
        let bar = bar(&profile, outline, &plan, outline.parts_of(response).map(PartIx));
        writeln!(out, "  {:>2}  {:<52} {bar}", number + 1, turn.request)?;
    }
    writeln!(
        out,
        "\n  {RED}░{RED:#} cut   {YELLOW}▒{YELLOW:#} protected   {GREEN}█{GREEN:#} active   S protected tool (skill)   \
         one block is {} characters\n",
        grouped(PER_BLOCK)
    )?;
    Ok(())
}

/// The results among these parts as a bar, newest last.
fn bar(profile: &Profile, outline: &Outline, plan: &Plan, parts: impl Iterator<Item = PartIx>) -> String {
    let mut bar = String::new();
    for part in parts.filter(|&part| outline.kind(part) == PartKind::Result) {
        let (style, block) = match profile.policy.verdict(outline, &Memory::default(), plan, part) {
            Verdict::Cut(_) => (RED, "░"),
            Verdict::Kept(Keep::ProtectedTool) => (YELLOW, "S"),
            Verdict::Kept(Keep::ActiveTurn) => (GREEN, "█"),
            Verdict::Kept(_) => (YELLOW, "▒"),
        };
        let blocks = outline.units(part).div_ceil(PER_BLOCK) as usize;
        let blocks = if block == "S" { 1 } else { blocks };
        bar.push_str(&format!("{style}{}{style:#}", block.repeat(blocks)));
    }
    bar
}

/// Prints what each founding profile would cut, with the session in its own format.
fn profiles(out: &mut dyn Write, sample: &SampleSession) -> Result<()> {
    writeln!(
        out,
        "{BOLD}What each founding system would cut{BOLD:#}, with a cold cache and a window of 200,000 tokens\n"
    )?;
    let systems: [(Format, Value); 4] = [
        (Format::OpenCode, sample.opencode()),
        (Format::OpenClaw, sample.openclaw()),
        (Format::OpenAgentic, sample.openagentic()),
        (Format::Qwery, sample.qwery()),
    ];
    let names = Profiles::builtin();
    let mut table =
        Table::new(["profile", "cleared", "trimmed", "kept", "saved", "because"]).right([1, 2, 3, 4]);
    for (format, session) in &systems {
        let text = session.to_string();
        for name in names.names().filter(|name| name.starts_with(format.name())) {
            let profile = names.get(name)?;
            let transcript = read_as(text.as_bytes(), *format, &profile.policy.measures())?;
            table.row(row(&profile, &transcript));
        }
    }
    let text = systems.first().map(|(_, session)| session.to_string()).unwrap_or_default();
    let profile = names.get("anthropic")?;
    table.row(row(&profile, &read_as(text.as_bytes(), Format::OpenCode, &profile.policy.measures())?));
    writeln!(out, "{table}")?;
    Ok(())
}

fn row(profile: &Profile, transcript: &Transcript<'_>) -> [String; 6] {
    let outline = &transcript.outline;
    let ttl = match &profile.policy.family {
        Family::Ratio(ratio) if ratio.mode == RatioMode::CacheTtl => ratio.ttl_ms,
        _ => 1,
    };
    let situation =
        Situation { now: ttl + 1, last_request: Some(1), window: Some(200_000.0), ..Situation::default() };
    let plan = profile.policy.plan(outline, &situation, &Memory::default());
    let results: Vec<PartIx> =
        outline.parts().filter(|&part| outline.kind(part) == PartKind::Result).collect();
    let kept = results.len() - plan.cuts.len();
    let cleared = plan.cuts.iter().filter(|cut| cut.action == Action::Clear).count();
    // Shares of characters of tool output for all profiles, because they count tokens in different ways.
    let whole: u64 = results.iter().map(|&part| outline.units(part)).sum();
    let gone = |cut: &Cut| match cut.action {
        Action::Trim { head, tail, .. } => outline.units(cut.part).saturating_sub(head + tail),
        _ => outline.units(cut.part),
    };
    let gone: u64 = plan.cuts.iter().map(gone).sum();
    let because = match (plan.idle, plan.cuts.last()) {
        (Some(idle), _) => plan_text::idle(idle),
        (None, Some(cut)) => plan_text::reason(cut.reason).to_owned(),
        (None, None) => String::new(),
    };
    [
        profile.name.clone(),
        grouped(cleared as u64),
        grouped((plan.cuts.len() - cleared) as u64),
        grouped(kept as u64),
        percent(gone, whole),
        because,
    ]
}

/// Prints whether the newest model call overflows, by each system's rule.
fn overflows(out: &mut dyn Write, text: &str) -> Result<()> {
    let catalogue = Catalogue::builtin();
    let model = find_model(&catalogue, MODEL)?;
    let names = Profiles::builtin();
    let (_, transcript) = in_opencode(text)?;
    let Some(call) = transcript.outline.model_calls().last() else { return Ok(()) };
    writeln!(
        out,
        "{BOLD}Overflow{BOLD:#}: the newest model call used {} tokens; {} has a window of {}.\n",
        grouped(call.usage.context().max(0).cast_unsigned()),
        model.id,
        grouped(model.context.max(0).cast_unsigned())
    )?;
    let dated = names.names().filter(|name| name.contains('@') && !name.ends_with("aggressive"));
    let mut table = Table::new(["profile", "result"]);
    for name in dated {
        let rule = names.get(name)?.overflow;
        table.row([name.to_owned(), overflow::sentence(&rule, rule.judge(&call.usage, &model.limits()))]);
    }
    writeln!(out, "{table}")?;
    Ok(())
}

/// Prints what a model still sees after a compaction, by each system's rule.
fn pivots(out: &mut dyn Write, session: &Value) -> Result<()> {
    writeln!(
        out,
        "{BOLD}Pivot{BOLD:#}: after a compaction the model no longer sees older history; nothing is deleted.\n"
    )?;
    let names = Profiles::builtin();
    let mut table = Table::new(["profile", "the model sees"]);
    for name in ["opencode@2026-01", "opencode@2026-08", "openagentic", "qwery"] {
        let mut session = session.clone();
        let profile = names.get(name)?;
        let tail = (profile.pivot.tail == secateur::Tail::Kept).then_some("msg_009u");
        compact(&mut session, tail);
        let text = session.to_string();
        let transcript = read_as(text.as_bytes(), Format::OpenCode, &profile.policy.measures())?;
        let outline = &transcript.outline;
        let visible = profile.pivot.visible(outline).into_iter().flatten();
        let seen = visible.map(|message| describe(outline, MessageIx(message)));
        table.row([name.to_owned(), seen.collect::<Vec<_>>().join(" → ")]);
    }
    writeln!(out, "{table}")?;
    Ok(())
}

/// A message in a word or two.
fn describe(outline: &Outline, message: MessageIx) -> String {
    match (outline.role(message), outline.is_marker(message), outline.is_summary(message)) {
        (_, true, _) => "“What did we do so far?”".to_owned(),
        (_, _, true) => "summary".to_owned(),
        (Role::User, ..) if message.0 as usize + 1 == outline.message_count() => "the new request".to_owned(),
        (Role::User, ..) => format!("request {}", message.0 / 2 + 1),
        _ => format!("response {}", message.0 / 2 + 1),
    }
}
