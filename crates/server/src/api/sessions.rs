//! The sessions that are kept.

use axum::Json;
use axum::extract::State;
use secateur::session::SessionState as Memory;
use secateur_store::SessionRow;
use serde::Serialize;
use utoipa::ToSchema;

use super::Desk;
use super::page::{Listed, Page, mark};
use super::params::{Asked, At};
use super::problem::{Problem, Problems};

/// A session.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Session {
    /// Its id.
    id: String,
    /// What people call it; for a conversation of the proxy, what its client calls it.
    #[schema(required)]
    title: Option<String>,
    /// The form of its messages: `anthropic`, `openai-chat`, `openai-responses` or `gemini`.
    wire: String,
    /// The name of its profile.
    profile: String,
    /// The model that was last asked; empty if none was.
    model: String,
    /// The window of that model in tokens; 0 if it is not known.
    window: i64,
    /// The number of its newest message.
    messages: u64,
    /// From this message on all are sent; earlier ones only if they are pinned.
    live_from: u64,
    /// The number of its newest operation.
    operations: u64,
    /// The number of its newest event.
    events: u64,
    /// Grows with every change.
    revision: u64,
    /// When it was created, in milliseconds since 1970.
    created: i64,
    /// When it was last changed.
    updated: i64,
}

impl From<SessionRow> for Session {
    fn from(row: SessionRow) -> Self {
        // A state that cannot be read is told by whoever needs it.
        let request = serde_json::from_str::<Memory>(&row.state).unwrap_or_default().request;
        Self {
            id: row.id,
            title: row.title,
            wire: row.wire,
            profile: row.profile,
            model: request.model,
            window: request.limits.context,
            messages: row.head,
            live_from: row.live_from,
            operations: row.last_operation,
            events: row.last_event,
            revision: row.revision,
            created: row.created,
            updated: row.updated,
        }
    }
}

/// The sessions, the one changed last first.
#[utoipa::path(
    get,
    path = "/api/sessions",
    tag = "sessions",
    params(Listed),
    responses((status = 200, body = Page<Session>, description = "A part of the list."), Problems)
)]
pub(super) async fn sessions(
    State(desk): State<Desk>,
    Asked(asked): Asked<Listed>,
) -> Result<Json<Page<Session>>, Problem> {
    let (limit, engine) = (asked.limit()?, &desk.engine);
    let rows = match asked.after()? {
        Some(place) => engine.sessions_after(&place, limit + 1).await?,
        None => engine.sessions(limit + 1).await?,
    };
    let Page { items, next } = Page::of(rows, limit, mark);
    Ok(Json(Page { items: items.into_iter().map(Session::from).collect(), next }))
}

/// One session.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}",
    tag = "sessions",
    params(("id" = String, Path, description = "The session's id.")),
    responses((status = 200, body = Session, description = "The session."), Problems)
)]
pub(super) async fn session(State(desk): State<Desk>, At(id): At<String>) -> Result<Json<Session>, Problem> {
    Ok(Json(desk.engine.session_row(&id).await?.into()))
}
