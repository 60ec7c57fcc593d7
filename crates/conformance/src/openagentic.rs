//! openagentic-sdk's recorded behaviour.

pub mod rebuild;
pub mod usage;

use anyhow::Result;
use secateur::{Family, Limits, Memory, Profile, Profiles, Situation, Usage};
use secateur_formats::Format;
use serde_json::{Value, json};

use crate::case::Case;
use crate::{number, transcript};
use rebuild::rebuild;
use usage::{SdkVersion, totals};

/// Runs a case with the profile of its version; `None` if its function is not reproduced.
pub(crate) fn run(case: &Case) -> Result<Option<Value>> {
    let (name, version) = match case.system.as_str() {
        "openagentic_seed" => ("openagentic@2026-01", SdkVersion::Seed),
        "openagentic_head" => ("openagentic@0.1.4", SdkVersion::Head),
        _ => return Ok(None),
    };
    let profile = Profiles::builtin().get(name)?;
    Ok(match case.function.as_str() {
        "overflow" => Some(overflow(case, profile, version)),
        "prune" => Some(prune(case, profile)?),
        "rebuild" if version == SdkVersion::Seed => {
            let limit = |key: &str, default| case.get(key).as_i64().unwrap_or(default);
            let rebuilt =
                rebuild(case.list("events"), limit("max_events", 1000), limit("max_bytes", 2_000_000));
            Some(json!({ "messages": rebuilt.messages, "responses": rebuilt.responses }))
        }
        _ => None,
    })
}

fn overflow(case: &Case, mut profile: Profile, version: SdkVersion) -> Value {
    let options = case.get("options");
    let Some(totals) = totals(case.get("usage"), version) else {
        return json!({ "overflow": false, "totals": null });
    };
    let rule = &mut profile.overflow;
    if let Some(cap) = number(options, "/global_output_cap") {
        rule.output_cap = cap;
    }
    rule.reserved = number(options, "/reserved");
    let limits = Limits {
        context: number(options, "/context_limit").unwrap_or(0),
        input: number(options, "/input_limit"),
        output: number(options, "/output_limit"),
    };
    let usage = Usage { total: Some(totals.total), ..Usage::default() };
    json!({ "overflow": rule.judge(&usage, &limits).overflow, "totals": totals.to_json(version) })
}

fn prune(case: &Case, mut profile: Profile) -> Result<Value> {
    let options = case.get("options");
    profile.policy.enabled = options.get("prune").is_none_or(|prune| *prune == true);
    if let Family::Watermark(watermark) = &mut profile.policy.family {
        let option = |key: &str, default| number(options, key).unwrap_or(default).max(0);
        watermark.protect = option("/protect_tool_output_tokens", watermark.protect);
        watermark.minimum = option("/min_prune_tokens", watermark.minimum);
    }
    let text = serde_json::to_string(case.get("events"))?;
    let transcript = transcript(&text, Format::OpenAgentic, &profile)?;
    let plan = profile.policy.plan(&transcript.outline, &Situation::default(), &Memory::default());
    let ids = plan.cuts.iter().rev().map(|cut| transcript.part_id(cut.part).unwrap_or_default().into_owned());
    Ok(json!({ "prune_ids": ids.collect::<Vec<_>>() }))
}
