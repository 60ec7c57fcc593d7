//! Savings of runs of agents, and figures of conversations, since this proxy was started.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::ApiState;
use super::params::PathParams;
use super::problem::{ApiProblem, Problems};
use crate::metrics::conversation_figures::ConversationFigures;
use crate::metrics::savings::Savings;

/// The savings of a run of an agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Run)]
pub(super) struct RunItem {
    /// The name of the run.
    name: String,
    /// Its savings.
    #[serde(flatten)]
    savings: Savings,
}

/// The savings of the requests to `/run:NAME/…` so far. A proxy remembers the last 1,000 runs until it stops.
#[utoipa::path(
    get,
    path = "/api/runs/{name}",
    tag = "proxy",
    params(("name" = String, Path, description = "The name of the run.")),
    responses((status = 200, body = RunItem, description = "Its savings."), Problems)
)]
pub(super) async fn run(
    State(state): State<ApiState>,
    PathParams(name): PathParams<String>,
) -> Result<Json<RunItem>, ApiProblem> {
    let savings =
        state.recorders.iter().find_map(|recorders| recorders.runs.get(&name)).ok_or_else(|| {
            ApiProblem::not_found(format!(
                "no request of a run {name:?} was seen; its requests go to /run:NAME/…"
            ))
        })?;
    Ok(Json(RunItem { name, savings }))
}

/// The conversations that passed through this proxy.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Conversations)]
pub(super) struct ConversationList {
    items: Vec<ConversationFigures>,
}

/// The conversations that passed through this proxy since it was started, the most recent first. The last 1,000 are
/// remembered.
#[utoipa::path(
    get,
    path = "/api/conversations",
    tag = "proxy",
    responses((status = 200, body = ConversationList, description = "The conversations."), Problems)
)]
pub(super) async fn conversations(State(state): State<ApiState>) -> Json<ConversationList> {
    let mut items: Vec<ConversationFigures> =
        state.recorders.iter().flat_map(|recorders| recorders.conversations.all()).collect();
    // Each tenant's are in order; the sort keeps that for equal times.
    items.sort_by_key(|figures| std::cmp::Reverse(figures.time));
    Json(ConversationList { items })
}
