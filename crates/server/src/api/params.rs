//! Parameters in the path and query of a request. Invalid ones are refused as a problem.

use axum::extract::{FromRequestParts, Path, Query};
use http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::ApiProblem;

/// The largest integer that JSON numbers hold exactly in every program.
pub(super) const LARGEST: u64 = (1 << 53) - 1;

/// The query.
pub(super) struct QueryParams<T>(pub T);

/// The parameters in the path.
pub(super) struct PathParams<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for QueryParams<T> {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiProblem> {
        let Query(query) = Query::from_request_parts(parts, state).await?;
        Ok(Self(query))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for PathParams<T> {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiProblem> {
        let Path(path) = Path::from_request_parts(parts, state).await?;
        Ok(Self(path))
    }
}

/// A whole number within bounds.
pub(super) fn number(name: &str, given: &str, least: u64, most: u64) -> Result<u64, ApiProblem> {
    let is_plain = given.bytes().all(|byte| byte.is_ascii_digit());
    let read = given.parse().ok().filter(|number| is_plain && (least..=most).contains(number));
    read.ok_or_else(|| {
        let given: String = given.chars().take(40).collect();
        ApiProblem::bad_value(format!("{name} is {given:?}; expected an integer from {least} to {most}"))
    })
}
