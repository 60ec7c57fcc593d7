//! What is known or assumed about the next request of a session.

use anyhow::Result;
use clap::Args;
use secateur::{
    Cache, Calibration, Family, Lifetime, Memory, Outline, Profile, RatioMode, Situation, WindowHints,
    WindowSource,
};

use crate::models::{catalogue, find_model};
use crate::session_file::now;

/// The next request.
#[derive(Debug, Default, Args)]
pub(crate) struct NextRequestArgs {
    /// The model that the next request goes to, e.g. `claude-sonnet-4-5`; names the window and the prices.
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The model's window in tokens; goes before `--model`.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<f64>,
}

impl NextRequestArgs {
    /// The situation of the next request, with what was assumed about it in words. `recorded` is the model that the
    /// session itself names.
    pub(crate) fn situation(
        &self,
        profile: &Profile,
        outline: &Outline,
        recorded: Option<&str>,
        assumptions: &mut Vec<String>,
    ) -> Result<Situation> {
        let named = match &self.model {
            Some(name) => Some(find_model(name)?.context as f64),
            None => None,
        };
        let mut situation = Situation { now: now(), ..Situation::default() };
        let ratio = match &profile.policy.family {
            Family::Ratio(ratio) => ratio,
            Family::Rent(_) => {
                self.add_cache(&mut situation, outline, recorded, assumptions)?;
                return Ok(situation);
            }
            Family::Watermark(_) | Family::KeepLast(_) => return Ok(situation),
        };
        let own = match (named, recorded) {
            (None, Some(name)) => catalogue()?.find(name).map(|model| model.context as f64),
            _ => None,
        };
        let hints = WindowHints { model: named.or(own), provider: None, agent: None };
        let (window, source) = match (self.window, hints.resolve(profile.window)) {
            (Some(window), _) => (window, "as named by --window"),
            (None, (window, WindowSource::Default)) => {
                (window, "assumed, since neither --window nor --model names it")
            }
            (None, (window, _)) if named.is_some() => (window, "of the model named by --model"),
            (None, (window, _)) => (window, "of the model that the session names"),
        };
        situation.window = Some(window);
        assumptions.push(format!("a window of {window} tokens, {source}"));
        if ratio.mode == RatioMode::CacheTtl {
            let last = last_time(outline);
            situation.last_request = Some(last.unwrap_or(situation.now - ratio.ttl_ms));
            assumptions.push(match last {
                Some(_) => "the last request at the time of the newest message".to_owned(),
                None => "a cache that has gone cold, since the session holds no times".to_owned(),
            });
        }
        Ok(situation)
    }

    /// What the model's cache is worth, and whether it is still warm.
    fn add_cache(
        &self,
        situation: &mut Situation,
        outline: &Outline,
        recorded: Option<&str>,
        assumptions: &mut Vec<String>,
    ) -> Result<()> {
        let (name, source) = match (&self.model, recorded) {
            (Some(name), _) => (Some(name.as_str()), "of the model named by --model"),
            (None, recorded) => (recorded, "of the model that the session names"),
        };
        let catalogue = catalogue()?;
        let model = name.and_then(|name| catalogue.find(name));
        let cache = model.and_then(|model| Cache::of(model, &Lifetime::of(outline.model_calls())));
        situation.cache = cache.unwrap_or_default();
        situation.window = self.window.or(model.map(|model| model.context as f64));
        let used = outline.model_calls().last().map(|call| call.usage.context());
        situation.input_tokens = used.and_then(|tokens| u64::try_from(tokens).ok());
        let Cache { read, write, .. } = situation.cache;
        let source = if cache.is_some() { source } else { "assumed, since the model's prices are not known" };
        assumptions.push(if situation.cache.exists() {
            let (read, write) = (share(read), share(write));
            format!("a cache that reads at {read} % and writes at {write} % of the price of input, {source}")
        } else {
            format!("a provider without a cache, {source}")
        });
        situation.last_request = last_time(outline);
        assumptions.push(match situation.last_request {
            Some(_) => "the last request at the time of the newest message".to_owned(),
            None => "a cache that is still warm, since the session holds no times".to_owned(),
        });
        Ok(())
    }
}

/// What is remembered of a session that only its log knows: nothing was cut, and the reports teach how many characters
/// a token has.
pub(crate) fn memory(outline: &Outline) -> Memory {
    Memory::new(Calibration::of(&outline.timeline()))
}

/// The time of the newest message that has one.
fn last_time(outline: &Outline) -> Option<i64> {
    outline.messages().rev().find_map(|message| outline.time(message)).filter(|&time| time > 0)
}

/// A share in percent, without a fraction that only rounding made.
fn share(share: f64) -> f64 {
    (share * 10_000.0).round() / 100.0
}
