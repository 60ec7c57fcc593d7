//! The events of a session: as a page, or as a stream.
//!
//! A stream is server-sent events, each with its number as the id. A client that was cut off sends the last id that it
//! saw, and misses nothing: events are read from the store, and notifications only tell when to read.

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

use super::ApiState;
use super::page::{Page, PageQuery};
use super::params::{LARGEST, PathParams, QueryParams, number};
use super::problem::{ApiProblem, Problems};

/// How many events are read at once.
const PAGE: usize = 500;

/// How often the store is read without a notification, as other processes write to it, too.
const POLL: Duration = Duration::from_secs(1);

/// How often a stream sends a comment to show that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// An event.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Told)]
pub(super) struct EventItem {
    /// Its number in the session, from 1 on.
    number: u64,
    /// When, in milliseconds since 1970.
    time: i64,
    /// The event: its `type`, such as `pruned` or `compaction-completed`, and its details.
    #[schema(value_type = Object)]
    event: Value,
}

impl EventItem {
    fn of(row: &EventRow) -> Result<Self, EngineError> {
        let event = serde_json::from_str(&row.data).map_err(|source| EngineError::Unreadable {
            what: format!("event {}", row.number),
            source: source.into(),
        })?;
        Ok(Self { number: row.number, time: row.time, event })
    }
}

/// The header by which clients of such streams resume.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it only documents the header")]
struct LastEventId {
    /// The number of the last event that was seen. It overrides `after`.
    #[param(rename = "Last-Event-ID", required = false, minimum = 0, maximum = 9007199254740991_i64)]
    last_event_id: u64,
}

/// The events of a session, oldest first. `after` counts events.
///
/// With `Accept: text/event-stream` the response is a stream of server-sent events that continues with new ones. Each has
/// its number as the id, and one such object as its data; `Last-Event-ID` resumes after that event.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/events",
    tag = "events",
    params(
        ("id" = String, Path, description = "The session's id."),
        PageQuery,
        LastEventId
    ),
    responses(
        (status = 200, description = "A part of the events, or a stream.", content(
            (Page<EventItem> = "application/json"),
            (String = "text/event-stream"),
        )),
        Problems
    )
)]
pub(super) async fn events(
    State(state): State<ApiState>,
    PathParams(id): PathParams<String>,
    QueryParams(asked): QueryParams<PageQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiProblem> {
    let (limit, after) = (asked.limit()?, asked.after()?);
    let seen = headers.get("last-event-id").map(|seen| seen.to_str().unwrap_or("…"));
    let after = seen.map_or(Ok(after), |seen| number("Last-Event-ID", seen, 0, LARGEST))?;
    if wants_stream(&headers) {
        state.engine.session_row(&id).await?;
        let follower = EventFollower::new(&state, id, after);
        let stream = stream::unfold(follower, |mut follower| async {
            let event = follower.next().await?;
            Some((Ok::<_, Infallible>(event), follower))
        });
        return Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response());
    }
    let rows = state.engine.events(&id, after, limit + 1).await?;
    let Page { items, next } = Page::of(rows, limit, |row| row.number.to_string());
    let items = items.iter().map(EventItem::of).collect::<Result<_, _>>()?;
    Ok(Json(Page::<EventItem> { items, next }).into_response())
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("text/event-stream")
    })
}

/// Follows the events of a session.
struct EventFollower {
    engine: Engine,
    session: String,
    after: u64,
    read: VecDeque<EventRow>,
    notifications: Receiver<EngineEvent>,
    closing: watch::Receiver<bool>,
}

impl EventFollower {
    fn new(state: &ApiState, session: String, after: u64) -> Self {
        let (engine, closing) = (state.engine.clone(), state.closing.clone());
        // Subscribes before the first read, so that no event is missed.
        let notifications = engine.watch();
        Self { engine, session, after, read: VecDeque::new(), notifications, closing }
    }

    /// The next event, once there is one; none if the stream is over.
    async fn next(&mut self) -> Option<sse::Event> {
        loop {
            if let Some(row) = self.read.pop_front() {
                self.after = row.number;
                let event = EventItem::of(&row).ok()?;
                let data = serde_json::to_string(&event).ok()?;
                return Some(sse::Event::default().id(row.number.to_string()).data(data));
            }
            match self.engine.events(&self.session, self.after, PAGE).await {
                Ok(rows) if !rows.is_empty() => self.read.extend(rows),
                Ok(_) => self.wait().await?,
                Err(error) => {
                    let is_gone = matches!(error, EngineError::Store(StoreError::NoSession { .. }));
                    tracing::debug!(session = self.session, %error, is_gone, "event stream ends");
                    return None;
                }
            }
        }
    }

    /// Waits until the store may have new events; none if the proxy stops.
    async fn wait(&mut self) -> Option<()> {
        let Self { notifications, session, closing, .. } = self;
        tokio::select! {
            _ = closing.wait_for(|is_closing| *is_closing) => None,
            () = sleep(POLL) => Some(()),
            () = notified(notifications, session) => Some(()),
        }
    }
}

/// Resolves when there is a new event in a session, or may be.
async fn notified(notifications: &mut Receiver<EngineEvent>, wanted: &str) {
    loop {
        match notifications.recv().await {
            Ok(EngineEvent::Session { session, .. }) if session == wanted => return,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
