//! Masking values before they are shown.
//!
//! A configuration should name keys, not contain them. People put them there anyway: into a URL, a header, a
//! program's arguments, or an unknown setting. Such values are shown only as present.

use std::sync::LazyLock;

use reqwest::Url;
use toml::Value;

use crate::redact::Redactor;

const HIDDEN: &str = "***";

/// Texts of the engine's own sections that may appear in errors. Others could be secrets.
const HARMLESS: [&str; 7] = ["wire", "model", "tokens_field", "key_header", "name", "moments", "tenant"];

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::new);

/// A value for an error message; none if it may be a secret.
pub(super) fn in_error(key: &str, value: &Value) -> Option<String> {
    let last = key.rsplit('.').next().unwrap_or_default();
    let plain = key.starts_with("redaction") || key.starts_with("profile") || HARMLESS.contains(&last);
    match value {
        Value::Table(_) | Value::Array(_) => None,
        Value::String(_) if !plain => None,
        value => Some(shown(key, value).to_string()),
    }
}

/// A value for the list of settings.
pub(super) fn shown(key: &str, value: &Value) -> Value {
    match value {
        Value::String(_) if key.starts_with("summariser.headers") => Value::String(HIDDEN.to_owned()),
        Value::String(text) if key == "store" || key.ends_with(".url") => Value::String(url(text)),
        Value::String(text) => Value::String(REDACTOR.redact(text).text.into_owned()),
        Value::Array(items) => Value::Array(items.iter().map(|item| shown(key, item)).collect()),
        Value::Table(table) => {
            let inner =
                |(name, value): (&String, &Value)| (name.clone(), shown(&format!("{key}.{name}"), value));
            Value::Table(table.iter().map(inner).collect())
        }
        value => value.clone(),
    }
}

/// A path or URL without its password, query and fragment.
fn url(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else {
        let scheme = text.split_once("://").map(|(scheme, _)| format!("{scheme}://{HIDDEN}"));
        // A password with unescaped characters makes a URL that cannot be parsed.
        return if text.contains('@') { scheme.unwrap_or(HIDDEN.to_owned()) } else { redacted(text) };
    };
    if url.cannot_be_a_base() && url.scheme() != "sqlite" && text.contains('@') {
        return HIDDEN.to_owned();
    }
    if url.password().is_none() && url.query().is_none() && url.fragment().is_none() {
        return redacted(text);
    }
    if url.password().is_some() && url.set_password(Some(HIDDEN)).is_err() {
        return HIDDEN.to_owned();
    }
    if url.query().is_some() {
        url.set_query(Some(HIDDEN));
    }
    url.set_fragment(None);
    redacted(url.as_str())
}

fn redacted(text: &str) -> String {
    REDACTOR.redact(text).text.into_owned()
}

/// A parser's message without the text that it quotes.
pub(super) fn message(message: &str) -> String {
    for kind in ["invalid type: string", "invalid value: string"] {
        if message.starts_with(kind)
            && let Some((_, expected)) = message.rsplit_once("\", expected ")
        {
            return format!("{kind}, expected {expected}");
        }
    }
    message.to_owned()
}

/// Whether this can be the name of a variable, and not the key itself, which is a common mistake.
pub(super) fn names_a_variable(text: &str) -> bool {
    let legal = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let begins = text.starts_with(|char: char| !char.is_ascii_digit());
    begins && text.chars().all(legal) && !REDACTOR.contains_credential(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_what_could_be_a_secret() {
        for (text, expected) in [
            ("postgres://me:sesame@host/db?password=sesame", "postgres://me:***@host/db?***"),
            ("postgres://me:ses#ame@host/db", "postgres://***"),
            ("postgres://me@host/db", "postgres://me@host/db"),
            ("https://host/v1?key=sesame#sesame", "https://host/v1?***"),
            ("sqlite:some/where.db", "sqlite:some/where.db"),
            ("some/where.db", "some/where.db"),
            ("me:sesame@host", "***"),
        ] {
            assert_eq!(url(text), expected, "{text}");
        }
    }

    #[test]
    fn a_parsers_message_is_told_without_the_text() {
        let said = "invalid type: string \"ses, expected ame\", expected a map";
        assert_eq!(message(said), "invalid type: string, expected a map");
        assert_eq!(message("missing field `url`"), "missing field `url`");
    }

    #[test]
    fn a_key_is_not_the_name_of_a_variable() {
        assert!(names_a_variable("ANTHROPIC_API_KEY") && names_a_variable("_k2"));
        let token = ["ghp_", "Zk3vQ9xT7bLm2RwY8nHc5JfD1sGa6PeU4tXo"].concat();
        for text in ["", "2K", "sk-ant-abc", "A B", token.as_str()] {
            assert!(!names_a_variable(text), "{text}");
        }
    }
}
