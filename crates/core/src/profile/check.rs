//! Checks of values that have the right type but are not allowed.

use super::ProfileFile;
use crate::amount::Amount;
use crate::compaction::{CompactionSettings, ResumeWhen};
use crate::measure::Unit;
use crate::meter::Meter;
use crate::ratio::{Ratio, RatioMode};
use crate::rent::Rent;
use crate::watermark::Watermark;

/// The key of a wrong value, and what is allowed there.
type InvalidValue = (String, String);

fn demand(holds: bool, key: &str, allowed: &str) -> Result<(), InvalidValue> {
    if holds { Ok(()) } else { Err((key.to_owned(), allowed.to_owned())) }
}

/// Checks a whole profile.
pub(super) fn profile(file: &ProfileFile) -> Result<(), InvalidValue> {
    demand(!file.name.trim().is_empty(), "name", "a text that is not empty")?;
    demand(!file.prune.placeholder.is_empty(), "prune.placeholder", "a text that is not empty")?;
    demand(file.overflow.output_cap > 0, "overflow.output_cap", "a number of tokens above 0")?;
    let reserved = file.overflow.reserved_default;
    demand(reserved >= 0, "overflow.reserved_default", "a number of tokens, 0 or more")?;
    demand(file.window.default > 0, "window.default", "a number of tokens above 0")?;
    compaction(&file.compaction)?;
    demand(file.budget.bytes != Some(0), "budget.bytes", "a number of bytes above 0")?;
    if let Some(rule) = &file.watermark {
        watermark(rule)?;
    }
    if let Some(rule) = &file.ratio {
        ratio(rule)?;
    }
    if let Some(rule) = &file.keep_last {
        meter("keep-last.meter", &rule.meter)?;
    }
    if let Some(rule) = &file.rent {
        rent(rule)?;
    }
    Ok(())
}

fn rent(rule: &Rent) -> Result<(), InvalidValue> {
    demand(rule.margin.is_finite() && rule.margin >= 0.0, "rent.margin", "a number, 0 or more")?;
    let is_share = |share: f64| share > 0.0 && share <= 1.0;
    demand(rule.band.is_none_or(is_share), "rent.band", "a share above 0, at most 1")?;
    if let Some(pressure) = &rule.pressure {
        demand((0.0..=1.0).contains(&pressure.fill), "rent.pressure.fill", "a share between 0 and 1")?;
    }
    if let Some(cap) = &rule.cap {
        demand(cap.chars > 0, "rent.cap.chars", "a number of characters above 0")?;
        demand((0.0..=1.0).contains(&cap.head), "rent.cap.head", "a share between 0 and 1")?;
    }
    Ok(())
}

fn compaction(rule: &CompactionSettings) -> Result<(), InvalidValue> {
    demand(!rule.marker.trim().is_empty(), "compaction.marker", "a text that is not empty")?;
    let resumes = rule.resume_when != ResumeWhen::Never;
    let has_text = rule.resume.as_ref().is_some_and(|text| !text.trim().is_empty());
    demand(!resumes || has_text, "compaction.resume", "a text, unless compaction.resume_when is \"never\"")?;
    demand(rule.summary != Amount::Tokens(0), "compaction.summary", "more than 0 tokens")?;
    demand(rule.breaker > 0, "compaction.breaker", "a number of failures above 0")?;
    demand(rule.cooldown_ms >= 0, "compaction.cooldown_ms", "a number of milliseconds, 0 or more")?;
    let allowed = "more than 0 tokens; compaction.auto = false switches compaction off";
    demand(rule.threshold != Some(Amount::Tokens(0)), "compaction.threshold", allowed)
}

fn watermark(rule: &Watermark) -> Result<(), InvalidValue> {
    demand(rule.protect >= 0, "watermark.protect", "a number of tokens, 0 or more")?;
    demand(rule.minimum >= 0, "watermark.minimum", "a number of tokens, 0 or more")?;
    let allowed = "at least one of \"pending\", \"running\", \"completed\", \"error\"";
    demand(!rule.statuses.is_empty(), "watermark.statuses", allowed)?;
    meter("watermark.meter", &rule.meter)
}

fn ratio(rule: &Ratio) -> Result<(), InvalidValue> {
    let share = |share: f64| (0.0..=1.0).contains(&share);
    demand(share(rule.soft_ratio), "ratio.soft_ratio", "a share of the window between 0 and 1")?;
    demand(share(rule.hard_ratio), "ratio.hard_ratio", "a share of the window between 0 and 1")?;
    let per_token = rule.characters.per_token;
    demand(per_token.is_finite() && per_token > 0.0, "ratio.characters.per_token", "a number above 0")?;
    let timed = rule.mode == RatioMode::CacheTtl;
    let allowed = "a number of milliseconds with mode \"cache-ttl\", 0 for a cache that never goes cold";
    demand(!timed || rule.ttl_ms >= 0, "ratio.ttl_ms", allowed)?;
    let text = matches!(rule.characters.unit, Unit::Utf16 | Unit::Weighted | Unit::Wide);
    demand(text, "ratio.characters.unit", "\"utf16\", \"weighted\" or \"wide\"")
}

fn meter(key: &str, meter: &Meter) -> Result<(), InvalidValue> {
    demand(meter.divisor.is_finite() && meter.divisor > 0.0, &format!("{key}.divisor"), "a number above 0")?;
    demand(meter.cap != Some(0), &format!("{key}.cap"), "a number of tokens above 0")?;
    let exact = matches!(meter.unit, Unit::O200k | Unit::Cl100k);
    let allowed = "exact token counts need a build with the feature `bpe`";
    demand(!exact || cfg!(feature = "bpe"), &format!("{key}.unit"), allowed)?;
    let allowed = "1.0, since this unit counts tokens already";
    demand(!exact || meter.divisor == 1.0, &format!("{key}.divisor"), allowed)
}
