//! Confirmation questions: their text, the layout, and whether the whole text was visible.

use crossterm::event::KeyCode;
use meanwhile::model::Timestamp;
use mw_desk::OpenRequest;
use mw_desk::query::Query;
use mw_desk::text::{count, shortened};

use super::state::State;
use super::view::broken;
use crate::screen::ReadPosition;

/// The id and the name of a task in a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) id: String,
    pub(crate) what: String,
}

/// A confirmation question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Kill(Vec<Named>),
    /// Asks before live tasks, tasks with live processes or several tasks are restarted.
    Restart {
        tasks: Vec<Named>,
        survivors: u32,
    },
    Clear(Vec<Named>),
    /// Asks before all ended tasks that match the query are removed.
    ClearEnded {
        count: usize,
        query: Query,
    },
    Answer(OpenRequest),
}

/// A question on the screen and its scroll position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asking {
    pub(crate) question: Question,
    position: ReadPosition,
    /// When the question replaced an answered one. Keys that were pressed for that one are no answer to this one.
    since: Option<Timestamp>,
    /// Whether a key was refused, because the question was not read to its end.
    is_unread: bool,
}

/// The layout of a question on a screen.
pub(crate) struct Fitted {
    /// All lines of the question.
    pub(crate) body: Vec<String>,
    /// The index of the first visible line.
    pub(crate) top: usize,
    /// The number of visible lines.
    pub(crate) rows: usize,
    /// The answers, which are shown below the question.
    pub(crate) answers: Vec<String>,
    /// Whether all answers are on one line.
    is_short: bool,
}

impl Fitted {
    /// Returns whether there are lines below the visible ones.
    pub(crate) fn has_more(&self) -> bool {
        self.top + self.rows < self.body.len()
    }

    /// Returns the visible lines: the question, then the answers.
    pub(crate) fn lines(&self) -> Vec<String> {
        let shown = &self.body[self.top..self.top + self.rows];
        shown.iter().chain(&self.answers).cloned().collect()
    }

    /// Returns the key of the answer at a position in [`Fitted::lines`].
    pub(crate) fn answer_at(&self, line: usize, column: usize) -> Option<KeyCode> {
        let line = self.answers.get(line.checked_sub(self.rows)?)?;
        let answers: Vec<&str> = if self.is_short { line.split(GAP).collect() } else { vec![line] };
        let mut begin = 0;
        let answer = answers.into_iter().find(|answer| {
            let end = begin + answer.len();
            let is_there = !self.is_short || (begin..end).contains(&column);
            begin = end + GAP.len();
            is_there
        })?;
        match answer.split(' ').next()? {
            "Esc" => Some(KeyCode::Esc),
            key => key.chars().next().filter(char::is_ascii_alphanumeric).map(KeyCode::Char),
        }
    }
}

impl Asking {
    pub(crate) fn new(question: Question) -> Self {
        Self { question, position: ReadPosition::default(), since: None, is_unread: false }
    }

    /// Creates a question that replaces an answered one at this time.
    pub(crate) fn next(question: Question, now: Timestamp) -> Self {
        Self { since: Some(now), ..Self::new(question) }
    }

    /// Returns whether a key at this time was probably pressed for the previous question.
    pub(crate) fn is_early(&self, now: Timestamp) -> bool {
        const GRACE_MICROS: i64 = 500_000;
        self.since.is_some_and(|since| (0..GRACE_MICROS).contains(&(now.as_micros() - since.as_micros())))
    }

    /// Shows that the question must be read to its end first.
    pub(crate) const fn refuse(&mut self) {
        self.is_unread = true;
    }

    /// Restarts at the top, because lines are wrapped differently.
    pub(crate) fn begin_again(&mut self) {
        self.position = ReadPosition::default();
    }

    /// Computes the layout for a screen. All answers and at least one line of the question are always visible.
    pub(crate) fn fitted(&self, (width, height): (u16, u16)) -> Fitted {
        let width = usize::from(width).saturating_sub(6).max(1);
        let room = usize::from(height).saturating_sub(2).max(2);
        let body = self.question.body(width);
        let answers = self.question.answers();
        let is_short = body.len() + 1 + answers.len() > room;
        let (answers, rows) = if is_short {
            let rows = (room - 1).min(body.len());
            let rows = if rows < body.len() { (rows - 1).max(1) } else { rows };
            // One row shows the position in a long text.
            let notice = (rows < body.len() && rows + 2 <= room).then(String::new);
            let short: Vec<_> = answers.iter().map(|(key, _, word)| format!("{key} {word}")).collect();
            (notice.into_iter().chain([short.join(GAP)]).collect(), rows)
        } else {
            let long = answers.iter().map(|(key, words, _)| format!("{key}  {words}"));
            (std::iter::once(String::new()).chain(long).collect(), body.len())
        };
        let top = self.position.top(rows, body.len());
        let mut fitted = Fitted { body, top, rows, answers, is_short };
        if fitted.rows < fitted.body.len() && fitted.answers.len() > 1 {
            let below = fitted.body.len() - fitted.top - fitted.rows;
            fitted.answers[0] = match below {
                0 => "─ end; ↑ scrolls back".to_owned(),
                below if self.is_unread => {
                    format!("✗ read to the end first: ↓ Space End ({} more)", count(below, "line", "lines"))
                }
                below => format!("↓ {} more", count(below, "line", "lines")),
            };
        }
        fitted
    }

