//! How the screen looks.

use meanwhile::model::chat::{AgentState, ChatQuestion, ChatTask};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use super::item::{Item, Kind};
use super::state::{Cancellable, Modal, State};
use super::wrap::{columns, wrap};
use crate::row::icon;
use crate::text::{count, duration, shortened, shortened_path};
use crate::tui::Link;

/// Draws everything; returns what leads to files.
pub(super) fn view(state: &State, frame: &mut Frame<'_>) -> Vec<Link> {
    let [header, talk, composer, footer] = state.areas();
    let area = frame.area();
    let buffer = frame.buffer_mut();
    draw_header(state, header, buffer);
    let mut links = draw_talk(state, talk, buffer);
    let cursor = draw_composer(state, composer, buffer);
    draw_footer(state, footer, buffer);
    let dialog = match (&state.modal, state.question()) {
        (Modal::Leave, _) => Some(leave_dialog(state)),
        (_, Some(question)) => Some(question_dialog(state, question, area)),
        (Modal::Tasks(selected), None) => Some(tasks_dialog(state, *selected, area)),
        (Modal::Cancel(selected), None) => Some(cancel_dialog(state, *selected, area)),
        (Modal::None, None) => None,
    };
    match dialog {
        Some(dialog) => {
            links.clear();
            dialog.draw(state, area, buffer, &mut links);
        }
        None => {
            if let Some(cursor) = cursor {
                frame.set_cursor_position(cursor);
            }
        }
    }
    links
}

fn draw_header(state: &State, area: Rect, buffer: &mut Buffer) {
    buffer.set_style(area, state.theme.header);
    let agent = match state.agent_state {
        _ if !state.questions.is_empty() => "asks you (Ctrl-Y answers)",
        AgentState::Starting => "starting…",
        AgentState::Idle => "ready",
        AgentState::Busy => "working… (Esc stops)",
        AgentState::Gone => "not there",
    };
    let mode = state.mode.as_ref().map(|mode| format!(" · {mode}")).unwrap_or_default();
    let text = format!(" mw chat · {}{mode} · {agent}", state.agent);
    let text = shortened(&text, area.width.into());
    buffer.set_stringn(area.x, area.y, &text, area.width.into(), Style::new());
    let right = format!("{} ", state.session);
    if columns(&text) + columns(&right) < usize::from(area.width) {
        let x = area.right() - columns(&right) as u16;
        buffer.set_string(x, area.y, right, Style::new());
    }
}

fn draw_talk(state: &State, area: Rect, buffer: &mut Buffer) -> Vec<Link> {
    let first = state.first_line();
    let mut links = Vec::new();
    let mut at = 0;
    for item in &state.items {
        let end = at + item.lines.len();
        if end > first && at < first + usize::from(area.height) {
            for (number, line) in item.lines.iter().enumerate() {
                let Some(row) = (at + number).checked_sub(first) else { continue };
                if row >= usize::from(area.height) {
                    break;
                }
                let y = area.y + row as u16;
                buffer.set_line(area.x + 1, y, line, area.width.saturating_sub(1));
                links.extend(link_in(item, line, area.x + 1, y));
            }
        }
        at = end;
    }
    if state.items.is_empty() {
        let hint = "Say what is to be done, or /help.";
        buffer.set_stringn(area.x + 1, area.y, hint, area.width.saturating_sub(1).into(), state.theme.dim);
    }
    let below = state.total_lines().saturating_sub(first + usize::from(area.height));
    if below > 0 && area.height > 0 {
        let text = format!(" {} below ", count(below, "line", "lines"));
        let x = area.right().saturating_sub(columns(&text) as u16 + 1);
        buffer.set_string(x, area.bottom() - 1, text, state.theme.header);
    }
    links
}

/// Returns the link in a line of a banner, if the whole path is in it.
fn link_in(item: &Item, line: &Line<'_>, x: u16, y: u16) -> Option<Link> {
    let Kind::Notice(notice) = &item.kind else { return None };
    let (text, path) = (line.to_string(), &notice.output_path);
    let lead = columns(text.strip_suffix(path.as_str())?) as u16;
    let style = line.spans.last()?.style;
    Some(Link { x: x + lead, y, text: path.clone(), style, path: path.clone() })
}

