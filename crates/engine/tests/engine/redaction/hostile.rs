//! Texts that are made to take long.
//!
//! A rule that read everything after each literal would take hours for these; the whole file takes seconds. The bench
//! `redact` measures the time per byte.

use secateur_engine::redact::Redactor;

use super::encoders::hex;
use super::random::{BASE64, HEX, Random};

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
        "%3D",
        "%41",
        "\\u0041",
        "\\/",
        "[1,",
        "[1,[1,",
        "private key 0x",
        "the password is ",
        "password for password of ",
        "$6$",
        "$6$a$",
        "AKIA",
        "dev.azure.com ",
    ] {
        assert_eq!(redactor.redact(&repeated(piece, SIZE / 16)).findings, [], "{piece}");
    }
}

#[test]
fn a_megabyte_of_digits_is_no_finding() {
    let redactor = Redactor::new();
    let text = "Words that are encoded, and nothing else. ".repeat(SIZE / 64);
    let (base64, hex) = (Random(1).base64_of(&text), hex(&text));
    for digits in [base64, hex, Random(2).of(BASE64, SIZE), Random(3).of(HEX, SIZE)] {
        // One run, runs of the longest that is decoded, and lines.
        for length in [digits.len(), 8 * 1024, 76, 51] {
            let lines: Vec<String> =
                digits.as_bytes().chunks(length).map(|line| String::from_utf8_lossy(line).into()).collect();
            assert_eq!(redactor.redact(&lines.join("\n")).findings, [], "{length}");
        }
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
