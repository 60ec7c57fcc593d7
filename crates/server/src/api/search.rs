//! Search in what was cut or compacted away.

use axum::Json;
use axum::extract::State;
use secateur_engine::SearchHit;
use serde::Serialize;
use utoipa::ToSchema;

use super::ApiState;
use super::page::SearchQuery;
use super::params::{QueryParams, number};
use super::problem::{ApiProblem, Problems};

/// The hits, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Hits)]
pub(super) struct SearchHits {
    items: Vec<SearchHitItem>,
}

/// Something that was cut or compacted away.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Clipping)]
struct SearchHitItem {
    /// The session's id.
    session: String,
    /// The message's number.
    message: u64,
    /// The handle by which it is recalled.
    handle: String,
    /// The tool of the call or result.
    #[schema(required)]
    tool: Option<String>,
    /// The subject of the call.
    #[schema(required)]
    subject: Option<String>,
    /// The time of the message, in milliseconds since 1970.
    time: i64,
    /// Its length in characters.
    characters: u64,
    /// The excerpt with the most of the words.
    snippet: String,
}

/// What was cut or compacted away and has all of these words.
#[utoipa::path(
    get,
    path = "/api/search",
    tag = "sessions",
    params(SearchQuery),
    responses((status = 200, body = SearchHits, description = "The hits."), Problems)
)]
pub(super) async fn search(
    State(state): State<ApiState>,
    QueryParams(wanted): QueryParams<SearchQuery>,
) -> Result<Json<SearchHits>, ApiProblem> {
    let limit = wanted.limit.as_deref().map_or(Ok(20), |limit| number("limit", limit, 1, 100))?;
    if wanted.words.chars().count() > 2000 {
        return Err(ApiProblem::bad_value("words has more than 2000 characters"));
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let hits = state.engine.search(&wanted.words, wanted.session.as_deref(), limit).await?;
    Ok(Json(SearchHits { items: hits.into_iter().map(SearchHitItem::from).collect() }))
}

impl From<SearchHit> for SearchHitItem {
    fn from(hit: SearchHit) -> Self {
        let SearchHit { session, number: message, handle, tool, subject, time, characters, snippet } = hit;
        Self { session, message, handle, tool, subject, time, characters: characters as u64, snippet }
    }
}
