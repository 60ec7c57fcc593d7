//! What happened in a session: as a page, or as a stream that goes on.
//!
//! A stream is server-sent events, each with its number as the id. Whoever was cut off says the last one that it saw, and
//! misses nothing: events are read from the store, and what is heard on the way only says when to look.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::HeaderMap;
use http::header::ACCEPT;
use secateur_engine::{Engine, EngineError, EngineEvent};
use secateur_store::{EventRow, StoreError};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::time::sleep;
use utoipa::ToSchema;

use super::Desk;
use super::page::{Numbered, Page};
use super::params::{Asked, At, LARGEST, number};
use super::problem::{Problem, Problems};

/// How many events are read at once.
const PAGE: usize = 500;

/// How often the store is looked at without an occasion: other processes write to it, too.
const POLL: Duration = Duration::from_secs(1);

/// How often a stream shows that it is alive.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Something that happened.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Told {
    /// Its number in the session, from 1 on.
    number: u64,
    /// When, in milliseconds since 1970.
    time: i64,
    /// What happened: `type` in a word such as `pruned` or `compaction-completed`, and what belongs to it.
    #[schema(value_type = Object)]
    event: Value,
}

impl Told {
    fn of(row: &EventRow) -> Result<Self, EngineError> {
        let event = serde_json::from_str(&row.data).map_err(|source| EngineError::Unreadable {
            what: format!("event {}", row.number),
            source: source.into(),
        })?;
        Ok(Self { number: row.number, time: row.time, event })
    }
}

/// Where somebody was who was cut off. Programs that read such streams send it by themselves.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it is there to be written about; the header is read by hand")]
struct Seen {
    /// The number of the last event that was seen. It goes before `after`.
    #[param(rename = "Last-Event-ID", required = false, minimum = 0, maximum = 9007199254740991_i64)]
    last_event_id: u64,
}

/// What happened in a session, oldest first. `after` counts events.
///
/// With `Accept: text/event-stream` the answer is a stream of server-sent events that goes on with what happens. Each has
/// its number as the id, and one such object as its data; `Last-Event-ID` resumes behind that event.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/events",
    tag = "events",
    params(
        ("id" = String, Path, description = "The session's id."),
        Numbered,
        Seen
    ),
    responses(
        (status = 200, description = "A part of the events, or a stream.", content(
            (Page<Told> = "application/json"),
            (String = "text/event-stream"),
        )),
        Problems
    )
)]
pub(super) async fn events(
    State(desk): State<Desk>,
    At(id): At<String>,
    Asked(asked): Asked<Numbered>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (limit, after) = (asked.limit()?, asked.after()?);
    let seen = headers.get("last-event-id").map(|seen| seen.to_str().unwrap_or("…"));
    let after = seen.map_or(Ok(after), |seen| number("Last-Event-ID", seen, 0, LARGEST))?;
    if wants_stream(&headers) {
        desk.engine.session_row(&id).await?;
        let follower = Follower::new(&desk, id, after);
        let stream = stream::unfold(follower, |mut follower| async {
            let event = follower.next().await?;
            Some((Ok::<_, Infallible>(event), follower))
        });
        return Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(SIGN_OF_LIFE)).into_response());
    }
    let rows = desk.engine.events(&id, after, limit + 1).await?;
    let Page { items, next } = Page::of(rows, limit, |row| row.number.to_string());
    let items = items.iter().map(Told::of).collect::<Result<_, _>>()?;
    Ok(Json(Page::<Told> { items, next }).into_response())
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("text/event-stream")
    })
}

/// Somebody who follows what happens in a session.
struct Follower {
    engine: Engine,
    session: String,
    after: u64,
    read: VecDeque<EventRow>,
    news: Receiver<EngineEvent>,
    closing: watch::Receiver<bool>,
}

impl Follower {
    fn new(desk: &Desk, session: String, after: u64) -> Self {
        let (engine, closing) = (desk.engine.clone(), desk.closing.clone());
        // Listens before it looks, so that nothing happens in between.
        let news = engine.watch();
        Self { engine, session, after, read: VecDeque::new(), news, closing }
    }

    /// The next event, once there is one; none if the stream is over.
    async fn next(&mut self) -> Option<sse::Event> {
        loop {
            if let Some(row) = self.read.pop_front() {
                self.after = row.number;
                let told = Told::of(&row).ok()?;
                let data = serde_json::to_string(&told).ok()?;
                return Some(sse::Event::default().id(row.number.to_string()).data(data));
            }
            match self.engine.events(&self.session, self.after, PAGE).await {
                Ok(rows) if !rows.is_empty() => self.read.extend(rows),
                Ok(_) => self.wait().await?,
                Err(error) => {
                    let is_gone = matches!(error, EngineError::Store(StoreError::NoSession { .. }));
                    tracing::debug!(session = self.session, %error, is_gone, "a stream of events ends");
                    return None;
                }
            }
        }
    }

    /// Waits until it is worth a look; none if the proxy stops.
    async fn wait(&mut self) -> Option<()> {
        let Self { news, session, closing, .. } = self;
        tokio::select! {
            _ = closing.wait_for(|is_closing| *is_closing) => None,
            () = sleep(POLL) => Some(()),
            () = heard(news, session) => Some(()),
        }
    }
}

/// Ends when something happens in a session, or may have happened.
async fn heard(news: &mut Receiver<EngineEvent>, wanted: &str) {
    loop {
        match news.recv().await {
            Ok(EngineEvent::Session { session, .. }) if session == wanted => return,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
