//! What runs of agents saved.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::Desk;
use super::ask::At;
use super::problem::{Problem, Problems};
use crate::runs::Savings;

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
    let savings = desk.runs.get(&name).ok_or_else(|| {
        Problem::not_found(format!("nothing was heard of a run {name:?}; its requests go to /run:NAME/…"))
    })?;
    Ok(Json(Run { name, savings }))
}
