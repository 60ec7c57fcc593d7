//! What is known or assumed about the next request of a session file.

use anyhow::Result;
use clap::Args;
use secateur::{
    BandLimits, Cache, Calibration, Catalogue, Family, Lifetime, Memory, ModelInfo, Outline, Profile,
    RatioMode, Situation, WindowHints, WindowSource,
};

use crate::models::find_model;
use crate::time_text::now;

/// The model of the next request, and its window.
#[derive(Debug, Default, Args)]
pub(crate) struct NextRequestArgs {
    /// The model that the next request goes to, e.g. `claude-sonnet-4-5`. Determines window and prices.
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The model's window in tokens; overrides that of --model.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<f64>,
}

impl NextRequestArgs {
    /// The situation of the next request. What was assumed is added to `assumptions` in words. `recorded` is the model
    /// that the session itself names.
    pub(crate) fn situation(
        &self,
        profile: &Profile,
        catalogue: &Catalogue,
        outline: &Outline,
        recorded: Option<&str>,
        assumptions: &mut Vec<String>,
    ) -> Result<Situation> {
        let named = match &self.model {
            Some(name) => Some(find_model(catalogue, name)?.context as f64),
            None => None,
        };
        let mut situation = Situation { now: now(), ..Situation::default() };
        let ratio = match &profile.policy.family {
            Family::Ratio(ratio) => ratio,
            Family::Rent(_) => {
                self.add_cache(&mut situation, catalogue, outline, recorded, assumptions);
                return Ok(situation);
            }
            Family::Watermark(_) | Family::KeepLast(_) => return Ok(situation),
        };
        let own = match (named, recorded) {
            (None, Some(name)) => catalogue.find(name).map(|model| model.context as f64),
            _ => None,
        };
        let hints = WindowHints { model: named.or(own), provider: None, agent: None };
        let (window, source) = match (self.window, hints.resolve(profile.window)) {
            (Some(window), _) => (window, "from --window"),
            (None, (window, WindowSource::Default)) => {
                (window, "assumed because neither --window nor --model is given")
            }
            (None, (window, _)) if named.is_some() => (window, "from --model"),
            (None, (window, _)) => (window, "from the model that the session names"),
        };
        situation.window = Some(window);
        assumptions.push(format!("a window of {window} tokens, {source}"));
        if ratio.mode == RatioMode::CacheTtl {
            let last = last_time(outline);
            situation.last_request = Some(last.unwrap_or(situation.now - ratio.ttl_ms));
            assumptions.push(match last {
                Some(_) => "that the last request was sent at the time of the newest message".to_owned(),
                None => "that the cache is cold, because the session holds no times".to_owned(),
            });
        }
        Ok(situation)
    }

    /// Adds the prices of the model's cache, and the time of the last request.
    fn add_cache(
        &self,
        situation: &mut Situation,
        catalogue: &Catalogue,
        outline: &Outline,
        recorded: Option<&str>,
        assumptions: &mut Vec<String>,
    ) {
        let (name, source) = match (&self.model, recorded) {
            (Some(name), _) => (Some(name.as_str()), "from --model"),
            (None, recorded) => (recorded, "from the model that the session names"),
        };
        let model = name.and_then(|name| catalogue.find(name));
        let cache = model.and_then(|model| Cache::of(model, &Lifetime::of(outline.model_calls())));
        situation.cache = cache.unwrap_or_default();
        situation.window = self.window.or(model.map(|model| model.context as f64));
        let used = outline.model_calls().last().map(|call| call.usage.context());
        situation.input_tokens = used.and_then(|tokens| u64::try_from(tokens).ok());
        let limits = model.and_then(ModelInfo::prices).map(|prices| prices.limits()).unwrap_or_default();
        situation.bands = BandLimits::around(&limits, situation.input_tokens.unwrap_or(0));
        let Cache { read, write, .. } = situation.cache;
        let source =
            if cache.is_some() { source } else { "assumed because the model's prices are not known" };
        assumptions.push(if situation.cache.exists() {
            let (read, write) = (share(read), share(write));
            format!("that cache reads cost {read} % and cache writes {write} % of the input price, {source}")
        } else {
            format!("that the provider has no cache, {source}")
        });
        situation.last_request = last_time(outline);
        assumptions.push(match situation.last_request {
            Some(_) => "that the last request was sent at the time of the newest message".to_owned(),
            None => "that the cache is still warm, because the session holds no times".to_owned(),
        });
    }
}

/// The memory for a session of which only the log is known: no cuts, and a calibration from the reported usage.
pub(crate) fn memory(outline: &Outline) -> Memory {
    Memory::new(Calibration::of(&outline.timeline()))
}

/// The time of the newest message that has one.
fn last_time(outline: &Outline) -> Option<i64> {
    outline.messages().rev().find_map(|message| outline.time(message)).filter(|&time| time > 0)
}

/// A share in percent, rounded to two decimals.
fn share(share: f64) -> f64 {
    (share * 10_000.0).round() / 100.0
}
