//! Searching what was cut or compacted away.

use axum::Json;
use axum::extract::State;
use secateur_engine::SearchHit;
use serde::Serialize;
use utoipa::ToSchema;

use super::Desk;
use super::page::Wanted;
use super::params::{Asked, number};
use super::problem::{Problem, Problems};

/// What was found, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Hits {
    items: Vec<Clipping>,
}

/// Something that was cut or compacted away.
#[derive(Debug, Serialize, ToSchema)]
struct Clipping {
    /// The session's id.
    session: String,
    /// The message's number.
    message: u64,
    /// The handle by which all of it is fetched back.
    handle: String,
    /// The tool that it comes from or went to.
    #[schema(required)]
    tool: Option<String>,
    /// What that was about.
    #[schema(required)]
    subject: Option<String>,
    /// When it was said, in milliseconds since 1970.
    time: i64,
    /// How long it is, in characters.
    characters: u64,
    /// The place where most of the words are.
    snippet: String,
}

/// What was cut or compacted away and has all of these words.
#[utoipa::path(
    get,
    path = "/api/search",
    tag = "sessions",
    params(Wanted),
    responses((status = 200, body = Hits, description = "What was found."), Problems)
)]
pub(super) async fn search(
    State(desk): State<Desk>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<Hits>, Problem> {
    let limit = wanted.limit.as_deref().map_or(Ok(20), |limit| number("limit", limit, 1, 100))?;
    if wanted.words.chars().count() > 2000 {
        return Err(Problem::bad_value("words has more than 2000 characters"));
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let hits = desk.engine.search(&wanted.words, wanted.session.as_deref(), limit).await?;
    Ok(Json(Hits { items: hits.into_iter().map(Clipping::from).collect() }))
}

impl From<SearchHit> for Clipping {
    fn from(hit: SearchHit) -> Self {
        let SearchHit { session, number: message, handle, tool, subject, time, characters, snippet } = hit;
        Self { session, message, handle, tool, subject, time, characters: characters as u64, snippet }
    }
}
