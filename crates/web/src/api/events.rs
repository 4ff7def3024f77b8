//! Events of all tasks: a page of them, and a stream that can be resumed.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use futures::Stream;
use futures::stream::unfold;
use mw_desk::{Desk, DeskEvent};
use serde::Deserialize;
use serde_json::json as value;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};
use utoipa::IntoParams;

use super::event_stream::{frame, response};
use super::extract::{Params, in_range};
use super::reply::{Reply, json, sent};
use super::state::Api;
use crate::problem::Problem;

/// How many frames a slow viewer may be behind before it reads from the database again.
const BACKLOG: usize = 256;
/// The maximum number of events of one page.
const MOST: u32 = 1000;
/// How long to wait before the home is watched again after an error.
const AFTER_ERROR: Duration = Duration::from_secs(1);

/// Watches the home for all viewers, as long as there are any.
pub(super) struct EventHub {
    desk: Desk,
    frames: Mutex<Option<Sender<SharedFrame>>>,
}

/// A frame for every viewer.
#[derive(Clone)]
struct SharedFrame {
    /// The position of the event, if it is one.
    seq: Option<i64>,
    frame: Bytes,
}

impl EventHub {
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk, frames: Mutex::default() }
    }

    /// Returns the number of viewers.
    pub(super) fn viewers(&self) -> usize {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, Sender::receiver_count)
    }

    /// Receives all frames from now on. The first viewer starts the thread that watches; it ends with the last.
    fn subscribe(&self) -> Receiver<SharedFrame> {
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = frames.as_ref().filter(|sender| sender.receiver_count() > 0) {
            return sender.subscribe();
        }
        let (sender, receiver) = channel(BACKLOG);
        *frames = Some(sender.clone());
        let desk = self.desk.clone();
        std::thread::spawn(move || watch(&desk, &sender));
        receiver
    }
}

fn watch(desk: &Desk, viewers: &Sender<SharedFrame>) {
    let mut seq = None;
    while viewers.receiver_count() > 0 {
        let from = seq.map_or_else(|| desk.last_event(), Ok);
        let watched = from.and_then(|from| {
            desk.watch_events(from, |change| {
                if viewers.receiver_count() == 0 {
                    return ControlFlow::Break(());
                }
                for notice in change.iter().flat_map(shared_frames) {
                    seq = notice.seq.or(seq);
                    let _ = viewers.send(notice);
                }
                ControlFlow::Continue(())
            })
        });
        if watched.is_err() {
            std::thread::sleep(AFTER_ERROR);
        }
    }
}

fn shared_frames(change: &DeskEvent) -> Vec<SharedFrame> {
    match change {
        DeskEvent::Events(rows) => {
            let notice = |row: &meanwhile::engine::TaskEvent| SharedFrame {
                seq: Some(row.seq),
                frame: frame(Some(row.seq), "task", row),
            };
            rows.iter().map(notice).collect()
        }
        DeskEvent::Total(total) => {
            vec![SharedFrame { seq: None, frame: frame(None, "total", &value!({ "total": total })) }]
        }
        DeskEvent::Approvals(open) => {
            vec![SharedFrame { seq: None, frame: frame(None, "approvals", &value!({ "approvals": open })) }]
        }
    }
}

/// Which events to return.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct EventParams {
    /// Only events after this position.
    #[serde(default)]
    after: i64,
    /// The maximum number of events, at most 1000.
    #[serde(default = "usual_limit")]
    #[param(default = 100, maximum = 1000)]
    limit: u32,
}

const fn usual_limit() -> u32 {
    100
}

/// Events, oldest first.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "describes the reply, which consists of records of the engine")]
struct EventPage {
    /// The events, as `mw watch` prints them.
    #[schema(value_type = Vec<Object>)]
    events: Vec<serde_json::Value>,
    /// The position of the newest event.
    last: i64,
}

