use super::*;

fn parse(more: &str) -> Result<Endpoint, toml::de::Error> {
    toml::from_str(&format!("url = \"https://host\"\nmodel = \"m\"\n{more}"))
}

#[test]
fn a_few_lines_are_enough() {
    let read = parse("wire = \"openai-chat\"").unwrap();
    assert_eq!(read, Endpoint::new(Wire::OpenAiChat, "https://host", "m"));
}

#[test]
fn unknown_keys_and_wires_are_refused() {
    let error = parse("wire = \"openai-chat\"\nkey = \"sesame\"").unwrap_err().to_string();
    assert!(error.contains("unknown field `key`"), "{error}");
    let error = parse("wire = \"telex\"").unwrap_err().to_string();
    assert!(error.contains("unknown request format"), "{error}");
    assert!(parse("wire = \"anthropic\"\ntokens_field = \"max\"").is_err());
}

#[test]
fn the_schema_names_the_wires_that_can_be_used() {
    let schema = schemars::schema_for!(Endpoint).to_value();
    let wires = serde_json::json!(["anthropic", "openai-chat", "openai-responses", "gemini"]);
    assert_eq!(schema["properties"]["wire"]["enum"], wires);
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["url", "model"]));
}

#[test]
fn a_variable_without_a_key_is_an_error_that_names_it() {
    let endpoint = Endpoint {
        key_env: Some("SECATEUR_TEST_NO_SUCH_VARIABLE".to_owned()),
        ..Endpoint::new(Wire::Anthropic, "https://host", "m")
    };
    let error = endpoint.connect().unwrap_err();
    assert_eq!(error, ConnectError::NoKey { variable: "SECATEUR_TEST_NO_SUCH_VARIABLE".to_owned() });
}

#[test]
fn nothing_that_could_be_a_key_is_shown() {
    let mut endpoint = Endpoint::new(Wire::Anthropic, "https://host/v1?key=sesame", "m");
    endpoint.headers.insert("x-token".to_owned(), "sesame".to_owned());
    let client = endpoint.connect_as(Some(&Secret::new("sesame"))).unwrap();
    for shown in [format!("{endpoint:?}"), format!("{client:?}")] {
        assert!(shown.contains("x-token") && !shown.contains("sesame"), "{shown}");
    }
}

#[test]
fn settings_that_cannot_work_are_refused_before_anything_is_sent() {
    let good = Endpoint::new(Wire::OpenAiChat, "https://host", "m");
    let header = |name: &str, value: &str| Endpoint {
        headers: BTreeMap::from([(name.to_owned(), value.to_owned())]),
        ..good.clone()
    };
    let zero = |name| ConnectError::Zero { name };
    let bad = |name: &str| ConnectError::Header { name: name.to_owned() };
    for (endpoint, expected) in [
        (Endpoint { timeout_ms: 0, ..good.clone() }, zero("timeout_ms")),
        (Endpoint { patience_ms: 0, ..good.clone() }, zero("patience_ms")),
        (Endpoint { most_bytes: 0, ..good.clone() }, zero("most_bytes")),
        (header("not a name", "x"), bad("not a name")),
        (header("x-token", "two\nlines"), bad("x-token")),
    ] {
        assert_eq!(endpoint.connect().unwrap_err(), expected);
    }
    let error = good.connect_as(Some(&Secret::new("open\nsesame"))).unwrap_err();
    assert_eq!(error, ConnectError::BadKey);
}
