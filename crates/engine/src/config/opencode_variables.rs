//! OpenCode's own variables, which apply to profiles that reproduce it. They are read as OpenCode reads them: a value
//! that it would ignore is ignored.

use toml::Value;

use super::source::ConfigSource;

/// The system as profiles name it.
const SYSTEM: &str = "OpenCode";

/// OpenCode's variables, and the settings that they change in its profiles.
pub const OPENCODE_VARIABLES: &[(&str, &str)] = &[
    ("OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX", "overflow.output_cap"),
    ("OPENCODE_DISABLE_PRUNE", "compaction.prune"),
];

impl ConfigSource {
    /// OpenCode's variables that are set to something that it takes.
    pub fn opencode(variable: impl Fn(&str) -> Option<String>) -> Vec<Self> {
        let set = OPENCODE_VARIABLES.iter().filter_map(|(name, key)| {
            let text = variable(name)?;
            let value = match *key {
                "overflow.output_cap" => Value::Integer(positive(&text)?),
                _ if is_truthy(&text) => Value::Boolean(false),
                _ => return None,
            };
            Some(Self { system: Some(SYSTEM), ..Self::set(&format!("environment {name}"), key, value) })
        });
        set.collect()
    }
}

/// A whole number above 0 as JavaScript's `Number` reads it.
fn positive(text: &str) -> Option<i64> {
    let text = text.trim();
    let radix = |start: &str, radix| i64::from_str_radix(text.strip_prefix(start)?, radix).ok();
    let whole = radix("0x", 16).or_else(|| radix("0o", 8)).or_else(|| radix("0b", 2));
    let read = || text.parse::<f64>().ok().filter(|number| number.fract() == 0.0 && *number < 9e15);
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
    whole.or_else(|| read().map(|number| number as i64)).filter(|number| *number > 0)
}

/// Whether OpenCode takes a variable for set.
fn is_truthy(text: &str) -> bool {
    text == "1" || text.eq_ignore_ascii_case("true")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn read(profile: &str, name: &str, value: &str) -> Config {
        let variable = |asked: &str| (asked == name).then(|| value.to_owned());
        let mut sources = ConfigSource::opencode(variable);
        sources.push(ConfigSource::named_flag("--profile", "profile", profile));
        Config::read(&sources, &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap()
    }

    #[test]
    fn opencodes_profiles_take_its_variables_and_others_do_not() {
        let cap = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX";
        let profile = read("opencode", cap, "64000");
        assert_eq!(profile.profile().overflow.output_cap, 64_000);
        assert_eq!(
            profile.profile().origin("overflow.output_cap"),
            Some("environment OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX")
        );
        assert!(!read("opencode", "OPENCODE_DISABLE_PRUNE", "TRUE").profile().policy.enabled);
        assert!(read("balanced", "OPENCODE_DISABLE_PRUNE", "1").profile().policy.enabled);
    }

    #[test]
    fn what_opencode_ignores_is_ignored() {
        let cap = |text: &str| {
            let config = read("opencode", "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX", text);
            config.profile().overflow.output_cap
        };
        let usual = cap("");
        for text in ["many", "-1", "0", "1.5", "Infinity", "NaN", "0x"] {
            assert_eq!(cap(text), usual, "{text}");
        }
        assert_eq!((cap(" 6.4e4 "), cap("0xfa00")), (64_000, 64_000));
        for text in ["yes", " 1", "false", ""] {
            let config = read("opencode", "OPENCODE_DISABLE_PRUNE", text);
            assert!(config.profile().policy.enabled, "{text:?}");
        }
    }
}
