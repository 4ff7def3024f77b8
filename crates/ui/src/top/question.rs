//! What is asked before it is done: its words, how much of them fits, and whether all of them were on screen.

use std::ops::Range;

use crossterm::event::KeyCode;
use mw_desk::Proposed;
use mw_desk::query::Query;
use mw_desk::text::count;

use super::state::State;
use super::view::breaks;
use crate::screen::shortened;

/// A task that something is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) id: String,
    pub(crate) what: String,
}

/// Something that is asked before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Kill(Vec<Named>),
    /// Of a task that is not over, of one whose children live on, or of several.
    Restart {
        tasks: Vec<Named>,
        survivors: u32,
    },
    Clear(Vec<Named>),
    /// Of all that have ended and fit the query.
    ClearEnded {
        count: usize,
        query: Query,
    },
    Answer(Proposed),
}

/// A question on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asking {
    pub(crate) question: Question,
    /// First line of it that is shown.
    top: usize,
    /// How many lines from the first on have been shown.
    seen: usize,
}

/// A question as it fits a screen.
pub(crate) struct Fitted {
    /// All lines of what is asked.
    pub(crate) body: Vec<String>,
    /// Place of the first line that is shown.
    pub(crate) top: usize,
    /// How many lines are shown.
    pub(crate) rows: usize,
    /// The answers, below.
    pub(crate) answers: Vec<String>,
    /// Where among these lines which key stands: line, columns.
    places: Vec<(usize, Range<usize>, KeyCode)>,
}

impl Fitted {
    /// Tells whether there are lines below those shown.
    pub(crate) fn has_more(&self) -> bool {
        self.top + self.rows < self.body.len()
    }

    /// Returns the lines that are shown: what is asked, then the answers.
    pub(crate) fn lines(&self) -> Vec<String> {
        let shown = &self.body[self.top..self.top + self.rows];
        shown.iter().chain(&self.answers).cloned().collect()
    }

    /// Returns the key of the answer at a place among those lines.
    pub(crate) fn answer_at(&self, line: usize, column: usize) -> Option<KeyCode> {
        let line = line.checked_sub(self.rows)?;
        let is_it =
            |(at, columns, _): &&(usize, Range<usize>, KeyCode)| *at == line && columns.contains(&column);
        self.places.iter().find(is_it).map(|(_, _, key)| *key)
    }
}

impl Asking {
    pub(crate) const fn new(question: Question) -> Self {
        Self { question, top: 0, seen: 0 }
    }

    /// Begins anew, where lines are broken at other places.
    pub(crate) const fn begin_again(&mut self) {
        (self.top, self.seen) = (0, 0);
    }

    /// Lays the question out for a screen. The answers always have their place, and what is asked at least a line.
    pub(crate) fn fitted(&self, (width, height): (u16, u16)) -> Fitted {
        let width = usize::from(width).saturating_sub(6).max(1);
        let room = usize::from(height).saturating_sub(2).max(2);
        let body = self.question.body(width);
        let answers = self.question.answers();
        let (answers, places, rows) = if body.len() + 1 + answers.len() <= room {
            let (long, places) = in_lines(answers);
            (long, places, body.len())
        } else {
            let rows = (room - 1).min(body.len());
            let rows = if rows < body.len() { (rows - 1).max(1) } else { rows };
            // One line says where in a long text one is.
            let has_notice = rows < body.len() && rows + 2 <= room;
            let (short, places) = in_one_line(answers, usize::from(has_notice));
            let notice = has_notice.then_some(String::new());
            (notice.into_iter().chain([short]).collect(), places, rows)
        };
        let top = self.top.min(body.len() - rows);
        let mut fitted = Fitted { body, top, rows, answers, places };
        if fitted.rows < fitted.body.len() && fitted.answers.len() > 1 {
            let below = fitted.body.len() - fitted.top - fitted.rows;
            fitted.answers[0] = match below {
                0 => "─ that was all; ↑ shows the beginning".to_owned(),
                below => format!("↓ {} more", count(below, "line", "lines")),
            };
        }
        fitted
    }

    /// Moves through it by lines, never past anything unseen.
    pub(crate) fn scroll(&mut self, by: isize, size: (u16, u16)) {
        let fitted = self.fitted(size);
        let by = by.clamp(-(fitted.rows as isize), fitted.rows as isize);
        self.seen = self.seen.max(fitted.top + fitted.rows);
        self.top = fitted.top.saturating_add_signed(by).min(fitted.body.len() - fitted.rows);
        self.seen = self.seen.max(self.top + fitted.rows);
    }

