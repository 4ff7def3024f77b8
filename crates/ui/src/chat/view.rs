//! Draws the screen.

use meanwhile::model::Status;
use mw_desk::chat_protocol::{AgentState, ChatEntry};
use mw_desk::text::{columns, count, shortened};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

use super::dialog::{self, short};
use super::item::{Item, Kind};
use super::menu;
use super::state::State;
use crate::screen::Link;

/// Draws the whole screen. Returns the links to files.
pub(super) fn view(state: &State, frame: &mut Frame<'_>) -> Vec<Link> {
    let [header, talk, composer, footer] = state.areas();
    let area = frame.area();
    let buffer = frame.buffer_mut();
    draw_header(state, header, buffer);
    let mut links = draw_talk(state, talk, buffer);
    draw_activity(state, state.activity_area(), buffer);
    let cursor = draw_composer(state, composer, buffer);
    draw_footer(state, footer, buffer);
    menu::draw(state, composer, buffer);
    let is_covered = dialog::draw(state, area, buffer, &mut links);
    if let Some(cursor) = cursor.filter(|_| !is_covered) {
        frame.set_cursor_position(cursor);
    }
    links.retain(|link| is_drawn(link, frame.buffer_mut()));
    links
}

/// Returns whether these cells show the text of a link. A link is written over them without the buffer, so other text
/// would stay on the screen.
fn is_drawn(link: &Link, buffer: &Buffer) -> bool {
    let cells = Rect::new(link.x, link.y, columns(&link.text) as u16, 1);
    let mut alone = Buffer::empty(cells);
    alone.set_string(link.x, link.y, &link.text, link.style);
    let is_inside = buffer.area.intersection(cells) == cells;
    is_inside && cells.positions().all(|at| alone[at].symbol() == buffer[at].symbol())
}

fn draw_header(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    buffer.set_style(area, state.theme.header);
    let elapsed = state.busy_ms().map(|ms| format!(" {}s", ms / 1000)).unwrap_or_default();
    let spinner = state.spinner();
    let agent = match state.agent_state {
        _ if !state.questions.is_empty() => "‼ approval required (Ctrl-Y)".to_owned(),
        AgentState::Starting => format!("{spinner} starting…"),
        AgentState::Idle => "ready".to_owned(),
        AgentState::Busy => format!("{spinner} working…{elapsed} (Esc to stop)"),
        AgentState::Gone => "not running".to_owned(),
    };
    let mode = state.mode.as_ref().map(|mode| format!(" · {mode}")).unwrap_or_default();
    let text = format!(" mw chat · {}{mode} · {agent}", state.agent);
    let text = shortened(&text, area.width.into());
    buffer.set_stringn(area.x, area.y, &text, area.width.into(), Style::new());
    let tasks = match state.background() {
        0 => None,
        tasks => Some(format!("⌁ {}", count(tasks, "task", "tasks"))),
    };
    let folder = state.directory.rsplit('/').next().filter(|name| !name.is_empty());
    let context = state.context.map(|(used, size)| match size {
        0 => format!("{} tokens", thousands(used)),
        size => format!("{}/{} tokens", thousands(used), thousands(size)),
    });
    let parts = [tasks, state.model.clone(), context, folder.map(str::to_owned), Some(state.session.clone())];
    // The first parts are the most important.
    let mut right = String::new();
    for part in parts.into_iter().flatten() {
        let longer =
            if right.is_empty() { format!("{part} ") } else { format!("{} · {part} ", right.trim_end()) };
        if columns(&text) + columns(&longer) + 1 < usize::from(area.width) {
            right = longer;
        }
    }
    let x = area.right() - columns(&right) as u16;
    buffer.set_string(x, area.y, right, Style::new());
}

/// Formats a number of tokens as `950`, `12.3k` or `200k`.
fn thousands(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..100_000 => format!("{:.1}k", count as f64 / 1000.0).replace(".0k", "k"),
        _ => format!("{}k", count / 1000),
    }
}

