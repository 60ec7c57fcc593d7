//! Where a request goes, and whether it has a conversation.

use http::HeaderMap;
use secateur_formats::Wire;
pub use secateur_formats::{Provider, RequestKind};

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
        // Google's paths end in MODEL:METHOD.
        let model = path
            .rsplit_once('/')
            .and_then(|(_, last)| last.split_once(':'))
            .map(|(model, _)| model.to_owned());
        let conversation = Wire::ALL.into_iter().find_map(|wire| Some((wire, wire.spec().kind_of(path)?)));
        if let Some((wire, _)) = conversation {
            let model = model.filter(|_| !wire.spec().has_model_in_body);
            return Self { provider: wire.spec().provider, conversation, model };
        }
        if model.is_some() {
            return Self { provider: Provider::Gemini, conversation, model };
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
