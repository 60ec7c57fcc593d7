//! What is known or assumed about the next request of a session.

use anyhow::Result;
use clap::Args;
use secateur::{Family, Mode, Outline, Profile, Situation, WindowHints, WindowSource};

use crate::session::{catalogue, find_model, now};

/// The next request.
#[derive(Debug, Default, Args)]
pub(crate) struct Next {
    /// The model that the next request goes to, e.g. `claude-sonnet-4-5`; names the window.
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The model's window in tokens; goes before `--model`.
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<f64>,
}

impl Next {
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
        let Family::Ratio(ratio) = &profile.policy.family else {
            return Ok(situation);
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
        if ratio.mode == Mode::CacheTtl {
            let last =
                outline.messages().rev().find_map(|message| outline.time(message)).filter(|&time| time > 0);
            situation.last_request = Some(last.unwrap_or(situation.now - ratio.ttl_ms));
            assumptions.push(match last {
                Some(_) => "the last request at the time of the newest message".to_owned(),
                None => "a cache that has gone cold, since the session holds no times".to_owned(),
            });
        }
        Ok(situation)
    }
}
