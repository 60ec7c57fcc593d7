//! Price sheets: what a provider charges for a token, and how long its cache lives.
//!
//! All prices are relative to plain input, so that sessions of expensive and cheap models can be added up. Which sheet a
//! recorded session was billed by follows from its usage.

use secateur::Cache;
use serde::{Deserialize, Serialize};

use crate::trace::Trace;

/// A price sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceSheet {
    /// Its name.
    pub name: String,
    /// Whose prices these are.
    pub about: String,
    /// What the cache charges and how long it keeps.
    pub cache: Cache,
    /// What a token of output costs.
    pub output: f64,
}

/// All sheets by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceSheets {
    #[serde(rename = "sheet")]
    sheets: Vec<PriceSheet>,
}

/// Why a sheet could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PriceSheetError {
    /// There is none of that name.
    #[error("there is no price sheet `{name}`; known ones are {known}, and a file of your own can be named")]
    Unknown {
        /// The name.
        name: String,
        /// Those there are.
        known: String,
    },
    /// A file of sheets is wrong.
    #[error("price sheets of {origin} are not valid: {source}")]
    Syntax {
        /// Where the text came from.
        origin: String,
        /// What is wrong, with line and column.
        #[source]
        source: Box<toml::de::Error>,
    },
}

impl PriceSheets {
    /// Those that come with the crate.
    ///
    /// ```
    /// let sheets = secateur_lab::PriceSheets::builtin();
    /// assert_eq!(sheets.get("anthropic-5m")?.cache.write, 1.25);
    /// # Ok::<(), secateur_lab::PriceSheetError>(())
    /// ```
    pub fn builtin() -> Self {
        // A unit test reads the file.
        Self::parse(include_str!("../data/sheets.toml"), "(built in)").unwrap_or(Self { sheets: Vec::new() })
    }

    /// Reads sheets; `origin` is only used to say where an error is.
    pub fn parse(text: &str, origin: &str) -> Result<Self, PriceSheetError> {
        let fail = |source| PriceSheetError::Syntax { origin: origin.to_owned(), source: Box::new(source) };
        toml::from_str(text).map_err(fail)
    }

    /// The sheet of this name.
    pub fn get(&self, name: &str) -> Result<&PriceSheet, PriceSheetError> {
        let unknown = || PriceSheetError::Unknown {
            name: name.to_owned(),
            known: self.sheets.iter().map(|sheet| &*sheet.name).collect::<Vec<_>>().join(", "),
        };
        self.sheets.iter().find(|sheet| sheet.name == name).ok_or_else(unknown)
    }

    /// All sheets.
    pub fn iter(&self) -> impl Iterator<Item = &PriceSheet> {
        self.sheets.iter()
    }

    /// The sheet that a recorded session was billed by, as far as its usage tells.
    pub fn billed(&self, trace: &Trace) -> Result<&PriceSheet, PriceSheetError> {
        let usages = || trace.calls.iter().filter_map(|call| call.usage);
        let written: i64 = usages().map(|usage| usage.cache_write).sum();
        let hour: i64 = usages().map(|usage| usage.cache_write_1h).sum();
        let model = trace.model.as_deref().unwrap_or_default().to_ascii_lowercase();
        self.get(if hour.saturating_mul(2) > written {
            "anthropic-1h"
        } else if written > 0 || model.contains("claude") {
            "anthropic-5m"
        } else if model.contains("deepseek") {
            "deepseek"
        } else if model.contains("gemini") {
            "gemini"
        } else {
            "openai"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_sheets_are_valid() {
        let sheets = PriceSheets::parse(include_str!("../data/sheets.toml"), "sheets.toml").unwrap();
        assert!(sheets.iter().count() >= 6);
        for sheet in sheets.iter() {
            assert!(sheet.cache.read <= sheet.cache.write && sheet.cache.read > 0.0, "{}", sheet.name);
        }
        let error = sheets.get("unknown").unwrap_err().to_string();
        assert!(error.contains("unknown") && error.contains("deepseek"), "{error}");
    }
}
