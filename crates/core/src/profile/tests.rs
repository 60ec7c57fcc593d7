use super::*;

fn check(text: &str) -> String {
    let mut profiles = Profiles::builtin();
    let name = match profiles.add("own.toml", text) {
        Ok(name) => name,
        Err(error) => return error.to_string(),
    };
    profiles.get(&name).map_or_else(|error| error.to_string(), |_| "fine".to_owned())
}

#[test]
fn every_builtin_profile_resolves_under_its_own_name() {
    let profiles = Profiles::builtin();
    assert_eq!(profiles.names().count(), builtin::FILES.len());
    for (name, _) in builtin::FILES {
        let profile = profiles.get(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(profile.name, *name);
        assert!(!profile.about.is_empty());
    }
}

#[test]
fn a_name_without_a_date_is_the_newest_version() {
    let profiles = Profiles::builtin();
    let enabled = |name: &str| profiles.get(name).unwrap().policy.enabled;
    assert!(!enabled("opencode@2026-08") && enabled("opencode") && enabled("opencode@2026-01"));
    let qwery = profiles.get("qwery").unwrap();
    assert_eq!(qwery.origin("watermark.unreached"), Some("qwery"));
    assert_eq!(qwery.origin("watermark.meter.divisor"), Some("qwery@2026-04"));
    assert_eq!(qwery.origin("watermark.protect"), Some("qwery@2026-02"));
}

#[test]
fn unknown_keys_wrong_types_and_impossible_values_are_named() {
    let own = |rest: &str| check(&format!("name = \"own\"\nextends = \"opencode\"\n{rest}"));
    assert_eq!(own(""), "fine");
    for (rest, words) in [
        ("[watermark]\nprotekt = 1", vec!["own.toml", "`watermark.protekt` = 1", "protect"]),
        ("[watermark]\nprotect = \"lots\"", vec!["own.toml", "`watermark.protect` = \"lots\"", "i64"]),
        ("[watermark]\nprotect = -1", vec!["own.toml", "`watermark.protect` = -1", "0 or more"]),
        ("[watermark.meter]\nunit = \"words\"", vec!["watermark.meter.unit", "words", "utf16", "py-json"]),
        ("[watermark.meter]\ndivisor = 0.0", vec!["`watermark.meter.divisor` = 0.0", "above 0"]),
        ("[watermark]\nsummary = \"jump\"", vec!["watermark.summary", "jump", "stop", "skip", "begin"]),
        ("[prune]\nplaceholder = \"\"", vec!["prune.placeholder", "not empty"]),
        ("[compaction]\nprune_at = [\"arrival\"]", vec!["compaction.prune_at", "arrival", "caps"]),
        ("surprise = true", vec!["surprise", "true"]),
        ("[keep-last]\nkeep = 3", vec!["keep-last", "missing field"]),
    ] {
        let error = own(rest);
        for word in words {
            assert!(error.contains(word), "{rest:?} gave {error:?}, which lacks {word:?}");
        }
    }
}

#[test]
fn chains_are_checked() {
    assert!(check("name = \"a\"\nextends = \"nobody\"").contains("there is no profile \"nobody\""));
    assert!(check("name = \"a\"\nextends = \"a\"").contains("circle"));
    assert!(check("name = \"a\"\nextends = 3").contains("extends"));
    assert!(check("extends = \"opencode\"").contains("every profile has a name"));
    assert!(check("name = ").contains("not valid TOML"));
    assert!(check("name = \"a\"").contains("missing field"));
}

#[test]
fn a_layer_overrides_the_profile_and_is_named() {
    let layer = Layer::set("environment OPENCODE_DISABLE_PRUNE", "compaction.prune", Value::Boolean(false));
    let profile = Profiles::builtin().get_with("opencode", &[layer]).unwrap();
    assert!(!profile.policy.enabled);
    assert_eq!(profile.origin("compaction.prune"), Some("environment OPENCODE_DISABLE_PRUNE"));
    assert!(
        profile.settings().any(|(key, _, origin)| key == "watermark.minimum" && origin == "opencode@2026-01")
    );
}
