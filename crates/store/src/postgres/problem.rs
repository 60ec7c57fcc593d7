//! What PostgreSQL says, without what it quotes.
//!
//! The details of its errors repeat the values of rows ("Key (id)=(…) already exists"). Only the message and the code
//! are kept.

use std::fmt;

use deadpool_postgres::PoolError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::Failure;

/// Why PostgreSQL did not do something.
#[derive(Debug)]
pub(super) struct Problem {
    message: String,
    /// Whether the same may succeed a moment later, because two writers stood in each other's way.
    passes: bool,
}

impl Problem {
    /// A body that was there is gone: another writer has just swept it.
    pub(super) fn swept() -> Self {
        Self { message: "a body was deleted by another writer again and again".to_owned(), passes: true }
    }

    /// Whether to try again.
    pub(super) fn passes(&self) -> bool {
        self.passes
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
            return Self { message: error.to_string(), passes: false };
        };
        let passes =
            [SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE].contains(said.code());
        Self { message: format!("{} ({})", said.message(), said.code().code()), passes }
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
                Problem { message: "no connection became free in time".to_owned(), passes: false }
            }
            _ => Problem { message: "the connections of the store are closed".to_owned(), passes: false },
        })
    }
}
