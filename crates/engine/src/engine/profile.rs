//! Profiles as sessions use them.

use std::sync::{Arc, PoisonError};

use secateur::{Amount, MarkerAt, PivotStart, Profile, Replay, ResumeWhen};

use super::{Engine, profile_layer};
use crate::error::EngineError;

/// Followed sessions begin a summary in the background at four fifths of the usable window, because the client
/// waits while one is made.
const BACKGROUND: Amount = Amount::Share(8_000);

/// Who keeps the history of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SessionKind {
    /// Secateur: the application appends messages.
    Kept,
    /// The client: it sends its whole history with every request.
    Followed,
}

impl Engine {
    /// The profile of this name as sessions use it.
    pub fn profile(&self, name: &str) -> Result<Profile, EngineError> {
        let mut profile = profile_layer::build(&self.parts.profiles, name, &self.parts.layers)?;
        if self.parts.model.is_none() && !self.parts.uses_client_models {
            // Without a model there is nothing to attempt.
            profile.compaction.attempts = 0;
        }
        Ok(profile)
    }

    /// The profile of this name for sessions of this kind. All of them share one copy.
    pub(crate) fn shared_profile(&self, name: &str, kind: SessionKind) -> Result<Arc<Profile>, EngineError> {
        let mut shared = self.parts.shared_profiles.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), kind);
        if let Some(profile) = shared.get(&key) {
            return Ok(Arc::clone(profile));
        }
        let mut profile = self.profile(name)?;
        if kind == SessionKind::Followed {
            adapt_to_client(&mut profile);
        }
        let profile = Arc::new(profile);
        shared.insert(key, Arc::clone(&profile));
        Ok(profile)
    }
}

/// Adapts a profile to a session that follows a client.
///
/// The client owns resume and replay, so both are disabled. The summary is the first message and has the user's role:
/// the client's messages that follow it may begin with a tool call, which some providers accept only after a user
/// message.
fn adapt_to_client(profile: &mut Profile) {
    let compaction = &mut profile.compaction;
    compaction.background = compaction.background.or(Some(BACKGROUND));
    compaction.resume_when = ResumeWhen::Never;
    compaction.replay = Replay::Never;
    compaction.marker_at = MarkerAt::End;
    profile.pivot.start = PivotStart::Summary;
}
