//! What is asked before it is done: its words, how much of them fits, and whether all of them were on screen.

use super::event::Proposed;
use super::state::State;
use super::view::breaks;
use crate::text::{count, shortened};

/// Something that is asked before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Kill {
        id: String,
        what: String,
    },
    /// Of a task that is not over, or whose children live on.
    Restart {
        id: String,
        what: String,
        survivors: u32,
    },
    Clear {
        id: String,
        what: String,
    },
    ClearEnded {
        count: usize,
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
}

impl Fitted {
    /// Tells whether there are lines below those shown.
    pub(crate) fn has_more(&self) -> bool {
        self.top + self.rows < self.body.len()
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
        let long: Vec<_> = answers.iter().map(|(key, words, _)| format!("{key}  {words}")).collect();
        // One line says where in a long text one is.
        let short =
            answers.iter().map(|(key, _, word)| format!("{key} {word}")).collect::<Vec<_>>().join("  ");
        let (answers, rows) = if body.len() + 1 + long.len() <= room {
            let blank = std::iter::once(String::new());
            (blank.chain(long).collect(), body.len())
        } else {
            let rows = (room - 1).min(body.len());
            let rows = if rows < body.len() { (rows - 1).max(1) } else { rows };
            let notice = (rows < body.len() && rows + 2 <= room).then_some(String::new());
            (notice.into_iter().chain([short]).collect(), rows)
        };
        let top = self.top.min(body.len() - rows);
        let mut fitted = Fitted { body, top, rows, answers };
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
            Question::Kill { .. } => " kill? ".to_owned(),
            Question::Restart { .. } => " run again? ".to_owned(),
            Question::Clear { .. } | Question::ClearEnded { .. } => " remove? ".to_owned(),
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
        let what = |what: &str| shortened(&what.replace('\n', " ⏎ "), width.min(70));
        let lines = match self {
            Self::Kill { id, what: name } => {
                vec![format!("Kill {id} and everything it started?"), what(name)]
            }
            Self::Restart { id, what: name, survivors: 0 } => {
                vec![format!("{id} is not over. End it and run it again?"), what(name)]
            }
            Self::Restart { id, what: name, survivors } => {
                let live = count(*survivors as usize, "process it left lives", "processes it left live");
                vec![format!("{live} on. Kill and run {id} again?"), what(name)]
            }
            Self::Clear { id, what: name } => {
                vec![format!("Remove {id}, its log and its files?"), what(name)]
            }
            Self::ClearEnded { count: number } => vec![
                format!("Remove {} that ended,", count(*number, "listed task", "listed tasks")),
                "with logs and files?".to_owned(),
            ],
            Self::Answer(proposed) => proposed.lines.clone(),
        };
        lines.iter().flat_map(|line| broken(line.trim_end(), width)).collect()
    }

    /// Returns keys with what they do, in a line each and in a word.
    const fn answers(&self) -> &'static [(&'static str, &'static str, &'static str)] {
        const NO: (&str, &str, &str) = ("n", "no", "no");
        match self {
            Self::Kill { .. } => &[
                ("y", "SIGTERM, and SIGKILL to what remains", "yes"),
                ("9", "SIGKILL at once", "at once"),
                NO,
            ],
            Self::Restart { .. } => &[("y", "yes", "yes"), NO],
            Self::Clear { .. } | Self::ClearEnded { .. } => {
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

fn broken(line: &str, width: usize) -> Vec<String> {
    let begins = breaks(line, width);
    let ends = begins.iter().skip(1).copied().chain([line.len()]);
    begins.iter().zip(ends).map(|(begin, end)| line[*begin..end].to_owned()).collect()
}
