//! Profiles: named TOML files with a policy, and when and how to compact.
//!
//! A profile has the family of its policy and its parameters, what counts as overflow, and how a history pivots. The
//! founding systems are profiles like any other; a user's own profile usually `extends` one and changes a few keys.
//! Unknown keys, wrong types and impossible values are errors that name the key, the value and what is allowed.
//!
//! ```
//! use secateur::Profiles;
//!
//! let mut profiles = Profiles::builtin();
//! profiles.add("mine.toml", r#"
//!     name = "mine"
//!     extends = "opencode"
//!     [watermark]
//!     protect = 60000
//! "#)?;
//! let profile = profiles.get("mine")?;
//! assert_eq!(profile.origin("watermark.protect"), Some("mine.toml"));
//! assert_eq!(profile.origin("watermark.minimum"), Some("opencode@2026-01"));
//!
//! profiles.add("wrong.toml", "name = \"wrong\"\nextends = \"mine\"\n[watermark]\nprotekt = 1\n")?;
//! let error = profiles.get("wrong").unwrap_err().to_string();
//! assert!(error.contains("protekt"), "{error}");
//! # Ok::<(), secateur::ProfileError>(())
//! ```

mod builtin;
mod check;
mod error;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

pub use error::ProfileError;

use crate::budget::Budget;
use crate::compaction::CompactionSettings;
use crate::keep_last::KeepLast;
use crate::limits::OverflowRule;
use crate::pivot::PivotRule;
use crate::policy::{Family, Lasting, Policy};
use crate::ratio::Ratio;
use crate::rent::Rent;
use crate::watermark::Watermark;
use crate::window::WindowRule;

/// How many profiles may extend one another in a row.
const LONGEST_CHAIN: usize = 16;

/// A policy, and when and how to compact.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// What it does, in one sentence.
    pub about: String,
    /// The system and version that it reproduces, if it does.
    pub reproduces: Option<Reproduces>,
    /// What to prune.
    pub policy: Policy,
    /// When a context overflows.
    pub overflow: OverflowRule,
    /// Which messages are visible after a compaction.
    pub pivot: PivotRule,
    /// Which place decides about the window's size, and what is assumed if none does.
    pub window: WindowRule,
    /// When and how a session compacts.
    pub compaction: CompactionSettings,
    values: Table,
    origins: BTreeMap<String, String>,
}

/// A system and a version of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reproduces {
    /// The system's name.
    pub system: String,
    /// Its version or date.
    pub version: String,
}

/// A profile as its TOML is written, after inheritance.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ProfileFile {
    name: String,
    about: String,
    reproduces: Option<Reproduces>,
    prune: PruneSettings,
    watermark: Option<Watermark>,
    ratio: Option<Ratio>,
    keep_last: Option<KeepLast>,
    rent: Option<Rent>,
    overflow: OverflowRule,
    pivot: PivotRule,
    #[serde(default)]
    window: WindowRule,
    compaction: CompactionSettings,
    #[serde(default)]
    budget: Budget,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PruneSettings {
    lasting: Lasting,
    placeholder: String,
}

/// Values that override those of a profile, with their origin: a file, a flag, an environment variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The origin of the values.
    pub origin: String,
    /// The values.
    pub values: Table,
}

impl Layer {
    /// A layer of a single value; `key` is a path such as `watermark.protect`.
    pub fn set(origin: &str, key: &str, value: Value) -> Self {
        let mut value = value;
        for part in key.rsplit('.') {
            value = Value::Table(Table::from_iter([(part.to_owned(), value)]));
        }
        let values = if let Value::Table(table) = value { table } else { Table::new() };
        Self { origin: origin.to_owned(), values }
    }
}

/// The known profiles, by name.
#[derive(Clone, Debug)]
pub struct Profiles {
    layers: BTreeMap<String, Layer>,
}

impl Profiles {
    /// The profiles in the crate.
    pub fn builtin() -> Self {
        let mut profiles = Self { layers: BTreeMap::new() };
        for (name, text) in builtin::FILES {
            // A unit test resolves every profile, so none is missing.
            if let Ok(values) = text.parse::<Table>() {
                profiles.layers.insert((*name).to_owned(), Layer { origin: (*name).to_owned(), values });
            }
        }
        profiles
    }

