//! OpenCode's recorded behaviour.

pub mod august;
mod august_history;
mod august_process;
pub mod conversation;
pub mod model_messages;
mod process;
pub mod session_v2;
pub mod ui_messages;
pub mod v2_messages;

use anyhow::Result;
use secateur::{Limits, Memory, Profile, Profiles, Situation, Usage};
use secateur_formats::{Format, Transcript};
use serde_json::{Value, json};

use crate::case::Case;
use crate::{number, transcript};
use august::Reduction;
use model_messages::{Outputs, model_messages};
use ui_messages::ui_messages;

/// The profile that reproduces the system of a case; `None` if it is another system.
fn profile(case: &Case) -> Result<Option<Profile>> {
    let name = match case.system.as_str() {
        "opencode_seed" => "opencode@2026-01",
        "opencode_head" => "opencode@2026-08",
        _ => return Ok(None),
    };
    Ok(Some(Profiles::builtin().get(name)?))
}

/// Runs a case with the profile of its version; `None` if its function is not reproduced.
pub(crate) fn run(case: &Case) -> Result<Option<Value>> {
    let named = |name: &str| Ok(Profiles::builtin().get(name)?);
    match (case.system.as_str(), case.function.as_str()) {
        ("opencode_v2", "compact") => return session_v2::compact(case, named).map(Some),
        ("opencode_v2b", "plan") => return session_v2::plan(case, named).map(Some),
        _ => {}
    }
    let Some(profile) = profile(case)? else { return Ok(None) };
    Ok(match case.function.as_str() {
        "isOverflow" => Some(overflow(case, profile)),
        "prune" => Some(prune(case, profile)?),
        "filterCompacted" => Some(filter_compacted(case, &profile)?),
        "process" if case.system == "opencode_head" => Some(august_process::run(case, &profile)?),
        "process" if case.system == "opencode_seed" => Some(process::run(case, &profile)?),
        "toModelMessages" if case.system == "opencode_seed" => {
            let ui = ui_messages(case.list("messages"), case.get("model"));
            Some(json!({ "model": model_messages(&ui, Outputs::January), "ui": ui }))
        }
        "toModelMessages" => {
            let reduction = Reduction::read(case.get("options"));
            let ui = august::ui_messages(case.list("messages"), case.get("model"), reduction);
            Some(json!({ "model": model_messages(&ui, Outputs::August), "ui": ui }))
        }
        _ => None,
    })
}

fn compaction(case: &Case, key: &str) -> Value {
    case.get("config").pointer(&format!("/compaction/{key}")).cloned().unwrap_or(Value::Null)
}

fn overflow(case: &Case, mut profile: Profile) -> Value {
    let rule = &mut profile.overflow;
    rule.auto = compaction(case, "auto") != false;
    rule.reserved = compaction(case, "reserved").as_i64();
    if let Some(cap) = case.get("outputTokenMax").as_i64() {
        rule.output_cap = cap;
    }
    let judged = rule.judge(&usage(case.get("tokens")), &limits(case.get("model")));
    // The newer version computes the usable tokens even when it does not check for overflow.
    let usable = judged.usable.unwrap_or(0);
    if case.system == "opencode_head" {
        json!({ "overflow": judged.overflow, "usable": usable })
    } else {
        json!({ "overflow": judged.overflow })
    }
}

/// Usage as OpenCode and Qwery store it.
pub(crate) fn usage(tokens: &Value) -> Usage {
    Usage {
        input: number(tokens, "/input").unwrap_or(0),
        output: number(tokens, "/output").unwrap_or(0),
        reasoning: number(tokens, "/reasoning").unwrap_or(0),
        cache_read: number(tokens, "/cache/read").unwrap_or(0),
        cache_write: number(tokens, "/cache/write").unwrap_or(0),
        total: number(tokens, "/total"),
        ..Usage::default()
    }
}

/// A model's limits as OpenCode and Qwery store them.
pub(crate) fn limits(model: &Value) -> Limits {
    Limits {
        context: number(model, "/limit/context").unwrap_or(0),
        input: number(model, "/limit/input"),
        output: number(model, "/limit/output"),
    }
}

fn prune(case: &Case, mut profile: Profile) -> Result<Value> {
    let asked = compaction(case, "prune");
    profile.policy.enabled = if profile.policy.enabled { asked != false } else { asked == true };
    let text = serde_json::to_string(case.get("messages"))?;
    let transcript = transcript(&text, Format::OpenCode, &profile)?;
    let plan = profile.policy.plan(&transcript.outline, &Situation::default(), &Memory::default());
    let ids = plan.cuts.iter().rev().map(|cut| transcript.part_id(cut.part));
    let marked: Vec<String> = ids.map(|id| id.unwrap_or_default().into_owned()).collect();
    if !profile.policy.enabled {
        return Ok(json!({ "ran": false, "total": null, "pruned": null, "marked": marked }));
    }
    Ok(json!({
        "ran": true,
        "total": plan.totals.before,
        "pruned": plan.totals.candidates,
        "marked": marked,
    }))
}

fn filter_compacted(case: &Case, profile: &Profile) -> Result<Value> {
    let text = serde_json::to_string(case.get("messages"))?;
    Ok(json!({ "ids": visible_ids(&transcript(&text, Format::OpenCode, profile)?, profile) }))
}

/// The ids of the messages that a model still sees.
pub(crate) fn visible_ids(transcript: &Transcript<'_>, profile: &Profile) -> Vec<String> {
    let outline = &transcript.outline;
    let messages = profile.pivot.visible(outline).into_iter().flatten();
    let id = |message| outline.ids().text(outline.id(secateur::MessageIx(message))).unwrap_or_default();
    messages.map(|message| id(message).to_owned()).collect()
}
