//! Every error names the place, the key, the value and what is allowed.

use super::*;

fn file(text: &str) -> String {
    match ConfigSource::user("config.toml", text) {
        Ok(source) => wrong(&[source]),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    insta::assert_snapshot!(file("profile = \"opencode\"\nstore = \"x"), @r#"config.toml is not valid TOML: invalid basic string, expected `"` in line 2, column 11"#);
    insta::assert_snapshot!(file("profile = \"a\"\nprofile = \"b\""), @"config.toml is not valid TOML: duplicate key in line 2, column 1");
    assert!(file(&"#".repeat(LARGEST_FILE + 1)).contains("longer than 1048576 bytes"));
}

#[test]
fn unknown_keys_are_named() {
    insta::assert_snapshot!(file("profil = \"opencode\""), @"config.toml: key `profil`: unknown key; known are store, profile, profiles, models, windows, summariser, hooks, redaction, retention, serve, compaction, prune, watermark, ratio, keep-last, rent, overflow, pivot, window, budget");
    insta::assert_snapshot!(file("[compaction]\nthreshhold = 5"), @"config.toml: key `compaction.threshhold` = 5: unknown field `threshhold`, expected one of `auto`, `prune`, `prune_at`, `order`, `marker`, `marker_at`, `resume`, `resume_when`, `replay`, `tail`, `threshold`, `summary`, `low_water`, `least_gain`, `background`, `attempts`, `breaker`, `cooldown_ms`, `fallback`, `caps`, `models`");
    insta::assert_snapshot!(file("[compaction.models.\"claude-*\"]\nthreshhold = 5"), @"config.toml: key `compaction.models.claude-*.threshhold` = 5: unknown field `threshhold`, expected one of `threshold`, `background`, `summary`");
    insta::assert_snapshot!(file("[summariser]\nwire = \"anthropic\"\nkey = 5"), @"config.toml: key `summariser.key` = 5: unknown field `key`, expected one of `wire`, `url`, `model`, `key_env`, `key_header`, `headers`, `context`, `input`, `output`, `tokens_field`, `include_usage`, `timeout_ms`, `patience_ms`, `retries`, `first_wait_ms`, `longest_wait_ms`, `most_bytes`");
    insta::assert_snapshot!(file("[[hooks]]\nname = \"h\"\ncommand = 5"), @"config.toml: key `hooks[0].command` = 5: unknown field `command`, expected one of `name`, `program`, `url`, `moments`, `timeout_ms`, `max_bytes`, `env`, `token_env`");
    insta::assert_snapshot!(file("[redaction]\npattern = 5"), @"config.toml: key `redaction.pattern` = 5: unknown field `pattern`, expected `patterns`");
}

#[test]
fn wrong_types_are_named() {
    insta::assert_snapshot!(file("store = 5"), @"config.toml: key `store` = 5: expected a text: a path, sqlite:PATH or postgres://…");
    insta::assert_snapshot!(file("profile = 5"), @"config.toml: key `profile` = 5: expected the name of a profile, or the path of its file");
    insta::assert_snapshot!(file("profiles = \"a.toml\""), @r#"config.toml: key `profiles` = "a.toml": expected a list of at most 64 paths of profile files"#);
    insta::assert_snapshot!(file("profiles = [5]"), @"config.toml: key `profiles` = 5: expected the path of a profile file, as a text");
    insta::assert_snapshot!(file("summariser = true"), @"config.toml: key `summariser` = true: expected a table with url and model, or false");
    insta::assert_snapshot!(file("[summariser]\nretries = \"often\""), @"config.toml: key `summariser.retries`: invalid type: string, expected u32");
    insta::assert_snapshot!(file("hooks = 5"), @"config.toml: key `hooks` = 5: expected a list of at most 32 tables, written [[hooks]]");
    insta::assert_snapshot!(file("[[hooks]]\nname = 5"), @"config.toml: key `hooks[0].name` = 5: invalid type: integer `5`, expected a string");
    insta::assert_snapshot!(file("[redaction.patterns]\nbadge = 5"), @"config.toml: key `redaction.patterns.badge` = 5: invalid type: integer `5`, expected a string");
    insta::assert_snapshot!(file("compaction = 5"), @"config.toml: key `compaction` = 5: invalid type: integer `5`, expected struct CompactionSettings");
    insta::assert_snapshot!(file("profile = \"opencode\"\n[watermark]\nprotect = \"lots\""), @r#"config.toml: key `watermark.protect` = "lots": invalid type: string "lots", expected i64"#);
}

#[test]
fn impossible_values_are_named() {
    insta::assert_snapshot!(file("store = \"\""), @"config.toml: key `store`: expected a text: a path, sqlite:PATH or postgres://…");
    insta::assert_snapshot!(file("profile = \"nobody\""), @r#"config.toml: key `profile` = "nobody": unknown profile; known are anthropic, balanced, careful, frugal, openagentic, openagentic@0.1.4, openagentic@2026-01, openclaw, openclaw@2026-01, openclaw@2026-01-aggressive, openclaw@2026-01b, openclaw@2026-01b-aggressive, openclaw@2026-01c, openclaw@2026-06, openclaw@2026-09, opencode, opencode@2026-01, opencode@2026-08, opencode@v2, opencode@v2b, qwery, qwery@2026-02, qwery@2026-04"#);
    insta::assert_snapshot!(file("profile = \"gone.toml\""), @"config.toml: key `profile`: cannot read the profile gone.toml: entity not found");
    insta::assert_snapshot!(file("[compaction]\nthreshold = \"120%\""), @r#"config.toml: key `compaction.threshold` = "120%": invalid value: string "120%", expected a number of tokens such as 40000, or a share such as "25%""#);
    insta::assert_snapshot!(file("[compaction]\nthreshold = -5"), @r#"config.toml: key `compaction.threshold` = -5: invalid value: integer `-5`, expected a number of tokens such as 40000, or a share such as "25%""#);
    insta::assert_snapshot!(file("[compaction]\ncaps = { bash = \"a lot\" }"), @r#"config.toml: key `compaction.caps.bash` = "a lot": invalid value: string "a lot", expected a number of tokens such as 40000, or a share such as "25%""#);
    insta::assert_snapshot!(file("[compaction]\norder = \"any\""), @r#"config.toml: key `compaction.order` = "any": unknown variant `any`, expected `prune-first` or `compact`"#);
    insta::assert_snapshot!(file("profile = \"opencode\"\n[watermark]\nprotect = -1"), @"config.toml: key `watermark.protect` = -1: a number of tokens, 0 or more");
    insta::assert_snapshot!(file("[ratio]\nsoft_ratio = 0.5"), @r#"config.toml: key `ratio`: the profile "balanced" prunes by [rent]; choose one that prunes by [ratio]"#);
    insta::assert_snapshot!(file("[redaction.patterns]\nbadge = '('"), @r#"config.toml: key `redaction.patterns.badge` = "(": unusable regular expression: unclosed group"#);
    insta::assert_snapshot!(file("[redaction.patterns]\nBadge = 'x'"), @r#"config.toml: key `redaction.patterns.Badge` = "x": the name "Badge" of a pattern does not fit into a marker; use 1 to 48 small letters, digits and hyphens"#);
}

#[test]
fn a_token_without_a_tenant_or_a_place_is_refused_and_never_repeated() {
    let token = |rest: &str| {
        file(&format!("[[serve.tokens]]\ntenant = \"a\"\nfile = \"t\"\n[[serve.tokens]]\n{rest}"))
    };
    let name = "expected the name of a tenant: 1 to 64 letters, digits, or characters of -._@";
    assert_eq!(
        token("tenant = \"a b\"\nfile = \"t\""),
        format!("config.toml: key `serve.tokens[1].tenant` = \"a b\": {name}")
    );
    assert_eq!(token("file = \"t\""), format!("config.toml: key `serve.tokens[1].tenant` = \"\": {name}"));
    assert!(token("tenant = \"*\"\nfile = \"t\"").contains(name));
    let place =
        "config.toml: key `serve.tokens[1]`: expected either `file` or `sha256` with the token of the tenant";
    assert_eq!(token("tenant = \"b\""), place);
    assert_eq!(token(&format!("tenant = \"b\"\nfile = \"t\"\nsha256 = \"{}\"", "0".repeat(64))), place);
    let error = token("tenant = \"b\"\nsha256 = \"the-token-itself-by-mistake\"");
    assert!(error.contains("key `serve.tokens[1].sha256`: expected the SHA-256 of the token"), "{error}");
    assert!(!error.contains("by-mistake"), "{error}");
    let unknown = token("tenant = \"b\"\nfile = \"t\"\nadmin = true");
    assert!(
        unknown.contains("unknown field `admin`, expected one of `tenant`, `file`, `sha256`, `operator`"),
        "{unknown}"
    );
}

#[test]
fn a_summariser_that_can_never_be_asked_is_refused() {
    let summariser = |more: &str| file(&format!("[summariser]\nmodel = \"m\"\n{more}"));
    insta::assert_snapshot!(summariser(""), @"config.toml: key `summariser.url`: missing field `url`");
    assert_eq!(summariser("url = \"https://host\""), "nothing is wrong");
    insta::assert_snapshot!(summariser("url = \"https://host\"\nwire = \"telex\""), @r#"config.toml: key `summariser.wire` = "telex": unknown request format "telex"; known are anthropic, openai-chat, openai-responses and gemini"#);
    insta::assert_snapshot!(summariser("url = \"ftp://host\"\nwire = \"anthropic\""), @"config.toml: [summariser]: ftp://host is not the URL of a model: it must begin with http:// or https://");
    insta::assert_snapshot!(summariser("url = \"https://host\"\nwire = \"anthropic\"\ntimeout_ms = 0"), @"config.toml: [summariser]: timeout_ms must be above 0");
    let both = "url = \"ftp://host\"\nwire = \"anthropic\"\nkey_env = \"SECATEUR_TEST_NO_SUCH_VARIABLE\"";
    assert!(summariser(both).contains("ftp://host is not the URL"), "a missing key hides nothing else");
}

#[test]
fn a_hook_that_cannot_be_built_is_refused() {
    let hook = |more: &str| file(&format!("[[hooks]]\nname = \"h\"\nmoments = [\"before_prune\"]\n{more}"));
    assert_eq!(hook("program = [\"true\"]"), "nothing is wrong");
    insta::assert_snapshot!(hook(""), @"config.toml: hook h needs either program or url, and not both");
    insta::assert_snapshot!(hook("program = [\"true\"]\ntimeout_ms = 0"), @"config.toml: timeout_ms of hook h is 0; expected 1 to 60000");
    insta::assert_snapshot!(hook("url = \"https://host\"\ntoken_env = \"SECATEUR_TEST_NO_SUCH_VARIABLE\""), @"config.toml: token_env of hook h names SECATEUR_TEST_NO_SUCH_VARIABLE, which is not set to printable ASCII characters");
    insta::assert_snapshot!(hook("url = \"https://host\"\ntoken_env = \"a-key\""), @"config.toml: key `hooks[0].token_env`: expected the name of an environment variable (letters, digits and _), not the key itself");
}

#[test]
fn a_flag_and_a_variable_are_blamed_like_a_file() {
    insta::assert_snapshot!(ConfigSource::flag("profile").unwrap_err(), @r#"--set "profile" has no `=`; expected KEY=VALUE, such as compaction.threshold=80%"#);
    insta::assert_snapshot!(wrong(&[flag("compaction.threshold=much")]), @r#"--set: key `compaction.threshold` = "much": invalid value: string "much", expected a number of tokens such as 40000, or a share such as "25%""#);
    insta::assert_snapshot!(wrong(&[flag("profile=nobody")]), @r#"--set: key `profile` = "nobody": unknown profile; known are anthropic, balanced, careful, frugal, openagentic, openagentic@0.1.4, openagentic@2026-01, openclaw, openclaw@2026-01, openclaw@2026-01-aggressive, openclaw@2026-01b, openclaw@2026-01b-aggressive, openclaw@2026-01c, openclaw@2026-06, openclaw@2026-09, opencode, opencode@2026-01, opencode@2026-08, opencode@v2, opencode@v2b, qwery, qwery@2026-02, qwery@2026-04"#);
    let variable = |name: &str| (name == "SECATEUR_COMPACTION_AUTO").then(|| "perhaps".to_owned());
    insta::assert_snapshot!(wrong(&ConfigSource::environment(variable)), @r#"environment SECATEUR_COMPACTION_AUTO: key `compaction.auto` = "perhaps": invalid type: string "perhaps", expected a boolean"#);
    let variable = |name: &str| (name == "SECATEUR_SUMMARISER_MODEL").then(|| "small".to_owned());
    insta::assert_snapshot!(wrong(&ConfigSource::environment(variable)), @"environment SECATEUR_SUMMARISER_MODEL: key `summariser.url`: missing field `url`");
    let variable = |name: &str| (name == "SECATEUR_SUMMARISER_KEY_ENV").then(|| "KEY".to_owned());
    assert_eq!(wrong(&ConfigSource::environment(variable)), "nothing is wrong", "a flag may name the model");
}
