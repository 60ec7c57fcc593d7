//! Originals of messages and parts, whatever was cut or compacted since.

use axum::Json;
use axum::extract::State;
use secateur_engine::EngineError;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::ApiState;
use super::params::PathParams;
use super::problem::{ApiProblem, Problems};

/// An original.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Recalled)]
pub(super) struct RecalledItem {
    /// Its session.
    session: String,
    /// The number of its message.
    message: u64,
    /// The text of the requested part, or of all parts.
    text: String,
    /// The whole original message, byte for byte.
    #[schema(required, value_type = Option<Object>)]
    original: Option<Box<RawValue>>,
}

/// The original of a message or a part of it.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/recall/{name}",
    tag = "sessions",
    params(
        ("id" = String, Path, description = "The session's id."),
        ("name" = String, Path, description = "`12` for message 12, `12.0` for its first part, the handle of what was \
            cut, or the id of a tool call for its result.")
    ),
    responses((status = 200, body = RecalledItem, description = "The original."), Problems)
)]
pub(super) async fn recall(
    State(state): State<ApiState>,
    PathParams((id, name)): PathParams<(String, String)>,
) -> Result<Json<RecalledItem>, ApiProblem> {
    let session = state.engine.view(&id).await?;
    let found = session.recall(&name).await.map_err(|error| match error {
        EngineError::NotFound { .. } => ApiProblem::not_found(format!(
            "session {id:?} has no part {name:?}; its messages are numbered 1 to {}; a part is named like 1.0, a cut \
             part also by its handle, and a tool result by the id of its call",
            session.head()
        )),
        error => error.into(),
    })?;
    Ok(item(found))
}

/// The original of what was cut or compacted away, by the handle in its place.
#[utoipa::path(
    get,
    path = "/api/recall/{handle}",
    tag = "sessions",
    params(("handle" = String, Path, description = "The handle, as a placeholder names it.")),
    responses((status = 200, body = RecalledItem, description = "The original, of the session changed last that has it. \
        If several different texts have the handle, the problem `ambiguous` lists them."), Problems)
)]
pub(super) async fn recall_anywhere(
    State(state): State<ApiState>,
    PathParams(handle): PathParams<String>,
) -> Result<Json<RecalledItem>, ApiProblem> {
    let found = state.engine.recall(&handle, None).await.map_err(|error| match error {
        EngineError::NotFound { .. } | EngineError::NotCut { .. } => ApiProblem::not_found(format!(
            "nothing was cut under the handle {handle:?}; a placeholder names it after the word recall, and \
             /api/search finds handles by words"
        )),
        error => error.into(),
    })?;
    Ok(item(found))
}

fn item(found: secateur_engine::Recalled) -> Json<RecalledItem> {
    let original = serde_json::from_slice(&found.body).ok();
    let (session, message, text) = (found.session, found.seq, found.text);
    Json(RecalledItem { session, message, text, original })
}
