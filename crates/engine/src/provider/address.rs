//! From the URL in the settings to the URL of the endpoint.
//!
//! Providers' documentation disagrees on whether the version belongs to the base URL. So these rules apply, for a
//! wire whose own path is `/chat/completions`, `/responses`, `/messages` or, for Gemini,
//! `/models/MODEL:streamGenerateContent`:
//!
//! 1. A URL that ends in the wire's own path is taken as it is; one of Gemini's with the model that it names.
//! 2. If one of its path's segments is a version (`v1`, `v1beta`, `v4`), the wire's own path is added.
//! 3. Otherwise `/v1` (`/v1beta` for Gemini) and the wire's own path are added.
//!
//! | configured                          | used, for Chat Completions                           |
//! |-------------------------------------|------------------------------------------------------|
//! | `https://host`                      | `https://host/v1/chat/completions`                   |
//! | `https://host/v1/`                  | `https://host/v1/chat/completions`                   |
//! | `https://host/v1beta/openai`        | `https://host/v1beta/openai/chat/completions`        |
//! | `https://host/d/x/chat/completions` | unchanged, for servers without a version             |
//!
//! A query is kept. Gemini streams events only on request, so `alt=sse` is added for it. A user and password in the
//! URL are refused: they would be shown wherever the URL is.

use reqwest::Url;
use secateur_formats::{RequestKind, Wire};

use super::endpoint::ConnectError;

/// The URL of the endpoint itself.
pub(super) fn resolve(url: &str, wire: Wire, model: &str) -> Result<Url, ConnectError> {
    let refuse = |reason: &str| ConnectError::Url { url: without_query(url), reason: reason.to_owned() };
    let mut parsed = Url::parse(url.trim()).map_err(|error| refuse(&error.to_string()))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(refuse("it must begin with http:// or https://"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        let reason =
            "it contains a user or password; put the key into a variable and name that in key_env".to_owned();
        return Err(ConnectError::Url { url: "the url".to_owned(), reason });
    }
    let path = parsed.path().trim_end_matches('/').to_owned();
    let spec = wire.spec();
    if spec.kind_of(&path) == Some(RequestKind::Generate) {
        parsed.set_path(&path);
    } else {
        let version = if path.split('/').any(is_version) { "" } else { spec.version };
        parsed.set_path(&format!("{path}{version}{}", spec.stream_path(model)));
    }
    for (name, value) in spec.stream_query {
        let has_it = parsed.query_pairs().any(|(existing, _)| existing == *name);
        if spec.is_stream_path(parsed.path()) && !has_it {
            parsed.query_pairs_mut().append_pair(name, value);
        }
    }
    parsed.set_fragment(None);
    Ok(parsed)
}

/// A URL without its query: some providers take a key there.
pub(super) fn without_query(url: &str) -> String {
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// The values in the query of a URL, encoded and decoded: one of them may be a key.
pub(super) fn query_values(url: &Url) -> Vec<String> {
    let written = url.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let meant = url.query_pairs().map(|(_, value)| value.into_owned());
    written.map(|(_, value)| value.to_owned()).chain(meant).collect()
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_holds_for_every_row_of_its_table() {
        for (wire, written, asked) in [
            (Wire::OpenAiChat, "https://host", "https://host/v1/chat/completions"),
            (Wire::OpenAiChat, "https://host/", "https://host/v1/chat/completions"),
            (Wire::OpenAiChat, " https://host/v1/ ", "https://host/v1/chat/completions"),
            (Wire::OpenAiChat, "https://host/api/v1", "https://host/api/v1/chat/completions"),
            (Wire::OpenAiChat, "https://host/v1beta/openai", "https://host/v1beta/openai/chat/completions"),
            (Wire::OpenAiChat, "https://host/d/x/chat/completions", "https://host/d/x/chat/completions"),
            (Wire::OpenAiChat, "https://host/v1/chat/completions/", "https://host/v1/chat/completions"),
            (
                Wire::OpenAiChat,
                "https://host/d/x/chat/completions?api-version=1",
                "https://host/d/x/chat/completions?api-version=1",
            ),
            (Wire::OpenAiResponses, "https://host/v1?a=b#c", "https://host/v1/responses?a=b"),
            (Wire::OpenAiResponses, "http://host:8080", "http://host:8080/v1/responses"),
            (Wire::Anthropic, "https://host", "https://host/v1/messages"),
            (Wire::Anthropic, "https://host/anthropic", "https://host/anthropic/v1/messages"),
            (Wire::Anthropic, "https://host/v1/messages", "https://host/v1/messages"),
            (Wire::Anthropic, "https://host/vault", "https://host/vault/v1/messages"),
        ] {
            assert_eq!(resolve(written, wire, "m").unwrap().as_str(), asked, "{written}");
        }
    }

    #[test]
    fn the_rule_holds_for_gemini() {
        for (written, model, asked) in [
            ("https://host", "m", "https://host/v1beta/models/m:streamGenerateContent?alt=sse"),
            ("https://host/v1/", "m", "https://host/v1/models/m:streamGenerateContent?alt=sse"),
            (
                "https://host/x?key=k",
                "m",
                "https://host/x/v1beta/models/m:streamGenerateContent?key=k&alt=sse",
            ),
            (
                "https://host?alt=sse",
                "models/m",
                "https://host/v1beta/models/m:streamGenerateContent?alt=sse",
            ),
            (
                "https://host",
                "tunedModels/m",
                "https://host/v1beta/tunedModels/m:streamGenerateContent?alt=sse",
            ),
            (
                "https://host/v1/projects/p/locations/l/publishers/google",
                "m",
                "https://host/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse",
            ),
            (
                "https://host/models/other:streamGenerateContent",
                "m",
                "https://host/models/other:streamGenerateContent?alt=sse",
            ),
            ("https://host/models/other:generateContent", "m", "https://host/models/other:generateContent"),
            ("https://host", "m?a#b", "https://host/v1beta/models/m%3Fa%23b:streamGenerateContent?alt=sse"),
        ] {
            assert_eq!(resolve(written, Wire::Gemini, model).unwrap().as_str(), asked, "{written}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_asked_is_refused() {
        for url in ["", "host/v1", "ftp://host", "file:///etc/passwd", "https://"] {
            assert!(matches!(resolve(url, Wire::OpenAiChat, "m"), Err(ConnectError::Url { .. })), "{url}");
        }
    }

    #[test]
    fn a_refused_url_does_not_show_what_could_be_a_key() {
        let error = resolve("ftp://host/v1?key=sesame", Wire::OpenAiChat, "m").unwrap_err().to_string();
        assert!(error.contains("ftp://host/v1") && !error.contains("sesame"), "{error}");
        let error = resolve("https://user:sesame@host/v1", Wire::OpenAiChat, "m").unwrap_err().to_string();
        assert!(!error.contains("sesame"), "{error}");
    }
}
