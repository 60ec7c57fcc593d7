//! Runs recorded prunings of OpenClaw with the profile and the settings of its version.

use anyhow::Result;
use secateur::{
    Action, Family, Memory, PartIx, PartKind, Pass, Plan, Policy, Situation, Thinking, weighted_len,
};
use secateur_formats::settings::openclaw::{resolve, resolve_2026_09};
use secateur_formats::{Format, Rendering, Transcript, read_as, renderings};
use serde_json::{Map, Value, json};

use super::cache_marker::{NamedResults, RestoredCut, restored};
use super::versions::{DatedSettings, JANUARY_27, ORIGIN, SEPTEMBER, policy};
use crate::case::Case;
use crate::number;

fn thinking(holder: &Value) -> Thinking {
    match holder.get("dropThinkingBlocksForEstimate") {
        Some(Value::Bool(true)) => Thinking::Dropped,
        _ => Thinking::Sent,
    }
}

/// One request, whose cache has gone cold if the version asks for that.
pub(super) fn prune(case: &Case, version: DatedSettings) -> Result<Value> {
    let Some(settings) = resolve(case.get("config"), version.settings) else {
        return Ok(json!({ "settings": null, "unchanged": true, "changes": {} }));
    };
    let policy = policy(version.profile, settings.layer(ORIGIN))?;
    let size = |key: &str| case.get(key).as_f64().filter(|size| size.is_finite() && *size > 0.0);
    let window = size("contextWindowTokensOverride").or_else(|| size("modelContextWindow"));
    let situation = Situation {
        now: i64::MAX,
        last_request: Some(1),
        window,
        thinking: thinking(&case.input),
        ..Situation::default()
    };
    let (_, changes) = plan_request(case.get("messages"), &policy, &situation, &mut Memory::default())?;
    Ok(json!({ "settings": settings.to_json(), "unchanged": changes.is_empty(), "changes": changes }))
}

/// Requests one after the other. One that is pruned touches the provider's cache; others are not known to.
pub(super) fn prune_sequence(case: &Case) -> Result<Value> {
    let settings = resolve(case.get("config"), JANUARY_27.settings);
    let policy = settings.map(|settings| policy(JANUARY_27.profile, settings.layer(ORIGIN))).transpose()?;
    // Without pruning OpenClaw keeps no time.
    let mut last_request = number(&case.input, "/lastCacheTouchAt").filter(|_| policy.is_some());
    let mut requests = Vec::new();
    for now in case.list("requests") {
        let situation = Situation {
            now: now.as_i64().unwrap_or_default(),
            last_request,
            window: case.get("contextWindowTokens").as_f64(),
            ..Situation::default()
        };
        let mut changed = Vec::new();
        if let Some(policy) = &policy {
            let (_, changes) =
                plan_request(case.get("messages"), policy, &situation, &mut Memory::default())?;
            changed = changes.keys().filter_map(|message| message.parse::<u64>().ok()).collect();
            changed.sort_unstable();
        }
        if !changed.is_empty() {
            last_request = Some(situation.now);
        }
        requests.push(json!({
            "pruned": !changed.is_empty(),
            "changed": changed,
            "lastCacheTouchAt": last_request,
        }));
    }
    Ok(json!({ "requests": requests }))
}

/// Plans one request and remembers its cuts. Returns the plan and what changed.
fn plan_request(
    messages: &Value,
    policy: &Policy,
    situation: &Situation,
    memory: &mut Memory,
) -> Result<(Plan, Map<String, Value>)> {
    let text = serde_json::to_string(messages)?;
    let transcript = read_as(text.as_bytes(), Format::OpenClaw, &policy.measures())?;
    let plan = policy.plan(&transcript.outline, situation, memory);
    let changes = changes(&transcript, policy, &plan, memory)?;
    memory.commit(&plan, &transcript.outline, &policy.placeholder);
    Ok((plan, changes))
}

