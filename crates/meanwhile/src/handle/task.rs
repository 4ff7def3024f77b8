//! One task, from the session that owns it.

use std::time::{Duration, Instant};

use mw_model::TaskId;
use mw_model::wire::KillReceipt;

use super::session::Session;
use super::wait::{Until, Wait, Waited};
use super::{OutputMatch, TaskEvent};
use crate::error::{Error, Result};
use crate::live::kill::KillRequest;
use crate::read::output::{GrepRequest, ReadFrom, ReadReply, ReadRequest};
use crate::runtime::Runtime;
use crate::task::{Scope, Task};

/// How much output one call returns.
const OUTPUT_BYTES: u64 = 64 << 10;
/// How many events are read at once.
const EVENTS: u32 = 256;
/// The requester, for the record.
const OWNER: &str = "owner";

/// A task of a session. It holds the session.
#[derive(Clone, Debug)]
pub struct TaskHandle {
    pub(super) session: Session,
    pub(super) id: TaskId,
}

/// Output of a task, from an offset on. Secrets are redacted, and all control sequences except colours are removed;
/// the file at [`Task::output_path`] has the bytes as they were printed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Output {
    /// The output, with a marker where some was dropped.
    pub bytes: Vec<u8>,
    /// The offset to continue from.
    pub next: u64,
    /// Whether nothing is left and nothing more can come.
    pub is_end: bool,
    /// How many bytes of this run are not in the log.
    pub dropped: u64,
}

impl Output {
    fn of(reply: &ReadReply) -> Self {
        let (next, is_end, dropped) = (reply.next_offset, reply.eof, reply.dropped_bytes);
        Self { bytes: reply.bytes(), next, is_end, dropped }
    }

    /// Returns the output as text, with a replacement character for every invalid byte.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl TaskHandle {
    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// Returns the session that it belongs to.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns everything that is known about it now, such as its status.
    ///
    /// # Errors
    /// When it was removed, or the database fails.
    pub fn snapshot(&self) -> Result<Task> {
        self.call(|runtime, id, scope| runtime.tasks().task(id, scope))
    }

    /// Waits until the condition is true of it, can no longer come true, or the time is up.
    ///
    /// # Errors
    /// When the condition is not valid, the task was removed, or the database fails.
    pub fn wait(&self, until: Until, timeout: Duration) -> Result<Waited> {
        self.wait_while(until, timeout, || true)
    }

    /// Like [`TaskHandle::wait`]; `goes_on` is called from time to time and returns whether the caller still waits.
    pub(super) fn wait_while(
        &self,
        until: Until,
        timeout: Duration,
        goes_on: impl Fn() -> bool,
    ) -> Result<Waited> {
        let (home, tasks) = (self.session.home(), vec![self.id.clone()]);
        let waited = Wait { home, tasks, any: false, until, timeout }.run(goes_on)?;
        waited.into_iter().next().ok_or_else(|| self.not_found())
    }

    /// Ends it and all processes it started; returns when they are dead. Its end produces no notification, because the
    /// caller knows of it. Ending an ended task is not an error.
    ///
    /// # Errors
    /// When it cannot be ended.
    pub fn kill(&self) -> Result<KillReceipt> {
        self.kill_with(&KillRequest::term(OWNER.to_owned()))
    }

