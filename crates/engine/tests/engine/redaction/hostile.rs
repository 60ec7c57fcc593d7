//! Texts that are made to take long.
//!
//! A rule that read everything after each literal would take hours for these; the whole file takes seconds. The bench
//! `redact` measures the time per byte.

use secateur_engine::redact::Redactor;

const SIZE: usize = 1 << 20;

fn repeated(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len())
}

#[test]
fn a_megabyte_of_nothing_is_read_to_its_end() {
    for piece in ["=", "a", "sk-", "\"key\" "] {
        assert!(!Redactor::new().contains_credential(&repeated(piece, SIZE)), "{piece}");
    }
}

#[test]
fn beginnings_without_an_end_are_no_findings() {
    let redactor = Redactor::new();
    for piece in [
        "A",
        "\\",
        "\"",
        " ",
        "-",
        "é",
        "sk-",
        "sk-ant-",
        "eyJ",
        "eyJ.",
        "eyJa.eyJa.",
        "password=",
        "token:",
        "tokentoken",
        "://",
        "://a:",
        "a://b:c",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "Cookie: a=b; ",
        "Cookie",
        "Authorization: ",
        "Bearer Bearer ",
        "machine a login ",
        "[redacted:",
        "[redacted:a]",
        "sig=",
        "&sig=",
        ":AA",
        "MTMT",
        "SG.",
        "ghp_xxxx",
        "name: token\n value: ",
        "--password ",
        "key,\"key\",",
    ] {
        assert_eq!(redactor.redact(&repeated(piece, SIZE / 16)).findings, [], "{piece}");
    }
}

#[test]
fn a_megabyte_of_one_credential_is_one_finding() {
    let text = format!("ghp_{}", repeated("q7Rt2mZp9Lx4Vn8w", SIZE));
    let redacted = Redactor::new().redact(&text);
    assert_eq!(redacted.text, "[redacted:github-token]");
    assert_eq!(redacted.findings.len(), 1);
}

#[test]
fn many_credentials_are_as_many_findings() {
    let key = format!("{}{}", "AKIA", "Q7RT2MZP9LX4VN8W");
    let text = repeated(&format!("{key} "), SIZE);
    let redacted = Redactor::new().redact(&text);
    assert_eq!(redacted.findings.len(), SIZE / (key.len() + 1));
    assert!(!redacted.text.contains("AKIA"));
}
