//! What is asked, taken out of the address of a request. What cannot be read is refused as a problem.

use axum::extract::{FromRequestParts, Path, Query};
use http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// The largest number that every program reads as it was written.
pub(super) const LARGEST: u64 = (1 << 53) - 1;

/// What the query says.
pub(super) struct Asked<T>(pub T);

/// What the path names.
pub(super) struct At<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(asked) = Query::from_request_parts(parts, state).await?;
        Ok(Self(asked))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(named) = Path::from_request_parts(parts, state).await?;
        Ok(Self(named))
    }
}

/// A whole number within bounds.
pub(super) fn number(name: &str, given: &str, least: u64, most: u64) -> Result<u64, Problem> {
    let is_plain = given.bytes().all(|byte| byte.is_ascii_digit());
    let read = given.parse().ok().filter(|number| is_plain && (least..=most).contains(number));
    read.ok_or_else(|| {
        let given: String = given.chars().take(40).collect();
        Problem::bad_value(format!("{name} is {given:?}; wanted is a whole number from {least} to {most}"))
    })
}
