//! The profile that a command works with, and the values set over it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use secateur::{Family, Layer, Profile, Profiles};
use secateur_engine::DEFAULT_PROFILE;
use toml::Value;

/// OpenCode's own environment variables, which apply to its profiles.
const OUTPUT_TOKEN_MAX: &str = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX";
const DISABLE_PRUNE: &str = "OPENCODE_DISABLE_PRUNE";

/// A profile, and values set over it.
#[derive(Debug, Default, Args)]
pub(crate) struct ProfileArgs {
    /// The profile: a name (see `secateur profiles`), or the path of a TOML file [default: balanced]
    #[arg(long, short, value_name = "NAME|FILE")]
    profile: Option<String>,
    /// Set a value of the profile, e.g. `rent.margin=2.0`. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl ProfileArgs {
    /// For flags with other help texts.
    pub(crate) fn new(profile: Option<String>, set: Vec<String>) -> Self {
        Self { profile, set }
    }

    /// The profile of this name, with only the environment over it.
    pub(crate) fn named(name: &str) -> Result<Profile> {
        Self { profile: None, set: Vec::new() }.resolve(name)
    }

    /// The named profile, or the default one. The system that wrote the session does not matter.
    pub(crate) fn or_default(&self) -> Result<Profile> {
        self.resolve(self.profile.as_deref().unwrap_or(DEFAULT_PROFILE))
    }

    fn resolve(&self, name: &str) -> Result<Profile> {
        let (name, profiles, layers) = self.lay(name)?;
        Ok(profiles.get_with(&name, &layers)?)
    }

    /// The profile's name, the profiles to look it up in, and the layers over it.
    pub(crate) fn parts(&self, fallback: &str) -> Result<(String, Profiles, Vec<Layer>)> {
        let parts = self.lay(self.profile.as_deref().unwrap_or(fallback))?;
        // Report a wrong value before anything else is done.
        parts.1.get_with(&parts.0, &parts.2)?;
        Ok(parts)
    }

    fn lay(&self, name: &str) -> Result<(String, Profiles, Vec<Layer>)> {
        let mut profiles = Profiles::builtin();
        let name = if Path::new(name).extension().is_some_and(|extension| extension == "toml") {
            let text = fs::read_to_string(name).with_context(|| format!("cannot read the profile {name}"))?;
            profiles.add(name, &text)?
        } else {
            name.to_owned()
        };
        let profile = profiles.get(&name)?;
        let mut layers = environment(&profile, |key| std::env::var(key).ok())?;
        for pair in &self.set {
            refuse_other_family(pair, &profile)?;
            layers.push(flag(pair)?);
        }
        Ok((name, profiles, layers))
    }
}

/// A profile has one policy family. A value of another family would have no effect.
fn refuse_other_family(pair: &str, profile: &Profile) -> Result<()> {
    let own = match &profile.policy.family {
        Family::Watermark(_) => "watermark",
        Family::Ratio(_) => "ratio",
        Family::KeepLast(_) => "keep-last",
        Family::Rent(_) => "rent",
    };
    let asked = pair.split(['.', '=']).next().unwrap_or_default().trim();
    if asked != own && ["watermark", "ratio", "keep-last", "rent"].contains(&asked) {
        bail!(
            "--set {pair:?}: the profile {:?} prunes by [{own}]; choose one that prunes by [{asked}] with --profile",
            profile.name
        );
    }
    Ok(())
}

/// A `KEY=VALUE` as a layer. The value is TOML, or else a string.
fn flag(pair: &str) -> Result<Layer> {
    let (key, value) = pair
        .split_once('=')
        .ok_or_else(|| anyhow!("--set {pair:?} has no `=`; expected KEY=VALUE, e.g. rent.margin=2.0"))?;
    let parsed =
        format!("value = {value}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("value"));
    let value = parsed.unwrap_or_else(|| Value::String(value.to_owned()));
    Ok(Layer::set("--set", key.trim(), value))
}

/// The layers that the environment adds to a profile of OpenCode.
fn environment(profile: &Profile, variable: impl Fn(&str) -> Option<String>) -> Result<Vec<Layer>> {
    let mut layers = Vec::new();
    if profile.reproduces.as_ref().is_none_or(|reproduces| reproduces.system != "OpenCode") {
        return Ok(layers);
    }
    let origin = |name: &str| format!("environment {name}");
    if let Some(text) = variable(OUTPUT_TOKEN_MAX) {
        match text.trim().parse::<i64>() {
            Ok(cap) if cap > 0 => {
                let origin = origin(OUTPUT_TOKEN_MAX);
                layers.push(Layer::set(&origin, "overflow.output_cap", Value::Integer(cap)));
            }
            _ => bail!("{OUTPUT_TOKEN_MAX}={text:?} must be a whole number above 0"),
        }
    }
    if let Some(text) = variable(DISABLE_PRUNE) {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => {
                layers.push(Layer::set(&origin(DISABLE_PRUNE), "compaction.prune", Value::Boolean(false)));
            }
            "false" | "0" | "" => {}
            _ => bail!("{DISABLE_PRUNE}={text:?} must be `true`, `1`, `false` or `0`"),
        }
    }
    Ok(layers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opencode(pairs: &[(&str, &str)]) -> Result<Profile> {
        let profiles = Profiles::builtin();
        let variable =
            |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned());
        let layers = environment(&profiles.get("opencode")?, variable)?;
        Ok(profiles.get_with("opencode", &layers)?)
    }

    #[test]
    fn opencodes_variables_become_parameters() {
        assert!(opencode(&[]).unwrap().policy.enabled);
        assert!(!opencode(&[(DISABLE_PRUNE, "1")]).unwrap().policy.enabled);
        let profile = opencode(&[(OUTPUT_TOKEN_MAX, "64000")]).unwrap();
        assert_eq!(profile.overflow.output_cap, 64_000);
        assert_eq!(
            profile.origin("overflow.output_cap"),
            Some("environment OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX")
        );
        assert!(opencode(&[(OUTPUT_TOKEN_MAX, "many")]).unwrap_err().to_string().contains("many"));
    }

    #[test]
    fn other_systems_ignore_them() {
        let profile = Profiles::builtin().get("qwery").unwrap();
        assert_eq!(environment(&profile, |_| Some("1".to_owned())).unwrap(), []);
    }

    #[test]
    fn flags_are_toml_or_text() {
        assert_eq!(flag("a.b=3").unwrap(), Layer::set("--set", "a.b", Value::Integer(3)));
        assert_eq!(
            flag("a=keep going").unwrap(),
            Layer::set("--set", "a", Value::String("keep going".into()))
        );
        assert!(flag("a").is_err());
    }

    #[test]
    fn a_value_of_another_family_is_refused_by_name() {
        let balanced = Profiles::builtin().get("balanced").unwrap();
        assert!(refuse_other_family("rent.margin=1", &balanced).is_ok());
        assert!(refuse_other_family("compaction.auto=false", &balanced).is_ok());
        let error = refuse_other_family("watermark.protect=1", &balanced).unwrap_err().to_string();
        assert!(
            error.contains("prunes by [rent]") && error.contains("[watermark] with --profile"),
            "{error}"
        );
    }
}
