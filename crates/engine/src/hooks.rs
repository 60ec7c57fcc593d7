//! What an application may say about pruning and compaction, before and after they happen.
//!
//! At five [moments](HookMoment) the engine asks whoever wants to be asked:
//!
//! | moment | is told | may answer |
//! |---|---|---|
//! | `before_prune` | which parts are about to be cut | `veto`, `keep` |
//! | `before_compaction` | the conversation that is about to be summarised, so that notes can be taken | `veto`, `context` |
//! | `session.compacting` | the prompt for the summary | `veto`, `context`, `prompt` |
//! | `after_compaction` | the outcome | nothing |
//! | `autocontinue` | the message that would make the model go on | `veto` |
//!
//! A hook is a Rust [`Hook`], a program or an HTTP endpoint; the last two are a page of settings, [`HookConfig`]. All
//! three are asked the same [`HookCall`] and give the same [`HookResponse`]. [`Hooks`] asks them one after the other.
//!
//! **A hook may fail; the work goes on.** A hook that cannot be started, takes too long, answers too much or answers
//! nonsense is logged and skipped, as if it had said nothing. Nobody loses a session because a script broke.
//!
//! **A reply is untrusted.** It is limited in size and time, taken apart only if it is the one shape that is
//! expected, and cleaned of control characters. What a moment does not allow is left off. There is no field that
//! enables tools or changes settings, and unknown fields are ignored. Whoever puts a text of a reply into a prompt
//! redacts it ([`HookResponse::map_texts`]) and marks it as untrusted.
//!
//! **Calls hold contents; logs do not.** Texts in a call were redacted by the caller. What is logged about a hook is
//! its name, the moment, the time and a kind of failure, never a text of a call, a reply or a header.
//!
//! # On the wire
//!
//! A call is one JSON object on one line with `"version": 1`, and `"hook"` names the moment. A reply is a JSON object;
//! every field may be missing:
//!
//! ```json
//! {"context": ["a text for the summary"], "prompt": "…", "veto": "why not", "keep": ["id of a part"]}
//! ```
//!
//! New fields may appear in calls within a version, so a hook ignores those that it does not know.
//!
//! A **program** is started without a shell. It reads the call from its standard input and writes the reply to its
//! standard output; no output means that it has nothing to say. It has to end with code 0. It need not read its
//! input. Its environment is `PATH`, `HOME`, `LANG` and what the settings name. It leads a process group of its own,
//! and the whole group is killed when time is over or the output is too long. A process that it leaves behind when
//! it ends in time is let be, and not waited for.
//!
//! An **endpoint** gets the call as the body of a POST and answers 200 with a reply or 204 with nothing. Redirects
//! are not followed, and proxies of the environment are not used.
//!
//! This program takes notes before each compaction:
//!
//! ```sh
#![doc = include_str!("hooks/example.sh")]
//! ```
//!
//! And this is how it is set up:
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

/// How long a hook may take if nothing else is said.
pub const DEFAULT_TIME: Duration = Duration::from_secs(5);

/// How long a hook may take at most.
pub const MAX_TIME: Duration = Duration::from_secs(60);

/// What a program or an endpoint may take beyond its time to clean up after itself.
const GRACE: Duration = Duration::from_secs(2);

/// Somebody who may be asked.
///
/// [`call`](Hook::call) runs as a task of its own. If it panics, that counts as a failure, unless the application was
/// built with `panic = "abort"`. If it takes too long, it is dropped at its next `await`; a hook that blocks its
/// thread cannot be stopped, though nobody waits for it as long as the runtime has another thread. The other methods
/// are called in passing and must neither block nor panic.
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
    /// What it is called in events and in the log.
    fn name(&self) -> &str;

    /// Whether it wants to be asked at this moment.
    fn wants(&self, moment: HookMoment) -> bool;

    /// How long it may take; never more than [`MAX_TIME`] and a little for cleaning up.
    fn time_limit(&self) -> Duration {
        DEFAULT_TIME
    }

    /// Answers. What a moment does not allow is left off.
    async fn call(&self, call: &HookCall) -> Result<HookResponse, HookError>;
}

/// Hooks in the order in which they are asked.
#[derive(Clone, Default)]
pub struct Hooks {
    list: Vec<Arc<dyn Hook>>,
}

impl Hooks {
    /// Adds a hook that is asked after those that are there.
    pub fn push(&mut self, hook: Arc<dyn Hook>) {
        self.list.push(hook);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether anybody wants to be asked at this moment: if not, the call need not be made up.
    pub fn wants(&self, moment: HookMoment) -> bool {
        self.list.iter().any(|hook| hook.wants(moment))
    }

    /// Asks those who want it, one after the other, and puts their replies together: contexts one after the other,
    /// of prompts the last. A veto ends the round; later hooks are not asked about what will not happen.
    ///
    /// Dropping the future ends what is under way.
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

/// Asks in a task of its own, so that a panic stays there. A set of one task, because a set that is dropped aborts.
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
