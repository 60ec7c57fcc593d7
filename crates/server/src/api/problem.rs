//! Errors of the API, as RFC 9457 has them.

use std::collections::BTreeMap;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode, Uri};
use secateur_engine::{EngineError, RecallCandidate};
use secateur_store::StoreError;
use serde::Serialize;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

use crate::http::admission::AdmissionError;

/// The media type of problems.
pub(super) const MEDIA_TYPE: &str = "application/problem+json";

/// Why a request is not answered.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ApiProblem {
    /// The type of problem; programs may rely on it.
    #[serde(rename = "type")]
    #[schema(schema_with = ProblemType::schema)]
    kind: String,
    /// The same in words.
    title: &'static str,
    /// The status of the response.
    #[schema(value_type = u16, minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong, and what would be accepted.
    detail: String,
    /// Of an ambiguous name: what it may mean.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    candidates: Vec<CandidateItem>,
}

/// A text that a name may mean.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Candidate)]
struct CandidateItem {
    /// Its session.
    session: String,
    /// The number of its message.
    message: u64,
    /// The part of the message.
    #[schema(required)]
    part: Option<u32>,
    /// The tool of the call or result.
    #[schema(required)]
    tool: Option<String>,
    /// The subject of the call.
    #[schema(required)]
    subject: Option<String>,
}

impl From<RecallCandidate> for CandidateItem {
    fn from(candidate: RecallCandidate) -> Self {
        let RecallCandidate { session, seq: message, part, tool, subject } = candidate;
        Self { session, message, part, tool, subject }
    }
}

/// The types of problems: status, name after `urn:secateur:problem:`, and title.
#[derive(Clone, Copy)]
struct ProblemType(StatusCode, &'static str, &'static str);

impl ProblemType {
    const BAD_VALUE: Self = Self(StatusCode::BAD_REQUEST, "bad-value", "Invalid value");
    const TOKEN: Self = Self(StatusCode::UNAUTHORIZED, "token", "Missing or wrong token");
    const FOREIGN_PAGE: Self =
        Self(StatusCode::FORBIDDEN, "foreign-page", "Request from another host or origin");
    const NO_PATH: Self = Self(StatusCode::NOT_FOUND, "no-path", "Unknown path");
    const NO_SESSION: Self = Self(StatusCode::NOT_FOUND, "no-session", "Unknown session");
    const NOT_FOUND: Self = Self(StatusCode::NOT_FOUND, "not-found", "Not found");
    const NO_METHOD: Self = Self(StatusCode::METHOD_NOT_ALLOWED, "no-method", "Method not allowed");
    const BUSY: Self = Self(StatusCode::CONFLICT, "busy", "Changed by another request");
    const AMBIGUOUS: Self = Self(StatusCode::CONFLICT, "ambiguous", "Name of several texts");
    const CANNOT_TURN: Self = Self(StatusCode::CONFLICT, "cannot-turn", "Cannot be undone or redone");
    const NO_PROFILE: Self = Self(StatusCode::CONFLICT, "no-profile", "Profile of the session not available");
    const FORGOTTEN: Self = Self(StatusCode::GONE, "forgotten", "Original forgotten");
    const INTERNAL: Self = Self(StatusCode::INTERNAL_SERVER_ERROR, "internal", "Internal error");
    const DAMAGED: Self = Self(StatusCode::INTERNAL_SERVER_ERROR, "damaged", "Damage in the store");
    const LATE: Self = Self(StatusCode::SERVICE_UNAVAILABLE, "late", "Timeout");
    const STORE: Self = Self(StatusCode::SERVICE_UNAVAILABLE, "store", "Store failure");

    /// All of them, in the order of their statuses.
    const ALL: [Self; 16] = [
        Self::BAD_VALUE,
        Self::TOKEN,
        Self::FOREIGN_PAGE,
        Self::NO_PATH,
        Self::NO_SESSION,
        Self::NOT_FOUND,
        Self::NO_METHOD,
        Self::BUSY,
        Self::AMBIGUOUS,
        Self::CANNOT_TURN,
        Self::NO_PROFILE,
        Self::FORGOTTEN,
        Self::INTERNAL,
        Self::DAMAGED,
        Self::LATE,
        Self::STORE,
    ];

    fn urn(self) -> String {
        format!("urn:secateur:problem:{}", self.1)
    }

    /// All of them with their meanings, for the OpenAPI document.
    fn schema() -> Object {
        let meanings = Self::ALL.map(|kind| format!("`{}` ({}): {}.", kind.urn(), kind.0.as_u16(), kind.2));
        let description = format!("The type of problem; programs may rely on it.\n\n{}", meanings.join("\n"));
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(Self::ALL.map(Self::urn)))
            .description(Some(description))
            .build()
    }
}

