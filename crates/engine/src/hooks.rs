//! Hooks: what an application may say about pruning and compaction, before and after they happen.
//!
//! The engine calls hooks at five [moments](HookMoment):
//!
//! | moment | receives | may return |
//! |---|---|---|
//! | `before_prune` | which parts are about to be cut | `veto`, `keep` |
//! | `before_compaction` | the conversation that is about to be summarised, for example for notes | `veto`, `context` |
//! | `session.compacting` | the prompt for the summary | `veto`, `context`, `prompt` |
//! | `after_compaction` | the outcome | nothing |
//! | `autocontinue` | the message that would make the model continue | `veto` |
//!
//! A hook is a Rust [`Hook`], a program or an HTTP endpoint; the last two are configured by a [`HookConfig`]. All
//! three receive the same [`HookCall`] and return the same [`HookResponse`]. [`Hooks`] calls them one after the
//! other.
//!
//! **A hook may fail; the work continues.** A hook that cannot be started, takes too long, returns too much or
//! returns nonsense is logged and skipped, as if it had returned nothing. No session is lost because a script broke.
//!
//! **A response is not trusted.** It is limited in size and time, parsed only in the one expected shape, and stripped
//! of control characters. What a moment does not allow is dropped. No field enables tools or changes settings, and
//! unknown fields are ignored. Code that puts a text of a response into a prompt must redact it
//! ([`HookResponse::map_texts`]) and mark it as untrusted.
//!
//! **Calls contain content; logs do not.** The caller has redacted the texts in a call. The log has a hook's name,
//! the moment, the time and the kind of failure, never a text of a call, a response or a header.
//!
//! # Format
//!
//! A call is one JSON object on one line with `"version": 1`; `"hook"` names the moment. A response is a JSON object;
//! every field is optional:
//!
//! ```json
//! {"context": ["a text for the summary"], "prompt": "…", "veto": "why not", "keep": ["id of a part"]}
//! ```
//!
//! New fields may be added to calls within a version, so a hook must ignore unknown ones.
//!
//! A **program** is started without a shell. It reads the call from its standard input and writes the response to its
//! standard output; no output means an empty response. It must exit with code 0. It need not read its input. Its
//! environment is `PATH`, `HOME`, `LANG` and the variables named in its settings. It leads its own process group, and
//! the whole group is killed on timeout or if the output is too long. A process that it leaves running after a timely
//! exit is neither killed nor waited for.
//!
//! An **endpoint** receives the call as the body of a POST and responds with 200 and a response, or with 204.
//! Redirects are not followed, and proxies from the environment are not used.
//!
//! This program takes notes before each compaction:
//!
//! ```sh
#![doc = include_str!("hooks/example.sh")]
//! ```
//!
//! Its settings:
//!
//! ```
//! use secateur_engine::hooks::{HookConfig, Hooks};
//!
//! let config: HookConfig = toml::from_str(r#"
//!     name = "notes"
//!     program = ["/usr/local/bin/take-notes"]
//!     moments = ["before_compaction"]
//!     timeout_ms = 3000
//! "#)?;
//! let mut hooks = Hooks::default();
//! hooks.push(config.build()?);
//! assert_eq!(hooks.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call;
mod config;
mod configured_hook;
mod endpoint;
mod error;
mod moment;
mod program;
mod response;
mod verdict;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub use call::{
    CompactionEnding, ContextTokens, HookCall, HookFacts, HookReason, MessageRange, PartToCut, VERSION,
};
pub use config::{HookConfig, HookConfigError};
pub use error::HookError;
pub use moment::HookMoment;
pub use response::{
    HookResponse, MAX_CONTEXT, MAX_CONTEXTS, MAX_CONTEXTS_TOTAL, MAX_ID, MAX_KEEP, MAX_PROMPT, MAX_VETO,
};
pub use verdict::{HookOutcome, HookRecord, HooksVerdict};

/// The default time limit of a hook.
pub const DEFAULT_TIME: Duration = Duration::from_secs(5);

/// The longest time limit of a hook.
pub const MAX_TIME: Duration = Duration::from_secs(60);

/// Extra time for a program or endpoint to clean up after itself.
const GRACE: Duration = Duration::from_secs(2);