    /// Sends a signal, such as [`SIGHUP`](crate::model::signal::SIGHUP), to its processes. SIGTERM, SIGINT and SIGKILL end it,
    /// as [`TaskHandle::kill`] does.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub fn signal(&self, signal: i32) -> Result<KillReceipt> {
        self.kill_with(&KillRequest { by: OWNER.to_owned(), signal, grace_ms: None })
    }

    fn kill_with(&self, request: &KillRequest) -> Result<KillReceipt> {
        self.session.home().with(|runtime| {
            let kills =
                runtime.notifications().kill_as_owner(&[self.id.as_str()], self.session.name(), request)?;
            kills.all_done()?.pop().ok_or_else(|| self.not_found())
        })
    }

    /// Runs it again: ends the current run if there is one, and starts or queues the next. Output offsets start at 0
    /// again.
    ///
    /// # Errors
    /// When it cannot be ended or executed, or another process is restarting it.
    pub fn restart(&self) -> Result<Task> {
        self.call(|runtime, id, scope| runtime.starts().restart(id, scope))
    }

    /// Returns the last part of its output as text, at most `bytes` bytes, redacted like [`Output`].
    ///
    /// # Errors
    /// When the task was removed, or its log cannot be read.
    pub fn tail(&self, bytes: u64) -> Result<String> {
        let request =
            ReadRequest { from: ReadFrom::TailBytes(bytes), max_bytes: bytes, ..ReadRequest::default() };
        Ok(self.call(|runtime, id, scope| runtime.reader().read_shown(id, scope, &request))?.text())
    }

    /// Returns its output from an offset on, at most 64 KiB at a time. If there is none, this waits until there is,
    /// the output has ended, or the time is up. Start with offset 0 and continue from [`Output::next`].
    ///
    /// # Errors
    /// When the task was removed, or its log cannot be read.
    pub fn output_since(&self, offset: u64, timeout: Duration) -> Result<Output> {
        let deadline = Instant::now().checked_add(timeout);
        let fallback = self.session.home().settings().wait_fallback;
        let request =
            ReadRequest { from: ReadFrom::Offset(offset), max_bytes: OUTPUT_BYTES, ..ReadRequest::default() };
        self.call(|runtime, id, scope| {
            loop {
                let reply = runtime.reader().read_shown(id, scope, &request)?;
                let left =
                    deadline.map_or(fallback, |deadline| deadline.saturating_duration_since(Instant::now()));
                if !reply.pieces.is_empty() || reply.eof || left.is_zero() {
                    return Ok(Output::of(&reply));
                }
                runtime.reader().wait_for_output(&self.id, reply.end, left.min(fallback))?;
            }
        })
    }

    /// Searches its output for a regular expression, from the beginning; returns at most `most` lines, redacted like
    /// [`Output`].
    ///
    /// # Errors
    /// When the pattern is not valid, the task was removed, or its log cannot be read.
    pub fn search(&self, pattern: &str, most: usize) -> Result<Vec<OutputMatch>> {
        let request = GrepRequest { pattern: pattern.to_owned(), most, ..GrepRequest::default() };
        Ok(self.call(|runtime, id, scope| runtime.reader().grep(id, scope, &request))?.matches)
    }

    /// Writes to its standard input, which [`TaskDraft::with_input`](super::TaskDraft::with_input) keeps open.
    ///
    /// # Errors
    /// When it is not running, has no open input, or does not read.
    pub fn input(&self, text: impl AsRef<[u8]>) -> Result<()> {
        self.write(text.as_ref(), false)
    }

    /// Closes its standard input.
    ///
    /// # Errors
    /// As [`TaskHandle::input`].
    pub fn close_input(&self) -> Result<()> {
        self.write(&[], true)
    }

    fn write(&self, bytes: &[u8], eof: bool) -> Result<()> {
        self.call(|runtime, id, scope| runtime.live().input(id, scope, bytes, eof).map(drop))
    }

    /// Changes the size of its terminal.
    ///
    /// # Errors
    /// When it is not running or has no terminal.
    pub fn resize(&self, rows: u16, cols: u16) -> Result<()> {
        self.call(|runtime, id, scope| runtime.live().resize(id, scope, rows, cols))
    }

    /// Returns everything that happened to it so far, oldest first. [`Session::events_since`] waits for more.
    ///
    /// # Errors
    /// When the database fails.
    pub fn events(&self) -> Result<Vec<TaskEvent>> {
        self.call(|runtime, _, scope| {
            let (mut events, mut seen) = (Vec::new(), 0);
            loop {
                let more = runtime.tasks().events_after(seen, scope, Some(&self.id), EVENTS)?;
                let Some(last) = more.last() else { return Ok(events) };
                seen = last.seq;
                events.extend(more);
            }
        })
    }

    /// Removes it and its files. A notification of its end that was not delivered is removed, too.
    ///
    /// # Errors
    /// When it or one of its processes is still alive, or its files cannot be removed.
    pub fn remove(self) -> Result<()> {
        let ids = std::slice::from_ref(&self.id);
        let report = self.session.home().with(|runtime| runtime.retention().clear(ids, None))?;
        match report.kept.into_iter().next() {
            None => Ok(()),
            Some(kept) => Err(Error::Kept(Box::new(kept))),
        }
    }

    /// Calls the engine with its id and its session's scope.
    fn call<T>(&self, work: impl FnOnce(&Runtime, &str, &Scope) -> Result<T>) -> Result<T> {
        self.session.home().with(|runtime| work(runtime, self.id.as_str(), &self.session.scope()))
    }

    fn not_found(&self) -> Error {
        Error::NotFound(self.id.to_string())
    }
}
