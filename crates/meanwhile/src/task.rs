//! A task as front ends see it: one stable record.

use mw_model::wire::ExitRecord;
use mw_model::{Cause, Event, Status, TaskId, TaskKind, TaskState, Timestamp, next_state};
use serde::Serialize;

/// Whose tasks an operation may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of this user's.
    All,
    /// One session's; others answer "not found".
    Session(String),
}

/// How far a task says it has come.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// Hundredths.
    pub percent: Option<f64>,
    /// Steps done.
    pub done: Option<u64>,
    /// Steps in all.
    pub total: Option<u64>,
    /// What it says.
    pub text: Option<String>,
}

/// A task. Serialised, this is the schema of `mw list --json` and `mw status --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Task {
    /// The canonical id.
    pub id: TaskId,
    /// What sort of work it is.
    pub kind: TaskKind,
    /// Its name, if it was given one.
    pub name: Option<String>,
    /// A line for people.
    pub description: Option<String>,
    /// The state's word.
    pub status: Status,
    /// Why it ended, in words.
    pub cause: Option<String>,
    /// What it runs, as a person would type it.
    pub command: String,
    /// Where.
    pub cwd: String,
    /// Its owner.
    pub session: String,
    /// The batch it belongs to.
    pub batch_id: Option<String>,
    /// First process of the present or last run.
    pub pid: Option<u32>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When the present or last run was spawned.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long the present or last run took, or has taken so far.
    pub duration_ms: Option<u64>,
    /// What the process returned.
    pub exit_code: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<String>,
    /// The log.
    pub output_path: String,
    /// Bytes printed, dropped ones included.
    pub output_bytes: u64,
    /// Bytes that are not in the log.
    pub dropped_bytes: u64,
    /// Children that outlived the first process and live.
    pub survivors: u32,
    /// Number of runs so far.
    pub runs: u32,
    /// How many of them were follow-up messages.
    pub resume_count: u32,
    /// Place in the queue, from 1.
    pub queue_position: Option<u32>,
    /// Whether it ends with its session.
    pub lifetime: String,
    /// When it ends at the latest.
    pub deadline: Option<Timestamp>,
    /// Whether it said it is ready.
    pub ready: Option<bool>,
    /// Ports its tree listens on.
    pub ports: Option<Vec<u16>>,
    /// How far it has come.
    pub progress: Option<Progress>,
    /// Who approved it.
    pub approved_by: String,
    /// When.
    pub approved_at: Timestamp,
    /// Trace link.
    pub trace_id: Option<String>,
    /// Trace link.
    pub span_id: Option<String>,

    /// Its number within the session.
    #[serde(skip)]
    pub number: u64,
    /// Higher starts earlier.
    #[serde(skip)]
    pub priority: i32,
    /// Tasks that must complete first.
    #[serde(skip)]
    pub after: Vec<TaskId>,
    /// Its state with all data.
    #[serde(skip)]
    pub state: TaskState,
    /// Lines of the journal that are in the database.
    #[serde(skip)]
    pub(crate) journal_seen: u64,
}

impl Task {
    /// Takes over a new state and what follows from it.
    pub(crate) fn set_state(&mut self, state: TaskState) {
        self.status = state.status();
        self.runs = state.run();
        self.started_at = state.started_at();
        self.pid = state.process().map(|process| process.pid).or(self.pid);
        match &state {
            TaskState::Ended { ended_at, cause, .. } => {
                self.ended_at = Some(*ended_at);
                self.cause = Some(cause.to_words());
                self.exit_code = cause.exit_code();
                self.signal = cause.signal().map(mw_model::signal_name);
            }
            TaskState::Pending { .. } => {
                self.pid = None;
                self.ended_at = None;
                self.cause = None;
                self.exit_code = None;
                self.signal = None;
                self.duration_ms = None;
            }
            TaskState::Starting { .. } | TaskState::Running { .. } | TaskState::Cancelling { .. } => {}
        }
        self.state = state;
    }

    /// Takes over what an exit record says.
    pub(crate) fn show_record(&mut self, record: &ExitRecord) {
        let event = Event::Ended { cause: record.cause(), ended_at: record.completed_at };
        if let Ok(state) = next_state(&self.state, &event) {
            self.set_state(state);
            self.duration_ms = Some((record.duration_seconds * 1000.0) as u64);
            self.output_bytes = record.output_bytes;
            self.dropped_bytes = record.dropped_bytes;
            self.survivors = record.survivors.len() as u32;
        }
    }

    /// Returns why it ended, if it has.
    #[must_use]
    pub fn cause_value(&self) -> Option<&Cause> {
        match &self.state {
            TaskState::Ended { cause, .. } => Some(cause),
            TaskState::Pending { .. }
            | TaskState::Starting { .. }
            | TaskState::Running { .. }
            | TaskState::Cancelling { .. } => None,
        }
    }
}

impl Progress {
    /// Finds the newest sign of progress in the end of a log: the terminal's own progress sequence
    /// (`OSC 9;4`), a percentage, or `n/m`.
    #[must_use]
    pub fn in_tail(tail: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(tail);
        let from_sequence = text.rfind("\x1b]9;4;").and_then(|at| {
            let mut fields = text[at + 6..].split(|c: char| !c.is_ascii_digit());
            let state: u8 = fields.next()?.parse().ok()?;
            let percent: f64 = fields.next()?.parse().ok()?;
            (state == 1 || state == 2).then_some(Self {
                percent: Some(percent.min(100.0)),
                done: None,
                total: None,
                text: None,
            })
        });
        from_sequence.or_else(|| {
            let clean = crate::output::clean_text(&text);
            clean.lines().rev().filter(|line| !line.trim().is_empty()).take(3).find_map(Self::in_line)
        })
    }

    fn in_line(line: &str) -> Option<Self> {
        let text = Some(line.trim().chars().take(120).collect::<String>());
        let words = || {
            line.split(|c: char| c.is_whitespace() || "[]()|,".contains(c)).filter(|word| !word.is_empty())
        };
        let fraction = words().find_map(|word| {
            let (done, total) = word.split_once('/')?;
            let (done, total): (u64, u64) = (done.parse().ok()?, total.parse().ok()?);
            (total > 0 && done <= total).then_some((done, total))
        });
        let percent = words()
            .find_map(|word| word.strip_suffix('%')?.parse::<f64>().ok())
            .filter(|percent| (0.0..=100.0).contains(percent));
        match (fraction, percent) {
            (Some((done, total)), percent) => {
                let percent = percent.unwrap_or(done as f64 * 100.0 / total as f64);
                Some(Self { percent: Some(percent), done: Some(done), total: Some(total), text })
            }
            (None, Some(percent)) => Some(Self { percent: Some(percent), done: None, total: None, text }),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_found_where_there_is_some() {
        let percent = |tail: &str| Progress::in_tail(tail.as_bytes()).and_then(|found| found.percent);
        assert_eq!(percent("\x1b]9;4;1;42\x07"), Some(42.0));
        assert_eq!(percent("Compiling [3/4] x\n"), Some(75.0));
        assert_eq!(percent("10%\r37.5% done"), Some(37.5));
        assert_eq!(percent("see a/b or 12/3 for 300%"), None);
        assert_eq!(percent(""), None);
    }
}
