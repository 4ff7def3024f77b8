//! Draws dialog boxes over the conversation.

use mw_desk::chat_protocol::ChatTask;
use mw_desk::rows::icon;
use mw_desk::text::{columns, count, duration, shortened, shortened_path};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use super::questions::Shown;
use super::state::{Leaving, Modal, State, Target};
use crate::screen::{Link, wrap};

/// The rows and columns that a border takes.
const BORDER: u16 = 2;

/// The number of rows for the question below which all answers share one line.
const FEW_ROWS: usize = 3;

/// Draws the open dialog, if any. Returns whether there is one.
pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer, links: &mut Vec<Link>) -> bool {
    let width = usize::from(area.width).saturating_sub(6);
    let dialog = match (&state.modal, state.questions.shown()) {
        (Modal::Leave(how), _) => leave(state, how),
        (_, Some(shown)) => question(state, shown),
        (Modal::Tasks(selected), None) => tasks(state, selected.as_deref(), width),
        (Modal::Kill(task), None) => kill(state, task, width),
        (Modal::Cancel(selected), None) => cancel(state, selected.as_ref(), width),
        (Modal::None, None) => return false,
    };
    links.clear();
    dialog.draw(state, area, buffer, links);
    true
}

/// Returns the width of a line in a box as wide as the screen.
pub(super) fn inner_width(state: &State) -> usize {
    usize::from(state.size.0).saturating_sub(usize::from(BORDER) * 2).max(4)
}

/// Returns the number of rows for the text of a question.
pub(super) fn question_rows(state: &State) -> usize {
    state.questions.shown().map_or(0, |shown| {
        let dialog = question(state, shown);
        dialog.rows(inner_height(state.size.1))
    })
}

fn inner_height(height: u16) -> usize {
    usize::from(height.saturating_sub(BORDER))
}

/// A box over the conversation.
struct Dialog<'a> {
    title: String,
    lines: std::borrow::Cow<'a, [Line<'static>]>,
    /// The first visible line.
    top: usize,
    /// The keys, which are always visible.
    answers: Vec<String>,
    /// The links to files: line, first column, path.
    links: Vec<(usize, usize, String)>,
    /// The selected line.
    selected: Option<usize>,
}

impl Dialog<'_> {
    fn new(title: &str, lines: Vec<Line<'static>>, answers: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            lines: lines.into(),
            top: 0,
            answers: answers.iter().map(|answer| (*answer).to_owned()).collect(),
            links: Vec::new(),
            selected: None,
        }
    }

    /// Returns the number of lines that fit into the rows. If not all fit, one row shows how many lines are hidden.
    fn rows(&self, room: usize) -> usize {
        let all = self.lines.len();
        let answers = self.answers.len();
        if all + 1 + answers <= room { all } else { room.saturating_sub(answers + 1) }
    }

    fn draw(&self, state: &State, area: Rect, buffer: &mut Buffer, links: &mut Vec<Link>) {
        if area.width < BORDER || area.height < BORDER {
            return;
        }
        let answers = self.answers.iter().map(|answer| columns(answer));
        let longest = self.lines.iter().map(Line::width).chain(answers).max().unwrap_or(0);
        let width = (longest.max(columns(&self.title)) + 4).min(area.width.into()) as u16;
        let height = (self.lines.len() + self.answers.len() + 3).min(area.height.into()) as u16;
        let frame = Rect::new((area.width - width) / 2, (area.height - height) / 2, width, height);
        Clear.render(frame, buffer);
        Block::bordered().title(self.title.clone()).border_style(state.theme.accent).render(frame, buffer);
        let inner = Rect::new(
            frame.x + BORDER.min(width),
            frame.y + 1,
            width.saturating_sub(BORDER * 2),
            height.saturating_sub(BORDER),
        );
        let rows = self.rows(inner.height.into());
        let last = self.lines.len().saturating_sub(rows);
        let first = self.selected.map_or(self.top, |line| (line + 1).saturating_sub(rows)).min(last);
        for (at, line) in self.lines.iter().enumerate().skip(first).take(rows) {
            let row = Rect { y: inner.y + (at - first) as u16, height: 1, ..inner };
            buffer.set_line(row.x, row.y, line, row.width);
            let is_selected = self.selected == Some(at);
            if is_selected {
                buffer.set_style(row, state.theme.selected);
            }
            for (_, column, path) in self.links.iter().filter(|(line, ..)| *line == at) {
                let text = line.to_string().chars().skip(*column).collect();
                let style = if is_selected { state.theme.selected } else { state.theme.dim };
                links.push(Link { x: row.x + *column as u16, y: row.y, text, style, path: path.clone() });
            }
        }
        let shown = self.answers.len().min(inner.height.into());
        if rows < self.lines.len() && usize::from(inner.height) > shown {
            let text = format!("… lines {} to {} of {}", first + 1, first + rows, self.lines.len());
            buffer.set_stringn(inner.x, inner.y + rows as u16, text, inner.width.into(), state.theme.dim);
        }
        for (at, answer) in self.answers[self.answers.len() - shown..].iter().enumerate() {
            let y = inner.bottom() - (shown - at) as u16;
            buffer.set_stringn(inner.x, y, answer, inner.width.into(), Style::new());
        }
    }
}

fn bold(text: &str) -> Span<'static> {
    Span::styled(text.to_owned(), Style::new().add_modifier(Modifier::BOLD))
}

