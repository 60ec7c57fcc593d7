//! All paths, and the document about them.

use axum::Router;
use axum::extract::State;
use axum::response::IntoResponse;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::{Problem, Problems};
use super::{Desk, configuration, events, operations, outline, plan, recall, runs, search, sessions};

/// What is said about the API as a whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Secateur",
        description = "The sessions that a Secateur proxy keeps: what is in them, what was done to them and why, and \
            what would be done next. Questions change nothing. Whatever is refused is refused as application/problem+json."
    ),
    components(schemas(Problem)),
    tags(
        (name = "sessions", description = "Sessions and what they consist of."),
        (name = "operations", description = "What was done, and its undoing."),
        (name = "events", description = "What happened and happens."),
        (name = "proxy", description = "The proxy itself.")
    )
)]
struct About;

/// The document of the API, as OpenAPI has it.
#[utoipa::path(
    get,
    path = "/api/openapi.json",
    tag = "proxy",
    responses((status = 200, body = Object, description = "The document."), Problems)
)]
async fn openapi(State(desk): State<Desk>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], desk.document.get().cloned().unwrap_or_default())
}

/// All paths.
pub(super) fn router(desk: Desk) -> Router {
    let (router, document) = OpenApiRouter::<Desk>::with_openapi(About::openapi())
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
    desk.document.get_or_init(|| Bytes::from(document.to_json().unwrap_or_default()));
    router.fallback(Problem::no_path).method_not_allowed_fallback(Problem::no_method).with_state(desk)
}
