//! A model that follows a script: a provider that clients send requests to, and that gives them work for as many steps as a
//! test wants.
//!
//! ```ignore
//! let model = ScriptedModel::start(ModelSettings { window: Some(40_000), ..ModelSettings::default() }).await?;
//! // … a client asks `model.url()` with the prompt "SCENARIO:long steps=60 bytes=20000" …
//! assert_eq!(model.stats()["violations"], 0);
//! ```
//!
//! It speaks Anthropic Messages, Chat Completions, Responses and Gemini, streamed or whole. It remembers nothing of a
//! conversation: what it says next follows from the request alone. Because a proxy may cut a history or put a summary
//! in its place, the model does not count messages. Every call carries the number of its step, in its id and in its
//! command, and so does every summary it writes; the highest number found anywhere in a request is how far the work is.
//!
//! It has a window and refuses what does not fit, as the provider would. It refuses what a provider would find
//! malformed, such as a call without its result. It counts: `GET /stats` says how many requests came, how large
//! they were, how many were refused, and how much of each a prompt cache would have known.

mod printed_lines;
mod prompt_cache;
mod recall;
mod request;
mod request_log;
mod request_rules;
mod response;
mod scenario;
mod serve;
mod step;
mod tool;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::thinking_binding::ThinkingBinding;
use request_log::RequestLog;

/// The settings of a scripted model.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The most tokens of a request; a token is four bytes of its body.
    pub window: Option<u64>,
    /// How its models bind their thinking, on the wire `anthropic`; none if they do not.
    pub binding: Option<ThinkingBinding>,
    /// The folder where every request is written.
    pub record: Option<PathBuf>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self { listen: SocketAddr::from(([127, 0, 0, 1], 0)), window: None, binding: None, record: None }
    }
}

/// A running scripted model; dropping it stops it.
pub struct ScriptedModel {
    address: SocketAddr,
    log: Arc<RequestLog>,
    task: JoinHandle<()>,
}

impl ScriptedModel {
    /// Starts a model.
    pub async fn start(settings: ModelSettings) -> io::Result<Self> {
        if let Some(folder) = &settings.record {
            std::fs::create_dir_all(folder)?;
        }
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let log = Arc::new(RequestLog::new(settings));
        let task = tokio::spawn(serve::serve(listener, Arc::clone(&log)));
        Ok(Self { address, log, task })
    }

    /// Its address, as clients write it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The JSON of `GET /stats`.
    pub fn stats(&self) -> Value {
        self.log.stats()
    }

    /// Serves until the process ends.
    pub async fn serve_forever(mut self) {
        // Only a panic ends the task, and it has been reported by then.
        _ = (&mut self.task).await;
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ScriptedModel {
    /// Starts a model with this window.
    pub async fn with_window(window: Option<u64>) -> Self {
        Self::start(ModelSettings { window, ..ModelSettings::default() }).await.unwrap()
    }
}