    /// Tells whether all of it was on a screen of this size.
    pub(crate) fn is_read(&self, size: (u16, u16)) -> bool {
        let fitted = self.fitted(size);
        self.seen.max(fitted.top + fitted.rows) >= fitted.body.len()
    }

    /// Returns the words over it.
    pub(crate) fn title(&self, state: &State) -> String {
        match &self.question {
            Question::Kill(_) => " kill? ".to_owned(),
            Question::Restart { .. } => " run again? ".to_owned(),
            Question::Clear(_) | Question::ClearEnded { .. } => " remove? ".to_owned(),
            Question::Answer(proposed) => {
                let place = state.proposed.iter().position(|other| other.id == proposed.id);
                match (place, state.proposed.len()) {
                    (Some(place), count @ 2..) => format!(" approve? {} of {count}, ← → ", place + 1),
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
                (format!("Remove {which}, their logs and files? What lives is kept."), tasks)
            }
            Self::Clear(tasks) => (format!("Remove {}, its log and its files?", subject(tasks)), tasks),
            Self::ClearEnded { count: number, .. } => {
                let which = count(*number, "listed task", "listed tasks");
                (format!("Remove {which} that ended,\nwith logs and files?"), &[])
            }
            Self::Answer(proposed) => (proposed.lines.join("\n"), &[]),
        };
        let lines = first.split('\n').flat_map(|line| broken(line.trim_end(), width));
        let named = tasks.iter().map(|task| {
            let what = task.what.replace('\n', " ⏎ ");
            let line = if tasks.len() > 1 { format!("  {}  {what}", task.id) } else { what };
            shortened(&line, width.min(70))
        });
        lines.chain(named).collect()
    }

    /// Returns keys with what they do, in a line each and in a word.
    const fn answers(&self) -> &'static Answers {
        const NO: (&str, &str, &str) = ("n", "no", "no");
        match self {
            Self::Kill(_) => &[
                ("y", "SIGTERM, and SIGKILL to what remains", "yes"),
                ("9", "SIGKILL at once", "at once"),
                NO,
            ],
            Self::Restart { .. } => &[("y", "yes", "yes"), NO],
            Self::Clear(_) | Self::ClearEnded { .. } => {
                &[("y", "yes, they cannot be brought back", "yes, for good"), NO]
            }
            Self::Answer(_) => &[
                ("y", "yes", "yes"),
                ("s", "yes, and whenever this session starts exactly this", "session"),
                NO,
                ("Esc", "later", "later"),
            ],
        }
    }
}

type Answers = [(&'static str, &'static str, &'static str)];
type Places = Vec<(usize, Range<usize>, KeyCode)>;

fn key_named(name: &str) -> KeyCode {
    match name.chars().next() {
        Some(letter) if name.len() == 1 => KeyCode::Char(letter),
        Some(_) | None => KeyCode::Esc,
    }
}

/// Gives each answer a line of its own, under a blank one.
fn in_lines(answers: &Answers) -> (Vec<String>, Places) {
    let lines = answers.iter().map(|(key, words, _)| format!("{key}  {words}"));
    let lines: Vec<_> = std::iter::once(String::new()).chain(lines).collect();
    let places = answers.iter().zip(1..).map(|((key, ..), line)| (line, 0..usize::MAX, key_named(key)));
    (lines, places.collect())
}

/// Puts the answers one after the other; the line is this one.
fn in_one_line(answers: &Answers, line: usize) -> (String, Places) {
    let (mut text, mut places) = (String::new(), Vec::new());
    for (key, _, word) in answers {
        let begin = if text.is_empty() { 0 } else { text.len() + 2 };
        text += &format!("{}{key} {word}", if begin == 0 { "" } else { "  " });
        places.push((line, begin..text.len(), key_named(key)));
    }
    (text, places)
}

/// Names the tasks that something is asked about.
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
        (2.., _) => format!("Run {which} again? Whatever of them lives is killed first."),
        (_, 0) => format!("{which} is not over. End it and run it again?"),
        (_, survivors) => {
            let live = count(survivors as usize, "process it left lives", "processes it left live");
            format!("{live} on. Kill and run {which} again?")
        }
    }
}

fn broken(line: &str, width: usize) -> Vec<String> {
    let begins = breaks(line, width);
    let ends = begins.iter().skip(1).copied().chain([line.len()]);
    begins.iter().zip(ends).map(|(begin, end)| line[*begin..end].to_owned()).collect()
}
