//! All paths, and the OpenAPI document about them.

use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::{ApiProblem, Problems};
use super::{ApiState, configuration, events, operations, outline, plan, recall, runs, search, sessions};

/// The description of the API as a whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Secateur",
        description = "The sessions of a Secateur proxy: what is in them, what was done to them and why, and what would \
            be done next. Reading changes nothing. Errors are application/problem+json."
    ),
    components(schemas(ApiProblem)),
    tags(
        (name = "sessions", description = "Sessions and what they consist of."),
        (name = "operations", description = "Operations, and undoing them."),
        (name = "events", description = "Events, past and live."),
        (name = "proxy", description = "The proxy itself.")
    )
)]
struct ApiInfo;

/// The OpenAPI document of the API.
#[utoipa::path(
    get,
    path = "/api/openapi.json",
    tag = "proxy",
    responses((status = 200, body = Object, description = "The document."), Problems)
)]
async fn openapi(State(state): State<ApiState>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], state.document.get().cloned().unwrap_or_default())
}

/// All paths.
pub(super) fn router(state: ApiState) -> Router {
    let (router, document) = OpenApiRouter::<ApiState>::with_openapi(ApiInfo::openapi())
        .routes(routes!(sessions::sessions))
        .routes(routes!(sessions::session))
        .routes(routes!(outline::outline))
        .routes(routes!(plan::plan))
        .routes(routes!(plan::verdicts))
        .routes(routes!(operations::operations))
        .routes(routes!(operations::undo))
        .routes(routes!(operations::redo))
        .routes(routes!(recall::recall))
        .routes(routes!(recall::recall_anywhere))
        .routes(routes!(search::search))
        .routes(routes!(runs::run))
        .routes(routes!(runs::conversations))
        .routes(routes!(events::events))
        .routes(routes!(configuration::configuration))
        .routes(routes!(openapi))
        .split_for_parts();
    state.document.get_or_init(|| Bytes::from(document.to_json().unwrap_or_default()));
    router.fallback(ApiProblem::no_path).method_not_allowed_fallback(ApiProblem::no_method).with_state(state)
}
