//! The policies that sessions are planned with.

use std::sync::LazyLock;

use secateur::{
    Measures, PLACEHOLDER, Profile, Profiles, Situation, SurrogatePairs, Trim, TrimMeasure, Unit,
};

/// The time of every cut.
pub const NOW: i64 = 1_767_225_600_000;

/// What a soft trim of the small profiles keeps.
const TRIM: Trim = Trim { max: 16, head: 6, tail: 5, pairs: SurrogatePairs::Whole };

/// Pages over the builtin ones, with limits that a few hundred bytes exceed.
pub const SMALL: &[&str] = &[
    "name = 'small-opencode'\nextends = 'opencode'\n[watermark]\nprotect = 6\nminimum = 2",
    "name = 'small-openagentic'\nextends = 'openagentic'\n[watermark]\nprotect = 6\nminimum = 2",
    "name = 'small-qwery'\nextends = 'qwery'\n[watermark]\nprotect = 6\nminimum = 2",
    "name = 'small-qwery-2026-02'\nextends = 'qwery@2026-02'\n[watermark]\nprotect = 6\nminimum = 2",
    "name = 'small-openclaw-2026-01'\nextends = 'openclaw@2026-01'\n[ratio]\nkeep_last_assistants = 1
     min_prunable = 1\ntrim = { max = 16, head = 6, tail = 5 }",
    "name = 'small-openclaw-aggressive'\nextends = 'openclaw@2026-01-aggressive'\n[ratio]\nkeep_last_assistants = 1",
    "name = 'small-openclaw'\nextends = 'openclaw'\n[ratio]\nkeep_last_assistants = 1
     min_prunable = 1\ntrim = { max = 16, head = 6, tail = 5 }",
    "name = 'small-anthropic'\nextends = 'anthropic'\n[keep-last]\nthreshold = 8\nkeep = 1",
    "name = 'small-inputs'\nextends = 'anthropic'\n[keep-last]\ntrigger = 'tool-uses'\nthreshold = 1\nkeep = 1
     clear_inputs = true",
    "name = 'small-budget'\nextends = 'opencode'\n[budget]\nbytes = 48\nmedia = 1",
];

/// The undated builtin profiles and every small one.
pub fn all() -> &'static [Profile] {
    static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| {
        let mut profiles = Profiles::builtin();
        for page in SMALL {
            profiles.add("small", page).unwrap_or_else(|error| panic!("{error}"));
        }
        let get = |name: &str| profiles.get(name).unwrap_or_else(|error| panic!("{error}"));
        profiles.names().filter(|name| !name.contains('@')).map(get).collect()
    });
    &ALL
}

/// All measures at once, so that one outline serves every policy.
pub fn measures() -> &'static Measures {
    static MEASURES: LazyLock<Measures> = LazyLock::new(|| Measures {
        js_json: true,
        py_json: true,
        weighted: true,
        wide: true,
        source: true,
        excerpt: true,
        tokens: None,
        trimmed: Some(TrimMeasure { trim: TRIM, unit: Unit::Weighted }),
        placeholder: Some(PLACEHOLDER.into()),
    });
    &MEASURES
}

/// A model with a window of a few words, whose cache went cold an hour ago.
pub fn situation() -> Situation {
    Situation { now: NOW, last_request: Some(NOW - 3_600_000), window: Some(32.0), ..Situation::default() }
}