    /// Scrolls by lines.
    pub(crate) fn scroll(&mut self, by: isize, size: (u16, u16)) {
        self.is_unread = false;
        let Fitted { body, rows, .. } = self.fitted(size);
        self.position.scroll(by, rows, body.len());
    }

    /// Returns whether the whole question was visible on a screen of this size.
    pub(crate) fn is_read(&self, size: (u16, u16)) -> bool {
        let Fitted { body, rows, .. } = self.fitted(size);
        let mut position = self.position;
        position.show(rows, body.len());
        position.is_read(body.len())
    }

    /// Returns the title.
    pub(crate) fn title(&self, state: &State) -> String {
        match &self.question {
            Question::Kill(_) => " kill? ".to_owned(),
            Question::Restart { .. } => " restart? ".to_owned(),
            Question::Clear(_) | Question::ClearEnded { .. } => " remove? ".to_owned(),
            Question::Answer(proposed) => {
                let index = state.proposed.iter().position(|other| other.id == proposed.id);
                match (index, state.proposed.len()) {
                    (Some(index), count @ 2..) => format!(" approve? {} of {count}, ← → others ", index + 1),
                    (Some(_) | None, _) => " approve? ".to_owned(),
                }
            }
        }
    }
}

impl Question {
    fn body(&self, width: usize) -> Vec<String> {
        let (first, tasks): (String, &[Named]) = match self {
            Self::Kill(tasks) => {
                (format!("Kill {} and everything {} started?", subject(tasks), it(tasks)), tasks)
            }
            Self::Restart { tasks, survivors } => (restart_words(tasks, *survivors), tasks),
            Self::Clear(tasks) if tasks.len() > 1 => {
                let which = subject(tasks);
                (format!("Remove {which}, their logs and files? Live tasks are kept."), tasks)
            }
            Self::Clear(tasks) => (format!("Remove {}, its log and its files?", subject(tasks)), tasks),
            Self::ClearEnded { count: number, .. } => {
                let which = count(*number, "finished task in the list", "finished tasks in the list");
                (format!("Remove {which},\nwith logs and files?"), &[])
            }
            Self::Answer(proposed) => (proposed.lines.join("\n"), &[]),
        };
        let lines = first.split('\n').flat_map(|line| broken(line.trim_end(), width)).map(str::to_owned);
        let named = tasks.iter().map(|task| {
            let what = task.what.replace('\n', " ⏎ ");
            let line = if tasks.len() > 1 { format!("  {}  {what}", task.id) } else { what };
            shortened(&line, width.min(70))
        });
        lines.chain(named).collect()
    }

    /// Returns the keys with a long and a short description.
    const fn answers(&self) -> &'static Answers {
        const NO: (&str, &str, &str) = ("n", "no", "no");
        match self {
            Self::Kill(_) => {
                &[("y", "SIGTERM, then SIGKILL", "yes"), ("9", "SIGKILL at once", "at once"), NO]
            }
            Self::Restart { .. } => &[("y", "yes", "yes"), NO],
            Self::Clear(_) | Self::ClearEnded { .. } => &[("y", "yes, permanently", "yes, permanently"), NO],
            Self::Answer(_) => &[
                ("y", "yes", "yes"),
                ("s", "yes, and for the same command in this session", "session"),
                NO,
                ("Esc", "later", "later"),
            ],
        }
    }
}

type Answers = [(&'static str, &'static str, &'static str)];

/// The separator between two answers on one line.
const GAP: &str = "  ";

/// Describes the tasks of a question.
pub(crate) fn subject(tasks: &[Named]) -> String {
    match tasks {
        [task] => task.id.clone(),
        tasks => count(tasks.len(), "marked task", "marked tasks"),
    }
}

const fn it(tasks: &[Named]) -> &'static str {
    if tasks.len() == 1 { "it" } else { "they" }
}

fn restart_words(tasks: &[Named], survivors: u32) -> String {
    let which = subject(tasks);
    match (tasks.len(), survivors) {
        (2.., _) => format!("Restart {which}? Live processes are killed first."),
        (_, 0) => format!("{which} is still live. Kill and restart it?"),
        (_, survivors) => {
            let live = count(
                survivors as usize,
                "of its processes is still alive",
                "of its processes are still alive",
            );
            format!("{live}. Kill them and restart {which}?")
        }
    }
}