/// Returns events after a position.
#[utoipa::path(get, path = "/events/list", tag = "events", params(EventParams), responses(
    (status = 200, description = "The events", body = EventPage),
    (status = "4XX", description = "Invalid parameters", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn list(State(api): State<Arc<Api>>, Params(params): Params<EventParams>) -> Reply {
    let limit = in_range("limit", params.limit, 0..=MOST)?;
    let read = api.read(move |api| {
        let last = api.desk.last_event()?;
        let events = api.desk.events_after(params.after, limit)?;
        json(&value!({"events": events, "last": last}))
    });
    read.await.map(sent)
}

/// Where to begin.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct StreamParams {
    /// Begin after this event. `Last-Event-ID` has precedence. [default: with the next event]
    after: Option<i64>,
}

/// Follows events as server-sent events: `hello` first, then `task` for each event of a task (with its position as id),
/// `approvals` when the open requests change, and `total` when the number of tasks changes.
///
/// A client that sends `Last-Event-ID` gets all events after it. If there are more than 1000, it gets `reset` instead and
/// should load everything again.
#[utoipa::path(get, path = "/events", tag = "events", params(StreamParams), responses(
    (status = 200, description = "The events", content_type = "text/event-stream", body = String),
    (status = "4XX", description = "Invalid parameters", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn stream(
    State(api): State<Arc<Api>>,
    headers: HeaderMap,
    Params(params): Params<StreamParams>,
) -> Result<Response, Problem> {
    let given = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse::<i64>().ok());
    let after = given.or(params.after);
    let place = api.stream_place()?;
    // From here on no event is missed; those that come twice are sent once.
    let live = api.events.subscribe();
    let (hello, seq, missed) = Arc::clone(&api)
        .read(move |api| {
            let last = api.desk.last_event()?;
            let from = after.unwrap_or(last);
            let missed = if from < last { api.desk.events_after(from, MOST + 1)? } else { Vec::new() };
            let open = api.desk.approvals()?;
            let hello =
                frame(None, "hello", &value!({"instance": api.instance, "last": last, "approvals": open}));
            Ok((hello, last.max(from), missed))
        })
        .await?;
    let mut first = vec![hello];
    if missed.len() > MOST as usize {
        first.push(frame(Some(seq), "reset", &value!({ "last": seq })));
    } else {
        first.extend(missed.iter().map(|row| frame(Some(row.seq), "task", row)));
    }
    let seq = missed.last().map_or(seq, |row| row.seq.max(seq));
    Ok(response(place, frames(api, first, live, seq)))
}

fn frames(
    api: Arc<Api>,
    first: Vec<Bytes>,
    live: Receiver<SharedFrame>,
    seq: i64,
) -> impl Stream<Item = Bytes> {
    unfold((api, first.into_iter(), live, seq), |(api, mut first, mut live, mut seq)| async move {
        if let Some(frame) = first.next() {
            return Some((frame, (api, first, live, seq)));
        }
        loop {
            match live.recv().await {
                Ok(SharedFrame { seq: Some(at), .. }) if at <= seq => {}
                Ok(SharedFrame { seq: at, frame }) => {
                    seq = at.unwrap_or(seq);
                    return Some((frame, (api, first, live, seq)));
                }
                Err(RecvError::Lagged(_)) => {
                    let from = seq;
                    let read = Arc::clone(&api).read(move |api| Ok(api.desk.events_after(from, MOST)?)).await;
                    let missed = read.ok()?;
                    seq = missed.last().map_or(seq, |row| row.seq);
                    first = missed
                        .iter()
                        .map(|row| frame(Some(row.seq), "task", row))
                        .collect::<Vec<_>>()
                        .into_iter();
                    if let Some(frame) = first.next() {
                        return Some((frame, (api, first, live, seq)));
                    }
                }
                // The home could not be watched. The client connects again.
                Err(RecvError::Closed) => return None,
            }
        }
    })
}
