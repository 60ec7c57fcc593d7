//! Originals, whatever was cut or compacted since.

use axum::Json;
use axum::extract::State;
use secateur_engine::EngineError;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::Desk;
use super::params::At;
use super::problem::{Problem, Problems};

/// An original.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Recalled {
    /// The session that it is from.
    session: String,
    /// The number of its message.
    message: u64,
    /// The text of the part that was asked for, or of all parts.
    text: String,
    /// The whole message as it came, byte for byte.
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
    responses((status = 200, body = Recalled, description = "The original."), Problems)
)]
pub(super) async fn recall(
    State(desk): State<Desk>,
    At((id, name)): At<(String, String)>,
) -> Result<Json<Recalled>, Problem> {
    let session = desk.engine.view(&id).await?;
    let found = session.recall(&name).await.map_err(|error| match error {
        EngineError::NotFound { .. } => Problem::not_found(format!(
            "session {id:?} has no part {name:?}; its messages are numbered 1 to {}, a part is named like 1.0, a \
             handle names what was cut, and the id of a tool call its result",
            session.head()
        )),
        error => error.into(),
    })?;
    Ok(told(found))
}

/// The original of what was cut or compacted away, by the handle that stands in its place.
#[utoipa::path(
    get,
    path = "/api/recall/{handle}",
    tag = "sessions",
    params(("handle" = String, Path, description = "The handle, as a placeholder names it.")),
    responses((status = 200, body = Recalled, description = "The original, of the session changed last."), Problems)
)]
pub(super) async fn recall_anywhere(
    State(desk): State<Desk>,
    At(handle): At<String>,
) -> Result<Json<Recalled>, Problem> {
    let found = desk.engine.recall(&handle, None).await.map_err(|error| match error {
        EngineError::NotFound { .. } | EngineError::NotCut { .. } => Problem::not_found(format!(
            "nothing was cut under the handle {handle:?}; a placeholder names it behind the word recall, and \
             /api/search finds handles by words"
        )),
        error => error.into(),
    })?;
    Ok(told(found))
}

fn told(found: secateur_engine::Recalled) -> Json<Recalled> {
    let original = serde_json::from_slice(&found.body).ok();
    let (session, message, text) = (found.session, found.seq, found.text);
    Json(Recalled { session, message, text, original })
}
