//! Values over profiles: which of them a profile takes.

use secateur::{Family, Layer, Profile, ProfileError, Profiles};

/// The keys of the policy families, of which a profile has exactly one.
pub(crate) const FAMILIES: [&str; 4] = ["watermark", "ratio", "keep-last", "rent"];

/// Values over profiles.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProfileLayer {
    pub layer: Layer,
    /// The system whose profiles take them; none if all do.
    pub system: Option<&'static str>,
}

impl From<Layer> for ProfileLayer {
    fn from(layer: Layer) -> Self {
        Self { layer, system: None }
    }
}

/// The profile of this name with all values that it takes. Every profile in use is built here.
pub(crate) fn build(
    profiles: &Profiles,
    name: &str,
    layers: &[ProfileLayer],
) -> Result<Profile, ProfileError> {
    profiles.get_with(name, &applicable(&profiles.get(name)?, layers))
}

/// The values that a profile takes: not those for other systems, and not those of other policy families.
pub(crate) fn applicable(profile: &Profile, layers: &[ProfileLayer]) -> Vec<Layer> {
    let system = profile.reproduces.as_ref().map(|reproduces| reproduces.system.as_str());
    let own = family(profile);
    let taken = layers.iter().filter(|one| one.system.is_none() || one.system == system);
    let mut taken: Vec<Layer> = taken.map(|one| one.layer.clone()).collect();
    for layer in &mut taken {
        layer.values.retain(|key, _| key == own || !FAMILIES.contains(&key));
    }
    taken.retain(|layer| !layer.values.is_empty());
    taken
}

/// The key of a profile's policy family.
pub(crate) fn family(profile: &Profile) -> &'static str {
    match &profile.policy.family {
        Family::Watermark(_) => "watermark",
        Family::Ratio(_) => "ratio",
        Family::KeepLast(_) => "keep-last",
        Family::Rent(_) => "rent",
    }
}

#[cfg(test)]
mod tests {
    use toml::Value;

    use super::*;

    #[test]
    fn a_profile_takes_what_is_for_its_system_and_its_family() {
        let of = |system, key| ProfileLayer { layer: Layer::set("test", key, Value::Integer(7)), system };
        let layers = [
            of(None, "watermark.protect"),
            of(None, "rent.least_chars"),
            of(Some("OpenCode"), "overflow.output_cap"),
        ];
        let build = |name: &str| build(&Profiles::builtin(), name, &layers).unwrap();
        assert_eq!(build("opencode").overflow.output_cap, 7);
        assert_eq!(build("opencode").origin("watermark.protect"), Some("test"));
        assert_ne!(build("balanced").overflow.output_cap, 7);
        assert_eq!(build("balanced").origin("rent.least_chars"), Some("test"));
    }
}
