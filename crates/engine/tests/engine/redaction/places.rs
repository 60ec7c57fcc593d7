//! Credentials that are known by their place, and what else stands there.

use std::borrow::Cow;

use secateur_engine::redact::Redactor;

use super::random::{BASE32, BASE36, BASE62, BASE64, DIGITS, HEX, Random, URL64};

fn redacted(text: &str) -> String {
    Redactor::new().redact(text).text.into_owned()
}

fn assert_stays(texts: &[&str]) {
    for text in texts {
        let redacted = Redactor::new().redact(text);
        assert_eq!((redacted.text, redacted.findings), (Cow::Borrowed(*text), vec![]));
    }
}

#[test]
fn the_secret_beside_an_access_key_in_a_row_is_found() {
    let mut random = Random(31);
    let (id, secret) = (format!("AKIA{}", random.of(BASE32, 16)), random.of(BASE64, 40));
    let both = "[redacted:aws-access-key]";
    for (row, expected) in [
        (format!("{id},{secret}"), format!("{both},[redacted:aws-secret-key]")),
        (format!("\"{id}\",\"{secret}\"\r\n"), format!("\"{both}\",\"[redacted:aws-secret-key]\"\r\n")),
        (format!("{id}\t{secret}\n"), format!("{both}\t[redacted:aws-secret-key]\n")),
        (format!("{id}:{secret}"), format!("{both}:[redacted:aws-secret-key]")),
        (format!("{id}, {}", &secret[..39]), format!("{both}, {}", &secret[..39])),
    ] {
        assert_eq!(redacted(&row), expected);
    }
}

