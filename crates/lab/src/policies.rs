//! The policies of a study: every profile, and what others do, as profiles of their own.
//!
//! Baselines are profiles like any other, so that they are planned by the same kernel and replayed by the same rule.

use secateur::{Profile, ProfileError, Profiles};

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../data/baselines/", $name, ".toml")))),*]
    };
}

/// File and text of every baseline.
const BASELINES: &[(&str, &str)] = pages![
    "anthropic-20k",
    "cap-4k",
    "cap-8k",
    "cap-16k",
    "cap-32k",
    "dedup-now",
    "gemini-cli",
    "langchain",
    "none",
    "rolling-10",
    "staircase-8-16",
    "supersede-now",
];

/// The policies that a study compares if none is named.
pub const DEFAULT_POLICIES: [&str; 20] = [
    "none",
    "opencode",
    "openclaw@2026-01",
    "openclaw",
    "openagentic",
    "qwery",
    "anthropic",
    "anthropic-20k",
    "gemini-cli",
    "langchain",
    "rolling-10",
    "staircase-8-16",
    "cap-4k",
    "cap-8k",
    "cap-16k",
    "dedup-now",
    "supersede-now",
    "careful",
    "balanced",
    "frugal",
];

/// All profiles that come with Secateur, and the baselines.
///
/// ```
/// let profiles = secateur_lab::profiles();
/// assert!(profiles.get("rolling-10").is_ok() && profiles.get("balanced").is_ok());
/// ```
pub fn profiles() -> Profiles {
    let mut profiles = Profiles::builtin();
    for (name, text) in BASELINES {
        // A unit test reads every page, so that none is missing in a build that passed it.
        _ = profiles.add(name, text);
    }
    profiles
}

/// The policy that never cuts.
pub(crate) fn none() -> Result<Profile, ProfileError> {
    profiles().get("none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_can_be_had() {
        let profiles = profiles();
        for (name, _) in BASELINES {
            assert!(profiles.get(name).is_ok(), "{name}");
        }
        for name in DEFAULT_POLICIES {
            assert!(profiles.get(name).is_ok(), "{name}");
        }
        assert!(!none().unwrap().policy.enabled);
    }
}