impl ApiProblem {
    fn new(kind: ProblemType, detail: impl Into<String>) -> Self {
        let (title, status, detail) = (kind.2, kind.0.as_u16(), detail.into());
        Self { kind: kind.urn(), title, status, detail, candidates: Vec::new() }
    }

    /// A parameter of the request is invalid.
    pub(super) fn bad_value(detail: impl Into<String>) -> Self {
        Self::new(ProblemType::BAD_VALUE, detail)
    }

    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(ProblemType::NOT_FOUND, detail)
    }

    /// The path does not exist.
    pub(super) async fn no_path(uri: Uri) -> Self {
        let detail = format!(
            "{} is not a path of the API, and paths under /api are never passed on to a provider; \
             /api/openapi.json lists the paths",
            uri.path()
        );
        Self::new(ProblemType::NO_PATH, detail)
    }

    /// The path exists, but not with this method.
    pub(super) async fn no_method(method: Method, uri: Uri) -> Self {
        let detail = format!("{method} is not allowed on {}; the Allow header lists the methods", uri.path());
        Self::new(ProblemType::NO_METHOD, detail)
    }

    /// The response took too long.
    pub(super) fn late() -> Self {
        let detail = "the store did not answer in time; try again";
        Self::new(ProblemType::LATE, detail)
    }

    /// The handler panicked.
    pub(super) fn broken() -> Self {
        Self::internal("internal error; see standard error")
    }

    fn internal(detail: impl Into<String>) -> Self {
        Self::new(ProblemType::INTERNAL, detail)
    }
}

impl IntoResponse for ApiProblem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if status.is_server_error() {
            tracing::warn!(kind = self.kind, detail = self.detail, "API request failed");
        }
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = (status, body).into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        response
    }
}

impl From<AdmissionError> for ApiProblem {
    fn from(error: AdmissionError) -> Self {
        let kind = match error {
            AdmissionError::NoToken | AdmissionError::WrongToken | AdmissionError::NoOperator => {
                ProblemType::TOKEN
            }
            AdmissionError::ForeignHost | AdmissionError::ForeignOrigin => ProblemType::FOREIGN_PAGE,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<StoreError> for ApiProblem {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::NoSession { id } => Self::new(
                ProblemType::NO_SESSION,
                format!("there is no session {id:?}; /api/sessions lists them"),
            ),
            StoreError::NoMessage { .. } | StoreError::NoOperation { .. } => Self::not_found(message),
            StoreError::OriginalForgotten { .. } => Self::new(ProblemType::FORGOTTEN, message),
            StoreError::Stale { .. } | StoreError::LeaseLost { .. } => {
                Self::new(ProblemType::BUSY, format!("{message}; try again"))
            }
            StoreError::Database { .. } => Self::new(ProblemType::STORE, message),
            StoreError::Damaged { .. } => Self::new(ProblemType::DAMAGED, message),
            _ => Self::internal(message),
        }
    }
}

impl From<EngineError> for ApiProblem {
    fn from(error: EngineError) -> Self {
        let message = error.to_string();
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::NotFound { .. } | EngineError::NotCut { .. } => Self::not_found(message),
            EngineError::Forgotten { .. } => Self::new(ProblemType::FORGOTTEN, message),
            EngineError::CannotUndo { .. } => Self::new(ProblemType::CANNOT_TURN, message),
            EngineError::Ambiguous { name, candidates } => Self {
                candidates: candidates.into_iter().map(CandidateItem::from).collect(),
                ..Self::new(
                    ProblemType::AMBIGUOUS,
                    format!(
                        "{name:?} names several different texts; /api/sessions/{{id}}/recall/{{name}} recalls from one \
                         session, and takes a message and part such as 12.0"
                    ),
                )
            },
            EngineError::Busy { .. } => Self::new(ProblemType::BUSY, message),
            EngineError::Profile(_) => Self::new(
                ProblemType::NO_PROFILE,
                format!("{message}; start the proxy with a configuration that has it"),
            ),
            _ => Self::internal(message),
        }
    }
}

impl From<QueryRejection> for ApiProblem {
    fn from(rejection: QueryRejection) -> Self {
        Self::bad_value(rejection.body_text())
    }
}

impl From<PathRejection> for ApiProblem {
    fn from(rejection: PathRejection) -> Self {
        Self::bad_value(rejection.body_text())
    }
}

/// The error responses of every path.
pub(super) struct Problems;

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let problem = |description: &str| {
            let content =
                ContentBuilder::new().schema(Some(Ref::from_schema_name(ApiProblem::name()))).build();
            ResponseBuilder::new().description(description).content(MEDIA_TYPE, content).build()
        };
        let ours = "The request is invalid; the problem says what would be accepted.";
        let theirs = "The store or the proxy failed; the same request may succeed later.";
        BTreeMap::from([("4XX".to_owned(), problem(ours).into()), ("5XX".to_owned(), problem(theirs).into())])
    }
}