/// The content of each message whose content in the request differs from the stored one.
fn changes(
    transcript: &Transcript<'_>,
    policy: &Policy,
    plan: &Plan,
    memory: &Memory,
) -> Result<Map<String, Value>> {
    let outline = &transcript.outline;
    let mut changes = Map::new();
    let cuts = renderings(plan, outline, memory, &policy.placeholder);
    // A round may hold fewer messages than the rounds that the memory comes from.
    for cut in cuts.into_iter().filter(|cut| (cut.part.0 as usize) < outline.part_count()) {
        let edited: Value = serde_json::from_slice(&transcript.apply([cut], 0)?.to_vec())?;
        let message = outline.owner(cut.part).0;
        let content = edited.pointer(&format!("/{message}/content")).cloned();
        changes.insert(message.to_string(), content.unwrap_or_default());
    }
    Ok(changes)
}

/// Plans one round after the other with one memory.
pub(super) fn prune_2026_09(case: &Case) -> Result<Value> {
    let Some(settings) = resolve_2026_09(case.get("config")) else {
        return Ok(json!({ "settings": null, "rounds": [] }));
    };
    let policy = policy(SEPTEMBER, settings.layer(ORIGIN))?;
    let mut memory = Memory::default();
    let mut cuts: Vec<(PartIx, usize)> = Vec::new();
    let mut rounds = Vec::new();
    let mut named = NamedResults::of(&[]);
    for round in case.list("rounds") {
        let messages = case.list("messages");
        let upto = number(round, "/upto").and_then(|upto| usize::try_from(upto).ok());
        let messages = messages.get(..upto.unwrap_or(messages.len()).min(messages.len())).unwrap_or_default();
        named = NamedResults::of(messages);
        let situation = Situation {
            now: number(round, "/now").unwrap_or(0),
            last_request: number(round, "/lastCacheTouchAt"),
            window: round.get("contextWindowTokens").and_then(Value::as_f64),
            pass: if round.get("pruneNewRounds") == Some(&json!(false)) {
                Pass::ReplayOnly
            } else {
                Pass::Full
            },
            thinking: thinking(round),
            ..Situation::default()
        };
        let text = serde_json::to_string(messages)?;
        let transcript = read_as(text.as_bytes(), Format::OpenClaw, &policy.measures())?;
        let outline = &transcript.outline;
        for (message, cut) in restored(case.list("restore"), &named) {
            remember(&mut memory, &transcript, &policy, message, &cut)?;
        }
        let plan = policy.plan(outline, &situation, &memory);
        let changes = changes(&transcript, &policy, &plan, &memory)?;
        memory.commit(&plan, outline, &policy.placeholder);
        for (part, _) in memory.cuts().filter(|(part, _)| (part.0 as usize) < outline.part_count()) {
            if cuts.iter().all(|(known, _)| *known != part) {
                cuts.push((part, outline.owner(part).0 as usize));
            }
        }
        rounds
            .push(json!({ "unchanged": changes.is_empty(), "changes": changes, "pruned": !plan.is_empty() }));
    }
    let marker = named.marker(&memory, &cuts);
    Ok(json!({ "settings": settings.to_json(), "rounds": rounds, "marker": marker }))
}

/// Remembers a cut that was made before a restart, unless it is known.
fn remember(
    memory: &mut Memory,
    transcript: &Transcript<'_>,
    policy: &Policy,
    message: usize,
    cut: &RestoredCut,
) -> Result<()> {
    let outline = &transcript.outline;
    let owns =
        |part: &PartIx| outline.owner(*part).0 as usize == message && outline.kind(*part) == PartKind::Result;
    let Some(part) = outline.parts().find(owns).filter(|&part| memory.cut(outline, part).is_none()) else {
        return Ok(());
    };
    let Family::Ratio(ratio) = &policy.family else { return Ok(()) };
    let (action, placeholder) = match cut {
        RestoredCut::Hard(placeholder) => (Action::Clear, placeholder.as_str()),
        RestoredCut::Soft => match ratio.trim_of(outline, part) {
            Some(action) => (action, policy.placeholder.as_str()),
            None => return Ok(()),
        },
    };
    let left = Rendering { part, action, placeholder };
    let edited: Value = serde_json::from_slice(&transcript.apply([left], 0)?.to_vec())?;
    let text = edited.pointer(&format!("/{message}/content/0/text")).and_then(Value::as_str);
    let after = weighted_len(text.unwrap_or_default());
    memory.remember(part, (action, after), outline.source(part), placeholder);
    Ok(())
}
