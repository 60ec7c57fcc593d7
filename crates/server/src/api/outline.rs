//! What a session consists of: facts about its messages and their parts, and no text.

use axum::Json;
use axum::extract::State;
use secateur::Action;
use secateur::session::{SessionCut, SessionMessage, SessionPart};
use secateur_engine::EngineError;
use secateur_store::{SessionRow, StoredMessage};
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use super::page::{Numbered, Page};
use super::params::{Asked, At};
use super::problem::{Problem, Problems};
use super::{Desk, word};

/// A message, without what is said in it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Message {
    /// Its number in the session, from 1 on.
    number: u64,
    /// Its id.
    id: String,
    /// Who speaks: `user`, `assistant`, `tool`, `system` or `other`.
    role: String,
    /// What it is beyond what it says: `plain`, `marker`, `summary` or `resume`.
    nature: String,
    /// When it was stored, in milliseconds since 1970.
    time: i64,
    /// Whether a model is still sent it.
    alive: bool,
    /// Whether it stays whatever is compacted.
    pinned: bool,
    /// The operation that made it; null if it was said.
    #[schema(required)]
    operation: Option<u64>,
    /// Its parts, in order.
    parts: Vec<Part>,
}

/// A part of a message.
#[derive(Debug, Serialize, ToSchema)]
struct Part {
    /// Its name, by which its original can be recalled: the number of its message and its place there.
    #[schema(example = "12.0")]
    name: String,
    /// What it is: `text`, `reasoning`, `signature`, `call`, `result`, `media`, `compaction` or `other`.
    kind: String,
    /// The tool's name, for a call or a result.
    #[schema(required)]
    tool: Option<String>,
    /// The id that a call and its result share.
    #[schema(required)]
    call: Option<String>,
    /// What sort of work the tool does, such as `read`, `edit` or `shell`.
    class: String,
    /// What the call is about, such as a file or a command.
    #[schema(required)]
    subject: Option<String>,
    /// How far the tool has come.
    status: String,
    /// Whether the tool says that it did not succeed.
    failed: bool,
    /// Its length in UTF-16 units.
    characters: u64,
    /// Its length in bytes.
    bytes: u64,
    /// Images in it.
    images: u32,
    /// What was cut in it, also what was undone since; of several that hold, the last one is seen.
    cuts: Vec<Made>,
}

/// A cut that was made.
#[derive(Debug, Serialize, ToSchema)]
struct Made {
    #[serde(flatten)]
    deed: Deed,
    /// The operation that made it.
    operation: u64,
    /// Whether it was undone.
    undone: bool,
}

/// What a cut does to a part.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Deed {
    /// What happens to the content.
    action: Act,
    /// Characters that stay from the beginning, if it is trimmed.
    #[schema(required)]
    head: Option<u64>,
    /// Characters that stay from the end, if it is trimmed.
    #[schema(required)]
    tail: Option<u64>,
}

/// What happens to content that is cut: a placeholder stands for it, head and tail of it stay, or its text stays without
/// its images.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Act {
    Clear,
    Trim,
    DropMedia,
}

impl From<Action> for Deed {
    fn from(action: Action) -> Self {
        match action {
            Action::Clear => Self { action: Act::Clear, head: None, tail: None },
            Action::Trim { head, tail, .. } => Self { action: Act::Trim, head: Some(head), tail: Some(tail) },
            Action::DropMedia => Self { action: Act::DropMedia, head: None, tail: None },
        }
    }
}

/// The name of a part.
pub(super) fn name(message: u64, part: u32) -> String {
    format!("{message}.{part}")
}

impl Message {
    fn of(session: &SessionRow, row: StoredMessage) -> Result<Self, EngineError> {
        let entry: SessionMessage = read(&row.facts, row.seq)?;
        let cuts: Vec<SessionCut> = if row.cuts.is_empty() { Vec::new() } else { read(&row.cuts, row.seq)? };
        let part = |(place, part): (u32, SessionPart)| Part {
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
            cuts: cuts.iter().filter(|cut| cut.part == place).map(Made::from).collect(),
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

impl From<&SessionCut> for Made {
    fn from(cut: &SessionCut) -> Self {
        Self { deed: cut.action.into(), operation: cut.operation, undone: cut.undone }
    }
}

fn read<T: DeserializeOwned>(json: &str, seq: u64) -> Result<T, EngineError> {
    let what = || format!("message {seq}");
    serde_json::from_str(json)
        .map_err(|source| EngineError::Unreadable { what: what(), source: source.into() })
}

/// The messages of a session, oldest first, also those that no model is sent any more. `after` counts messages.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/outline",
    tag = "sessions",
    params(("id" = String, Path, description = "The session's id."), Numbered),
    responses((status = 200, body = Page<Message>, description = "A part of the outline."), Problems)
)]
pub(super) async fn outline(
    State(desk): State<Desk>,
    At(id): At<String>,
    Asked(asked): Asked<Numbered>,
) -> Result<Json<Page<Message>>, Problem> {
    let (limit, after) = (asked.limit()?, asked.after()?);
    let session = desk.engine.session_row(&id).await?;
    let rows = desk.engine.message_facts(&id, after, limit + 1).await?;
    let Page { items, next } = Page::of(rows, limit, |row| row.seq.to_string());
    let items = items.into_iter().map(|row| Message::of(&session, row)).collect::<Result<_, _>>()?;
    Ok(Json(Page { items, next }))
}