fn leave(state: &State, how: &Leaving) -> Dialog<'static> {
    let number = state.tasks.len();
    let (question, tasks) = match how {
        Leaving::Looks => ("Checking for running tasks…".to_owned(), &[][..]),
        Leaving::Unseen(why) => {
            (format!("Running tasks end with the chat. They cannot be listed: {why}"), &[][..])
        }
        Leaving::Warned if number == 0 => ("No tasks are running any more.".to_owned(), &[][..]),
        Leaving::Warned => {
            let (verb, ends) = if number == 1 { ("is", "It ends") } else { ("are", "They end") };
            let text = format!("{} {verb} running. {ends} with the chat.", count(number, "task", "tasks"));
            (text, &state.tasks[..])
        }
    };
    let question = wrap(&[bold(&question)], inner_width(state), "", "");
    let tasks = tasks.iter().map(|task| Line::from(format!("  {} {}", task.handle, short(&task.what, 50))));
    Dialog::new(" quit? ", question.into_iter().chain(tasks).collect(), &["y  quit", "n  stay"])
}

fn question<'a>(state: &State, shown: &'a Shown) -> Dialog<'a> {
    // The title asks only while answers are accepted.
    let asks = if state.questions.is_early(state.now) { "approval required" } else { "allow?" };
    let title = match state.questions.len() {
        1 => format!(" {asks} "),
        several => format!(" {asks} (1 of {several}) "),
    };
    let yes = if shown.is_read() { "y  yes" } else { "y  yes (read to the end first: PageDown)" };
    let session = shown.question.for_session.then_some("s  always, in this session");
    let mut answers: Vec<_> =
        [Some(yes), session, Some("n  no"), Some("b  no, because …"), Some("Esc  later (Ctrl-Y)")]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect();
    if inner_height(state.size.1) < (answers.len() + 1) + shown.lines.len().min(FEW_ROWS) {
        let yes = if shown.is_read() { "y yes" } else { "PageDown" };
        let session = if shown.question.for_session { "  s session" } else { "" };
        answers = vec![format!("{yes}{session}  n no  b why not  Esc later")];
    }
    let mut dialog = Dialog { lines: (&shown.lines).into(), answers, ..Dialog::new(&title, Vec::new(), &[]) };
    dialog.top = shown.position.top(dialog.rows(inner_height(state.size.1)), shown.lines.len());
    dialog
}

pub(super) fn short(text: &str, columns: usize) -> String {
    shortened(&text.replace('\n', " ⏎ "), columns)
}

fn ran(state: &State, task: &ChatTask) -> String {
    let since = task.since.map(|since| state.now.as_micros().saturating_sub(since.as_micros()) / 1000);
    since.map_or_else(|| "queued".to_owned(), |ms| duration(u64::try_from(ms).unwrap_or(0)))
}

fn task_row(state: &State, task: &ChatTask, width: usize) -> Line<'static> {
    let mark = if task.awaited { " (foreground)" } else { "" };
    let tail = format!("  {}{mark}", ran(state, task));
    let room = width.saturating_sub(columns(&tail) + 14).max(8);
    Line::from(vec![
        Span::styled(format!("{} ", icon(task.status)), state.theme.status(task.status)),
        Span::raw(format!("{:<9} ", task.handle)),
        Span::raw(short(&task.what, room)),
        Span::styled(tail, state.theme.dim),
    ])
}

fn tasks(state: &State, selected: Option<&str>, width: usize) -> Dialog<'static> {
    if state.tasks.is_empty() {
        return Dialog::new(" tasks ", vec![Line::from("No background tasks.")], &["Esc  back"]);
    }
    let mut lines = Vec::new();
    let mut links = Vec::new();
    for task in &state.tasks {
        lines.push(task_row(state, task, width));
        links.push((lines.len(), 4, task.log.clone()));
        let log = format!("    {}", shortened_path(&task.log, width.saturating_sub(4)));
        lines.push(Line::from(Span::styled(log, state.theme.dim)));
    }
    let answers: &[&str] = if state.has_foreground() {
        &[
            "Ctrl-B  move all foreground commands to the background",
            "x  kill   e  open log   ↑↓  select   Esc  back",
        ]
    } else {
        &["x  kill   e  open log   ↑↓  select   Esc  back"]
    };
    let at = state.tasks.iter().position(|task| Some(task.id.as_str()) == selected);
    let dialog = Dialog::new(" tasks ", lines, answers);
    Dialog { links, selected: at.map(|at| at * 2), ..dialog }
}

fn kill(state: &State, task: &ChatTask, width: usize) -> Dialog<'static> {
    let question = format!("Kill {} and everything it started?", task.handle);
    let lines = vec![Line::from(short(&question, width)), task_row(state, task, width)];
    Dialog::new(" kill? ", lines, &["y  kill it", "n  no"])
}

/// Describes which tasks end with the turn and which do not.
fn turn_row(state: &State) -> String {
    let awaited: Vec<_> =
        state.tasks.iter().filter(|task| task.awaited).map(|task| task.handle.as_str()).collect();
    match &awaited[..] {
        [] => "■ the agent's turn (background tasks keep running)".to_owned(),
        awaited => format!("■ the agent's turn and {}; other tasks keep running", awaited.join(", ")),
    }
}

fn cancel(state: &State, selected: Option<&Target>, width: usize) -> Dialog<'static> {
    let targets = state.targets();
    if targets.is_empty() {
        return Dialog::new(" cancel ", vec![Line::from("Nothing is running.")], &["Esc  back"]);
    }
    let turn = state.is_turn_under_way().then(|| Line::from(short(&turn_row(state), width)));
    let tasks = state.tasks.iter().map(|task| task_row(state, task, width));
    let lines = turn.into_iter().chain(tasks).collect();
    let dialog = Dialog::new(" cancel ", lines, &["Enter  cancel   ↑↓  select   Esc  back"]);
    Dialog { selected: targets.iter().position(|target| Some(target) == selected), ..dialog }
}
