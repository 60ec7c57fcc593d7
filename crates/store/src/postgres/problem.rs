//! What PostgreSQL says, without what it quotes.
//!
//! The details of its errors repeat the values of rows ("Key (id)=(…) already exists"). Only the message and the code
//! are kept.

use std::error::Error as StdError;
use std::{fmt, io};

use deadpool_postgres::PoolError;
use tokio_postgres::Error;

use super::Failure;

/// Why PostgreSQL did not do something.
#[derive(Debug)]
pub(super) struct Problem {
    message: String,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// Two writers stood in each other's way: the same may succeed a moment later.
    Passing,
    /// The connection is of no use any more.
    Broken,
    /// The server does not want to.
    Refusal,
}

impl Problem {
    /// A body that was there is gone: another writer has just swept it.
    pub(super) fn swept() -> Self {
        let message = "a body was deleted by another writer again and again".to_owned();
        Self { message, kind: Kind::Passing }
    }

    /// Whether to try again.
    pub(super) fn passes(&self) -> bool {
        self.kind == Kind::Passing
    }

    /// Whether not to use the connection again.
    pub(super) fn breaks(&self) -> bool {
        self.kind == Kind::Broken
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let Some(said) = error.as_db_error() else {
            // What the system says of a connection quotes nothing, nor does what is said of its encryption.
            let mut message = error.to_string();
            let is_safe = |cause: &(dyn StdError + 'static)| {
                cause.is::<io::Error>() || message.contains("TLS handshake")
            };
            if let Some(cause) = error.source().filter(|cause| is_safe(*cause)) {
                message = format!("{message}: {cause}");
            }
            return Self { message, kind: Kind::Broken };
        };
        // Classes 08 and 57P: the server ends the connection.
        let kind = match said.code().code() {
            "40001" | "40P01" => Kind::Passing,
            code if code.starts_with("08") || code.starts_with("57P") => Kind::Broken,
            _ => Kind::Refusal,
        };
        Self { message: format!("{} ({})", said.message(), said.code().code()), kind }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Database(error.into())
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        Self::Database(match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(_) => {
                Problem { message: "no connection became free in time".to_owned(), kind: Kind::Refusal }
            }
            _ => {
                Problem { message: "the connections of the store are closed".to_owned(), kind: Kind::Refusal }
            }
        })
    }
}
