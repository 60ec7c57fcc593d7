//! OpenClaw's recorded behaviour.

pub mod cache_marker;
pub mod chunking;
pub mod compaction_plan;
pub mod keywords;
mod pruning;
pub mod quality;
mod versions;

use anyhow::Result;
use secateur::{weighted_len, wide_len};
use secateur_formats::settings::duration::DurationSyntax;
use secateur_formats::settings::openclaw::{ToolPatterns, resolve};
use serde_json::{Value, json};

use crate::case::Case;
use pruning::{prune, prune_2026_09, prune_sequence};
use versions::{DatedSettings, JANUARY_8, JANUARY_21, JANUARY_27, JUNE, ORIGIN, SEPTEMBER, policy};

/// Runs a case with the profile of its version; `None` if its function is not reproduced.
pub(crate) fn run(case: &Case) -> Result<Option<Value>> {
    Ok(match (case.system.as_str(), case.function.as_str()) {
        ("openclaw_v1", "prune") => Some(prune(case, JANUARY_8)?),
        ("openclaw_v1b", "prune") => Some(prune(case, JANUARY_21)?),
        ("openclaw_v2", "prune") => Some(prune(case, JANUARY_27)?),
        ("openclaw_v3", "prune") => Some(prune(case, JUNE)?),
        ("openclaw_v4", "prune") => Some(prune_2026_09(case)?),
        ("openclaw_v2ext", "sequence") => Some(prune_sequence(case)?),
        ("openclaw_tools", "match") => Some(match_tools(case)?),
        ("openclaw_settings", "resolve") => Some(resolve_settings(case)),
        ("openclaw_chars", "estimate") => Some(estimate_chars(case)),
        ("openclaw_compaction", "plan") => Some(compaction_plan::run(case)),
        ("openclaw_quality", "audit") => Some(quality::run(case)),
        ("openclaw_duration", "parse") => Some(parse_duration(case)),
        _ => None,
    })
}

fn match_tools(case: &Case) -> Result<Value> {
    let settings = ToolPatterns::read(case.get("tools"));
    let allowed = |profile: &str| -> Result<Vec<bool>> {
        let rule = policy(profile, settings.layer(ORIGIN))?;
        let names = case.list("names").iter().map(|name| name.as_str().unwrap_or_default());
        Ok(names.map(|name| rule.tools().allows(name)).collect())
    };
    Ok(json!({
        "v1": allowed(JANUARY_8.profile)?,
        "v1b": allowed(JANUARY_21.profile)?,
        "v2": allowed(JANUARY_27.profile)?,
        "v3": allowed(JUNE.profile)?,
        "v4": allowed(SEPTEMBER)?,
    }))
}

fn resolve_settings(case: &Case) -> Value {
    let resolved = |version: DatedSettings| {
        resolve(case.get("config"), version.settings).map(|settings| settings.to_json())
    };
    json!({ "v1": resolved(JANUARY_8), "v2": resolved(JANUARY_27), "v3": resolved(JUNE) })
}

fn estimate_chars(case: &Case) -> Value {
    let text = case.get("text").as_str().unwrap_or_default();
    // Where OpenClaw estimates for a limit that must hold, every unit counts for two at least.
    let at_least_two =
        |point: char| weighted_len(point.encode_utf8(&mut [0; 4])).max(2 * point.len_utf16() as u64);
    json!({
        "utf16_len": text.encode_utf16().count(),
        "v3": wide_len(text),
        "v4": weighted_len(text),
        "v4_min2": text.chars().map(at_least_two).sum::<u64>(),
    })
}

fn parse_duration(case: &Case) -> Value {
    let raw = case.get("raw");
    let text = raw.as_str().unwrap_or_default();
    json!({
        "v2": DurationSyntax::Single.milliseconds(text),
        "v3": DurationSyntax::Composite.milliseconds(text),
        "v4_effective_ttl": DurationSyntax::Composite.ttl_ms(raw),
    })
}
