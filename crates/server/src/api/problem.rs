//! Why a question is not answered, as RFC 9457 has it.

use std::collections::BTreeMap;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode, Uri};
use secateur_engine::EngineError;
use secateur_store::StoreError;
use serde::Serialize;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::http::admission::Denied;

/// How a problem says that it is one.
pub(super) const MEDIA_TYPE: &str = "application/problem+json";

/// Why a question is not answered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// What sort of problem it is; programs may rely on it.
    #[serde(rename = "type")]
    #[schema(schema_with = Sort::schema)]
    kind: String,
    /// The same for people.
    title: &'static str,
    /// The status of the answer.
    #[schema(value_type = u16, minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong here, and what would be accepted.
    detail: String,
}

/// The sorts of problems: their statuses, their names behind `urn:secateur:problem:`, and the same for people.
#[derive(Clone, Copy)]
struct Sort(StatusCode, &'static str, &'static str);

impl Sort {
    const BAD_VALUE: Self = Self(StatusCode::BAD_REQUEST, "bad-value", "A value cannot be used");
    const TOKEN: Self = Self(StatusCode::UNAUTHORIZED, "token", "The token is missing or wrong");
    const FOREIGN_PAGE: Self =
        Self(StatusCode::FORBIDDEN, "foreign-page", "The request comes from elsewhere");
    const NO_PATH: Self = Self(StatusCode::NOT_FOUND, "no-path", "There is no such path");
    const NO_SESSION: Self = Self(StatusCode::NOT_FOUND, "no-session", "There is no such session");
    const NOT_FOUND: Self = Self(StatusCode::NOT_FOUND, "not-found", "There is no such thing");
    const NO_METHOD: Self =
        Self(StatusCode::METHOD_NOT_ALLOWED, "no-method", "The method cannot be used here");
    const BUSY: Self = Self(StatusCode::CONFLICT, "busy", "Others were faster");
    const CANNOT_TURN: Self = Self(StatusCode::CONFLICT, "cannot-turn", "The operation cannot be turned");
    const NO_PROFILE: Self = Self(StatusCode::CONFLICT, "no-profile", "The session's profile cannot be used");
    const FORGOTTEN: Self = Self(StatusCode::GONE, "forgotten", "The original was forgotten");
    const INTERNAL: Self = Self(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Something broke");
    const LATE: Self = Self(StatusCode::SERVICE_UNAVAILABLE, "late", "It took too long");
    const STORE: Self = Self(StatusCode::SERVICE_UNAVAILABLE, "store", "The store failed");

    /// All of them, in the order of their statuses.
    const ALL: [Self; 14] = [
        Self::BAD_VALUE,
        Self::TOKEN,
        Self::FOREIGN_PAGE,
        Self::NO_PATH,
        Self::NO_SESSION,
        Self::NOT_FOUND,
        Self::NO_METHOD,
        Self::BUSY,
        Self::CANNOT_TURN,
        Self::NO_PROFILE,
        Self::FORGOTTEN,
        Self::INTERNAL,
        Self::LATE,
        Self::STORE,
    ];

    fn urn(self) -> String {
        format!("urn:secateur:problem:{}", self.1)
    }

    /// All of them for the document, which says of each what it means.
    fn schema() -> Object {
        let meanings = Self::ALL.map(|sort| format!("`{}` ({}): {}.", sort.urn(), sort.0.as_u16(), sort.2));
        let description =
            format!("What sort of problem it is; programs may rely on it.\n\n{}", meanings.join("\n"));
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(Self::ALL.map(Self::urn)))
            .description(Some(description))
            .build()
    }
}

impl Problem {
    fn new(sort: Sort, detail: impl Into<String>) -> Self {
        Self { kind: sort.urn(), title: sort.2, status: sort.0.as_u16(), detail: detail.into() }
    }

    /// Something in the address of the request is not what it should be.
    pub(super) fn bad_value(detail: impl Into<String>) -> Self {
        Self::new(Sort::BAD_VALUE, detail)
    }

    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(Sort::NOT_FOUND, detail)
    }

    /// Nobody knows the path.
    pub(super) async fn no_path(uri: Uri) -> Self {
        let detail = format!(
            "{} is no path of the API, and what begins with /api is never passed on to a provider; \
             /api/openapi.json lists the paths there are",
            uri.path()
        );
        Self::new(Sort::NO_PATH, detail)
    }

    /// The path is known, but not with this method.
    pub(super) async fn no_method(method: Method, uri: Uri) -> Self {
        let detail = format!("{method} cannot be used on {}; the header Allow says what can", uri.path());
        Self::new(Sort::NO_METHOD, detail)
    }

    /// The answer took too long.
    pub(super) fn late() -> Self {
        let detail = "the store did not answer in time; try again";
        Self::new(Sort::LATE, detail)
    }

    /// There was a panic on the way to an answer.
    pub(super) fn broken() -> Self {
        Self::internal("something broke while the answer was made; standard error says what")
    }

    fn internal(detail: impl Into<String>) -> Self {
        Self::new(Sort::INTERNAL, detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if status.is_server_error() {
            tracing::warn!(kind = self.kind, detail = self.detail, "a question is not answered");
        }
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        response
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        let sort = match denied {
            Denied::NoToken | Denied::WrongToken => Sort::TOKEN,
            Denied::ForeignHost | Denied::ForeignOrigin => Sort::FOREIGN_PAGE,
        };
        Self::new(sort, denied.to_string())
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let said = error.to_string();
        match error {
            StoreError::NoSession { id } => Self::new(
                Sort::NO_SESSION,
                format!("there is no session {id:?}; /api/sessions lists those there are"),
            ),
            StoreError::NoMessage { .. } | StoreError::NoOperation { .. } => Self::not_found(said),
            StoreError::OriginalForgotten { .. } => Self::new(Sort::FORGOTTEN, said),
            StoreError::Stale { .. } | StoreError::LeaseLost { .. } => {
                Self::new(Sort::BUSY, format!("{said}; try again"))
            }
            StoreError::Database { .. } => Self::new(Sort::STORE, said),
            _ => Self::internal(said),
        }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let said = error.to_string();
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::NotFound { .. } | EngineError::NotCut { .. } => Self::not_found(said),
            EngineError::Forgotten { .. } => Self::new(Sort::FORGOTTEN, said),
            EngineError::CannotUndo { .. } => Self::new(Sort::CANNOT_TURN, said),
            EngineError::Busy { .. } => Self::new(Sort::BUSY, said),
            EngineError::Profile(_) => Self::new(
                Sort::NO_PROFILE,
                format!("{said}; start the proxy with a configuration that knows it"),
            ),
            _ => Self::internal(said),
        }
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::bad_value(rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::bad_value(rejection.body_text())
    }
}

/// What every path may answer instead of what was asked for.
pub(super) struct Problems;

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let problem = |description: &str| {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(Problem::name()))).build();
            ResponseBuilder::new().description(description).content(MEDIA_TYPE, content).build()
        };
        let ours = "The request cannot be answered as it is; the problem says what would be accepted.";
        let theirs = "The store or the proxy failed; the same request may be answered later.";
        BTreeMap::from([("4XX".to_owned(), problem(ours).into()), ("5XX".to_owned(), problem(theirs).into())])
    }
}
