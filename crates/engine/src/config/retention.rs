//! The `[retention]` table: ages and sizes as people write them.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Value;

use super::error::ConfigError;
use super::values::LayeredValues;
use crate::retention::{LEAST_AGE, RetentionLimits};

/// When sessions are deleted. Without a limit they never are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Retention")]
pub(super) struct RetentionConfig {
    /// Sessions that were not used for this long are deleted, such as 30d, 12h or 8w; at least 2h.
    pub age: Option<String>,
    /// While the store is larger than this, the least recently used sessions are deleted, such as 10GB or 500MB.
    pub size: Option<String>,
    /// While the messages of a tenant, compressed, are larger than this, its least recently used sessions are deleted.
    pub tenant_size: Option<String>,
}

const AGES: [(&str, u64); 4] = [("m", 60), ("h", 3_600), ("d", 86_400), ("w", 7 * 86_400)];

const SIZES: [(&str, u64); 6] = [
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Reads and checks the table.
pub(super) fn limits(values: &LayeredValues) -> Result<RetentionLimits, ConfigError> {
    let Some(value) = values.get("retention") else { return Ok(RetentionLimits::default()) };
    let RetentionConfig { age, size, tenant_size } = values.read("retention", value)?;
    let refuse = |key: &str, text: &String, allowed: &str| {
        values.refuse(&format!("retention.{key}"), Some(&Value::String(text.clone())), allowed)
    };
    let read_age = |text: &String| {
        let age = number(text, &AGES).map(Duration::from_secs).filter(|age| *age >= LEAST_AGE);
        age.ok_or_else(|| {
            refuse("age", text, "expected an age such as \"30d\", \"12h\" or \"8w\", at least \"2h\"")
        })
    };
    let read_size = |key: &str, text: &String| {
        let size = number(text, &SIZES).filter(|size| *size > 0);
        size.ok_or_else(|| refuse(key, text, "expected a size such as \"10GB\", \"500MB\" or \"2GiB\""))
    };
    Ok(RetentionLimits {
        age: age.as_ref().map(read_age).transpose()?,
        size: size.as_ref().map(|size| read_size("size", size)).transpose()?,
        tenant_size: tenant_size.as_ref().map(|size| read_size("tenant_size", size)).transpose()?,
    })
}

/// A whole number with one of these units.
fn number(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RetentionLimits, String> {
        let mut values = LayeredValues::default();
        values.lay(&text.parse().unwrap(), "file");
        limits(&values).map_err(|error| error.to_string())
    }

    #[test]
    fn ages_and_sizes_are_read() {
        let hours = |hours: u64| Some(Duration::from_secs(hours * 3_600));
        for (text, age) in [("30d", 30 * 24), ("2h", 2), (" 8 w ", 8 * 7 * 24), ("120m", 2)] {
            assert_eq!(read(&format!("retention.age = {text:?}")).unwrap().age, hours(age), "{text}");
        }
        for (text, size) in [("10GB", 10_000_000_000), ("500 MB", 500_000_000), ("2GiB", 2 << 30)] {
            assert_eq!(read(&format!("retention.size = {text:?}")).unwrap().size, Some(size), "{text}");
        }
        assert_eq!(read("retention.tenant_size = '1GB'").unwrap().tenant_size, Some(1_000_000_000));
        assert!(read("").unwrap().is_off() && read("[retention]").unwrap().is_off());
    }

    #[test]
    fn what_is_neither_is_refused_with_what_is_allowed() {
        for text in ["", "30", "d", "-1d", "1.5d", "30 days", "1h", "99999999999999999999w", "1y"] {
            let error = read(&format!("retention.age = {text:?}")).unwrap_err();
            assert!(error.contains("retention.age") && error.contains("\"30d\""), "{text}: {error}");
        }
        for text in ["", "10", "GB", "0GB", "10gb", "1.5GB", "99999999999TB"] {
            let error = read(&format!("retention.size = {text:?}")).unwrap_err();
            assert!(error.contains("retention.size") && error.contains("\"10GB\""), "{text}: {error}");
        }
        assert!(read("retention.age = 30").unwrap_err().contains("retention.age"));
        assert!(read("retention.years = 3").unwrap_err().contains("retention.years"));
    }
}
