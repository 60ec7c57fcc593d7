//! Every builtin profile, as it is and with limits that a small conversation exceeds.

use std::sync::LazyLock;

use secateur::{Family, Profile, Profiles, Situation};

/// The time of every cut.
pub(crate) const NOW: i64 = 1_767_225_600_000;

/// Every builtin profile, once as it is and once with limits of a few tokens.
pub(crate) fn all() -> &'static [Profile] {
    static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| {
        let mut profiles = Profiles::builtin();
        let names: Vec<String> = profiles.names().map(str::to_owned).collect();
        for name in &names {
            let family = profiles.get(name).unwrap().policy.family;
            let limits = match family {
                Family::Watermark(_) => "[watermark]\nprotect = 20\nminimum = 5",
                Family::Ratio(_) => {
                    "[ratio]\nkeep_last_assistants = 1\nmin_prunable = 1\ntrim = { max = 60, head = 20, tail = 15 }"
                }
                Family::KeepLast(_) => "[keep-last]\nthreshold = 20\nkeep = 1",
                Family::Rent(_) => {
                    "[rent]\nleast_chars = 20\nleast_tokens = 1\nmargin = 0.0\nplaceholder_tokens = 1\n\
                     inputs = { age = 0, least_chars = 20 }\ncap = { chars = 60, head = 0.6, reads = true }\n\
                     ages = { repeated = 0, covered = 0, edited = 0, read = 1, agent = 1, other = 1 }"
                }
            };
            let page =
                format!("name = 'small-{name}'\nextends = '{name}'\n[compaction]\nprune = true\n{limits}");
            profiles.add("small", &page).unwrap();
        }
        profiles.names().map(|name| profiles.get(name).unwrap()).collect()
    });
    &ALL
}

/// A model with a window of next to nothing, whose cache went cold an hour ago.
pub(crate) fn situation() -> Situation {
    Situation { now: NOW, last_request: Some(NOW - 3_600_000), window: Some(64.0), ..Situation::default() }
}
