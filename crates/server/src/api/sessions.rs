//! The sessions in the store.

use axum::Json;
use axum::extract::State;
use secateur::session::SessionState;
use secateur_store::SessionRow;
use serde::Serialize;
use utoipa::ToSchema;

use super::ApiState;
use super::page::{Page, SessionQuery, mark};
use super::params::{PathParams, QueryParams};
use super::problem::{ApiProblem, Problems};

/// A session.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Session)]
pub(super) struct SessionItem {
    /// Its id.
    id: String,
    /// The tenant that it belongs to; empty for the user of the machine.
    tenant: String,
    /// Its title; for a conversation of the proxy, what the client calls it.
    #[schema(required)]
    title: Option<String>,
    /// The wire of its messages: `anthropic`, `openai-chat`, `openai-responses` or `gemini`.
    wire: String,
    /// The name of its profile.
    profile: String,
    /// The model of the last request; empty if there was none.
    model: String,
    /// The window of that model in tokens; 0 if unknown.
    window: i64,
    /// The number of its newest message.
    messages: u64,
    /// The pivot: earlier messages are sent only if they are pinned.
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

impl From<SessionRow> for SessionItem {
    fn from(row: SessionRow) -> Self {
        // An unreadable state is reported where it is needed.
        let request = serde_json::from_str::<SessionState>(&row.state).unwrap_or_default().request;
        Self {
            id: row.id,
            tenant: row.tenant,
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

/// The sessions, most recently changed first.
#[utoipa::path(
    get,
    path = "/api/sessions",
    tag = "sessions",
    params(SessionQuery),
    responses((status = 200, body = Page<SessionItem>, description = "A page of the list."), Problems)
)]
pub(super) async fn sessions(
    State(state): State<ApiState>,
    QueryParams(asked): QueryParams<SessionQuery>,
) -> Result<Json<Page<SessionItem>>, ApiProblem> {
    let (limit, engine) = (asked.limit()?, &state.engine);
    let rows = match asked.after()? {
        Some(place) => engine.sessions_after(&place, limit + 1).await?,
        None => engine.sessions(limit + 1).await?,
    };
    let Page { items, next } = Page::of(rows, limit, mark);
    Ok(Json(Page { items: items.into_iter().map(SessionItem::from).collect(), next }))
}

/// One session.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}",
    tag = "sessions",
    params(("id" = String, Path, description = "The session's id.")),
    responses((status = 200, body = SessionItem, description = "The session."), Problems)
)]
pub(super) async fn session(
    State(state): State<ApiState>,
    PathParams(id): PathParams<String>,
) -> Result<Json<SessionItem>, ApiProblem> {
    Ok(Json(state.engine.session_row(&id).await?.into()))
}
