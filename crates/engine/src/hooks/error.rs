//! Why a hook was skipped.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use thiserror::Error;

/// Why a hook was skipped. No message contains anything from a call or a response.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HookError {
    /// The program does not exist or may not be run.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program, without its arguments.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// The program's output cannot be read.
    #[error("cannot read the program's output: {source}")]
    Read {
        /// The system's error.
        source: io::Error,
    },
    /// The program failed.
    #[error("the program ended with {status}; a hook without a response exits with code 0 and no output")]
    Exit {
        /// Its exit status.
        status: ExitStatus,
    },
    /// The hook took too long.
    #[error("no response within {} ms", limit.as_millis())]
    Time {
        /// The time limit.
        limit: Duration,
    },
    /// The response is too long.
    #[error("the response is longer than {limit} bytes")]
    TooMuch {
        /// The size limit.
        limit: usize,
    },
    /// The response is invalid.
    #[error("invalid response: {what} in line {line}, column {column}")]
    Nonsense {
        /// What is wrong with it, without its content.
        what: &'static str,
        /// The line, from 1.
        line: usize,
        /// The column, from 1; 0 at the beginning of a line.
        column: usize,
    },
    /// The endpoint responded with a status other than 2xx.
    #[error("the endpoint responded with status {status}; expected 200 or 204")]
    Status {
        /// The status.
        status: u16,
    },
    /// The endpoint cannot be reached, or the connection broke.
    #[error("the endpoint cannot be reached: {what}")]
    Connection {
        /// What failed.
        what: &'static str,
        /// The details, without the URL.
        source: reqwest::Error,
    },
    /// A hook in the application panicked.
    #[error("the hook panicked")]
    Panicked,
    /// A hook in the application returned an error.
    #[error("the hook failed")]
    Own {
        /// The error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl HookError {
    /// Wraps the error of an application's own hook. Its message is not logged, since it may contain anything.
    pub fn own(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Own { source: source.into() }
    }
}
