//! Who goes over whom, and what reaches the machine.

use secateur::Amount;

use super::*;

#[test]
fn a_stronger_place_goes_over_a_weaker_one_and_is_named() {
    let mut sources = vec![
        ConfigSource::default_value("store", "sqlite:/data/sessions.db"),
        user(
            "profile = \"opencode\"\n[watermark]\nprotect = 1\nminimum = 1\n[compaction]\nauto = false\nattempts = 7",
        ),
        project("profile = \"qwery\"\n[watermark]\nprotect = 2\n[compaction]\nattempts = 8"),
    ];
    let variables = |name: &str| match name {
        "SECATEUR_STORE" => Some("postgres://me:sesame@host/db".to_owned()),
        "SECATEUR_COMPACTION_THRESHOLD" => Some("80%".to_owned()),
        _ => None,
    };
    sources.extend(ConfigSource::environment(variables));
    sources.push(flag("watermark.minimum=3"));
    let config = read(&sources).unwrap();
    assert_eq!(config.profile().name, "qwery");
    assert_eq!(config.store(), "postgres://me:sesame@host/db");
    for (key, expected) in [
        ("store", "\"postgres://me:***@host/db\" from environment SECATEUR_STORE"),
        ("profile", "\"qwery\" from /srv/project/secateur.toml"),
        ("watermark.protect", "2 from /srv/project/secateur.toml"),
        ("watermark.minimum", "3 from --set"),
        ("watermark.active_turns", "1 from qwery@2026-02"),
        ("compaction.auto", "false from /home/me/.config/secateur/config.toml"),
        ("compaction.attempts", "8 from /srv/project/secateur.toml"),
        ("compaction.threshold", "\"80%\" from environment SECATEUR_COMPACTION_THRESHOLD"),
        ("summariser", "false from default"),
    ] {
        assert_eq!(shown(&config, key).as_deref(), Some(expected), "{key}");
    }
    assert_eq!(config.profile().origin("watermark.minimum"), Some("--set"));
}

#[test]
fn without_anything_it_is_the_default_profile_and_nobody_is_asked() {
    let config = read(&[]).unwrap();
    assert_eq!((config.profile().name.as_str(), config.store()), (DEFAULT_PROFILE, DEFAULT_STORE));
    assert!(config.summariser().is_none() && config.key_env().is_none());
    config.check().unwrap();
}

#[test]
fn values_for_some_models_reach_the_machine() {
    let config = read(&[
        user(
            "[compaction]\nthreshold = \"90%\"\n[compaction.models]\n\"claude-*\" = { threshold = 150000 }\n\
             \"claude-haiku-*\" = { threshold = \"50%\", summary = 2000 }",
        ),
        flag("compaction.models.\"gpt-4.1*\".background=70%"),
    ])
    .unwrap();
    let compaction = &config.profile().compaction;
    assert_eq!(compaction.for_model("other").threshold, Some(Amount::Share(9000)));
    assert_eq!(compaction.for_model("claude-opus-4-5").threshold, Some(Amount::Tokens(150_000)));
    let haiku = compaction.for_model("claude-haiku-4-5");
    assert_eq!((haiku.threshold, haiku.summary), (Some(Amount::Share(5000)), Some(Amount::Tokens(2000))));
    let mini = compaction.for_model("gpt-4.1-mini");
    assert_eq!((mini.threshold, mini.background), (Some(Amount::Share(9000)), Some(Amount::Share(7000))));
    let row = shown(&config, "compaction.models.gpt-4.1*.background");
    assert_eq!(row.as_deref(), Some("\"70%\" from --set"), "a dot in a pattern does not hide its row");
}

#[test]
fn caps_for_some_tools_reach_the_machine() {
    let config = read(&[
        user("[compaction.caps]\n\"mcp_*\" = 5000\nbash = \"10%\""),
        flag("compaction.caps.mcp_search*=\"2%\""),
    ])
    .unwrap();
    let cap = |tool| config.profile().compaction.cap(tool);
    assert_eq!(cap("mcp_fetch"), Some(Amount::Tokens(5000)));
    assert_eq!(cap("mcp_search_all"), Some(Amount::Share(200)));
    assert_eq!(cap("bash"), Some(Amount::Share(1000)));
    assert_eq!(cap("read"), Some(Amount::Share(2500)), "the profile's own cap for all stays");
}

#[test]
fn a_threshold_is_absolute_or_a_share() {
    let threshold = |text: &str| {
        let config = read(&[flag(&format!("compaction.threshold={text}"))]).unwrap();
        config.profile().compaction.for_model("any").threshold.unwrap().of(200_000)
    };
    assert_eq!((threshold("150000"), threshold("75%"), threshold("\"12.5%\"")), (150_000, 150_000, 25_000));
}

#[test]
fn switches_of_pruning_and_compaction_reach_the_profile() {
    let config = read(&[flag("compaction.auto=false"), flag("compaction.prune=false")]).unwrap();
    assert!(!config.profile().overflow.auto && !config.profile().policy.enabled);
}

#[test]
fn a_summariser_is_put_together_from_several_places_and_can_be_taken_away() {
    let whole = user("[summariser]\nwire = \"anthropic\"\nurl = \"https://host\"\nmodel = \"large\"");
    let config = read(&[whole.clone(), flag("summariser.model=small")]).unwrap();
    assert_eq!(config.summariser().unwrap().model, "small");
    assert_eq!(shown(&config, "summariser.model").as_deref(), Some("\"small\" from --set"));
    assert_eq!(shown(&config, "summariser.retries").as_deref(), Some("3 from default"));
    let config = read(&[whole, flag("summariser=false")]).unwrap();
    assert!(config.summariser().is_none());
    assert_eq!(shown(&config, "summariser").as_deref(), Some("false from --set"));
}

#[test]
fn every_place_adds_its_profiles_relative_to_itself() {
    let load = |path: &Path| -> io::Result<String> {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let least = if path.starts_with("/srv/project") { 1 } else { 2 };
        Ok(format!("name = \"{name}\"\nextends = \"balanced\"\n[rent]\nleast_chars = {least}\n"))
    };
    let sources = [
        user("profile = \"mine\"\nprofiles = [\"pages/mine.toml\"]"),
        project("profiles = [\"./theirs.toml\"]"),
    ];
    let config = Config::read(&sources, &load).unwrap();
    assert_eq!(config.profile().name, "mine");
    assert_eq!(
        config.profile().origin("rent.least_chars"),
        Some("/home/me/.config/secateur/pages/mine.toml")
    );
    let pages: Vec<_> = config.settings().into_iter().filter(|row| row.key == "profiles").collect();
    assert_eq!(pages.len(), 2);
    let config = Config::read(&[&sources[..], &[flag("profile=theirs")]].concat(), &load).unwrap();
    assert_eq!(config.profile().origin("rent.least_chars"), Some("/srv/project/./theirs.toml"));
}
