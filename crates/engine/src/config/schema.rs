//! The JSON Schema of a configuration file, for editors and for those who write one by hand.
//!
//! It is made from the types that read the file, so it cannot fall behind them. Keys of a profile's tables are never
//! required: a configuration says only what differs from the profile.

mod descriptions;
mod shape;

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use secateur::{
    Budget, CompactionSettings, KeepLast, Lasting, OverflowRule, PivotRule, Ratio, Rent, Watermark,
    WindowOrder,
};
use serde::Deserialize;
use serde_json::Value;

use super::section::{RedactionConfig, ServeConfig};
use crate::hooks::HookConfig;
use crate::provider::Endpoint;
use descriptions::describe;
use shape::shape;

/// What the keys of the table that is changed most are for.
const COMPACTION: [(&str, &str); 21] = [
    ("auto", "Whether overflow is looked for and acted on without being asked."),
    ("prune", "Whether old tool results are pruned."),
    ("prune_at", "When they are."),
    ("order", "What is done first at overflow."),
    ("marker", "What a model is sent for the marker. Not in a project's file."),
    ("marker_at", "When the marker is written."),
    ("resume", "The message that lets the work go on after a compaction. Not in a project's file."),
    ("resume_when", "When that message is written."),
    ("replay", "Whether the user message that overflowed is said again behind the summary."),
    ("tail", "Recent history that stays verbatim."),
    (
        "threshold",
        "The most that is usable, if that is less than the model's limits leave: tokens or a share.",
    ),
    ("summary", "The longest summary: tokens or a share."),
    ("low_water", "The most that may be filled after a compaction: tokens or a share."),
    ("least_gain", "How much an automatic compaction must save to count as progress: tokens or a share."),
    ("background", "From here on a summary is made in the background: tokens or a share."),
    ("attempts", "How often a model is asked for one summary."),
    ("breaker", "After so many failures in a row the model is not asked any more."),
    ("cooldown_ms", "How long that lasts, in milliseconds."),
    ("fallback", "What happens when no model gives a summary."),
    ("caps", "The longest results that are let in, by patterns of tool names: tokens or a share."),
    ("models", "Other values for some models, by patterns of their names."),
];

/// A file with the configuration of Secateur.
#[derive(JsonSchema)]
#[schemars(title = "Secateur", deny_unknown_fields, rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used; the values are read section by section")]
struct ConfigFile {
    /// Where sessions are kept: a path, sqlite:PATH or postgres://…. Not in a project's file.
    store: Option<String>,
    /// The profile of new sessions: a name, or the path of a page that ends in .toml.
    profile: Option<String>,
    /// Paths of further pages of profiles, relative to this file.
    profiles: Option<Vec<String>>,
    /// The model that writes summaries; without one, or with false, summaries are digests. Not in a project's file.
    #[schemars(schema_with = "summariser")]
    summariser: Option<Endpoint>,
    /// Programs and endpoints that are asked before and after pruning and compaction. Not in a project's file.
    hooks: Option<Vec<HookConfig>>,
    /// What is taken out of the conversation besides credentials. Not in a project's file.
    redaction: Option<RedactionConfig>,
    /// The proxy: where it listens and who is behind it. Not in a project's file.
    serve: Option<ServeConfig>,
    /// When and how a session compacts.
    #[schemars(schema_with = "compaction")]
    compaction: Option<CompactionSettings>,
    /// What is left in the place of what is pruned.
    #[schemars(schema_with = "shape::<PruneTable>")]
    prune: Option<PruneTable>,
    /// Pruning by protecting the newest tool output, for profiles of this family.
    #[schemars(schema_with = "shape::<Watermark>")]
    watermark: Option<Watermark>,
    /// Pruning by how full the window is, for profiles of this family.
    #[schemars(schema_with = "shape::<Ratio>")]
    ratio: Option<Ratio>,
    /// Pruning all but the newest tool uses, for profiles of this family.
    #[schemars(schema_with = "shape::<KeepLast>")]
    keep_last: Option<KeepLast>,
    /// Letting results pay rent until cutting them pays, for profiles of this family.
    #[schemars(schema_with = "shape::<Rent>")]
    rent: Option<Rent>,
    /// When a conversation overflows.
    #[schemars(schema_with = "shape::<OverflowRule>")]
    overflow: Option<OverflowRule>,
    /// Which messages are visible after a compaction.
    #[schemars(schema_with = "shape::<PivotRule>")]
    pivot: Option<PivotRule>,
    /// Who is believed about the window's size.
    #[schemars(schema_with = "shape::<WindowTable>")]
    window: Option<WindowTable>,
    /// The most bytes and media of a request.
    #[schemars(schema_with = "shape::<Budget>")]
    budget: Option<Budget>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only its shape is used")]
struct PruneTable {
    lasting: Lasting,
    placeholder: String,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only its shape is used")]
struct WindowTable {
    order: WindowOrder,
}

/// The JSON Schema of a configuration file.
///
/// ```
/// let schema = secateur_engine::config::schema();
/// assert!(schema["properties"]["compaction"]["properties"]["threshold"].is_object());
/// ```
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(ConfigFile);
    schema.remove("required");
    RecursiveTransform(tidy).transform(&mut schema);
    let mut schema = schema.to_value();
    describe("", &mut schema);
    schema
}

/// Takes out what is of no use to an editor: nulls, which TOML does not have, and examples in Rust.
fn tidy(schema: &mut Schema) {
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    }
}

fn summariser(generator: &mut SchemaGenerator) -> Schema {
    let endpoint = generator.subschema_for::<Endpoint>();
    json_schema!({ "anyOf": [endpoint, { "const": false }] })
}

fn compaction(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = shape::<CompactionSettings>(generator);
    for (key, description) in COMPACTION {
        if let Some(Value::Object(key)) = schema.pointer_mut(&format!("/properties/{key}")) {
            key.insert("description".to_owned(), Value::from(description));
        }
    }
    // Caps and need decide about these two; a profile cannot list them.
    if let Some(Value::Array(occasions)) = schema.pointer_mut("/properties/prune_at/items/enum") {
        occasions.retain(|occasion| occasion != "arrival" && occasion != "emergency");
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_compaction_is_described_and_no_other() {
        let schema = schema();
        let keys = schema["properties"]["compaction"]["properties"].as_object().unwrap();
        assert_eq!(keys.len(), COMPACTION.len());
        assert!(schema.get("required").is_none(), "a file may say nothing at all");
        for (key, value) in keys {
            assert!(value["description"].is_string(), "{key}");
        }
    }
}
