//! Updates the state for an event.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEvent, MouseEventKind};
use mw_desk::chat::{AgentState, ChatNews, ChatOrder, Entry};

use super::dialog;
use super::dialog_keys::{
    in_cancel, in_kill, in_question, in_tasks, leave, leaving, looked_round, open_cancel, open_tasks,
};
use super::item::{self, Kind};
use super::state::{Effect, Event, Modal, State};

/// Rows per step of the mouse wheel.
const WHEEL: isize = 3;

/// Processes an event. Returns effects.
pub(super) fn update(state: &mut State, event: Event) -> Vec<Effect> {
    state.is_changed = true;
    // Only user input depends on the visible state; messages and sizes may come by the hundred before anything is
    // drawn.
    if !matches!(event, Event::News(_) | Event::Resized(..)) {
        state.lay_out_stale();
    }
    let effects = take(state, event);
    state.bring_up_question();
    effects
}

fn take(state: &mut State, event: Event) -> Vec<Effect> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(state, key),
        Event::Key(_) => Vec::new(),
        Event::Mouse(mouse) => moused(state, mouse),
        Event::Paste(text) => {
            // Pasted text never answers a question, and is never lost.
            state.questions.set_aside();
            state.modal = Modal::None;
            write(state, &text);
            Vec::new()
        }
        Event::Resized(width, height) => {
            state.size = (width, height);
            Vec::new()
        }
        Event::Tick(now) => {
            state.now = now;
            Vec::new()
        }
        Event::News(news) => told(state, news),
    }
}

fn told(state: &mut State, news: ChatNews) -> Vec<Effect> {
    match news {
        ChatNews::Entry(entry) => said(state, entry),
        ChatNews::Tasks(tasks) => state.tasks = tasks,
        ChatNews::Asked(question) => {
            state.questions.ask(question, !state.composer.is_empty(), state.now);
        }
        ChatNews::Settled(id) => state.questions.settle(&id),
        ChatNews::Agent(agent) => state.agent_state = agent,
        ChatNews::Waiting(texts) => state.waiting = texts,
        ChatNews::Replayed => state.top = None,
        ChatNews::Failed(text) => state.problem = Some(text),
        ChatNews::Leaving(looked) => return looked_round(state, looked),
    }
    Vec::new()
}

fn said(state: &mut State, entry: Entry) {
    match &entry {
        Entry::User { text } | Entry::Command { text } => state.composer.recall(text),
        Entry::Opened { agent, .. } => state.agent.clone_from(agent),
        Entry::Mode { mode } => {
            // The initial mode is not announced; the first line shows it.
            let before = state.mode.replace(mode.clone());
            if before.is_none_or(|before| before == *mode) {
                return;
            }
        }
        _ => {}
    }
    let before = state.items.len();
    for at in item::take(&mut state.items, &mut state.index, entry) {
        if at >= before
            && let Kind::Tool(call) = &mut state.items[at].kind
        {
            call.is_unfolded = state.are_unfolded;
        }
        // An answer comes in thousands of pieces but is drawn only a few times.
        if state.stale.last() != Some(&at) {
            state.stale.push(at);
        }
    }
}

fn pressed(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    state.problem = None;
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('l') if ctrl => return vec![Effect::Redraw],
        KeyCode::Char('z') if ctrl => return vec![Effect::Suspend],
        _ => {}
    }
    if let Modal::Leave(how) = state.modal.clone() {
        return leaving(state, key, &how);
    }
    if state.questions.shown().is_some() {
        return in_question(state, key);
    }
    if let KeyCode::PageUp | KeyCode::PageDown = key.code {
        let page = page(state.areas()[1].height.into());
        state.scroll(if key.code == KeyCode::PageUp { -page } else { page });
        return Vec::new();
    }
    match state.modal.clone() {
        Modal::Tasks(selected) => in_tasks(state, key, selected.as_deref()),
        Modal::Kill(task) => in_kill(state, key, task.id),
        Modal::Cancel(selected) => in_cancel(state, key, selected.as_ref()),
        Modal::None | Modal::Leave(_) => in_talk(state, key),
    }
}

