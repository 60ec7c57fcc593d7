//! Sends a text to a language model over HTTP and receives a text.
//!
//! Summaries need only that from a provider, so this is not a complete client: no tools, no images, no conversations.
//! There is a [`ModelRequest`] and a [`ModelResponse`], and handling of every way in which a network or a server can
//! fail.
//!
//! ```text
//!   Endpoint ──connect──▶ ModelClient ──send(ModelRequest)──▶ Delta, Delta, Delta … ──▶ ModelResponse
//!   (settings)                                                                     └──▶ ModelError
//! ```
//!
//! **Four wires.** Chat Completions, which most servers understand, Responses, Anthropic's Messages and Gemini. An
//! endpoint names its [`Wire`](secateur_formats::Wire); everything else is common to all.
//!
//! **Incomplete responses are errors.** A summary replaces what it summarises. So a stream that ends before the model
//! has finished is an error ([`ModelError::CutOff`]), however much was received; so is a tool call, and so is a blank
//! text. A response that exceeds its limit is abandoned at once.
//!
//! **Nothing is trusted.** The response, each event in it and error texts are limited in size; the whole response and
//! each pause in it are limited in time; redirects are not followed and proxies from the environment are not used.
//! Error texts of a provider are shortened and stripped of control characters and of our key.
//!
//! **Dropping cancels.** Dropping the future of [`LanguageModel::send`] closes the connection, and the provider stops
//! generating.
//!
//! **On behalf of clients.** A proxy has no key of its own: it sends the headers of its client's request, over shared
//! connections; see [`Endpoint::connect_through`].
//!
//! ```no_run
//! use secateur_engine::provider::{Delta, Endpoint, LanguageModel, ModelRequest};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let endpoint: Endpoint = toml::from_str(
//!     r#"
//!     wire = "openai-chat"
//!     url = "http://127.0.0.1:8080/v1"
//!     model = "small"
//!     context = 32_768
//!     "#,
//! )?;
//! let model = endpoint.connect()?;
//! let request = ModelRequest { system: "Be short.", text: "Why is the sky blue?", max_tokens: 200 };
//! let mut show = |delta: Delta<'_>| match delta {
//!     Delta::Text(text) => print!("{text}"),
//!     Delta::Restart => println!("\n(once more)"),
//! };
//! let answer = model.send(&request, &mut show).await?;
//! println!("{:?}", answer.finish);
//! # Ok(())
//! # }
//! ```

mod address;
mod client;
mod connector;
mod credentials;
mod endpoint;
mod error;
mod error_response;
mod limited_body;
mod overflow;
mod response_builder;
mod retry_after;
mod secret;

use async_trait::async_trait;
use secateur::{Limits, Usage};

pub use client::ModelClient;
pub use connector::Connector;
pub use endpoint::{ConnectError, Endpoint, TokensField};
pub use error::ModelError;
pub use overflow::{ReportedOverflow, read_overflow};
pub use secret::Secret;

/// A model that turns a text into a text.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Its name in records.
    fn name(&self) -> &str;

    /// Its limits.
    fn limits(&self) -> Limits;

    /// Sends a request and passes on the text as it arrives. Dropping the future cancels the request.
    async fn send(
        &self,
        request: &ModelRequest<'_>,
        deltas: &mut Deltas<'_>,
    ) -> Result<ModelResponse, ModelError>;
}

/// Receives the progress of a response.
pub type Deltas<'d> = dyn FnMut(Delta<'_>) + Send + 'd;

/// A request to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelRequest<'q> {
    /// The system prompt. Left out if it is blank.
    pub system: &'q str,
    /// The user message.
    pub text: &'q str,
    /// The longest response, in tokens; never more than the model's own limit.
    pub max_tokens: u64,
}

/// A complete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelResponse {
    /// The text, without any thinking. Never blank.
    pub text: String,
    /// Why it ended.
    pub finish: Finish,
    /// The usage that the provider reported, if any.
    pub usage: Option<Usage>,
}

/// Why a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The model finished.
    Complete,
    /// It reached the longest response, or the end of the window.
    Length,
    /// The provider or the model withheld it.
    Filtered,
    /// For an unknown reason.
    Other,
}

/// Progress of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'d> {
    /// More of the text.
    Text(&'d str),
    /// The response broke off and is requested again: everything passed on so far is void.
    Restart,
}