/// A hook.
///
/// [`call`](Hook::call) runs as a task of its own. If it panics, that counts as a failure, unless the application was
/// built with `panic = "abort"`. If it takes too long, it is dropped at its next `await`; a hook that blocks its
/// thread cannot be stopped, but is not waited for as long as the runtime has another thread. The other methods are
/// called inline and must neither block nor panic.
///
/// ```
/// use secateur_engine::hooks::{HookCall, HookFacts, Hook, HookError, Hooks, HookMoment, HookReason, HookResponse};
///
/// struct Polite;
///
/// #[async_trait::async_trait]
/// impl Hook for Polite {
///     fn name(&self) -> &str {
///         "polite"
///     }
///     fn wants(&self, moment: HookMoment) -> bool {
///         moment == HookMoment::Autocontinue
///     }
///     async fn call(&self, _: &HookCall) -> Result<HookResponse, HookError> {
///         Ok(HookResponse { veto: Some("ask the user first".to_owned()), ..HookResponse::default() })
///     }
/// }
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let mut hooks = Hooks::default();
/// hooks.push(std::sync::Arc::new(Polite));
/// let facts = HookFacts::Autocontinue { message: "Go on.".to_owned() };
/// let verdict = hooks.ask(HookCall { session: "s1".to_owned(), reason: HookReason::Threshold, facts }).await;
/// assert_eq!(verdict.response.veto.as_deref(), Some("ask the user first"));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[async_trait]
pub trait Hook: Send + Sync {
    /// Its name in events and in the log.
    fn name(&self) -> &str;

    /// Whether it wants to be called at this moment.
    fn wants(&self, moment: HookMoment) -> bool;

    /// Its time limit; at most [`MAX_TIME`] plus a little for cleaning up.
    fn time_limit(&self) -> Duration {
        DEFAULT_TIME
    }

    /// Handles a call. What the moment does not allow is dropped from the response.
    async fn call(&self, call: &HookCall) -> Result<HookResponse, HookError>;
}

/// Hooks in the order in which they are called.
#[derive(Clone, Default)]
pub struct Hooks {
    list: Vec<Arc<dyn Hook>>,
}

impl Hooks {
    /// Adds a hook after the existing ones.
    pub fn push(&mut self, hook: Arc<dyn Hook>) {
        self.list.push(hook);
    }

    /// The number of hooks.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether any hook wants to be called at this moment; if not, the call need not be composed.
    pub fn wants(&self, moment: HookMoment) -> bool {
        self.list.iter().any(|hook| hook.wants(moment))
    }

    /// Calls the hooks that want it, one after the other, and merges their responses: contexts are concatenated, the
    /// last prompt wins. A veto ends the round; later hooks are not called.
    ///
    /// Dropping the future cancels the round.
    pub async fn ask(&self, call: HookCall) -> HooksVerdict {
        let moment = call.moment();
        let call = Arc::new(call);
        let mut verdict = HooksVerdict::default();
        for hook in self.list.iter().filter(|hook| hook.wants(moment)) {
            let start = Instant::now();
            let answer = ask_one(hook, &call).await;
            let took = start.elapsed();
            let outcome = match answer {
                Ok(reply) => verdict.take_in(reply, moment),
                Err(error) => {
                    tracing::warn!(hook = hook.name(), %moment, ?took, %error, "hook skipped");
                    HookOutcome::Failed { why: error.to_string() }
                }
            };
            verdict.asked.push(HookRecord { hook: hook.name().to_owned(), took_ms: millis(took), outcome });
            if verdict.response.veto.is_some() {
                break;
            }
        }
        verdict
    }
}

/// Runs the call in its own task, so that a panic stays there. A `JoinSet`, because dropping it aborts the task.
async fn ask_one(hook: &Arc<dyn Hook>, call: &Arc<HookCall>) -> Result<HookResponse, HookError> {
    let limit = hook.time_limit().min(MAX_TIME + GRACE);
    let mut task = JoinSet::new();
    let (hook, call) = (Arc::clone(hook), Arc::clone(call));
    task.spawn(async move { hook.call(&call).await });
    match timeout(limit, task.join_next()).await {
        Err(_) => Err(HookError::Time { limit }),
        Ok(Some(Ok(answer))) => answer,
        Ok(Some(Err(_)) | None) => Err(HookError::Panicked),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
