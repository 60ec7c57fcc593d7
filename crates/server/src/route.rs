//! Which request goes where, and which of them hold a conversation.

use http::HeaderMap;
use secateur_formats::Wire;

/// Whose API a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Anthropic.
    Anthropic,
    /// OpenAI, and the many that speak like it.
    OpenAi,
    /// Google.
    Gemini,
}

/// What a request with a conversation wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An answer.
    Generate,
    /// To know how long it is.
    Count,
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Whose API it speaks.
    pub provider: Provider,
    /// The form of its conversation and what it wants; none if it is passed through unread.
    pub talk: Option<(Wire, Kind)>,
    /// The model, where the path names it.
    pub model: Option<String>,
}

impl Route {
    /// Tells from the path of a request, and where that says nothing from its headers, where it goes.
    ///
    /// ```
    /// use http::HeaderMap;
    /// use secateur_formats::Wire;
    /// use secateur_server::{Kind, Provider, Route};
    ///
    /// let route = Route::of("/v1beta/models/gemini-3-pro:streamGenerateContent", &HeaderMap::new());
    /// assert_eq!(route.provider, Provider::Gemini);
    /// assert_eq!(route.talk, Some((Wire::Gemini, Kind::Generate)));
    /// assert_eq!(route.model.as_deref(), Some("gemini-3-pro"));
    /// ```
    pub fn of(path: &str, headers: &HeaderMap) -> Self {
        let path = path.trim_end_matches('/');
        let talk = |provider, wire, kind| Self { provider, talk: Some((wire, kind)), model: None };
        if path.ends_with("/messages/count_tokens") {
            return talk(Provider::Anthropic, Wire::Anthropic, Kind::Count);
        }
        if path.ends_with("/chat/completions") {
            return talk(Provider::OpenAi, Wire::OpenAiChat, Kind::Generate);
        }
        if path.ends_with("/responses") {
            return talk(Provider::OpenAi, Wire::OpenAiResponses, Kind::Generate);
        }
        // OpenAI has messages too, those of threads.
        if path.ends_with("/messages") && !path.contains("/threads/") {
            return talk(Provider::Anthropic, Wire::Anthropic, Kind::Generate);
        }
        if let Some((model, method)) = path.rsplit_once('/').and_then(|(_, last)| last.split_once(':')) {
            let kind = match method {
                "generateContent" | "streamGenerateContent" => Some(Kind::Generate),
                "countTokens" => Some(Kind::Count),
                _ => None,
            };
            let model = Some(model.to_owned());
            return Self { provider: Provider::Gemini, talk: kind.map(|kind| (Wire::Gemini, kind)), model };
        }
        Self { provider: spoken(path, headers), talk: None, model: None }
    }
}

/// Whose API a request speaks that has no conversation in it.
fn spoken(path: &str, headers: &HeaderMap) -> Provider {
    if headers.contains_key("anthropic-version") || headers.contains_key("anthropic-beta") {
        Provider::Anthropic
    } else if headers.contains_key("x-goog-api-key") || path.starts_with("/v1beta") {
        Provider::Gemini
    } else if headers.contains_key("x-api-key") && !headers.contains_key("authorization") {
        Provider::Anthropic
    } else {
        Provider::OpenAi
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(path: &str) -> Route {
        Route::of(path, &HeaderMap::new())
    }

    #[test]
    fn conversations_are_known_by_the_end_of_their_path() {
        let anthropic = Some((Wire::Anthropic, Kind::Generate));
        assert_eq!(of("/v1/messages").talk, anthropic);
        assert_eq!(of("/gateway/v1/messages/").talk, anthropic);
        assert_eq!(of("/v1/messages/count_tokens").talk, Some((Wire::Anthropic, Kind::Count)));
        assert_eq!(of("/v1/chat/completions").talk, Some((Wire::OpenAiChat, Kind::Generate)));
        assert_eq!(of("/v1/responses").talk, Some((Wire::OpenAiResponses, Kind::Generate)));
        assert_eq!(of("/v1/models/m:countTokens").talk, Some((Wire::Gemini, Kind::Count)));
        for other in ["/v1/models", "/v1/responses/resp_1", "/v1/messages/batches", "/v1/threads/t/messages"]
        {
            assert_eq!(of(other).talk, None, "{other}");
        }
    }

    #[test]
    fn other_paths_go_to_whoever_their_headers_are_for() {
        let with = |name: &'static str| {
            let headers =
                HeaderMap::from_iter([(http::HeaderName::from_static(name), HeaderValue::from_static("x"))]);
            Route::of("/v1/models", &headers).provider
        };
        assert_eq!(with("anthropic-version"), Provider::Anthropic);
        assert_eq!(with("x-api-key"), Provider::Anthropic);
        assert_eq!(with("x-goog-api-key"), Provider::Gemini);
        assert_eq!(with("authorization"), Provider::OpenAi);
        assert_eq!(of("/v1beta/models").provider, Provider::Gemini);
        assert_eq!(of("/v1/models/m:embedContent").provider, Provider::Gemini);
        assert_eq!(of("/v1/files").provider, Provider::OpenAi);
    }
}
