//! What runs of agents and conversations saved, as this proxy saw it.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::Desk;
use super::params::At;
use super::problem::{Problem, Problems};
use crate::metrics::conversation_figures::Figures;
use crate::metrics::savings::Savings;

/// What a run of an agent saved so far.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Run {
    /// The name of the run.
    name: String,
    /// What was saved in it.
    #[serde(flatten)]
    savings: Savings,
}

/// What the requests to `/run:NAME/…` saved so far. A proxy remembers the last 1,000 runs until it stops.
#[utoipa::path(
    get,
    path = "/api/runs/{name}",
    tag = "proxy",
    params(("name" = String, Path, description = "The name of the run.")),
    responses((status = 200, body = Run, description = "What it saved."), Problems)
)]
pub(super) async fn run(State(desk): State<Desk>, At(name): At<String>) -> Result<Json<Run>, Problem> {
    let savings = desk.books.runs.get(&name).ok_or_else(|| {
        Problem::not_found(format!("nothing was heard of a run {name:?}; its requests go to /run:NAME/…"))
    })?;
    Ok(Json(Run { name, savings }))
}

/// The conversations that passed through this proxy.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Conversations {
    items: Vec<Figures>,
}

/// The conversations that passed through this proxy since it was started, the one heard of last first. The last 1,000
/// are remembered.
#[utoipa::path(
    get,
    path = "/api/conversations",
    tag = "proxy",
    responses((status = 200, body = Conversations, description = "The conversations."), Problems)
)]
pub(super) async fn conversations(State(desk): State<Desk>) -> Json<Conversations> {
    Json(Conversations { items: desk.books.conversations.all() })
}
