//! The pages that come with the crate.

macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every page.
        pub(super) const PAGES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../profiles/", $name, ".toml")))),*];
    };
}

pages![
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
    "openclaw@2026-09",
    "opencode",
    "opencode@2026-01",
    "opencode@2026-08",
    "qwery",
    "qwery@2026-02",
    "qwery@2026-04",
];
