//! Originals, whatever was cut or compacted since.

use axum::Json;
use axum::extract::State;
use secateur_engine::EngineError;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::Desk;
use super::ask::At;
use super::problem::{Problem, Problems};

/// An original.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Recalled {
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
        ("name" = String, Path, description = "`12` for message 12, `12.0` for its first part, or the id of a tool \
            call for its result, as long as that is in the context.")
    ),
    responses((status = 200, body = Recalled, description = "The original."), Problems)
)]
pub(super) async fn recall(
    State(desk): State<Desk>,
    At((id, name)): At<(String, String)>,
) -> Result<Json<Recalled>, Problem> {
    let session = desk.engine.view(&id).await?;
    let found = session.recall(&name).await.map_err(|error| match error {
        EngineError::NothingThere { .. } => Problem::not_found(format!(
            "session {id:?} has no part {name:?}; its messages are numbered 1 to {}, a part is named like 1.0, and \
             the id of a tool call names its result while that is in the context",
            session.head()
        )),
        error => error.into(),
    })?;
    let original = serde_json::from_slice(&found.body).ok();
    Ok(Json(Recalled { message: found.seq, text: found.text, original }))
}