fn draw_composer(state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if area.height == 0 {
        return None;
    }
    let rule = "─".repeat(area.width.into());
    buffer.set_string(area.x, area.y, rule, state.theme.dim);
    if let Some(first) = state.waiting.first() {
        let more = match state.waiting.len() {
            1 => String::new(),
            several => format!(" and {} more", several - 1),
        };
        let room = usize::from(area.width).saturating_sub(columns(&more) + 14);
        let text = format!(" waits: {}{more} ", short(first, room));
        buffer.set_stringn(area.x + 2, area.y, text, area.width.saturating_sub(2).into(), state.theme.accent);
    }
    let (rows, (row, column)) = state.composer.rows(state.width().saturating_sub(2));
    let shown = usize::from(area.height).saturating_sub(1);
    let first = (row + 1).saturating_sub(shown);
    for (at, text) in rows.iter().enumerate().skip(first).take(shown) {
        let y = area.y + 1 + (at - first) as u16;
        buffer.set_string(area.x + 1, y, if at == 0 { "❯" } else { " " }, state.theme.accent);
        buffer.set_stringn(area.x + 3, y, text, area.width.saturating_sub(3).into(), Style::new());
    }
    let (x, y) = (area.x + 3 + column as u16, area.y + 1 + (row - first.min(row)) as u16);
    (y < area.bottom() && x < area.right()).then(|| Position::new(x, y))
}

fn draw_footer(state: &State, area: Rect, buffer: &mut Buffer) {
    if let Some(problem) = &state.problem {
        let text = shortened(&format!(" ✗ {problem}"), area.width.into());
        buffer.set_stringn(area.x, area.y, text, area.width.into(), state.theme.error);
        return;
    }
    let chip = match state.background() {
        0 => String::new(),
        tasks => format!("⌁ {} ", count(tasks, "task", "tasks")),
    };
    let right = area.right().saturating_sub(columns(&chip) as u16);
    buffer.set_string(right, area.y, &chip, state.theme.accent);
    let mut x = area.x + 1;
    let asked = (!state.questions.is_empty()).then_some(("Ctrl-Y", "answer"));
    let move_key = state.has_foreground().then_some(("Ctrl-B Ctrl-B", "to background"));
    let keys = [("Enter", "send"), ("Ctrl-B", "tasks"), ("Ctrl-K", "cancel"), ("Ctrl-O", "unfold")];
    let keys = asked.into_iter().chain(move_key).chain(keys).chain([("/help", ""), ("Ctrl-C", "leave")]);
    for (key, words) in keys {
        let width = (columns(key) + columns(words) + 3) as u16;
        if x + width > right {
            break;
        }
        buffer.set_string(x, area.y, key, state.theme.accent);
        buffer.set_string(x + columns(key) as u16 + 1, area.y, words, state.theme.dim);
        x += width;
    }
}

/// A box over the conversation.
struct Dialog {
    title: String,
    lines: Vec<Line<'static>>,
    /// The answers at its end, which are always seen.
    answers: usize,
    /// Lines that lead to files: where in them, and which.
    links: Vec<(usize, usize, String)>,
    /// The line that keys act on.
    selected: Option<usize>,
}

impl Dialog {
    fn new(title: &str, lines: Vec<Line<'static>>, answers: &[&str]) -> Self {
        let (mut lines, count) = (lines, answers.len());
        lines.push(Line::default());
        lines.extend(answers.iter().map(|answer| Line::from((*answer).to_owned())));
        Self { title: title.to_owned(), lines, answers: count, links: Vec::new(), selected: None }
    }

    fn draw(&self, state: &State, area: Rect, buffer: &mut Buffer, links: &mut Vec<Link>) {
        let longest = self.lines.iter().map(Line::width).max().unwrap_or(0).max(columns(&self.title));
        let width = (longest as u16 + 4).min(area.width);
        let height = (self.lines.len() as u16 + 2).min(area.height);
        let frame = Rect::new((area.width - width) / 2, (area.height - height) / 2, width, height);
        Clear.render(frame, buffer);
        Block::bordered().title(self.title.clone()).border_style(state.theme.accent).render(frame, buffer);
        let inner = Rect::new(
            frame.x + 2.min(width),
            frame.y + 1.min(height),
            width.saturating_sub(4),
            height.saturating_sub(2),
        );
        let room = usize::from(inner.height);
        let body = self.lines.len() - self.answers;
        // What is asked may be longer than the screen; the answers must be seen, and that something is missing.
        let fits = self.lines.len() <= room;
        let kept = if fits { body } else { room.saturating_sub(self.answers + 1) };
        let first = if fits { 0 } else { self.selected.map_or(0, |line| (line + 1).saturating_sub(kept)) };
        for at in 0..kept.min(body) {
            let (number, y) = (first + at, inner.y + at as u16);
            buffer.set_line(inner.x, y, &self.lines[number], inner.width);
            if self.selected == Some(number) {
                buffer.set_style(Rect { y, height: 1, ..inner }, state.theme.selected);
            }
            for (line, column, path) in self.links.iter().filter(|(line, ..)| *line == number) {
                let text = shortened_path(path, usize::from(inner.width).saturating_sub(*column));
                let style = if self.selected == Some(*line) { state.theme.selected } else { state.theme.dim };
                links.push(Link { x: inner.x + *column as u16, y, text, style, path: path.clone() });
            }
        }
        if !fits && room > self.answers {
            let left = format!("… {} not shown here", count(body.saturating_sub(kept), "line", "lines"));
            buffer.set_stringn(inner.x, inner.y + kept as u16, left, inner.width.into(), state.theme.dim);
        }
        let shown = self.answers.min(room);
        for (at, line) in self.lines[self.lines.len() - shown..].iter().enumerate() {
            let y = inner.bottom() - (shown - at) as u16;
            buffer.set_line(inner.x, y, line, inner.width);
        }
    }
}

