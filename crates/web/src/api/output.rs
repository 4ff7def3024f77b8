//! Reads and searches the output of a task.

use std::sync::Arc;

use axum::extract::State;
use meanwhile::engine::{GrepRequest, StreamChoice};
use mw_desk::log_window::{LogPart, LogPiece, LogTarget};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::{Id, Params, in_range};
use super::reply::{Reply, json, sent};
use super::state::Api;
use crate::problem::Problem;

/// The maximum number of bytes of one reply.
const MOST_BYTES: u64 = 1 << 20;
/// The maximum number of matches of one reply.
const MOST_MATCHES: usize = 1000;
/// The maximum number of lines around a match.
const MOST_CONTEXT: usize = 20;

/// The streams to read.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stream {
    /// Both, in the order in which they were printed, each piece with its stream.
    #[default]
    Both,
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    pub(super) const fn choice(self) -> StreamChoice {
        match self {
            Self::Both => StreamChoice::Apart,
            Self::Stdout => StreamChoice::Stdout,
            Self::Stderr => StreamChoice::Stderr,
        }
    }
}

/// The part to read: from `offset`, before `before`, the last `lines`, or else the end.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ReadParams {
    /// The streams.
    #[serde(default)]
    #[param(inline)]
    stream: Stream,
    /// The run [default: the last].
    #[param(minimum = 1)]
    run: Option<u32>,
    /// Read from this offset on.
    offset: Option<u64>,
    /// Read the part that ends at this offset.
    before: Option<u64>,
    /// Read this many last lines.
    lines: Option<u64>,
    /// The maximum number of bytes, at most 1 MiB.
    #[serde(default = "usual_bytes")]
    #[param(default = 65536, minimum = 1, maximum = 1048576)]
    max_bytes: u64,
}

const fn usual_bytes() -> u64 {
    64 << 10
}

impl ReadParams {
    fn part(&self) -> Result<LogPart, Problem> {
        match (self.offset, self.before, self.lines) {
            (Some(offset), None, None) => Ok(LogPart::From(offset)),
            (None, Some(before), None) => Ok(LogPart::Before(before)),
            (None, None, Some(lines)) => Ok(LogPart::Lines(lines)),
            (None, None, None) => Ok(LogPart::End),
            (_, _, _) => Err(Problem::invalid("give only one of offset, before and lines")),
        }
    }
}

/// A part of a log. Secrets are redacted.
#[derive(Serialize, ToSchema)]
pub(super) struct OutputReply {
    /// The text, in order.
    #[schema(value_type = Vec<Piece>)]
    pub(super) pieces: Vec<LogPiece>,
    /// The offset of the first byte.
    pub(super) offset: u64,
    /// The offset to continue from.
    pub(super) next: u64,
    /// The size of the log.
    pub(super) end: u64,
    /// Bytes before this part that were skipped, because the output was too fast.
    pub(super) skipped: u64,
    /// Whether there is output before this part.
    pub(super) has_earlier: bool,
    /// Whether the log is complete and this part reaches its end.
    pub(super) is_over: bool,
    /// Whether there is output after this part.
    pub(super) has_later: bool,
}

/// A stretch of one stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a type of the desk")]
struct Piece {
    /// `stdout` or `stderr`.
    stream: String,
    /// The text. Control sequences are as the task printed them.
    text: String,
}

impl From<mw_desk::log_window::LogChunk> for OutputReply {
    fn from(chunk: mw_desk::log_window::LogChunk) -> Self {
        let mw_desk::log_window::LogChunk {
            pieces,
            offset,
            next,
            end,
            skipped,
            has_earlier,
            is_over,
            has_later,
        } = chunk;
        Self { pieces, offset, next, end, skipped, has_earlier, is_over, has_later }
    }
}

/// Refuses run 0; the first run is 1.
fn run_number(given: Option<u32>) -> Result<Option<u32>, Problem> {
    given.map(|run| in_range("run", run, 1..=u32::MAX)).transpose()
}

impl Api {
    /// Returns the log of a run, which is the last one unless it is given.
    pub(super) fn log(&self, id: &str, run: Option<u32>, stream: Stream) -> Result<LogTarget, Problem> {
        let task = self.desk.task(id)?;
        let run = run_number(run)?.unwrap_or_else(|| task.state.run().max(1));
        Ok(LogTarget { id: task.id.to_string(), run, stream: stream.choice() })
    }
}

/// Reads a part of the output.
#[utoipa::path(get, path = "/tasks/{id}/output", tag = "output", params(("id" = String, Path, description = "The task"), ReadParams), responses(
    (status = 200, description = "The part", body = OutputReply),
    (status = "4XX", description = "No such task or run", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn read(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    Params(params): Params<ReadParams>,
) -> Reply {
    let part = params.part()?;
    let most = in_range("max_bytes", params.max_bytes, 1..=MOST_BYTES)?;
    let read = api.read(move |api| {
        let target = api.log(&id, params.run, params.stream)?;
        json(&OutputReply::from(api.desk.read_some_log(&target, part, most)?))
    });
    read.await.map(sent)
}

/// What to search for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchParams {
    /// A regular expression.
    pattern: String,
    /// The streams.
    #[serde(default)]
    #[param(inline)]
    stream: Stream,
    /// The run [default: the last].
    #[param(minimum = 1)]
    run: Option<u32>,
    /// The offset to start from.
    #[serde(default)]
    from: u64,
    /// The number of lines before and after each match, at most 20.
    #[serde(default)]
    #[param(maximum = 20)]
    context: usize,
    /// The maximum number of matches, at most 1000.
    #[serde(default = "usual_matches")]
    #[param(default = 100, minimum = 1, maximum = 1000)]
    limit: usize,
}

const fn usual_matches() -> usize {
    100
}

/// The matching lines.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a type of the engine")]
struct SearchReply {
    /// The lines.
    matches: Vec<Match>,
    /// Whether there may be more matches.
    truncated: bool,
    /// The offset to continue from.
    next_offset: u64,
}

/// A matching line.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a type of the engine")]
struct Match {
    /// Its number, from 1.
    line: u64,
    /// The offset of its first byte.
    offset: u64,
    /// Its text, shortened and without control sequences.
    text: String,
    /// Whether it only surrounds a matching line.
    #[schema(required = false)]
    context: Option<bool>,
}

/// Searches the output line by line.
#[utoipa::path(get, path = "/tasks/{id}/output/search", tag = "output", params(("id" = String, Path, description = "The task"), SearchParams), responses(
    (status = 200, description = "The matching lines", body = SearchReply),
    (status = "4XX", description = "No such task, or no regular expression", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn search(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    Params(params): Params<SearchParams>,
) -> Reply {
    let request = GrepRequest {
        pattern: params.pattern,
        stream: match params.stream {
            Stream::Both => StreamChoice::Both,
            Stream::Stdout => StreamChoice::Stdout,
            Stream::Stderr => StreamChoice::Stderr,
        },
        from: params.from,
        context: in_range("context", params.context, 0..=MOST_CONTEXT)?,
        most: in_range("limit", params.limit, 1..=MOST_MATCHES)?,
        run: run_number(params.run)?,
    };
    api.read(move |api| json(&api.desk.search_log(&id, &request)?)).await.map(sent)
}
