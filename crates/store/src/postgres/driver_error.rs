//! What PostgreSQL says, without what it quotes.
//!
//! The details of its errors repeat the values of rows ("Key (id)=(…) already exists"). Only the message and the code
//! are kept.

use std::error::Error as StdError;
use std::{fmt, io};

use deadpool_postgres::PoolError;
use tokio_postgres::Error;

use super::PostgresError;

/// Why PostgreSQL did not do something.
#[derive(Debug)]
pub(super) struct DriverError {
    message: String,
    kind: DriverErrorKind,
}

#[derive(Debug, PartialEq, Eq)]
enum DriverErrorKind {
    /// Two writers stood in each other's way: the same may succeed a moment later.
    Passing,
    /// The connection is of no use any more.
    Broken,
    /// The server does not want to.
    Refusal,
}

impl DriverError {
    /// A body that was there is gone: another writer has just swept it.
    pub(super) fn swept() -> Self {
        let message = "a body was deleted by another writer again and again".to_owned();
        Self { message, kind: DriverErrorKind::Passing }
    }

    /// Whether to try again.
    pub(super) fn passes(&self) -> bool {
        self.kind == DriverErrorKind::Passing
    }

    /// Whether not to use the connection again.
    pub(super) fn breaks(&self) -> bool {
        self.kind == DriverErrorKind::Broken
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DriverError {}

impl From<Error> for DriverError {
    fn from(error: Error) -> Self {
        let Some(said) = error.as_db_error() else {
            // What the system says of a connection quotes nothing, nor does what is said of its tls.
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
            "40001" | "40P01" => DriverErrorKind::Passing,
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
        Self::Database(match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(_) => DriverError {
                message: "no connection became free in time".to_owned(),
                kind: DriverErrorKind::Refusal,
            },
            _ => DriverError {
                message: "the connections of the store are closed".to_owned(),
                kind: DriverErrorKind::Refusal,
            },
        })
    }
}
