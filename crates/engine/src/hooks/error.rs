//! Why a hook was skipped.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use thiserror::Error;

/// Why a hook was skipped. None of the messages holds anything that a hook was told or has said.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HookError {
    /// The program is not there or may not be run.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program, without its arguments.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The program cannot be listened to.
    #[error("cannot read what the program writes: {source}")]
    Read {
        /// What the system said.
        source: io::Error,
    },
    /// The program says that it failed.
    #[error("the program ended with {status}; a hook that has nothing to say ends with code 0 and no output")]
    Exit {
        /// How it ended.
        status: ExitStatus,
    },
    /// The hook did not answer in time.
    #[error("no answer within {} ms", limit.as_millis())]
    Time {
        /// How long it may take.
        limit: Duration,
    },
    /// The hook did not stop talking.
    #[error("the answer is longer than {limit} bytes")]
    TooMuch {
        /// How much it may say.
        limit: usize,
    },
    /// The answer is not a reply.
    #[error("the answer is not a reply: {what} in line {line}, column {column}")]
    Nonsense {
        /// What is wrong with it, without what it says.
        what: &'static str,
        /// The line, from 1 on.
        line: usize,
        /// The column, from 1 on; 0 at the beginning of a line.
        column: usize,
    },
    /// The endpoint answered with another status than 2xx.
    #[error("the endpoint answered with status {status}; 200 and 204 are expected")]
    Status {
        /// The status.
        status: u16,
    },
    /// The endpoint cannot be reached, or the connection broke.
    #[error("the endpoint cannot be asked: {what}")]
    Connection {
        /// What failed.
        what: &'static str,
        /// The whole story, without the address.
        source: reqwest::Error,
    },
    /// A hook in the application panicked.
    #[error("the hook panicked")]
    Panicked,
    /// A hook in the application failed in its own way.
    #[error("the hook failed")]
    Own {
        /// How.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl HookError {
    /// Wraps the error of an application's own hook. Its message is not logged, since it may hold anything.
    pub fn own(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Own { source: source.into() }
    }
}
