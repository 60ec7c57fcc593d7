//! Price sheets: what a provider charges for a token, and how long its cache lives.
//!
//! All prices are relative to plain input, so that sessions of expensive and cheap models can be added up. Which sheet a
//! recorded session was billed by follows from its usage. Every model of the catalogue that has a price makes a sheet,
//! too, so that sessions can be charged as if they were made with it today.

use secateur::{Cache, Catalogue, Lifetime};
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
    /// What longer requests cost.
    #[serde(default)]
    pub bands: Vec<SheetBand>,
    /// Whether the model binds its thinking to everything before it, so that it thinks again after a cut.
    #[serde(default)]
    pub binds_thinking: bool,
}

/// What requests cost that are longer than a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SheetBand {
    /// The limit, in tokens of the request.
    pub above: u64,
    /// What a token costs that is read from the cache.
    pub read: f64,
    /// What a token costs that is written to it.
    pub write: f64,
    /// What a token of output costs.
    pub output: f64,
}

impl PriceSheet {
    /// What a model of the catalogue costs; none if it is not there or has no price.
    ///
    /// ```
    /// use secateur::Catalogue;
    /// use secateur_lab::PriceSheet;
    ///
    /// let sheet = PriceSheet::of_model(&Catalogue::builtin(), "claude-haiku-5-5").expect("it is in the catalogue");
    /// assert!(sheet.binds_thinking);
    /// assert_eq!((sheet.output, sheet.prices(100_001.0).output), (5.0, 25.0));
    /// ```
    pub fn of_model(catalogue: &Catalogue, name: &str) -> Option<Self> {
        let model = catalogue.find(name)?;
        let unit = model.price.filter(|price| price.input > 0.0)?.input;
        let cache = Cache::of(model, &Lifetime::default())?;
        let bands = model.bands.iter().map(|band| {
            let price = band.price;
            let read = if cache.exists() { price.cache_read.unwrap_or(price.input) } else { price.input };
            let write = price.cache_write.unwrap_or(price.input);
            SheetBand {
                above: band.above,
                read: read / unit,
                write: write / unit,
                output: price.output / unit,
            }
        });
        Some(Self {
            name: model.id.clone(),
            about: format!("{} as of {}", model.id, catalogue.date),
            cache,
            output: model.output_price()?,
            bands: bands.collect(),
            binds_thinking: catalogue.binds_thinking(name),
        })
    }

    /// The prices of a request of this many tokens.
    pub fn prices(&self, context: f64) -> SheetBand {
        let Cache { read, write, .. } = self.cache;
        let base = SheetBand { above: 0, read, write, output: self.output };
        let reached = self.bands.iter().filter(|band| context > band.above as f64);
        reached.max_by_key(|band| band.above).copied().unwrap_or(base)
    }

    /// The lengths above which requests get dearer.
    pub fn band_limits(&self) -> Vec<u64> {
        let dearer = self.bands.iter().filter(|band| band.write > self.cache.write);
        dearer.map(|band| band.above).collect()
    }
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
    #[error(
        "there is no price sheet `{name}`; known ones are {known}, the models of the catalogue that have a price, and files of \
         your own (NAME.toml)"
    )]
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
