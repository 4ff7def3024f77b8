//! Follows the output of a task: one reader for all viewers of a log.
//!
//! Each part that the reader sends has its offsets. A viewer first reads what was printed before it came, and compares the
//! offset of each part with its own position: a part that it already has is left out, and what it has missed is read from
//! the log. So no viewer gets a byte twice or misses one, unless the output is too fast; then a message says how much is missing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use futures::Stream;
use futures::stream::unfold;
use mw_desk::Desk;
use mw_desk::log_window::{FollowStep, LogChunk, LogPart, LogTarget};
use serde::Deserialize;
use serde_json::json as value;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};
use utoipa::IntoParams;

use super::event_stream::{frame, response};
use super::extract::{Id, Params};
use super::output::{OutputReply, Stream as LogStreams};
use super::state::Api;
use crate::problem::Problem;

/// Maximum size of a part.
const PART: u64 = 64 << 10;
/// How many parts a slow viewer may be behind before it reads from the log again.
const BACKLOG: usize = 32;
/// The distance from the end of the log above which a viewer skips output.
const FAR_BEHIND: u64 = 8 << 20;
/// The pause after a part, in which output is collected, so that a task that prints single lines costs little.
const PAUSE: Duration = Duration::from_millis(40);
/// The longest sleep of a reader without viewers.
const CHECK: Duration = Duration::from_secs(2);

/// The readers of all logs that have viewers.
pub(super) struct LogHubs {
    desk: Desk,
    hubs: Arc<Hubs>,
}

type Hubs = Mutex<HashMap<String, Sender<Part>>>;

/// A part of a log, for every viewer.
#[derive(Clone)]
enum Part {
    Text { offset: u64, next: u64, frame: Bytes },
    End,
}

impl LogHubs {
    pub(super) fn new(desk: Desk) -> Self {
        Self { desk, hubs: Arc::default() }
    }

    /// Returns the number of viewers.
    pub(super) fn viewers(&self) -> usize {
        let hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        hubs.values().map(Sender::receiver_count).sum()
    }

    /// Receives all parts from now on. The first viewer of a log starts the thread that reads it, from this offset; it ends
    /// with the last.
    fn subscribe(&self, target: &LogTarget, offset: u64) -> Receiver<Part> {
        let name = format!("{} {} {}{:?}", target.id, target.run, target.stream.word(), target.stream);
        let mut hubs = self.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        hubs.retain(|_, hub| hub.receiver_count() > 0);
        if let Some(sender) = hubs.get(&name) {
            return sender.subscribe();
        }
        let (sender, receiver) = channel(BACKLOG);
        hubs.insert(name.clone(), sender.clone());
        let (desk, target, hubs) = (self.desk.clone(), target.clone(), Arc::clone(&self.hubs));
        std::thread::spawn(move || {
            read_along(&desk, target, offset, &sender);
            // Nobody may join a reader that has ended. Its last viewers see that their channel is closed.
            let mut hubs = hubs.lock().unwrap_or_else(PoisonError::into_inner);
            if hubs.get(&name).is_some_and(|hub| hub.same_channel(&sender)) {
                hubs.remove(&name);
            }
        });
        receiver
    }
}

