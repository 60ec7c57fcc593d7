//! A model that plays by script: real clients talk to it as to a provider, and it has them work for as long as wanted.
//!
//! ```ignore
//! let model = Model::start(Settings { window: Some(40_000), ..Settings::default() }).await?;
//! // … a client asks `model.url()` with the prompt "SCENARIO:long steps=60 bytes=20000" …
//! assert_eq!(model.stats()["violations"], 0);
//! ```
//!
//! It speaks Anthropic Messages, Chat Completions, Responses and Gemini, streamed or whole. It remembers nothing of a
//! conversation: what it says next follows from the request alone. Because a proxy may cut a history or put a summary
//! in its place, the model does not count messages. Every call carries the number of its step, in its id and in its
//! command, and so does every summary it writes; the highest number found anywhere in a request is how far the work is.
//!
//! It has a window and refuses what does not fit, in the words of the provider. It refuses what a provider would find
//! malformed, such as a call without its result. It keeps books: `GET /stats` tells how many requests came, how large
//! they were, how many were refused, and how much of each a prompt cache would have known.

mod answer;
mod books;
mod cache;
mod print;
mod recall;
mod rules;
mod scenario;
mod serve;
mod step;
mod talk;
mod tool;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use books::Books;

/// What can be chosen about a model.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The most tokens of a request; a token is four bytes of its body.
    pub window: Option<u64>,
    /// The folder where every request is written.
    pub record: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { listen: SocketAddr::from(([127, 0, 0, 1], 0)), window: None, record: None }
    }
}

/// The model, for as long as it is not dropped.
pub(crate) struct Model {
    address: SocketAddr,
    books: Arc<Books>,
    task: JoinHandle<()>,
}

impl Model {
    /// Starts one.
    pub(crate) async fn start(settings: Settings) -> io::Result<Self> {
        if let Some(folder) = &settings.record {
            std::fs::create_dir_all(folder)?;
        }
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let books = Arc::new(Books::new(settings));
        let task = tokio::spawn(serve::serve(listener, Arc::clone(&books)));
        Ok(Self { address, books, task })
    }

    /// Its address, as clients write it.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What `GET /stats` says.
    pub(crate) fn stats(&self) -> Value {
        self.books.stats()
    }

    /// Plays until the process ends.
    pub(crate) async fn play(mut self) {
        // Only a panic ends the task, and it has been reported by then.
        _ = (&mut self.task).await;
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.task.abort();
    }
}