/// Draws what the running calls of the agent do: the command, for how long, and its last line.
fn draw_activity(state: &State, area: Rect, buffer: &mut Buffer) {
    for (task, y) in state.awaited().zip(area.y..area.bottom()) {
        let since =
            task.since.map_or(0, |since| state.now.as_micros().saturating_sub(since.as_micros()) / 1_000_000);
        let head = format!("{} {}s ", state.spinner(), since.max(0));
        let width = usize::from(area.width).saturating_sub(2);
        let room = width.saturating_sub(columns(&head));
        let what = short(&task.what, (room * 2 / 5).max(12));
        let x = area.x + 1;
        buffer.set_stringn(x, y, &head, width, state.theme.status(Status::Running));
        buffer.set_stringn(x + columns(&head) as u16, y, &what, room, Style::new());
        if let Some(tail) = &task.tail {
            let used = columns(&head) + columns(&what) + 2;
            let room = width.saturating_sub(used);
            let tail = short(&format!("│ {tail}"), room);
            buffer.set_stringn(x + used as u16, y, tail, room, state.theme.dim);
        }
    }
}

fn draw_talk(state: &State, area: Rect, buffer: &mut Buffer) -> Vec<Link> {
    if area.is_empty() {
        return Vec::new();
    }
    let first = state.first_line();
    let mut links = Vec::new();
    let mut at = 0;
    for item in &state.items {
        let end = at + item.lines.len();
        if end > first && at < first + usize::from(area.height) {
            let above = first.saturating_sub(at);
            let room = (first + usize::from(area.height)).saturating_sub(at.max(first));
            for (number, line) in item.lines.iter().enumerate().skip(above).take(room) {
                let row = at + number - first;
                let y = area.y + row as u16;
                buffer.set_line(area.x + 1, y, line, area.width.saturating_sub(1));
                links.extend(link_in(item, line, area.x + 1, y));
            }
        }
        at = end;
    }
    if state.items.is_empty() {
        let hint = "Type a message, or /help.";
        buffer.set_stringn(area.x + 1, area.y, hint, area.width.saturating_sub(1).into(), state.theme.dim);
    }
    let below = state.total_lines().saturating_sub(first + usize::from(area.height));
    if below > 0 {
        let text = format!(" {} below ", count(below, "line", "lines"));
        let x = area.right().saturating_sub(columns(&text) as u16 + 1);
        buffer.set_string(x, area.bottom() - 1, text, state.theme.header);
    }
    links
}

/// Returns the link in a line of a notification, if the line contains the whole path.
fn link_in(item: &Item, line: &Line<'_>, x: u16, y: u16) -> Option<Link> {
    let Kind::Entry(ChatEntry::Notice { notice }) = &item.kind else { return None };
    let (text, path) = (line.to_string(), &notice.output_path);
    let lead = columns(text.strip_suffix(path.as_str())?) as u16;
    let style = line.spans.last()?.style;
    Some(Link { x: x + lead, y, text: path.clone(), style, path: path.clone() })
}

fn draw_composer(state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if area.is_empty() {
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
        let text = format!(" queued: {}{more} ", short(first, room));
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
    if area.is_empty() {
        return;
    }
    if let Some(problem) = &state.problem {
        let text = shortened(&format!(" ✗ {problem}"), area.width.into());
        buffer.set_stringn(area.x, area.y, text, area.width.into(), state.theme.error);
        return;
    }
    let right = area.right();
    let mut x = area.x + 1;
    let asked = (!state.questions.is_empty()).then_some(("Ctrl-Y", "answer"));
    let move_key = state.has_foreground().then_some(("Ctrl-B Ctrl-B", "to background"));
    let keys = [("Enter", "send"), ("Ctrl-B", "tasks"), ("Ctrl-K", "cancel"), ("Ctrl-O", "expand")];
    let leave = if state.composer.is_empty() { "quit" } else { "clear" };
    let keys = asked.into_iter().chain(move_key).chain(keys).chain([("/help", ""), ("Ctrl-C", leave)]);
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
