//! Questions, choices and the list of keys, over everything else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};

use super::text::{breaks, fit, width_of};
use super::{put, states_word};
use crate::text::{count, shortened};
use crate::tui::keys::{BINDINGS, Group};
use crate::tui::state::{Menu, MenuKind, Mode, Question, State};
use crate::tui::update::STATES;

pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    match &state.mode {
        Mode::Normal | Mode::Typing(_) => {}
        Mode::Asking(question) => {
            let lines = question_lines(question, usize::from(area.width).saturating_sub(6));
            let inner = dialog(state, " really? ", &lines, area, buffer);
            for (y, line) in (inner.y..inner.bottom()).zip(fitting(&lines, inner.height.into())) {
                put(buffer, inner, y, &line, Style::new());
            }
        }
        Mode::Choosing(menu) => draw_menu(state, menu, area, buffer),
        Mode::Help(top) => help(state, *top, area, buffer),
    }
}

/// Leaves lines out in the middle, and says so: what is asked comes first, and the answers at the end must be seen.
fn fitting(lines: &[String], height: usize) -> Vec<String> {
    if lines.len() <= height {
        return lines.to_vec();
    }
    let answers = lines.iter().rev().take_while(|line| !line.is_empty()).count().min(height);
    let first = height.saturating_sub(answers + 1);
    let hidden = lines.len() - answers - first;
    let notice = format!("… {} more: mw approvals prints all", count(hidden, "line", "lines"));
    let kept = lines[..first].iter().cloned().chain((answers < height).then_some(notice));
    kept.chain(lines[lines.len() - answers..].iter().cloned()).collect()
}

fn question_lines(question: &Question, width: usize) -> Vec<String> {
    let what = |what: &str| shortened(&what.replace('\n', " ⏎ "), width.min(70));
    match question {
        Question::Kill { id, what: name } => vec![
            format!("Kill {id} and everything it started?"),
            what(name),
            String::new(),
            "y  SIGTERM, and SIGKILL to what remains".to_owned(),
            "9  SIGKILL at once".to_owned(),
            "n  no".to_owned(),
        ],
        Question::Restart { id, what: name } => vec![
            format!("{id} is not over. End it and run it again?"),
            what(name),
            String::new(),
            "y  yes".to_owned(),
            "n  no".to_owned(),
        ],
        Question::Clear { id, what: name } => vec![
            format!("Remove {id}, its log and its files?"),
            what(name),
            String::new(),
            "y  yes, they cannot be brought back".to_owned(),
            "n  no".to_owned(),
        ],
        Question::Answer(proposed) => {
            let lines = proposed.lines.iter().flat_map(|line| {
                let line = line.trim_end();
                let begins = breaks(line, width.max(1));
                let ends = begins.iter().skip(1).copied().chain([line.len()]).collect::<Vec<_>>();
                begins
                    .into_iter()
                    .zip(ends)
                    .map(|(begin, end)| line[begin..end].to_owned())
                    .collect::<Vec<_>>()
            });
            let keys =
                ["y  yes", "s  yes, and whenever this session starts exactly this", "n  no", "Esc  later"];
            lines.chain(keys.map(str::to_owned)).collect()
        }
        Question::ClearEnded { count: number } => vec![
            format!("Remove {} that ended,", count(*number, "listed task", "listed tasks")),
            "with logs and files?".to_owned(),
            String::new(),
            "y  yes, they cannot be brought back".to_owned(),
            "n  no".to_owned(),
        ],
    }
}

/// Draws a box in the middle for these lines; returns what is inside.
fn dialog(state: &State, title: &str, lines: &[String], area: Rect, buffer: &mut Buffer) -> Rect {
    let longest = lines.iter().map(|line| width_of(line)).max().unwrap_or(0).max(width_of(title));
    let width = (longest as u16 + 4).min(area.width);
    let height = (lines.len() as u16 + 2).min(area.height);
    let frame =
        Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height);
    Clear.render(frame, buffer);
    Block::bordered().title(title.to_owned()).border_style(state.theme.accent).render(frame, buffer);
    Rect::new(frame.x + 2, frame.y + 1, width.saturating_sub(4), height.saturating_sub(2))
}

fn draw_menu(state: &State, menu: &Menu, area: Rect, buffer: &mut Buffer) {
    let (title, lines): (&str, Vec<String>) = match &menu.kind {
        MenuKind::States => {
            (" state ", STATES.iter().map(|s| states_word(*s).unwrap_or("all").to_owned()).collect())
        }
        MenuKind::Sessions(sessions) => {
            let named = sessions.iter().map(|(name, words)| format!("{}  {words}", fit(name, 20)));
            (" session ", std::iter::once("all".to_owned()).chain(named).collect())
        }
    };
    let inner = dialog(state, title, &lines, area, buffer);
    let height = usize::from(inner.height).max(1);
    let first = (menu.selected + 1).saturating_sub(height);
    for (y, (place, line)) in (inner.y..inner.bottom()).zip(lines.iter().enumerate().skip(first)) {
        let style = if place == menu.selected { state.theme.selected } else { Style::new() };
        put(buffer, inner, y, line, style);
    }
}

fn help(state: &State, top: usize, area: Rect, buffer: &mut Buffer) {
    const KEYS: usize = 9;
    Clear.render(area, buffer);
    let entries = |group: Group| {
        let keys = BINDINGS.iter().filter(move |binding| binding.group == group);
        std::iter::once((group.word(), None)).chain(keys.map(|key| (key.shown, Some(key.words))))
    };
    let columns: Vec<Vec<_>> = if area.width >= 76 {
        let (left, right) = Group::ALL.split_at(2);
        [left, right].map(|groups| groups.iter().flat_map(|group| entries(*group)).collect()).into()
    } else {
        vec![Group::ALL.into_iter().flat_map(entries).collect()]
    };
    let head = " mw top: keys. Any other key goes back.";
    buffer.set_style(Rect { height: 1, ..area }, state.theme.header);
    buffer.set_stringn(area.x, area.y, head, area.width.into(), state.theme.header);
    let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
    let rows = usize::from(area.height).saturating_sub(1);
    let top = top.min(longest.saturating_sub(rows));
    let width = area.width / columns.len() as u16;
    for (at, column) in columns.iter().enumerate() {
        let x = area.x + at as u16 * width + 1;
        for (y, (keys, words)) in (area.y + 1..area.bottom()).zip(column.iter().skip(top)) {
            let room = usize::from(width).saturating_sub(1);
            match words {
                None => {
                    buffer.set_stringn(x, y, keys, room, state.theme.title);
                }
                Some(words) => {
                    buffer.set_stringn(x, y, fit(keys, KEYS), room, state.theme.accent);
                    let room = room.saturating_sub(KEYS);
                    buffer.set_stringn(x + KEYS as u16, y, words, room, Style::new());
                }
            }
        }
    }
}
