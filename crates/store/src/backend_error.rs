//! What goes wrong inside a backend, before it becomes a [`StoreError`].
//!
//! A backend's functions use `?` on refusals and on errors of the database alike. Only the method of the trait knows
//! what was being done, so it turns both into one error at the end.

use std::error::Error;

use crate::error::StoreError;

/// A refusal, or an error of the database.
pub(crate) enum BackendError<E> {
    /// The store says no.
    Refused(StoreError),
    /// The database says no.
    Database(E),
}

impl<E: Into<Box<dyn Error + Send + Sync>>> BackendError<E> {
    /// The error to hand out.
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
        Self::Database(error)
    }
}