/// Rows per page key.
pub(super) fn page(rows: usize) -> isize {
    isize::try_from(rows.saturating_sub(1).max(1)).unwrap_or(isize::MAX)
}

/// Inserts text.
fn write(state: &mut State, text: &str) {
    state.composer.insert(text);
    state.questions.wrote(state.now);
}

pub(super) fn in_talk(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return with_ctrl(state, key.code);
    }
    match key.code {
        KeyCode::Enter if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT) => {
            write(state, "\n");
        }
        KeyCode::Enter => return send(state),
        KeyCode::Esc if state.agent_state == AgentState::Busy => {
            return vec![Effect::Order(ChatOrder::Stop)];
        }
        KeyCode::Char(c) => write(state, c.encode_utf8(&mut [0; 4])),
        KeyCode::Backspace => state.composer.backspace(),
        KeyCode::Delete => state.composer.delete(),
        KeyCode::Left => state.composer.left(),
        KeyCode::Right => state.composer.right(),
        KeyCode::Home => state.composer.home(),
        KeyCode::End => state.composer.end(),
        KeyCode::Up => state.composer.up(),
        KeyCode::Down => state.composer.down(),
        _ => {}
    }
    Vec::new()
}

fn with_ctrl(state: &mut State, code: KeyCode) -> Vec<Effect> {
    match code {
        KeyCode::Char('c') if !state.composer.is_empty() => state.composer.clear(),
        KeyCode::Char('c') => return leave(state),
        KeyCode::Char('d') if state.composer.is_empty() => return leave(state),
        KeyCode::Char('d') => state.composer.delete(),
        KeyCode::Char('b') => open_tasks(state),
        KeyCode::Char('k') => open_cancel(state),
        KeyCode::Char('o') => state.unfold_all(),
        KeyCode::Char('y') => state.questions.summon(dialog::inner_width(state), state.now),
        KeyCode::Char('j') => write(state, "\n"),
        KeyCode::Char('a') => state.composer.home(),
        KeyCode::Char('e') => state.composer.end(),
        KeyCode::Char('w') => state.composer.delete_word(),
        KeyCode::Char('u') => state.composer.delete_line(),
        KeyCode::Char('p') => state.composer.up(),
        KeyCode::Char('n') => state.composer.down(),
        _ => {}
    }
    Vec::new()
}

fn send(state: &mut State) -> Vec<Effect> {
    if state.composer.text().trim().is_empty() {
        return Vec::new();
    }
    let text = state.composer.take();
    state.questions.sent();
    state.top = None;
    if text.split_whitespace().next() == Some("/quit") {
        return leave(state);
    }
    vec![Effect::Order(ChatOrder::Say(text))]
}

fn moused(state: &mut State, mouse: MouseEvent) -> Vec<Effect> {
    let is_asked = state.questions.shown().is_some();
    let rows = dialog::question_rows(state);
    match mouse.kind {
        MouseEventKind::ScrollUp if is_asked => state.questions.scroll(-WHEEL, rows),
        MouseEventKind::ScrollDown if is_asked => state.questions.scroll(WHEEL, rows),
        MouseEventKind::ScrollUp => state.scroll(-WHEEL),
        MouseEventKind::ScrollDown => state.scroll(WHEEL),
        MouseEventKind::Down(_) if state.modal == Modal::None && !is_asked => {
            let area = state.areas()[1];
            if area.contains(ratatui::layout::Position::new(mouse.column, mouse.row)) {
                let line = state.first_line() + usize::from(mouse.row - area.y);
                unfold_at(state, line);
            }
        }
        _ => {}
    }
    Vec::new()
}

fn unfold_at(state: &mut State, line: usize) {
    let Some(at) = state.item_at(line) else { return };
    if let Kind::Tool(call) = &mut state.items[at].kind {
        call.is_unfolded = !call.is_unfolded;
        state.stale.push(at);
        state.lay_out_stale();
    }
}
