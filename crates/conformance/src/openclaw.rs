//! OpenClaw's recorded behaviour.

pub mod duration;
pub mod settings;

use anyhow::Result;
use secateur::{
    Family, Fold, Memory, Pass, Plan, Policy, Profiles, Ratio, RatioMode, Situation, Thinking, ToolFilter,
    Trim, weighted_len,
};
use secateur_formats::{Format, Transcript, read_as, renderings};
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::number;
use duration::parse_ttl_ms;
use settings::{PruningMode, ToolPatterns, resolve_2026_01, resolve_2026_09};

/// Runs a case with the profile of its version; `None` if its function is not reproduced.
pub(crate) fn run(case: &Case) -> Result<Option<Value>> {
    Ok(match (case.system.as_str(), case.function.as_str()) {
        ("openclaw_v1", "prune") => Some(prune_2026_01(case)?),
        ("openclaw_v4", "prune") => prune_2026_09(case)?,
        ("openclaw_tools", "match") => Some(match_tools(case)),
        ("openclaw_settings", "resolve") => {
            Some(json!({ "v1": resolve_2026_01(case.get("config")).map(|settings| settings.to_json()) }))
        }
        ("openclaw_chars", "estimate") => {
            Some(json!({ "v4": weighted_len(case.get("text").as_str().unwrap_or_default()) }))
        }
        ("openclaw_duration", "parse") => Some(json!({ "v4_effective_ttl": parse_ttl_ms(case.get("raw")) })),
        _ => None,
    })
}

fn tools(tools: &ToolPatterns, fold: Fold) -> ToolFilter {
    ToolFilter { allow: tools.allow.clone(), deny: tools.deny.clone(), fold }
}

fn match_tools(case: &Case) -> Value {
    let settings = ToolPatterns::read(case.get("tools"));
    let allowed = |fold| {
        let rule = tools(&settings, fold);
        let names = case.list("names").iter().map(|name| name.as_str().unwrap_or_default());
        names.map(|name| rule.allows(name)).collect::<Vec<_>>()
    };
    json!({ "v1": allowed(Fold::Exact), "v4": allowed(Fold::TrimLower) })
}

/// A profile's policy with its ratio family changed.
fn policy(name: &str, change: impl FnOnce(&mut Ratio)) -> Result<Policy> {
    let mut policy = Profiles::builtin().get(name)?.policy;
    if let Family::Ratio(ratio) = &mut policy.family {
        change(ratio);
    }
    Ok(policy)
}

fn prune_2026_01(case: &Case) -> Result<Value> {
    let Some(settings) = resolve_2026_01(case.get("config")) else {
        return Ok(json!({ "settings": null, "unchanged": true, "changes": {} }));
    };
    let mut policy = policy("openclaw@2026-01", |ratio| {
        ratio.mode = match settings.mode {
            PruningMode::Adaptive => RatioMode::Adaptive,
            PruningMode::Aggressive => RatioMode::Aggressive,
        };
        ratio.keep_last_assistants = settings.keep_last_assistants;
        ratio.soft_ratio = settings.soft_trim_ratio;
        ratio.hard_ratio = settings.hard_clear_ratio;
        ratio.min_prunable = settings.min_prunable_tool_chars;
        ratio.hard_clear = settings.hard_clear.enabled;
        ratio.trim = Trim {
            max: settings.soft_trim.max_chars,
            head: settings.soft_trim.head_chars,
            tail: settings.soft_trim.tail_chars,
            ..ratio.trim
        };
        ratio.tools = tools(&settings.tools, Fold::Exact);
    })?;
    policy.placeholder = settings.hard_clear.placeholder.clone();
    let size = |key: &str| case.get(key).as_f64().filter(|size| size.is_finite() && *size > 0.0);
    let window = size("contextWindowTokensOverride").or_else(|| size("modelContextWindow"));
    let text = serde_json::to_string(case.get("messages"))?;
    let transcript = read_as(text.as_bytes(), Format::OpenClaw, &policy.measures())?;
    let situation = Situation { window, ..Situation::default() };
    let memory = Memory::default();
    let plan = policy.plan(&transcript.outline, &situation, &memory);
    let changes = changes(&transcript, &policy, &plan, &memory)?;
    Ok(json!({ "settings": settings.to_json(), "unchanged": changes.is_empty(), "changes": changes }))
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

/// Plans one round after the other with one memory. Cases about OpenClaw's own way of persisting are skipped.
fn prune_2026_09(case: &Case) -> Result<Option<Value>> {
    if ["restore", "restore-reset", "dupKeys"].iter().any(|tag| case.tags.iter().any(|own| own == tag)) {
        return Ok(None);
    }
    let Some(settings) = resolve_2026_09(case.get("config")) else {
        return Ok(Some(json!({ "settings": null, "rounds": [] })));
    };
    let mut policy = policy("openclaw@2026-09", |ratio| {
        ratio.ttl_ms = settings.ttl_ms;
        ratio.hard_clear = settings.hard_clear.enabled;
        ratio.tools = tools(&settings.tools, Fold::TrimLower);
    })?;
    policy.placeholder = settings.hard_clear.placeholder.clone();
    let mut memory = Memory::default();
    let mut rounds = Vec::new();
    for round in case.list("rounds") {
        let messages = case.list("messages");
        let upto = number(round, "/upto").and_then(|upto| usize::try_from(upto).ok());
        let messages = messages.get(..upto.unwrap_or(messages.len()).min(messages.len())).unwrap_or_default();
        let situation = Situation {
            now: number(round, "/now").unwrap_or(0),
            last_request: number(round, "/lastCacheTouchAt"),
            window: round.get("contextWindowTokens").and_then(Value::as_f64),
            input_tokens: None,
            pass: if round.get("pruneNewRounds") == Some(&json!(false)) {
                Pass::ReplayOnly
            } else {
                Pass::Full
            },
            thinking: match round.get("dropThinkingBlocksForEstimate") {
                Some(Value::Bool(true)) => Thinking::Dropped,
                _ => Thinking::Sent,
            },
            ..Situation::default()
        };
        let text = serde_json::to_string(messages)?;
        let transcript = read_as(text.as_bytes(), Format::OpenClaw, &policy.measures())?;
        let plan = policy.plan(&transcript.outline, &situation, &memory);
        let changes = changes(&transcript, &policy, &plan, &memory)?;
        rounds
            .push(json!({ "unchanged": changes.is_empty(), "changes": changes, "pruned": !plan.is_empty() }));
        memory.commit(&plan, &transcript.outline, &policy.placeholder);
    }
    Ok(Some(json!({ "settings": settings.to_json(), "rounds": rounds })))
}
