//! The profiles in the crate.

macro_rules! profiles {
    ($($name:literal),* $(,)?) => {
        /// The name and the text of every profile.
        pub(super) const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../profiles/", $name, ".toml")))),*];
    };
}

profiles![
    "anthropic",
    "balanced",
    "careful",
    "frugal",
    "openagentic",
    "openagentic@0.1.4",
    "openagentic@2026-01",
    "openclaw",
    "openclaw@2026-01",
    "openclaw@2026-01-aggressive",
    "openclaw@2026-01b",
    "openclaw@2026-01b-aggressive",
    "openclaw@2026-01c",
    "openclaw@2026-06",
    "openclaw@2026-09",
    "opencode",
    "opencode@2026-01",
    "opencode@2026-08",
    "opencode@v2",
    "opencode@v2b",
    "qwery",
    "qwery@2026-02",
    "qwery@2026-04",
];
