//! Models: their limits and prices.
//!
//! The crate contains a dated table. A user's own file of the same shape overrides it, model by model. Names
//! are found as agents write them: with or without the provider in front.

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::price::{Price, PriceBand, PriceList};

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
    /// What it costs if the prompt is longer than a limit.
    #[serde(default)]
    pub bands: Vec<PriceBand>,
    /// How long the provider keeps a cached prefix, in seconds.
    pub cache_ttl: Option<u64>,
    /// Whether its signed thinking is valid only behind the very messages that it was made behind; none if its name tells.
    pub binds_thinking: Option<bool>,
    /// Whether the user set the window, so that nothing makes it wider.
    #[serde(skip)]
    pub has_fixed_window: bool,
}

impl ModelInfo {
    /// The model's limits.
    pub fn limits(&self) -> Limits {
        Limits { context: self.context, input: self.input, output: self.output }
    }

    /// What it costs by the length of the prompt; none if that is unknown.
    pub fn prices(&self) -> Option<PriceList> {
        self.price.map(|base| PriceList { base, bands: self.bands.clone() })
    }

    /// What a token of its output costs, where plain input costs one.
    pub fn output_price(&self) -> Option<f64> {
        self.price.filter(|price| price.input > 0.0).map(|price| price.output / price.input)
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

    /// Sets the window of a model by one of its names. The rest of what is known about it stays; a model that is not in the
    /// table is added.
    ///
    /// ```
    /// let catalogue = secateur::Catalogue::builtin().with_window("my-model", 32_000);
    /// assert_eq!(catalogue.find("provider/my-model").map(|model| model.context), Some(32_000));
    /// ```
    #[must_use]
    pub fn with_window(mut self, name: &str, context: i64) -> Self {
        let unknown = || ModelInfo {
            id: name.to_owned(),
            provider: String::new(),
            aliases: Vec::new(),
            context,
            input: None,
            output: None,
            price: None,
            bands: Vec::new(),
            cache_ttl: None,
            binds_thinking: None,
            has_fixed_window: true,
        };
        let known = self.find(name).cloned().unwrap_or_else(unknown);
        let aliases = known.aliases.iter().chain([&known.id]).filter(|alias| *alias != name).cloned();
        let model = ModelInfo {
            id: name.to_owned(),
            aliases: aliases.collect(),
            context,
            // The table's input limit belongs to the table's window.
            input: None,
            output: known.output.map(|output| output.min(context)),
            has_fixed_window: true,
            ..known
        };
        self.models.insert(0, model);
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

    /// Whether a model binds its signed thinking to everything that was sent before it. The table decides; where it does
    /// not say, the version in the name does, so that a model that is newer than the table is treated with care.
    ///
    /// ```
    /// let catalogue = secateur::Catalogue::builtin();
    /// assert!(catalogue.binds_thinking("claude-opus-5-5") && catalogue.binds_thinking("claude-new-6"));
    /// assert!(!catalogue.binds_thinking("claude-opus-5") && !catalogue.binds_thinking("gpt-6"));
    /// ```
    pub fn binds_thinking(&self, name: &str) -> bool {
        let known = self.find(name);
        known.and_then(|model| model.binds_thinking).unwrap_or_else(|| {
            let id = known.map_or(name, |model| model.id.as_str());
            claude_version(id).is_some_and(|version| version >= FIRST_BINDING_VERSION)
        })
    }
}

/// The first version of Claude that binds its thinking.
const FIRST_BINDING_VERSION: (u32, u32) = (5, 1);

/// The version in the name of a Claude model; none if it is not one, or has no version in its name.
///
/// ```
/// use secateur::claude_version;
///
/// assert_eq!(claude_version("anthropic/claude-opus-5.5"), Some((5, 5)));
/// assert_eq!(claude_version("claude-opus-4-20250514"), Some((4, 0)));
/// assert_eq!(claude_version("gpt-6"), None);
/// ```
pub fn claude_version(name: &str) -> Option<(u32, u32)> {
    let (_, rest) = name.rsplit_once("claude-")?;
    // Longer numbers are dates.
    let number = |word: &str| word.parse().ok().filter(|_| word.len() <= 2);
    let mut words = rest.split(['-', '.', '@', ':', '[']).skip_while(|word| number(word).is_none());
    let major = words.next().and_then(number)?;
    Some((major, words.next().and_then(number).unwrap_or(0)))
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
                let dearer = model.bands.iter().all(|band| band.price.input > price.input);
                let is_sorted = model.bands.is_sorted_by_key(|band| band.above);
                assert!(dearer && is_sorted, "{}", model.id);
            } else {
                assert!(model.bands.is_empty(), "{}", model.id);
            }
        }
    }

    #[test]
    fn the_version_in_a_name_tells_whether_thinking_is_bound() {
        let versions = [
            ("claude-opus-5-5", Some((5, 5))),
            ("claude-opus-5.5", Some((5, 5))),
            ("us.anthropic.claude-fable-5-1-20260815-v1:0", Some((5, 1))),
            ("anthropic/claude-sonnet-5-5@20260901", Some((5, 5))),
            ("claude-sonnet-5-20260301", Some((5, 0))),
            ("claude-3-5-haiku-20241022", Some((3, 5))),
            ("claude-opus-6", Some((6, 0))),
            ("claude-sonnet-5-5[1m]", Some((5, 5))),
            ("anthropic.claude-sonnet-4-6-v1:0", Some((4, 6))),
            ("claude-opus-4-20250514", Some((4, 0))),
            ("claude-sonnet-4-5@20250929", Some((4, 5))),
            ("claude-instant", None),
            ("gpt-5.6", None),
        ];
        for (name, version) in versions {
            assert_eq!(claude_version(name), version, "{name}");
            let binds = version.is_some_and(|version| version >= (5, 1));
            assert_eq!(Catalogue::builtin().binds_thinking(name), binds, "{name}");
        }
    }

    #[test]
    fn a_users_table_decides_whether_thinking_is_bound() {
        let own = |id: &str, binds: bool| {
            let text = format!(
                "[[model]]\nid = \"{id}\"\nprovider = \"own\"\ncontext = 9\nbinds_thinking = {binds}\n"
            );
            Catalogue::builtin().overlay(Catalogue::parse(&text, "own.toml").unwrap())
        };
        assert!(!own("claude-opus-5-5", false).binds_thinking("claude-opus-5-5"));
        assert!(own("house-model", true).binds_thinking("gateway/house-model"));
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
