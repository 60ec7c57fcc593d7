//! Errors inside of a backend, before they become a [`StoreError`].
//!
//! A backend's functions use `?` on refusals and on errors of the database alike. Only the trait's methods know what
//! was being done, so they turn both into one error at the end.

use std::error::Error;

use crate::error::StoreError;

/// A refusal, or an error of the database.
pub(crate) enum BackendError<E> {
    /// The store refuses.
    Refused(StoreError),
    /// The database failed.
    Database(E),
}

impl<E: Into<Box<dyn Error + Send + Sync>>> BackendError<E> {
    /// Turns it into the public error.
    pub(crate) fn while_doing(self, doing: &'static str) -> StoreError {
        match self {
            Self::Refused(error) => error,
            Self::Database(error) => StoreError::database(doing)(error),
        }
    }
}

impl<E> From<StoreError> for BackendError<E> {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl From<rusqlite::Error> for BackendError<rusqlite::Error> {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        match error {
            // The tables are strict, so such a value was not written by the database.
            FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | Utf8Error(..) => {
                let (what, why) = ("a row of the database".to_owned(), error.to_string());
                Self::Refused(StoreError::Damaged { what, why })
            }
            error => Self::Database(error),
        }
    }
}
