//! Credentials that are encoded or escaped.

use secateur_engine::redact::Redactor;

use super::encoders::{base58, bytes, hex, key_pair, percent, wallet_import};
use super::random::{BASE32, BASE62, BASE64, HEX, Random};

/// The text after redaction.
fn redacted(text: &str) -> String {
    Redactor::new().redact(text).text.into_owned()
}

fn github(random: &mut Random) -> String {
    format!("ghp_{}", random.of(BASE62, 36))
}

#[test]
fn an_encoded_credential_is_replaced_with_the_run_around_it() {
    let mut random = Random(11);
    for _ in 0..50 {
        let note = format!("use {} for the mirror", github(&mut random));
        let base64 = random.base64_of(&note);
        for run in [base64.clone(), base64.replace('+', "-").replace('/', "_"), hex(&note)] {
            assert_eq!(redacted(&format!("data: {run}\nend")), "data: [redacted:github-token]\nend");
            assert_eq!(redacted(&format!("a\\n{run}\\nb")), "a\\n[redacted:github-token]\\nb");
        }
        let path = base64.trim_end_matches('=');
        assert!(!redacted(&format!("https://x.example.com/in/{path}")).contains(&path[..30]));
        assert_eq!(redacted(&format!("0x{}", hex(&note))), "[redacted:github-token]");
    }
}

#[test]
fn only_one_level_is_decoded() {
    let mut random = Random(12);
    let token = github(&mut random);
    let once = random.base64_of(&token);
    let twice = random.base64_of(&once);
    assert_eq!(redacted(&once), "[redacted:github-token]");
    assert_eq!(redacted(&twice), twice);
}

#[test]
fn an_encoded_text_without_a_credential_stays() {
    let mut random = Random(13);
    let words = "Nothing to hide: the token comes from $GITHUB_TOKEN, and the password is kept elsewhere.";
    for text in [random.base64_of(words), hex(words), percent(words)] {
        assert_eq!(redacted(&text), text);
    }
    for _ in 0..2000 {
        for text in [random.of(BASE64, 200), random.of(HEX, 200), random.of(BASE62, 44)] {
            assert_eq!(redacted(&text), text);
        }
    }
}

#[test]
fn a_long_run_is_not_decoded() {
    let mut random = Random(14);
    let text = format!("{} {}", "word ".repeat(2000), github(&mut random));
    let run = random.base64_of(&text);
    assert_eq!(redacted(&run), run);
}

#[test]
fn percent_encoded_credentials_are_found_where_they_are_written() {
    let mut random = Random(15);
    let (value, token) = (random.of(BASE62, 24), github(&mut random));
    for (text, expected) in [
        (format!("token%3D{value}"), "token%3D[redacted:token]".to_owned()),
        (
            format!("next=%2Fcb%3Fapi_key%3d{value}%26page%3D2"),
            "next=%2Fcb%3Fapi_key%3d[redacted:key]%26page%3D2".into(),
        ),
        (
            format!("%7B%22password%22%3A%22{value}%22%7D"),
            "%7B%22password%22%3A%22[redacted:password]%22%7D".into(),
        ),
        (
            format!("u=postgres%3A%2F%2Fapp%3A{value}%40db%2Fx"),
            "u=postgres%3A%2F%2Fapp%3A[redacted:url-password]%40db%2Fx".into(),
        ),
        (
            format!("Authorization%3A%20Bearer%20{value}"),
            "Authorization%3A%20Bearer%20[redacted:authorization]".into(),
        ),
        (format!("q={}&p=1", percent(&token)), "q=[redacted:github-token]&p=1".into()),
    ] {
        assert_eq!(redacted(&text), expected);
    }
}

#[test]
fn json_escapes_do_not_hide_a_credential() {
    let mut random = Random(16);
    let (key, value) = (random.of(BASE32, 15), random.of(BASE62, 20));
    for (text, expected) in [
        (format!(r#"{{"id": "AKIA\u0049{key}"}}"#), r#"{"id": "[redacted:aws-access-key]"}"#.to_owned()),
        (format!(r#"{{\"id\": \"AKIA\\u0049{key}\"}}"#), r#"{\"id\": \"[redacted:aws-access-key]\"}"#.into()),
        (
            format!(r#"{{"h": "Bearer {value}\/{value}"}}"#),
            r#"{"h": "Bearer [redacted:authorization]"}"#.into(),
        ),
        (
            format!(r"postgres:\/\/app:{value}@db\/x"),
            r"postgres:\/\/app:[redacted:url-password]@db\/x".into(),
        ),
        (
            format!(r"?a=1\u0026api_key\u003d{value}\u0026b=2"),
            r"?a=1\u0026api_key\u003d[redacted:key]\u0026b=2".into(),
        ),
    ] {
        assert_eq!(redacted(&text), expected);
    }
}

#[test]
fn a_private_key_is_found_with_escaped_line_ends_and_slashes() {
    let mut random = Random(17);
    let lines: Vec<String> =
        (0..4).map(|_| format!("{}/{}", random.of(BASE64, 40), random.of(BASE62, 23))).collect();
    let kind = ["PRIVATE", "KEY"].join(" ");
    let key = format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----", lines.join("\n"));
    for text in [
        key.replace('\n', "\\n").replace('/', "\\/"),
        key.replace('\n', "\\u000a").replace('/', "\\u002f"),
        key.replace('\n', "%0A").replace('/', "%2F").replace('+', "%2B").replace(' ', "%20"),
    ] {
        assert_eq!(redacted(&format!("k={text}&x")), "k=[redacted:private-key]&x", "{text}");
    }
}

#[test]
fn a_bitcoin_key_is_known_by_its_checksum() {
    let mut random = Random(18);
    for _ in 0..100 {
        let key = wallet_import(&mut random);
        assert_eq!(redacted(&format!("import {key}, then wait")), "import [redacted:bitcoin-key], then wait");
        let last = if key.ends_with('2') { "3" } else { "2" };
        let wrong = format!("import {}{last}, then wait", &key[..key.len() - 1]);
        assert_eq!(redacted(&wrong), wrong);
    }
}

#[test]
fn a_solana_key_pair_is_known_by_its_public_half() {
    let mut random = Random(19);
    for _ in 0..50 {
        let (pair, other) = (key_pair(&mut random), bytes(&mut random, 64));
        let listed = serde_json::to_string_pretty(&pair).unwrap();
        for text in [base58(&pair), format!("{pair:?}"), listed.replace('\n', "\\n"), listed] {
            assert_eq!(redacted(&format!("k = {text};")), "k = [redacted:solana-key];");
        }
        // A signature has the same form.
        for text in [base58(&other), format!("{other:?}")] {
            assert_eq!(redacted(&text), text);
        }
    }
}