#[test]
fn a_login_of_docker_is_found_by_what_it_decodes_to() {
    let mut random = Random(32);
    let auth = random.base64_of("me:letmein");
    for (text, expected) in [
        (
            format!(r#"{{"auths":{{"x":{{"auth":"{auth}"}}}}}}"#),
            r#"{"auths":{"x":{"auth":"[redacted:docker-auth]"}}}"#,
        ),
        (format!(r#"{{\"auth\": \"{auth}\"}}"#), r#"{\"auth\": \"[redacted:docker-auth]\"}"#),
        (format!("_auth={auth}"), "_auth=[redacted:docker-auth]"),
    ] {
        assert_eq!(redacted(&text), expected);
    }
    assert_stays(&[r#""auth": "required""#, r#""auth": "authentication""#, r#""auth": "QUJDREVGR0g=""#]);
}

#[test]
fn tokens_of_azure_devops_and_sourcegraph_are_found() {
    let mut random = Random(33);
    let old = random.of("abcdefghijklmnopqrstuvwxyz234567", 52);
    assert_eq!(redacted(&format!("ADO_PAT={old}")), "ADO_PAT=[redacted:azure-devops-token]");
    assert_eq!(
        redacted(&format!("https://dev.azure.com/org {old}")),
        "https://dev.azure.com/org [redacted:azure-devops-token]"
    );
    assert_eq!(redacted(&format!("store path {old}")), format!("store path {old}"));
    let hex = random.of(HEX, 40);
    for token in [format!("sgp_{hex}"), format!("sgp_local_{hex}"), format!("sgp_{}_{hex}", &hex[..16])] {
        assert_eq!(redacted(&format!("SRC={token};")), "SRC=[redacted:sourcegraph-token];");
    }
}

#[test]
fn the_path_of_a_webhook_is_its_secret() {
    let mut random = Random(34);
    let (id, word) = (random.of(DIGITS, 18), random.of(URL64, 68));
    let (hex, name) = (random.of(HEX, 32), random.of(BASE36, 24));
    for (text, rule) in [
        (format!("https://discord.com/api/v10/webhooks/{id}/{word}"), "discord-webhook"),
        (format!("https://discordapp.com/api/webhooks/{id}/{word}"), "discord-webhook"),
        (format!("https:\\/\\/hooks.slack.com\\/services\\/TABCD1234\\/BABCD1234\\/{name}"), "slack-webhook"),
        (
            format!("https%3A%2F%2Fhooks.slack.com%2Fservices%2FTABCD1234%2FBABCD1234%2F{name}"),
            "slack-webhook",
        ),
        (format!("https://hooks.slack-gov.com/services/TABCD1234/BABCD1234/{name}"), "slack-webhook"),
        (
            format!(
                "https://outlook.office.com/webhook/{}@{}/IncomingWebhook/{hex}/{}",
                random.of(HEX, 36),
                random.of(HEX, 36),
                random.of(HEX, 36)
            ),
            "teams-webhook",
        ),
        (format!("https://hooks.zapier.com/hooks/catch/1234567/{}/", &name[..7]), "webhook"),
    ] {
        let redacted = redacted(&text);
        assert!(
            redacted.contains(&format!("[redacted:{rule}]")) && !redacted.contains(&name[..7]),
            "{redacted}"
        );
    }
    assert_stays(&["https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"]);
}

#[test]
fn hashes_of_passwords_are_found_in_their_files() {
    let mut random = Random(35);
    let crypt = format!("./{BASE62}");
    for (text, after) in [
        (format!("root:$6${}${}", random.of(&crypt, 16), random.of(&crypt, 86)), ":19700:0:99999:7:::"),
        (format!("root:$y$j9T${}${}", random.of(&crypt, 22), random.of(&crypt, 43)), ":19700::::::"),
        (format!("root:$2y$05${}", random.of(&crypt, 53)), "\n"),
        (format!("root:$apr1${}${}", random.of(&crypt, 8), random.of(&crypt, 22)), "\\n"),
        (format!("root:{{SHA}}{}=", random.of(BASE64, 27)), "\n"),
    ] {
        assert_eq!(redacted(&format!("{text}{after}")), format!("root:[redacted:password-hash]{after}"));
    }
    let bcrypt = random.of(&crypt, 53);
    assert_eq!(redacted(&format!("a:$$2y$$10$${bcrypt}")), "a:$[redacted:password-hash]");
    assert_eq!(redacted(&format!("a:\\$2y\\$10\\${bcrypt}")), "a:\\[redacted:password-hash]");
    assert_stays(&[
        "root:*:19700:0:99999:7:::",
        "root:!:1::::::",
        "echo $1$2",
        "awk '{print $6$7}'",
        "$2y$10$...",
    ]);
}

#[test]
fn a_credential_that_is_told_in_a_sentence_is_found() {
    let mut random = Random(36);
    let (long, hex) = (random.of(BASE62, 20), random.of(HEX, 32));
    for (text, expected) in [
        (format!("The password is {long}."), "The password is [redacted:password]."),
        (
            "the password for the admin is Dragon4711!".to_owned(),
            "the password for the admin is [redacted:password]",
        ),
        (format!("I set the password to `{long}`, ok?"), "I set the password to `[redacted:password]`, ok?"),
        (format!("your api key is {hex}"), "your api key is [redacted:key]"),
        (format!("API key: {long}"), "API key: [redacted:key]"),
        (format!("**API Key:** `{long}`"), "**API Key:** `[redacted:key]`"),
        (format!("the token is \"{hex}\""), "the token is \"[redacted:token]\""),
        (format!("the token was: {hex}\\nthen"), "the token was: [redacted:token]\\nthen"),
    ] {
        assert_eq!(redacted(&text), expected);
    }
}

#[test]
fn a_sentence_about_a_credential_stays() {
    assert_stays(&[
        "the password is required and must have 8 characters",
        "the password is Base64-encoded",
        "the password is hashed with SHA256-HMAC",
        "The token is `access_token_v2` in the response",
        "the token is base64url",
        "the token is undefined, so login2 fails",
        "the next token is 0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
        "the cache key is 0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
        "the primary key is 550e8400-e29b-41d4-a716-446655440000",
        "the API key is read from OPENAI_API_KEY2",
        "the API key is invalid: 401",
        "the secret is in projects/app-2/secrets/db1",
        "the api key is optional (v1.2.3-beta4)",
        "the password is $PASSWORD1",
        "add the token to src/auth/token2.ts",
        "set the password to p.password1.value",
        "Private key: id_ed25519_2024.pem",
        "API key: string",
        "the token is src/lib/auth_v2.rs:120",
    ]);
}

#[test]
fn a_hexadecimal_number_is_a_key_only_where_it_is_called_one() {
    let mut random = Random(37);
    let (one, two) = (random.of(HEX, 64), random.of(HEX, 64));
    assert_eq!(
        redacted(&format!("Private Keys\n==================\n\n(0) 0x{one}\n(1) 0x{two}\n")),
        "Private Keys\n==================\n\n(0) [redacted:ethereum-key]\n(1) [redacted:ethereum-key]\n",
    );
    assert_eq!(redacted(&format!("new Wallet(\"0x{one}\")")), "new Wallet(\"[redacted:ethereum-key]\")");
    let transactions =
        format!("tx 0x{one} in block 0x{two}; the private key signed transaction hash 0x{one}");
    assert_eq!(redacted(&transactions), transactions);
}
