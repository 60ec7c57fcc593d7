//! The JSON Schema of a configuration file, for editors and for the reference in docs/configuration.md.
//!
//! It is derived from the types that read the file, so the two cannot diverge. No key of a profile's table is
//! required: a configuration contains only what differs from the profile.

mod descriptions;
mod shape;

use std::collections::BTreeMap;

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use secateur::{
    Budget, CompactionSettings, KeepLast, Lasting, OverflowRule, PivotRule, Ratio, Rent, Watermark,
    WindowRule,
};
use serde::Deserialize;
use serde_json::Value;

use super::retention::RetentionConfig;
use super::section::{RedactionConfig, ServeConfig};
use crate::hooks::HookConfig;
use crate::provider::Endpoint;
use descriptions::describe;
use shape::shape;

/// The configuration of Secateur.
#[derive(JsonSchema)]
#[schemars(title = "Secateur", deny_unknown_fields, rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is used; the values are read section by section")]
struct ConfigFile {
    /// The store of sessions: a path, sqlite:PATH or postgres://…. Not allowed in a project's file.
    store: Option<String>,
    /// The profile of new sessions: a name, or the path of a file that ends in .toml.
    profile: Option<String>,
    /// Paths of more profile files, relative to this file.
    profiles: Option<Vec<String>>,
    /// A file of models, relative to this file, that overrides the built-in catalogue. Not allowed in a project's file.
    models: Option<String>,
    /// The windows of models in tokens, by name. They override the catalogue.
    windows: Option<BTreeMap<String, u32>>,
    /// The model that writes summaries; without one, or with false, summaries are digests. Not allowed in a project's
    /// file.
    #[schemars(schema_with = "summariser")]
    summariser: Option<Endpoint>,
    /// Programs and endpoints that are called before and after pruning and compaction. Not allowed in a project's
    /// file.
    hooks: Option<Vec<HookConfig>>,
    /// What is redacted in addition to credentials. Not allowed in a project's file.
    redaction: Option<RedactionConfig>,
    /// When sessions are deleted; without it they never are. Not allowed in a project's file.
    retention: Option<RetentionConfig>,
    /// The proxy: where it listens, and its upstreams. Not allowed in a project's file.
    serve: Option<ServeConfig>,
    /// When and how a session compacts.
    #[schemars(schema_with = "compaction")]
    compaction: Option<CompactionSettings>,
    /// How cuts are recorded, and what replaces cut content.
    #[schemars(schema_with = "shape::<PruneTable>")]
    prune: Option<PruneTable>,
    /// The policy family `watermark`: keeps the newest tool output and cuts older results.
    #[schemars(schema_with = "shape::<Watermark>")]
    watermark: Option<Watermark>,
    /// The policy family `ratio`: trims and clears results depending on how full the window is.
    #[schemars(schema_with = "shape::<Ratio>")]
    ratio: Option<Ratio>,
    /// The policy family `keep-last`: clears all but the newest tool uses.
    #[schemars(schema_with = "shape::<KeepLast>")]
    keep_last: Option<KeepLast>,
    /// The policy family `rent`: cuts results once keeping them costs more than cutting them.
    #[schemars(schema_with = "shape::<Rent>")]
    rent: Option<Rent>,
    /// When a request overflows the window.
    #[schemars(schema_with = "shape::<OverflowRule>")]
    overflow: Option<OverflowRule>,
    /// Which messages are visible after a compaction.
    #[schemars(schema_with = "shape::<PivotRule>")]
    pivot: Option<PivotRule>,
    /// How a model's window is found.
    #[schemars(schema_with = "shape::<WindowRule>")]
    window: Option<WindowRule>,
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

/// Removes what editors do not need: nulls, which TOML does not have, and Rust examples.
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
    // These two depend on caps and need; a profile cannot list them.
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
        let described =
            descriptions::DESCRIPTIONS.iter().filter_map(|(key, _)| key.strip_prefix("compaction."));
        assert_eq!(keys.len(), described.filter(|key| !key.contains('.')).count());
        assert!(schema.get("required").is_none(), "a file may say nothing at all");
        for (key, value) in keys {
            assert!(value["description"].is_string(), "{key}");
        }
    }
}
