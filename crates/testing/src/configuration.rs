//! The profile and the model catalogue of tests that run the proxy with the scripted model.

/// The name of the scripted model. No provider has a model of that name.
pub const MODEL: &str = "scripted";

/// The name of the scripted model where it binds its thinking.
pub const BOUND_MODEL: &str = "claude-scripted-9";

/// The profile of tests that compare requests byte by byte: summaries are made when they are needed and not in the
/// background, where a test cannot know when they are ready.
pub const STEADY: &str = "steady";

/// That profile, as TOML.
pub fn steady_profile() -> String {
    format!("name = \"{STEADY}\"\nextends = \"balanced\"\n[compaction]\nbackground = \"100%\"\n")
}

/// A catalogue with the scripted model and its window, under both names, as TOML.
pub fn model_catalogue(window: u64) -> String {
    let model = |id: &str| {
        format!("[[model]]\nid = \"{id}\"\nprovider = \"test\"\ncontext = {window}\noutput = 1000\n")
    };
    [MODEL, BOUND_MODEL].map(model).concat()
}