fn read_along(desk: &Desk, target: LogTarget, offset: u64, viewers: &Sender<Part>) {
    let Ok(mut log) = desk.follow_log_from(target, offset, PART) else { return };
    while viewers.receiver_count() > 0 {
        let part = match log.read() {
            Ok(FollowStep::Chunk(chunk)) => {
                let (offset, next) = (chunk.offset, chunk.next);
                Part::Text { offset, next, frame: frame_of(chunk) }
            }
            Ok(FollowStep::Nothing) => {
                if log.wait(CHECK).is_err() {
                    return;
                }
                continue;
            }
            Ok(FollowStep::End) => Part::End,
            // The task was removed; viewers learn it from the end of the stream.
            Err(_) => return,
        };
        let is_end = matches!(part, Part::End);
        if viewers.send(part).is_err() || is_end {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

fn frame_of(chunk: LogChunk) -> Bytes {
    let id = i64::try_from(chunk.next).ok();
    frame(id, "log", &OutputReply::from(chunk))
}

/// Which log to follow, and from where.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FollowParams {
    /// The streams.
    #[serde(default)]
    #[param(inline)]
    stream: LogStreams,
    /// The run [default: the last].
    #[param(minimum = 1)]
    run: Option<u32>,
    /// Begin at this offset. `Last-Event-ID` has precedence. [default: the last 64 KiB]
    offset: Option<u64>,
}

/// Follows the output as server-sent events: `log` with a part of it (the offset of the next part is its id), and `end` when
/// the log is complete.
#[utoipa::path(get, path = "/tasks/{id}/output/stream", tag = "output", params(("id" = String, Path, description = "The task"), FollowParams), responses(
    (status = 200, description = "The output", content_type = "text/event-stream", body = String),
    (status = "4XX", description = "No such task or run", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn stream(
    State(api): State<Arc<Api>>,
    headers: HeaderMap,
    Id(id): Id,
    Params(params): Params<FollowParams>,
) -> Result<Response, Problem> {
    let given = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse::<u64>().ok());
    let place = api.stream_place()?;
    let from = given.or(params.offset).map_or(LogPart::End, LogPart::From);
    let (target, first) = Arc::clone(&api)
        .read(move |api| {
            let target = api.log(&id, params.run, params.stream)?;
            let first = api.desk.read_some_log(&target, from, PART)?;
            Ok((target, first))
        })
        .await?;
    let parts = api.logs.subscribe(&target, first.next);
    let viewer =
        Viewer { api, target, next: first.next, parts, first: Some(first), missed_until: 0, ends: false };
    Ok(response(place, viewer.frames()))
}

/// A viewer of a log.
struct Viewer {
    api: Arc<Api>,
    target: LogTarget,
    /// The position up to which it has everything.
    next: u64,
    parts: Receiver<Part>,
    first: Option<LogChunk>,
    /// The position up to which it has missed something.
    missed_until: u64,
    /// Whether only the last frame is left.
    ends: bool,
}

impl Viewer {
    fn frames(self) -> impl Stream<Item = Bytes> {
        unfold(Some(self), |viewer| async move {
            let mut viewer = viewer?;
            if let Some(first) = viewer.first.take() {
                viewer.ends = first.is_over;
                return Some((frame_of(first), Some(viewer)));
            }
            if viewer.ends {
                return Some((frame(None, "end", &value!({ "next": viewer.next })), None));
            }
            let frame = viewer.next_frame().await?;
            Some((frame, Some(viewer)))
        })
    }

    /// Returns the next part; `None` if the log is gone.
    async fn next_frame(&mut self) -> Option<Bytes> {
        loop {
            if self.next < self.missed_until {
                return self.missed().await;
            }
            match self.parts.recv().await {
                Ok(Part::Text { next, .. }) if next <= self.next => {}
                Ok(Part::Text { offset, next, frame }) if offset == self.next => {
                    self.next = next;
                    return Some(frame);
                }
                // Reading exactly up to the end of this part makes the next one fit.
                Ok(Part::Text { next, .. }) => self.missed_until = next,
                // The next part says what is missing.
                Err(RecvError::Lagged(_)) => {}
                // The reader has ended, with the log or with an error.
                Ok(Part::End) | Err(RecvError::Closed) => {
                    self.missed_until = u64::MAX;
                    return self.missed().await;
                }
            }
        }
    }

    /// Reads a part of what the viewer does not have yet.
    async fn missed(&mut self) -> Option<Bytes> {
        let (target, next, until) = (self.target.clone(), self.next, self.missed_until);
        let read = Arc::clone(&self.api).read(move |api| {
            if until != u64::MAX && until - next > FAR_BEHIND {
                let last = api.desk.read_some_log(&target, LogPart::Before(until), PART)?;
                let skipped = last.offset.saturating_sub(next);
                return Ok(LogChunk { skipped, ..last });
            }
            Ok(api.desk.read_some_log(&target, LogPart::From(next), PART.min(until - next))?)
        });
        let chunk = read.await.ok()?;
        self.ends = chunk.is_over;
        // A part that cannot be read is not read again.
        self.next = if chunk.next > self.next { chunk.next } else { self.missed_until.min(chunk.end) };
        if until == u64::MAX && self.next >= chunk.end && !chunk.is_over {
            return None;
        }
        Some(frame_of(chunk))
    }
}
