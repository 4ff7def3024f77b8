//! Updates the state for an input.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEvent, MouseEventKind};
use mw_desk::chat_protocol::{AgentState, ChatEntry, ChatOrder, ChatUpdate};

use super::dialog;
use super::dialog_keys::{
    confirm_quit, in_cancel, in_kill, in_question, in_tasks, leave, leaving, open_cancel, open_tasks,
};
use super::item::{self, Kind};
use super::menu;
use super::state::{Effect, Modal, State};
use super::window::Sent;
use crate::screen::{Input, TerminalRequest};

/// The number of rows per step of the mouse wheel.
const WHEEL: isize = 3;

/// Processes input. Returns effects.
pub(super) fn update(state: &mut State, input: Input<Sent>) -> Vec<Effect> {
    state.is_changed = true;
    // Only user input depends on the visible state. Hundreds of messages and sizes may arrive before the next draw.
    if !matches!(input, Input::Event(_) | Input::Resized(..)) {
        state.lay_out_stale();
    }
    match input {
        Input::Key(key) if key.kind != KeyEventKind::Release => on_key(state, key),
        Input::Key(_) | Input::Tick | Input::Back(Ok(())) => {}
        Input::Mouse(mouse) => on_mouse(state, mouse),
        Input::Paste(text) => {
            // Pasted text never answers a question, and it is never lost.
            state.questions.set_aside();
            state.modal = Modal::None;
            write(state, &text);
        }
        Input::Resized(width, height) => state.size = (width, height),
        Input::Event(sent) => on_change(state, sent.update),
        Input::Back(Err(problem)) => state.problem = Some(problem),
    }
    state.bring_up_question();
    std::mem::take(&mut state.effects)
}

fn on_change(state: &mut State, change: ChatUpdate) {
    match change {
        ChatUpdate::Entry(entry) => add_entry(state, entry),
        ChatUpdate::Tasks(tasks) => state.tasks = tasks,
        ChatUpdate::Asked(question) => {
            state.questions.ask(question, !state.composer.is_empty(), state.now);
        }
        ChatUpdate::Settled(id) => state.questions.settle(&id),
        ChatUpdate::Agent(agent) => {
            let works = matches!(agent, AgentState::Starting | AgentState::Busy);
            let goes_on = agent == state.agent_state;
            state.busy_since = works.then(|| state.busy_since.filter(|_| goes_on).unwrap_or(state.now));
            state.agent_state = agent;
        }
        ChatUpdate::Commands(commands) => state.commands = commands,
        ChatUpdate::Context(used, size) => state.context = Some((used, size)),
        ChatUpdate::Waiting(texts) => state.waiting = texts,
        ChatUpdate::Replayed => state.top = None,
        ChatUpdate::Failed(text) => state.problem = Some(text),
        ChatUpdate::Leaving(looked) => confirm_quit(state, looked),
    }
}

fn add_entry(state: &mut State, entry: ChatEntry) {
    match &entry {
        ChatEntry::User { text } | ChatEntry::Command { text } => state.composer.recall(text),
        ChatEntry::Opened { agent, cwd } => {
            state.agent.clone_from(agent);
            state.directory.clone_from(cwd);
        }
        ChatEntry::Mode { mode } => {
            // The initial mode is not announced, because the first line shows it.
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
        // An answer arrives in thousands of pieces, but is drawn only a few times.
        if state.stale.last() != Some(&at) {
            state.stale.push(at);
        }
    }
}

fn on_key(state: &mut State, key: KeyEvent) {
    state.problem = None;
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('l') if ctrl => return state.request(TerminalRequest::Redraw),
        KeyCode::Char('z') if ctrl => return state.request(TerminalRequest::Suspend),
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
        return state.scroll(if key.code == KeyCode::PageUp { -page } else { page });
    }
    match state.modal.clone() {
        Modal::Tasks(selected) => in_tasks(state, key, selected.as_deref()),
        Modal::Kill(task) => in_kill(state, key, task.id),
        Modal::Cancel(selected) => in_cancel(state, key, selected.as_ref()),
        Modal::None | Modal::Leave(_) => in_talk(state, key),
    }
}

/// Returns the number of rows per page key.
pub(super) fn page(rows: usize) -> isize {
    isize::try_from(rows.saturating_sub(1).max(1)).unwrap_or(isize::MAX)
}

/// Inserts text into the input field.
fn write(state: &mut State, text: &str) {
    state.composer.field.insert(text);
    state.questions.wrote(state.now);
}

pub(super) fn in_talk(state: &mut State, key: KeyEvent) {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    if menu::take(state, key) {
        return;
    }
    match key.code {
        KeyCode::Char(c) if ctrl => with_ctrl(state, c, key),
        KeyCode::Enter if ctrl => {}
        KeyCode::Enter if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT) => {
            write(state, "\n");
        }
        KeyCode::Enter => send(state),
        KeyCode::Esc if state.agent_state == AgentState::Busy => state.order(ChatOrder::Stop),
        KeyCode::Char(c) => write(state, c.encode_utf8(&mut [0; 4])),
        KeyCode::Up => state.composer.up(),
        KeyCode::Down => state.composer.down(),
        _ => _ = state.composer.field.edit(key),
    }
}

fn with_ctrl(state: &mut State, c: char, key: KeyEvent) {
    match c {
        'c' if !state.composer.is_empty() => state.composer.clear(),
        'c' => leave(state),
        'd' if state.composer.is_empty() => leave(state),
        'd' => state.composer.field.delete(),
        'b' => open_tasks(state),
        'k' => open_cancel(state),
        'o' => state.unfold_all(),
        'y' => state.questions.show_again(dialog::inner_width(state), state.now),
        'j' => write(state, "\n"),
        'p' => state.composer.up(),
        'n' => state.composer.down(),
        _ => _ = state.composer.field.edit(key),
    }
}

fn send(state: &mut State) {
    if state.composer.text().trim().is_empty() {
        return;
    }
    let text = state.composer.take();
    state.questions.sent();
    state.top = None;
    if text.split_whitespace().next() == Some("/quit") {
        return leave(state);
    }
    state.order(ChatOrder::Say(text));
}

fn on_mouse(state: &mut State, mouse: MouseEvent) {
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
}

fn unfold_at(state: &mut State, line: usize) {
    let Some(at) = state.item_at(line) else { return };
    if let Kind::Tool(call) = &mut state.items[at].kind {
        call.is_unfolded = !call.is_unfolded;
        state.stale.push(at);
        state.lay_out_stale();
    }
}
