//! Errors of PostgreSQL without the values that they quote.
//!
//! The details of an error repeat values of rows ("Key (id)=(…) already exists"). Only the message and the code are
//! kept.

use std::error::Error as StdError;
use std::io;

use deadpool_postgres::PoolError;
use tokio_postgres::Error;

use super::PostgresError;

/// An error of PostgreSQL.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct DriverError {
    message: String,
    kind: DriverErrorKind,
}

#[derive(Debug, PartialEq, Eq)]
enum DriverErrorKind {
    /// A conflict with another writer: trying again may succeed.
    Transient,
    /// The connection is unusable.
    Broken,
    /// The server refuses.
    Refusal,
}

impl DriverError {
    /// A body was deleted by another writer after it was found.
    pub(super) fn swept() -> Self {
        let message = "other writers kept deleting a needed body".to_owned();
        Self { message, kind: DriverErrorKind::Transient }
    }

    /// Whether trying again may succeed.
    pub(super) fn is_transient(&self) -> bool {
        self.kind == DriverErrorKind::Transient
    }

    /// Whether the connection is unusable.
    pub(super) fn is_broken(&self) -> bool {
        self.kind == DriverErrorKind::Broken
    }
}

impl From<Error> for DriverError {
    fn from(error: Error) -> Self {
        let Some(said) = error.as_db_error() else {
            // Errors of the network and of TLS quote no values.
            let mut message = error.to_string();
            let is_safe = |cause: &(dyn StdError + 'static)| {
                cause.is::<io::Error>() || message.contains("TLS handshake")
            };
            if let Some(cause) = error.source().filter(|cause| is_safe(*cause)) {
                message = format!("{message}: {cause}");
            }
            return Self { message, kind: DriverErrorKind::Broken };
        };
        // Classes 08 and 57P: the server ends the connection.
        let kind = match said.code().code() {
            "40001" | "40P01" => DriverErrorKind::Transient,
            code if code.starts_with("08") || code.starts_with("57P") => DriverErrorKind::Broken,
            _ => DriverErrorKind::Refusal,
        };
        Self { message: format!("{} ({})", said.message(), said.code().code()), kind }
    }
}

impl From<Error> for PostgresError {
    fn from(error: Error) -> Self {
        Self::Database(error.into())
    }
}

impl From<PoolError> for PostgresError {
    fn from(error: PoolError) -> Self {
        let message = match error {
            PoolError::Backend(error) => return error.into(),
            PoolError::Timeout(_) => "no connection became free in time",
            _ => "the connections of the store are closed",
        };
        Self::Database(DriverError { message: message.to_owned(), kind: DriverErrorKind::Refusal })
    }
}
