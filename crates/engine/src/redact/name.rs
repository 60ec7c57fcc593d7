//! Names that announce a credential.
//!
//! A literal such as `token` is only a hint. The whole name around it counts, split into words at punctuation and
//! capitals: `GITHUB_TOKEN`, `githubToken` and `github-token` announce one, `max_tokens`, `tokenCount` and
//! `nextPageToken` do not.

use std::ops::Range;

/// The kind of credential that a name announces, which decides what its value must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// Made up by people: may be short and contain words.
    Password,
    /// Made by people or by programs.
    Secret,
    /// Made by a program.
    Token,
    /// Made by a program.
    Key,
    /// The name says little, so the value must say more.
    Vague,
}

impl NameKind {
    /// The name of the rule.
    pub(super) fn rule(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Token => "token",
            Self::Key | Self::Vague => "key",
        }
    }
}

/// The literals to search for. The automaton has them in small letters, capitalised, and in capitals.
pub(super) const LITERALS: [&str; 9] =
    ["passw", "passphrase", "passcode", "pass", "pwd", "secret", "token", "key", "credential"];

/// More spellings that this does not cover.
pub(super) const SPELLINGS: [&str; 10] =
    ["_auth", "\"auth\"", "\"auth\\", "_pw", "Pw", "PW", "passWord", "cred", "Cred", "CRED"];

/// The longest name, on each side of the literal.
const REACH: usize = 64;

/// Words after which a `key` is a credential.
const KEY_OWNERS: &str = "\
    api access secret private auth signing sign encryption encrypt account master service admin app \
    application shared storage license licence session webhook hmac deploy security subscription crypto \
    jwt";

/// Endings that make one word of an owner and a key.
const KEY_WORDS: [&str; 9] = [
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "accountkey",
    "masterkey",
];

/// Words after the decisive one which say that the value describes a credential instead of being one.
const ABOUT: &str = "\
    count counts name names id ids file files path paths dir url uri endpoint type types len length size \
    limit limits hash digest ttl expiry expires expiration at in field fields input label header prefix \
    suffix manager provider store class regex pattern policy rule status error message index version \
    usage budget ref arn alias format schema placeholder hint help env var vars source algorithm bytes \
    fingerprint";

/// Words before the decisive one which say that it is not a credential at all.
const OTHER: &str = "\
    public next page continuation pagination sync cancellation stop special pad eos bos unk mask sep cls \
    max min num total prompt completion cached resume primary foreign partition sort cache row composite \
    unique design idempotency";

/// The range of the name around a literal.
pub(super) fn read_name(text: &[u8], literal: Range<usize>) -> Range<usize> {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let head = text.get(literal.start.saturating_sub(REACH)..literal.start).unwrap_or_default();
    let tail = text.get(literal.start..text.len().min(literal.end + REACH)).unwrap_or_default();
    let before = head.iter().rev().take_while(|byte| part(byte)).count();
    let after = tail.iter().take_while(|byte| part(byte)).count();
    let mut range = literal.start - before..literal.start + after;
    // A sentence ends with a dot, a name does not.
    while range.end > literal.end && matches!(text.get(range.end - 1), Some(b'.' | b'-')) {
        range.end -= 1;
    }
    // `\nTOKEN=`: the letter of an escape is not part of the name.
    if range.start > 0 && text.get(range.start - 1) == Some(&b'\\') && range.start < literal.start {
        range.start += 1;
    }
    range
}

/// What a whole name announces.
pub(super) fn classify(name: &[u8]) -> Option<NameKind> {
    let words = split_words(name);
    let capitals = !name.iter().any(u8::is_ascii_lowercase);
    let text = |index: usize| words.get(index).map_or("", String::as_str);
    for index in (0..words.len()).rev() {
        let before = index.checked_sub(1).map_or("", text);
        let kind = kind_of(text(index), before, capitals && words.len() > 1);
        let Some(kind) = kind else { continue };
        let about = words.iter().skip(index + 1).any(|word| is_listed(ABOUT, word));
        return (!about && words.len() - index <= 4 && !is_listed(OTHER, before)).then_some(kind);
    }
    None
}

fn kind_of(word: &str, before: &str, capitals: bool) -> Option<NameKind> {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    let kind = match word {
        "pass" | "pwd" | "pw" | "pswd" => NameKind::Password,
        _ if ends(&["password", "passwd", "passphrase", "passcode", "passwort"]) => NameKind::Password,
        _ if ends(&["secret", "credential", "credentials"]) => NameKind::Secret,
        "cred" | "creds" => NameKind::Secret,
        _ if ends(&["token"]) => NameKind::Token,
        _ if ends(&KEY_WORDS) => NameKind::Key,
        "key" if is_listed(KEY_OWNERS, before) => NameKind::Key,
        "key" if capitals => NameKind::Vague,
        "auth" => NameKind::Vague,
        _ => return None,
    };
    Some(kind)
}

fn is_listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// The words of a name in small letters: split at punctuation, and before a capital that begins a word.
fn split_words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::with_capacity(4);
    let mut fresh = true;
    for (at, &byte) in name.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            fresh = true;
            continue;
        }
        let last = at.checked_sub(1).and_then(|index| name.get(index));
        let next = name.get(at + 1);
        let hump = byte.is_ascii_uppercase()
            && (last.is_some_and(|last| last.is_ascii_lowercase() || last.is_ascii_digit())
                || (last.is_some_and(u8::is_ascii_uppercase) && next.is_some_and(u8::is_ascii_lowercase)));
        match words.last_mut() {
            Some(word) if !fresh && !hump => word.push(char::from(byte.to_ascii_lowercase())),
            _ => words.push(char::from(byte.to_ascii_lowercase()).to_string()),
        }
        fresh = false;
    }
    // `TOKEN2`, `password1`
    for word in &mut words {
        let bare = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
        if !bare.is_empty() {
            word.truncate(bare.len());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials_are_known_in_every_spelling() {
        for (name, kind) in [
            ("password", NameKind::Password),
            ("DB_PASSWORD", NameKind::Password),
            ("dbPass", NameKind::Password),
            ("mysql-pwd", NameKind::Password),
            ("keystore.password", NameKind::Password),
            ("PASSWORD_2", NameKind::Password),
            ("clientSecret", NameKind::Secret),
            ("SECRET_KEY_BASE", NameKind::Key),
            ("aws_credentials", NameKind::Secret),
            ("GITHUB_TOKEN", NameKind::Token),
            ("githubToken", NameKind::Token),
            ("_authToken", NameKind::Token),
            ("apikey", NameKind::Key),
            ("APIKey", NameKind::Key),
            ("x-api-key", NameKind::Key),
            ("openaiApiKey", NameKind::Key),
            ("DATADOG_KEY", NameKind::Vague),
            ("_auth", NameKind::Vague),
            ("TOKEN_VALUE", NameKind::Token),
        ] {
            assert_eq!(classify(name.as_bytes()), Some(kind), "{name}");
        }
    }

    #[test]
    fn names_of_other_things_are_not() {
        for name in [
            "max_tokens",
            "tokenCount",
            "nextPageToken",
            "tokenizer",
            "secretName",
            "password_file",
            "key",
            "cacheKey",
            "public_key",
            "primary_key",
            "keyboard",
            "compass",
            "access_key_id",
            "PUBLIC_KEY",
            "monkey",
            "pad_token",
        ] {
            assert_eq!(classify(name.as_bytes()), None, "{name}");
        }
    }
}