    /// Adds a profile from TOML text with this origin. Returns its name. A profile of the same name is replaced.
    pub fn add(&mut self, origin: &str, text: &str) -> Result<String, ProfileError> {
        let values: Table = text.parse().map_err(|source| ProfileError::syntax(origin, source))?;
        let name = match values.get("name") {
            Some(Value::String(name)) if !name.is_empty() => name.clone(),
            Some(other) => {
                return Err(ProfileError::value(origin, "name", Some(other), "a text that is not empty"));
            }
            None => {
                return Err(ProfileError::value(origin, "name", None, "every profile has a name"));
            }
        };
        self.layers.insert(name.clone(), Layer { origin: origin.to_owned(), values });
        Ok(name)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.layers.keys().map(String::as_str)
    }

    /// The profile of this name.
    pub fn get(&self, name: &str) -> Result<Profile, ProfileError> {
        self.get_with(name, &[])
    }

    /// The profile of this name with further values; later layers override earlier ones.
    pub fn get_with(&self, name: &str, overrides: &[Layer]) -> Result<Profile, ProfileError> {
        let mut chain = self.chain(name)?;
        chain.extend(overrides);
        resolve(&chain)
    }

    /// The profile and those that it extends, the most general one first.
    fn chain(&self, name: &str) -> Result<Vec<&Layer>, ProfileError> {
        let unknown = |name: &str| ProfileError::Unknown {
            name: name.to_owned(),
            known: self.names().collect::<Vec<_>>().join(", "),
        };
        let mut layer = self.layers.get(name).ok_or_else(|| unknown(name))?;
        let mut chain = vec![layer];
        while let Some(parent) = layer.values.get("extends") {
            let origin = &layer.origin;
            let Value::String(parent) = parent else {
                return Err(ProfileError::value(origin, "extends", Some(parent), "the name of a profile"));
            };
            if chain.len() >= LONGEST_CHAIN {
                return Err(ProfileError::Cycle { name: name.to_owned(), parent: parent.clone() });
            }
            layer = self.layers.get(parent).ok_or_else(|| unknown(parent))?;
            chain.push(layer);
        }
        chain.reverse();
        Ok(chain)
    }
}

/// Merges the layers and reads the result.
fn resolve(chain: &[&Layer]) -> Result<Profile, ProfileError> {
    let mut values = Table::new();
    let mut origins = BTreeMap::new();
    for layer in chain {
        overlay(&mut values, &layer.values, "", &layer.origin, &mut origins);
    }
    values.remove("extends");
    origins.remove("extends");
    let file: ProfileFile = serde_path_to_error::deserialize(Value::Table(values.clone()))
        .map_err(|error| ProfileError::from_serde(&error, &values, &origins))?;
    check::profile(&file).map_err(|(key, allowed)| ProfileError::at(&key, &allowed, &values, &origins))?;
    let family = match (file.watermark, file.ratio, file.keep_last, file.rent) {
        (Some(watermark), None, None, None) => Family::Watermark(watermark),
        (None, Some(ratio), None, None) => Family::Ratio(ratio),
        (None, None, Some(keep), None) => Family::KeepLast(keep),
        (None, None, None, Some(rent)) => Family::Rent(rent),
        _ => return Err(ProfileError::Families { name: file.name }),
    };
    let PruneSettings { lasting, placeholder } = file.prune;
    let enabled = file.compaction.prune;
    Ok(Profile {
        name: file.name,
        about: file.about,
        reproduces: file.reproduces,
        policy: Policy { enabled, family, placeholder, lasting, budget: file.budget },
        overflow: OverflowRule { auto: file.compaction.auto, ..file.overflow },
        pivot: file.pivot,
        window: file.window,
        compaction: file.compaction,
        values,
        origins,
    })
}

/// Overrides `base` with `top`, table by table, and notes the origin of each value.
fn overlay(base: &mut Table, top: &Table, path: &str, origin: &str, origins: &mut BTreeMap<String, String>) {
    for (key, value) in top {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if let Value::Table(inner) = value {
            let slot = base.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(below) = slot {
                overlay(below, inner, &path, origin, origins);
                continue;
            }
        }
        base.insert(key.clone(), value.clone());
        origins.insert(path, origin.to_owned());
    }
}

impl Profile {
    /// The origin of the value of a key such as `watermark.protect`.
    pub fn origin(&self, key: &str) -> Option<&str> {
        self.origins.get(key).map(String::as_str)
    }

    /// All effective settings in order of keys: key, value, origin.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &Value, &str)> {
        self.origins
            .iter()
            .filter_map(|(key, origin)| Some((key.as_str(), lookup(&self.values, key)?, origin.as_str())))
    }
}

/// The value at a path of keys.
fn lookup<'a>(values: &'a Table, key: &str) -> Option<&'a Value> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let value = values.get(first)?;
    match rest {
        None => Some(value),
        Some(rest) => lookup(value.as_table()?, rest),
    }
}

#[cfg(test)]
mod tests;
