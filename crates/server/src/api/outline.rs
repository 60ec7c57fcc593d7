//! The outline of a session: facts about its messages and parts, without text.

use axum::Json;
use axum::extract::State;
use secateur::Action;
use secateur::session::{SessionCut, SessionMessage, SessionPart};
use secateur_engine::EngineError;
use secateur_store::{SessionRow, StoredMessage};
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use super::page::{Page, PageQuery};
use super::params::{PathParams, QueryParams};
use super::problem::{ApiProblem, Problems};
use super::{ApiState, word};

/// A message, without its text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Message)]
pub(super) struct MessageItem {
    /// Its number in the session, from 1 on.
    number: u64,
    /// Its id.
    id: String,
    /// Its role: `user`, `assistant`, `tool`, `system` or `other`.
    role: String,
    /// Its kind: `plain`, `marker`, `summary` or `resume`.
    nature: String,
    /// When it was stored, in milliseconds since 1970.
    time: i64,
    /// Whether it is still sent.
    alive: bool,
    /// Whether it is pinned: never cut or summarised.
    pinned: bool,
    /// The operation that made it; null if it came from the client.
    #[schema(required)]
    operation: Option<u64>,
    /// Its parts, in order.
    parts: Vec<PartItem>,
}

/// A part of a message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Part)]
struct PartItem {
    /// Its name, by which it can be recalled: the number of its message and its place there.
    #[schema(example = "12.0")]
    name: String,
    /// Its kind: `text`, `reasoning`, `signature`, `call`, `result`, `media`, `compaction` or `other`.
    kind: String,
    /// The tool's name, for a call or a result.
    #[schema(required)]
    tool: Option<String>,
    /// The id that a call and its result share.
    #[schema(required)]
    call: Option<String>,
    /// The class of the tool, such as `read`, `edit` or `shell`.
    class: String,
    /// The subject of the call, such as a file or a command.
    #[schema(required)]
    subject: Option<String>,
    /// The status of the tool call.
    status: String,
    /// Whether the tool reports a failure.
    failed: bool,
    /// Its length in UTF-16 units.
    characters: u64,
    /// Its length in bytes.
    bytes: u64,
    /// Images in it.
    images: u32,
    /// Its cuts, also undone ones. Of several that are not undone, the last one applies.
    cuts: Vec<MadeCutItem>,
}

/// A cut that was made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Made)]
struct MadeCutItem {
    #[serde(flatten)]
    deed: CutEffect,
    /// The operation that made it.
    operation: u64,
    /// Whether it was undone.
    undone: bool,
}

/// What a cut does to a part.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Deed)]
pub(super) struct CutEffect {
    /// What happens to the content.
    action: CutAction,
    /// Characters that stay from the beginning, if it is trimmed.
    #[schema(required)]
    head: Option<u64>,
    /// Characters that stay from the end, if it is trimmed.
    #[schema(required)]
    tail: Option<u64>,
}

/// What a cut does to content: a placeholder replaces it, only head and tail stay, its images
/// are dropped, or a block of thinking is left out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = Act)]
enum CutAction {
    Clear,
    Trim,
    DropMedia,
    DropThinking,
}

impl From<Action> for CutEffect {
    fn from(action: Action) -> Self {
        match action {
            Action::Clear => Self { action: CutAction::Clear, head: None, tail: None },
            Action::Trim { head, tail, .. } => {
                Self { action: CutAction::Trim, head: Some(head), tail: Some(tail) }
            }
            Action::DropMedia => Self { action: CutAction::DropMedia, head: None, tail: None },
            Action::DropThinking => Self { action: CutAction::DropThinking, head: None, tail: None },
        }
    }
}

/// The name of a part.
pub(super) fn name(message: u64, part: u32) -> String {
    format!("{message}.{part}")
}

impl MessageItem {
    fn of(session: &SessionRow, row: StoredMessage) -> Result<Self, EngineError> {
        let entry: SessionMessage = read(&row.facts, row.seq)?;
        let cuts: Vec<SessionCut> = if row.cuts.is_empty() { Vec::new() } else { read(&row.cuts, row.seq)? };
        let part = |(place, part): (u32, SessionPart)| PartItem {
            name: name(row.seq, place),
            kind: word(part.kind),
            tool: part.tool,
            call: part.call,
            class: word(part.class),
            subject: part.subject,
            status: word(part.status),
            failed: part.failed,
            characters: part.sizes.units,
            bytes: part.sizes.bytes,
            images: part.sizes.images,
            cuts: cuts.iter().filter(|cut| cut.part == place).map(MadeCutItem::from).collect(),
        };
        Ok(Self {
            number: row.seq,
            role: word(entry.role),
            nature: word(entry.kind),
            time: row.time,
            alive: !row.hidden && (row.pinned || row.seq >= session.live_from),
            pinned: row.pinned,
            operation: row.operation,
            parts: (0..).zip(entry.parts).map(part).collect(),
            id: row.id,
        })
    }
}

impl From<&SessionCut> for MadeCutItem {
    fn from(cut: &SessionCut) -> Self {
        Self { deed: cut.action.into(), operation: cut.operation, undone: cut.undone }
    }
}

fn read<T: DeserializeOwned>(json: &str, seq: u64) -> Result<T, EngineError> {
    let what = || format!("message {seq}");
    serde_json::from_str(json)
        .map_err(|source| EngineError::Unreadable { what: what(), source: source.into() })
}

/// The messages of a session, oldest first, also those that are not sent any more. `after` counts messages.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/outline",
    tag = "sessions",
    params(("id" = String, Path, description = "The session's id."), PageQuery),
    responses((status = 200, body = Page<MessageItem>, description = "A part of the outline."), Problems)
)]
pub(super) async fn outline(
    State(state): State<ApiState>,
    PathParams(id): PathParams<String>,
    QueryParams(asked): QueryParams<PageQuery>,
) -> Result<Json<Page<MessageItem>>, ApiProblem> {
    let (limit, after) = (asked.limit()?, asked.after()?);
    let session = state.engine.session_row(&id).await?;
    let rows = state.engine.message_facts(&id, after, limit + 1).await?;
    let Page { items, next } = Page::of(rows, limit, |row| row.seq.to_string());
    let items = items.into_iter().map(|row| MessageItem::of(&session, row)).collect::<Result<_, _>>()?;
    Ok(Json(Page { items, next }))
}
