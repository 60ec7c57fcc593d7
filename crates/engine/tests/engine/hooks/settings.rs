//! Settings: what is accepted, and the errors for the rest.

use secateur_engine::hooks::{HookConfig, HookConfigError, HookMoment};

use super::{settings, shell};

fn refusal(config: HookConfig) -> String {
    config.build().err().expect("accepted").to_string()
}

fn endpoint(url: &str) -> HookConfig {
    HookConfig { url: Some(url.to_owned()), ..settings("h") }
}

#[test]
fn defaults_are_five_seconds_and_64_kib() {
    let text = "name = 'n'\nprogram = ['true']\nmoments = ['session.compacting', 'autocontinue']";
    let config: HookConfig = toml::from_str(text).unwrap();
    assert_eq!((config.timeout_ms, config.max_bytes), (5_000, 65_536));
    assert_eq!(config.moments, [HookMoment::SessionCompacting, HookMoment::Autocontinue]);
}

#[test]
fn settings_survive_being_written_and_read() {
    let config = HookConfig { env: vec!["A".to_owned()], ..shell("true") };
    let text = toml::to_string(&config).unwrap();
    assert_eq!(toml::from_str::<HookConfig>(&text).unwrap(), config);
}

#[test]
fn unknown_keys_and_moments_are_refused() {
    for (text, named) in [
        ("name = 'n'\nprogram = ['x']\nmoments = ['autocontinue']\nshell = true", "shell"),
        ("name = 'n'\nprogram = ['x']\nmoments = ['sometimes']", "sometimes"),
        ("name = 'n'\nprogram = 'x'\nmoments = ['autocontinue']", "program"),
        ("name = 'n'\nprogram = ['x']", "moments"),
    ] {
        let error = toml::from_str::<HookConfig>(text).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (config, expected) in [
        (HookConfig { name: String::new(), ..shell("x") }, "a hook has no usable name"),
        (HookConfig { name: "a\u{1b}[m".to_owned(), ..shell("x") }, "a hook has no usable name"),
        (HookConfig { name: "n".repeat(65), ..shell("x") }, "a hook has no usable name"),
        (settings("h"), "hook h needs either program or url"),
        (
            HookConfig { url: Some("http://[::1]/".to_owned()), ..shell("x") },
            "hook script needs either program or url",
        ),
        (HookConfig { program: Some(vec![]), ..settings("h") }, "program of hook h is empty"),
        (HookConfig { moments: vec![], ..shell("x") }, "hook script names no moments"),
        (HookConfig { timeout_ms: 0, ..shell("x") }, "timeout_ms of hook script is 0; expected 1 to 60000"),
        (HookConfig { timeout_ms: 60_001, ..shell("x") }, "timeout_ms of hook script is 60001"),
        (HookConfig { max_bytes: 0, ..shell("x") }, "max_bytes of hook script is 0; expected 1 to 1048576"),
        (HookConfig { max_bytes: (1 << 20) + 1, ..shell("x") }, "max_bytes of hook script is 1048577"),
        (endpoint("example"), "url of hook h is not a URL"),
        (endpoint("file:///etc/passwd"), "url of hook h has a scheme other than http and https"),
        (endpoint("https://u:p@example.com/"), "url of hook h contains a user or password"),
        (
            HookConfig { env: vec!["A".to_owned()], ..endpoint("http://[::1]/") },
            "env of hook h has no meaning",
        ),
        (
            HookConfig { token_env: Some("A".to_owned()), ..shell("x") },
            "token_env of hook script has no meaning",
        ),
    ] {
        let said = refusal(config);
        assert!(said.starts_with(expected), "{said}");
    }
}

#[test]
fn a_token_is_wanted_where_it_is_named_and_never_sent_in_the_clear() {
    let with = |url, variable: &str| HookConfig { token_env: Some(variable.to_owned()), ..endpoint(url) };
    let unset = with("https://example.com/", "SECATEUR_TEST_NOT_SET").build();
    assert!(
        matches!(unset.err(), Some(HookConfigError::Token { variable, .. }) if variable == "SECATEUR_TEST_NOT_SET")
    );
    // Cargo sets this one for every test.
    let set = "CARGO_PKG_NAME";
    for url in ["https://example.com/", "http://localhost:1/", "http://127.0.0.2:1/", "http://[::1]:1/"] {
        assert!(with(url, set).build().is_ok(), "{url}");
    }
    for url in ["http://example.com/", "http://10.0.0.1/", "http://localhost.example.com/"] {
        assert!(refusal(with(url, set)).contains("unencrypted"), "{url}");
    }
}

#[test]
fn the_schema_names_every_key_and_no_other() {
    let schema = serde_json::to_value(schemars::schema_for!(HookConfig)).unwrap();
    let mut keys: Vec<_> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let expected = ["env", "max_bytes", "moments", "name", "program", "timeout_ms", "token_env", "url"];
    assert_eq!(keys, expected);
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["timeout_ms"]["maximum"], 60_000);
}
