//! What was done to a session, and its undoing.

use axum::Json;
use axum::extract::State;
use secateur::session::{Operation as Done, Seq, SessionCut};
use secateur_engine::EngineError;
use secateur_store::OperationRow;
use serde::Serialize;
use utoipa::ToSchema;

use super::outline::{Deed, name};
use super::page::{Numbered, Page};
use super::params::{Asked, At, LARGEST, number};
use super::problem::{Problem, Problems};
use super::{Desk, word};

/// Something that was done to a session.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Operation {
    /// Its number in the session, from 1 on.
    number: u64,
    /// `prune`, `mark`, `compact` or `resume`.
    kind: String,
    /// When, in milliseconds since 1970.
    time: i64,
    /// Whether it is undone.
    undone: bool,
    /// What it was done for, in a word; null if that is not known.
    #[schema(required)]
    occasion: Option<String>,
    /// What was cut.
    cuts: Vec<Cut>,
    /// The numbers of the messages that a summary stands for.
    replaced: Vec<u64>,
    /// The numbers of those that stayed as they were although they are older.
    kept: Vec<u64>,
}

/// A cut of an operation.
#[derive(Debug, Serialize, ToSchema)]
struct Cut {
    /// The part, as it can be recalled.
    #[schema(example = "12.0")]
    name: String,
    #[serde(flatten)]
    deed: Deed,
}

/// An operation that was turned.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Turned {
    /// The operation as it is now.
    operation: Operation,
    /// Estimated tokens of the next request before,
    before: i64,
    /// and after.
    after: i64,
}

/// What becomes of an operation.
#[derive(Clone, Copy)]
enum Wish {
    Undo,
    Redo,
}

impl Operation {
    fn of(row: OperationRow) -> Result<Self, EngineError> {
        let OperationRow { number, kind, time, undone, data } = row;
        let done: Done = serde_json::from_str(&data).map_err(|source| EngineError::Unreadable {
            what: format!("operation {number}"),
            source: source.into(),
        })?;
        let (mut occasion, mut cuts, mut replaced, mut kept) = (None, Vec::new(), Vec::new(), Vec::new());
        match done {
            Done::Prune { occasion: when, cuts: made } => {
                occasion = Some(word(when));
                cuts = made.iter().map(Cut::of).collect();
            }
            Done::Compact(turnover) => (replaced, kept) = (turnover.replaced, turnover.kept),
            Done::Mark { .. } | Done::Resume => {}
        }
        Ok(Self { number, kind, time, undone, occasion, cuts, replaced, kept })
    }
}

impl Cut {
    fn of((seq, cut): &(Seq, SessionCut)) -> Self {
        Self { name: name(*seq, cut.part), deed: cut.action.into() }
    }
}

/// What was done to a session, oldest first. `after` counts operations.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/operations",
    tag = "operations",
    params(("id" = String, Path, description = "The session's id."), Numbered),
    responses((status = 200, body = Page<Operation>, description = "A part of the operations."), Problems)
)]
pub(super) async fn operations(
    State(desk): State<Desk>,
    At(id): At<String>,
    Asked(asked): Asked<Numbered>,
) -> Result<Json<Page<Operation>>, Problem> {
    let (limit, after) = (asked.limit()?, asked.after()?);
    let rows = desk.engine.operations(&id, after, limit + 1).await?;
    let Page { items, next } = Page::of(rows, limit, |row| row.number.to_string());
    let items = items.into_iter().map(Operation::of).collect::<Result<_, _>>()?;
    Ok(Json(Page { items, next }))
}

/// Takes an operation back: what it cut or replaced is sent again from the next request on. A cut that was undone is not
/// made anew by itself.
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
    State(desk): State<Desk>,
    At((id, number)): At<(String, String)>,
) -> Result<Json<Turned>, Problem> {
    turn(&desk, &id, &number, Wish::Undo).await
}

/// Does an operation again that was undone.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/operations/{number}/redo",
    tag = "operations",
    params(
        ("id" = String, Path, description = "The session's id."),
        ("number" = u64, Path, minimum = 1, maximum = 9007199254740991_i64, description = "The operation's number.")
    ),
    responses((status = 200, body = Turned, description = "It is done again."), Problems)
)]
pub(super) async fn redo(
    State(desk): State<Desk>,
    At((id, number)): At<(String, String)>,
) -> Result<Json<Turned>, Problem> {
    turn(&desk, &id, &number, Wish::Redo).await
}

async fn turn(desk: &Desk, id: &str, given: &str, wish: Wish) -> Result<Json<Turned>, Problem> {
    let wanted = number("the number of an operation", given, 1, LARGEST)?;
    find(desk, id, wanted).await?;
    let mut session = desk.engine.view(id).await?;
    let before = session.tokens();
    match wish {
        Wish::Undo => session.undo(Some(wanted)).await?,
        Wish::Redo => session.redo(Some(wanted)).await?,
    };
    let after = session.tokens();
    Ok(Json(Turned { operation: Operation::of(find(desk, id, wanted).await?)?, before, after }))
}

/// The row of an operation.
async fn find(desk: &Desk, id: &str, wanted: u64) -> Result<OperationRow, Problem> {
    let rows = desk.engine.operations(id, wanted - 1, 1).await?;
    let found = rows.into_iter().find(|row| row.number == wanted);
    found.ok_or_else(|| {
        let detail = format!(
            "session {id:?} has no operation {wanted}; /api/sessions/{{id}}/operations lists those there are"
        );
        Problem::not_found(detail)
    })
}