fn bold(text: &str) -> Line<'static> {
    Line::from(Span::styled(text.to_owned(), Style::new().add_modifier(Modifier::BOLD)))
}

fn leave_dialog(state: &State) -> Dialog {
    let number = state.tasks.len();
    let verb = if number == 1 { "is" } else { "are" };
    let ends = if number == 1 { "It ends" } else { "They end" };
    let question = format!("{} {verb} running. {ends} with the chat.", count(number, "task", "tasks"));
    let mut lines = vec![bold(&question)];
    lines.extend(
        state.tasks.iter().map(|task| Line::from(format!("  {} {}", task.handle, short(&task.what, 50)))),
    );
    Dialog::new(" leave? ", lines, &["y  leave", "n  stay"])
}

fn question_dialog(state: &State, question: &ChatQuestion, area: Rect) -> Dialog {
    let width = usize::from(area.width).saturating_sub(4).max(4);
    let lines = question.lines.iter().flat_map(|line| wrap(&[Span::raw(line.clone())], width, "", "  "));
    let title = match state.questions.len() {
        1 => " may it? ".to_owned(),
        several => format!(" may it? (1 of {several}) "),
    };
    let answers: &[&str] = if question.for_session {
        &["y  yes", "s  yes, and whenever this session wants exactly this", "n  no", "Esc  later (Ctrl-Y)"]
    } else {
        &["y  yes", "n  no", "Esc  later (Ctrl-Y)"]
    };
    Dialog::new(&title, lines.collect(), answers)
}

fn short(text: &str, columns: usize) -> String {
    shortened(&text.replace('\n', " ⏎ "), columns)
}

fn ran(state: &State, task: &ChatTask) -> String {
    let since = task.since.map(|since| state.now.as_micros().saturating_sub(since.as_micros()) / 1000);
    since.map_or_else(|| "waits".to_owned(), |ms| duration(u64::try_from(ms).unwrap_or(0)))
}

fn task_row(state: &State, task: &ChatTask, width: usize) -> Line<'static> {
    let mark = if task.awaited { " (awaited)" } else { "" };
    let tail = format!("  {}{mark}", ran(state, task));
    let room = width.saturating_sub(columns(&tail) + 14).max(8);
    Line::from(vec![
        Span::styled(format!("{} ", icon(task.status)), state.theme.status(task.status)),
        Span::raw(format!("{:<9} ", task.handle)),
        Span::raw(short(&task.what, room)),
        Span::styled(tail, state.theme.dim),
    ])
}

fn tasks_dialog(state: &State, selected: usize, area: Rect) -> Dialog {
    let width = usize::from(area.width).saturating_sub(6);
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
        &["Ctrl-B  wait for none of them: all to the background", "k  kill   ↑↓  choose   Esc  back"]
    } else {
        &["k  kill   ↑↓  choose   Esc  back"]
    };
    let dialog = Dialog::new(" tasks ", lines, answers);
    Dialog { links, selected: Some(selected * 2), ..dialog }
}

fn cancel_dialog(state: &State, selected: usize, area: Rect) -> Dialog {
    let width = usize::from(area.width).saturating_sub(6);
    let choices = state.cancellables();
    if choices.is_empty() {
        return Dialog::new(" cancel ", vec![Line::from("Nothing runs.")], &["Esc  back"]);
    }
    let lines = choices.iter().map(|choice| match choice {
        Cancellable::Turn => Line::from("■ the agent's turn (tasks go on)"),
        Cancellable::Task(task) => task_row(state, task, width),
    });
    let dialog = Dialog::new(" cancel ", lines.collect(), &["Enter  cancel   ↑↓  choose   Esc  back"]);
    Dialog { selected: Some(selected), ..dialog }
}
