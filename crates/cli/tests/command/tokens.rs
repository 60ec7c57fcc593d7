//! Tokens of tenants in the configuration of a proxy.

use super::{TestFolder, secateur};

/// What `serve` says about a configuration that it does not take.
fn refusal(desk: &TestFolder, text: &str, flags: &[&str]) -> String {
    let config = desk.put("config.toml", text);
    let store = desk.path("sessions.db").to_str().unwrap().to_owned();
    let run = secateur(&[&["serve", "--config", &config, "--store", &store], flags].concat());
    assert_eq!(run.code, 2, "{}", run.out);
    run.err
}

#[test]
fn a_proxy_for_others_has_tokens_and_each_has_one_tenant() {
    let desk = TestFolder::new();
    let exposed = ["--listen", "0.0.0.0:0"];
    let error = refusal(&desk, "", &exposed);
    assert!(error.contains("no token is set; --token-file or serve.tokens"), "{error}");
    let token =
        |tenant: &str, file: &str| format!("[[serve.tokens]]\ntenant = \"{tenant}\"\nfile = '{file}'\n");
    let gone = desk.path("gone").to_str().unwrap().to_owned();
    let error = refusal(&desk, &token("anna", &gone), &exposed);
    assert!(error.contains("key `serve.tokens[0]`") && error.contains("cannot read the token"), "{error}");
    let file = desk.put("token", "one-token-for-two-tenants");
    let error = refusal(&desk, &(token("anna", &file) + &token("bert", &file)), &exposed);
    assert!(
        error.contains("key `serve.tokens[1]`: this token is given to another tenant already"),
        "{error}"
    );
    assert!(!error.contains("for-two-tenants"), "{error}");
    let error = refusal(&desk, &token("anna", &file), &["--token-file", &file]);
    assert!(error.contains("key `serve.tokens[0]`: this token is given to another tenant"), "{error}");
    let short = desk.put("short", "short");
    let error = refusal(&desk, &token("anna", &short), &exposed);
    assert!(error.contains("key `serve.tokens[0]`") && error.contains("16 to 4096"), "{error}");
}
