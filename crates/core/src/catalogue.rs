//! Models: their limits and prices.
//!
//! The crate contains a dated table. A user's own file of the same shape overrides it, model by model. Names
//! are found as agents write them: with or without the provider in front.

use serde::{Deserialize, Serialize};

use crate::limits::Limits;

/// US dollars per million tokens; none where the price is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that is not read from a cache.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the cache.
    pub cache_read: Option<f64>,
    /// Input written to the cache.
    pub cache_write: Option<f64>,
    /// Input written to a cache that lives an hour.
    pub cache_write_1h: Option<f64>,
}

/// One model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelInfo {
    /// The provider's name for it.
    pub id: String,
    /// Who serves it.
    pub provider: String,
    /// Other names for it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The whole window, in tokens.
    pub context: i64,
    /// A separate limit for the input.
    pub input: Option<i64>,
    /// The longest response.
    pub output: Option<i64>,
    /// What it costs.
    pub price: Option<Price>,
    /// How long the provider keeps a cached prefix, in seconds.
    pub cache_ttl: Option<u64>,
}

impl ModelInfo {
    /// The model's limits.
    pub fn limits(&self) -> Limits {
        Limits { context: self.context, input: self.input, output: self.output }
    }

    fn is_called(&self, name: &str) -> bool {
        self.id == name || self.aliases.iter().any(|alias| alias == name)
    }
}

/// A table of models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The day on which the facts were collected, as `YYYY-MM-DD`.
    #[serde(default)]
    pub date: String,
    /// The models.
    #[serde(default, rename = "model")]
    pub models: Vec<ModelInfo>,
}

/// Why a catalogue could not be read.
#[derive(Debug, thiserror::Error)]
#[error("model catalogue {origin} is not valid: {source}")]
pub struct CatalogueError {
    /// Where the text came from.
    pub origin: String,
    /// What is wrong, with line and column.
    #[source]
    pub source: Box<toml::de::Error>,
}

impl Catalogue {
    /// The table that comes with the crate.
    ///
    /// ```
    /// let catalogue = secateur::Catalogue::builtin();
    /// let model = catalogue.find("anthropic/claude-sonnet-4-5").expect("a well-known model");
    /// assert_eq!(model.context, 200_000);
    /// ```
    pub fn builtin() -> Self {
        // A unit test parses the file, so this never falls back to an empty table.
        Self::parse(include_str!("../data/models.toml"), "(built in)").unwrap_or_default()
    }

    /// Reads a table; `origin` is only used to say where an error is.
    pub fn parse(text: &str, origin: &str) -> Result<Self, CatalogueError> {
        let fail = |source| CatalogueError { origin: origin.to_owned(), source: Box::new(source) };
        toml::from_str(text).map_err(fail)
    }

    /// Overrides this table with another one: its models replace those of the same id and provider.
    #[must_use]
    pub fn overlay(mut self, other: Catalogue) -> Self {
        let replaced = |model: &ModelInfo| {
            other.models.iter().any(|new| new.id == model.id && new.provider == model.provider)
        };
        self.models.retain(|model| !replaced(model));
        // Newer entries first, so that their aliases win as well.
        self.models.splice(0..0, other.models);
        self.date = self.date.max(other.date);
        self
    }

    /// The model of this name: whole, or after as many leading `provider/` parts as it takes.
    pub fn find(&self, name: &str) -> Option<&ModelInfo> {
        let mut rest = name;
        loop {
            if let Some(model) = self.models.iter().find(|model| model.is_called(rest)) {
                return Some(model);
            }
            (_, rest) = rest.split_once('/')?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_table_is_valid_and_sane() {
        let text = include_str!("../data/models.toml");
        let catalogue = Catalogue::parse(text, "models.toml").unwrap();
        assert!(catalogue.models.len() >= 40);
        let mut names = std::collections::HashSet::new();
        for model in &catalogue.models {
            for name in model.aliases.iter().chain([&model.id]) {
                assert!(names.insert(name.clone()), "{name} is there twice");
            }
            assert!(
                model.context > 0 && model.output.is_none_or(|output| output <= model.context),
                "{}",
                model.id
            );
            if let Some(price) = model.price {
                assert!(
                    price.input > 0.0 && price.cache_read.is_none_or(|read| read <= price.input),
                    "{}",
                    model.id
                );
            }
        }
    }

    #[test]
    fn a_users_table_wins() {
        let own = r#"
            [[model]]
            id = "claude-sonnet-4-5"
            provider = "anthropic"
            context = 1000000
        "#;
        let catalogue = Catalogue::builtin().overlay(Catalogue::parse(own, "own.toml").unwrap());
        assert_eq!(catalogue.find("claude-sonnet-4-5").map(|model| model.context), Some(1_000_000));
    }

    #[test]
    fn an_error_names_the_file_and_the_key() {
        let error = Catalogue::parse("[[model]]\nid = \"x\"\nwindow = 3\n", "own.toml").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("own.toml") && text.contains("window"), "{text}");
    }
}
