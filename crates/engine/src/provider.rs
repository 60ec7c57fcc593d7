//! Asks a language model for a text, over HTTP.
//!
//! Whoever writes summaries needs one thing of a provider: here is a text, give me a text. So this is not a client
//! for everything that a provider can do. There are no tools, no images, no conversation; there is a [`ModelRequest`] and
//! an [`ModelResponse`], and in between every way in which a network and a stranger's server can fail.
//!
//! ```text
//!   Endpoint ──connect──▶ ModelClient: Model ──ask(ModelRequest)──▶ Delta, Delta, Delta … ──▶ ModelResponse
//!   (a page of settings)                                                       └──▶ ModelError
//! ```
//!
//! **Four wires.** Chat Completions, which nearly everybody speaks, Responses, Anthropic's Messages and Gemini. An endpoint
//! names its [`Wire`](secateur_formats::Wire); the rest is the same for all.
//!
//! **Half an answer is none.** A summary replaces what it summarises. So a stream that ends before the model said
//! that it is done is an error ([`ModelError::CutOff`]), however much of it came; so is a call of a tool, and so is a
//! blank text. What is longer than allowed is given up as soon as it is.
//!
//! **Nothing is trusted.** The answer, each event of it and the text of an error are bounded in size; the whole and
//! each silence in it are bounded in time; redirects are not followed and the environment's proxies not used. What a
//! provider says in an error is cut short, freed of control characters, and of our key if it is in there.
//!
//! **Dropping is cancelling.** Whoever drops the future of [`LanguageModel::send`] closes the connection, and the provider
//! stops writing.
//!
//! **On behalf of others.** A proxy has no key of its own: it asks with the headers of whoever asked it, and over
//! connections that all share, see [`Endpoint::connect_through`].
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
mod counted;
mod credentials;
mod dialect;
mod endpoint;
mod error;
mod error_response;
mod overflow;
mod response_body;
mod response_builder;
mod retry_after;
mod secret;

use async_trait::async_trait;
use secateur::{Limits, Usage};

pub use client::ModelClient;
pub use connector::Connector;
pub use counted::counted;
pub use endpoint::{ConnectError, Endpoint, TokensField};
pub use error::ModelError;
pub use overflow::{ReportedOverflow, read_overflow};
pub use secret::Secret;

/// Somebody who can be asked for a text.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// The name under which it goes into records.
    fn name(&self) -> &str;

    /// What it can take.
    fn limits(&self) -> Limits;

    /// Asks, and hands out the text as it comes. Dropping the future cancels the request.
    async fn send(
        &self,
        request: &ModelRequest<'_>,
        deltas: &mut Deltas<'_>,
    ) -> Result<ModelResponse, ModelError>;
}

/// Who is told how an answer gets on.
pub type Deltas<'d> = dyn FnMut(Delta<'_>) + Send + 'd;

/// What a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelRequest<'q> {
    /// What it is to do. Left out of the request if it is blank.
    pub system: &'q str,
    /// What it is to do it with.
    pub text: &'q str,
    /// The longest answer, in tokens. Never asked for more than the model's own longest.
    pub max_tokens: u64,
}

/// What the model answered, from its first to its last word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelResponse {
    /// The text, without any thinking. Never blank.
    pub text: String,
    /// Why it ends where it ends.
    pub finish: Finish,
    /// What the provider counted, if it said so.
    pub usage: Option<Usage>,
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    Complete,
    /// It ran into the longest answer, or into the end of its window.
    Length,
    /// The provider or the model held it back.
    Filtered,
    /// For a reason that we do not know.
    Other,
}

/// A piece of news while an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'d> {
    /// More of the text.
    Text(&'d str),
    /// The answer broke off and is asked for again: what was handed out so far is void.
    Restart,
}
