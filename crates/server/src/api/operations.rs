//! The operations of a session, and undoing them.

use axum::Json;
use axum::extract::State;
use secateur::session::{Operation as StoredOperation, Seq, SessionCut};
use secateur_engine::EngineError;
use secateur_store::OperationRow;
use serde::Serialize;
use utoipa::ToSchema;

use super::outline::{CutEffect, name};
use super::page::{Page, PageQuery};
use super::params::{LARGEST, PathParams, QueryParams, number};
use super::problem::{ApiProblem, Problems};
use super::{ApiState, word};

/// An operation of a session.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Operation)]
pub(super) struct OperationItem {
    /// Its number in the session, from 1 on.
    number: u64,
    /// `prune`, `mark`, `compact` or `resume`.
    kind: String,
    /// When, in milliseconds since 1970.
    time: i64,
    /// Whether it is undone.
    undone: bool,
    /// When in a session it was made; null if unknown.
    #[schema(required)]
    occasion: Option<String>,
    /// Its cuts.
    cuts: Vec<OperationCut>,
    /// The numbers of the messages that a summary replaces.
    replaced: Vec<u64>,
    /// The numbers of older messages that stay unchanged.
    kept: Vec<u64>,
}

/// A cut of an operation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Cut)]
struct OperationCut {
    /// The name of the part, by which it can be recalled.
    #[schema(example = "12.0")]
    name: String,
    #[serde(flatten)]
    deed: CutEffect,
}

/// An operation that was undone or redone.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Turned {
    /// The operation as it is now.
    operation: OperationItem,
    /// Estimated tokens of the next request before,
    before: i64,
    /// and after.
    after: i64,
}

#[derive(Clone, Copy)]
enum Reversal {
    Undo,
    Redo,
}

impl OperationItem {
    fn of(row: OperationRow) -> Result<Self, EngineError> {
        let OperationRow { number, kind, time, undone, data } = row;
        let operation: StoredOperation = serde_json::from_str(&data).map_err(|source| {
            EngineError::Unreadable { what: format!("operation {number}"), source: source.into() }
        })?;
        let (mut occasion, mut cuts, mut replaced, mut kept) = (None, Vec::new(), Vec::new(), Vec::new());
        match operation {
            StoredOperation::Prune { occasion: when, cuts: made } => {
                occasion = Some(word(when));
                cuts = made.iter().map(OperationCut::of).collect();
            }
            StoredOperation::Compact(turnover) => (replaced, kept) = (turnover.replaced, turnover.kept),
            StoredOperation::Mark { .. } | StoredOperation::Resume => {}
        }
        Ok(Self { number, kind, time, undone, occasion, cuts, replaced, kept })
    }
}

impl OperationCut {
    fn of((seq, cut): &(Seq, SessionCut)) -> Self {
        Self { name: name(*seq, cut.part), deed: cut.action.into() }
    }
}

/// The operations of a session, oldest first. `after` counts operations.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/operations",
    tag = "operations",
    params(("id" = String, Path, description = "The session's id."), PageQuery),
    responses((status = 200, body = Page<OperationItem>, description = "A part of the operations."), Problems)
)]
pub(super) async fn operations(
    State(state): State<ApiState>,
    PathParams(id): PathParams<String>,
    QueryParams(asked): QueryParams<PageQuery>,
) -> Result<Json<Page<OperationItem>>, ApiProblem> {
    let (limit, after) = (asked.limit()?, asked.after()?);
    let rows = state.engine.operations(&id, after, limit + 1).await?;
    let Page { items, next } = Page::of(rows, limit, |row| row.number.to_string());
    let items = items.into_iter().map(OperationItem::of).collect::<Result<_, _>>()?;
    Ok(Json(Page { items, next }))
}

/// Undoes an operation: what it cut or replaced is sent again from the next request on. An undone cut is not made again
/// automatically.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/operations/{number}/undo",
    tag = "operations",
    params(
        ("id" = String, Path, description = "The session's id."),
        ("number" = u64, Path, minimum = 1, maximum = 9007199254740991_i64, description = "The operation's number.")
    ),
    responses((status = 200, body = Turned, description = "It is undone."), Problems)
)]
pub(super) async fn undo(
    State(state): State<ApiState>,
    PathParams((id, number)): PathParams<(String, String)>,
) -> Result<Json<Turned>, ApiProblem> {
    reverse(&state, &id, &number, Reversal::Undo).await
}

/// Redoes an undone operation.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/operations/{number}/redo",
    tag = "operations",
    params(
        ("id" = String, Path, description = "The session's id."),
        ("number" = u64, Path, minimum = 1, maximum = 9007199254740991_i64, description = "The operation's number.")
    ),
    responses((status = 200, body = Turned, description = "It is redone."), Problems)
)]
pub(super) async fn redo(
    State(state): State<ApiState>,
    PathParams((id, number)): PathParams<(String, String)>,
) -> Result<Json<Turned>, ApiProblem> {
    reverse(&state, &id, &number, Reversal::Redo).await
}

async fn reverse(
    state: &ApiState,
    id: &str,
    given: &str,
    reversal: Reversal,
) -> Result<Json<Turned>, ApiProblem> {
    let wanted = number("the number of an operation", given, 1, LARGEST)?;
    find(state, id, wanted).await?;
    let mut session = state.engine.view(id).await?;
    let before = session.tokens();
    match reversal {
        Reversal::Undo => session.undo(Some(wanted)).await?,
        Reversal::Redo => session.redo(Some(wanted)).await?,
    };
    let after = session.tokens();
    Ok(Json(Turned { operation: OperationItem::of(find(state, id, wanted).await?)?, before, after }))
}

/// The row of an operation.
async fn find(state: &ApiState, id: &str, wanted: u64) -> Result<OperationRow, ApiProblem> {
    let rows = state.engine.operations(id, wanted - 1, 1).await?;
    let found = rows.into_iter().find(|row| row.number == wanted);
    found.ok_or_else(|| {
        let detail =
            format!("session {id:?} has no operation {wanted}; /api/sessions/{{id}}/operations lists them");
        ApiProblem::not_found(detail)
    })
}
