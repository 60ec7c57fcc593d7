//! Where a request goes, and whether it has a conversation.

use http::HeaderMap;
use secateur_formats::Wire;

/// Whose API a request uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Anthropic.
    Anthropic,
    /// OpenAI, and those with the same API.
    OpenAi,
    /// Google.
    Gemini,
}

/// What a request with a conversation asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A response of the model.
    Generate,
    /// The number of its tokens.
    Count,
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Whose API it uses.
    pub provider: Provider,
    /// The wire of its conversation and what it asks for; none if it is passed through.
    pub conversation: Option<(Wire, RequestKind)>,
    /// The model, where the path names it.
    pub model: Option<String>,
}

impl Route {
    /// The route of a request, from its path, or from its headers where the path does not tell.
    ///
    /// ```
    /// use http::HeaderMap;
    /// use secateur_formats::Wire;
    /// use secateur_server::{RequestKind, Provider, Route};
    ///
    /// let route = Route::of("/v1beta/models/gemini-3-pro:streamGenerateContent", &HeaderMap::new());
    /// assert_eq!(route.provider, Provider::Gemini);
    /// assert_eq!(route.conversation, Some((Wire::Gemini, RequestKind::Generate)));
    /// assert_eq!(route.model.as_deref(), Some("gemini-3-pro"));
    /// ```
    pub fn of(path: &str, headers: &HeaderMap) -> Self {
        let path = path.trim_end_matches('/');
        let conversation =
            |provider, wire, kind| Self { provider, conversation: Some((wire, kind)), model: None };
        if path.ends_with("/messages/count_tokens") {
            return conversation(Provider::Anthropic, Wire::Anthropic, RequestKind::Count);
        }
        if path.ends_with("/chat/completions") {
            return conversation(Provider::OpenAi, Wire::OpenAiChat, RequestKind::Generate);
        }
        if path.ends_with("/responses") {
            return conversation(Provider::OpenAi, Wire::OpenAiResponses, RequestKind::Generate);
        }
        // Threads of OpenAI have messages, too.
        if path.ends_with("/messages") && !path.contains("/threads/") {
            return conversation(Provider::Anthropic, Wire::Anthropic, RequestKind::Generate);
        }
        if let Some((model, method)) = path.rsplit_once('/').and_then(|(_, last)| last.split_once(':')) {
            let kind = match method {
                "generateContent" | "streamGenerateContent" => Some(RequestKind::Generate),
                "countTokens" => Some(RequestKind::Count),
                _ => None,
            };
            let model = Some(model.to_owned());
            return Self {
                provider: Provider::Gemini,
                conversation: kind.map(|kind| (Wire::Gemini, kind)),
                model,
            };
        }
        Self { provider: provider_of(path, headers), conversation: None, model: None }
    }
}

/// Whose API a request without a conversation uses.
fn provider_of(path: &str, headers: &HeaderMap) -> Provider {
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
    fn conversations_are_recognised_by_the_end_of_their_path() {
        let anthropic = Some((Wire::Anthropic, RequestKind::Generate));
        assert_eq!(of("/v1/messages").conversation, anthropic);
        assert_eq!(of("/gateway/v1/messages/").conversation, anthropic);
        assert_eq!(of("/v1/messages/count_tokens").conversation, Some((Wire::Anthropic, RequestKind::Count)));
        assert_eq!(of("/v1/chat/completions").conversation, Some((Wire::OpenAiChat, RequestKind::Generate)));
        assert_eq!(of("/v1/responses").conversation, Some((Wire::OpenAiResponses, RequestKind::Generate)));
        assert_eq!(of("/v1/models/m:countTokens").conversation, Some((Wire::Gemini, RequestKind::Count)));
        for other in ["/v1/models", "/v1/responses/resp_1", "/v1/messages/batches", "/v1/threads/t/messages"]
        {
            assert_eq!(of(other).conversation, None, "{other}");
        }
    }

    #[test]
    fn other_paths_are_routed_by_their_headers() {
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
