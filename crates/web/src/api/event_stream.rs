//! Server-sent events: frames that all viewers share, and the reply that sends them.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::Stream;
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// The time after which a comment is sent, so that both sides notice a broken connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Makes a frame. The data is one line, because JSON has no line breaks outside of strings.
pub(super) fn frame(id: Option<i64>, event: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("{id}event: {event}\ndata: {data}\n\n").into()
}

/// Sends frames as they come.
pub(super) fn response(
    place: OwnedSemaphorePermit,
    frames: impl Stream<Item = Bytes> + Send + 'static,
) -> Response {
    let mut ticks = interval(KEEP_ALIVE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let body = Body::from_stream(KeptAlive { frames: Box::pin(frames), ticks, _place: place });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, body).into_response()
}

struct KeptAlive<S> {
    frames: Pin<Box<S>>,
    ticks: Interval,
    /// Counts the stream as long as it is open.
    _place: OwnedSemaphorePermit,
}

impl<S: Stream<Item = Bytes>> Stream for KeptAlive<S> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.frames.as_mut().poll_next(context) {
            Poll::Ready(frame) => {
                self.ticks.reset();
                Poll::Ready(frame.map(Ok))
            }
            // The first tick comes at once, and makes the browser report that it is connected.
            Poll::Pending => {
                self.ticks.poll_tick(context).map(|_| Some(Ok(Bytes::from_static(b": connected\n\n"))))
            }
        }
    }
}
