//! What follows from what happens.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEvent, MouseEventKind};
use meanwhile::model::chat::{AgentState, ChatNews, ChatOrder, Entry, Reply};

use super::item::{self, Kind};
use super::state::{Cancellable, Effect, Event, Modal, State};

/// How far the wheel goes.
const WHEEL: isize = 3;

/// Takes an event in; returns what is to be done outside.
pub(super) fn update(state: &mut State, event: Event) -> Vec<Effect> {
    state.is_changed = true;
    if !matches!(event, Event::News(_)) {
        state.lay_out_stale();
    }
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => pressed(state, key),
        Event::Key(_) => Vec::new(),
        Event::Mouse(mouse) => moused(state, mouse),
        Event::Paste(text) => {
            if state.question().is_none() && state.modal == Modal::None {
                state.composer.insert(&text);
            }
            Vec::new()
        }
        Event::Resized(width, height) => {
            let is_wider = state.size.0 != width;
            state.size = (width, height);
            if is_wider {
                state.lay_out_from(0);
            }
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
        ChatNews::Tasks(tasks) => {
            state.tasks = tasks;
            keep_selection(state);
        }
        ChatNews::Asked(question) => {
            // A key that was meant for what is being written must not answer it.
            state.is_aside = !state.composer.is_empty();
            state.questions.push_back(question);
        }
        ChatNews::Settled(id) => state.questions.retain(|question| question.id != id),
        ChatNews::Agent(agent) => state.agent_state = agent,
        ChatNews::Waiting(texts) => state.waiting = texts,
        ChatNews::Replayed => state.top = None,
        ChatNews::Failed(text) => state.problem = Some(text),
    }
    Vec::new()
}

fn said(state: &mut State, entry: Entry) {
    match &entry {
        Entry::User { text } | Entry::Command { text } => state.composer.remember(text),
        Entry::Opened { agent, .. } => state.agent.clone_from(agent),
        Entry::Mode { mode } => {
            // The first one is nobody's choice, and stands in the first line.
            let before = state.mode.replace(mode.clone());
            if before.is_none_or(|before| before == *mode) {
                return;
            }
        }
        _ => {}
    }
    if let Some(first) = item::take(&mut state.items, entry) {
        let is_unfolded = state.are_unfolded;
        if let Kind::Tool(call) = &mut state.items[first].kind {
            call.is_unfolded |= is_unfolded;
        }
        // An answer comes in thousands of pieces, and is drawn a few times.
        if state.stale.last() != Some(&first) {
            state.stale.push(first);
        }
    }
}

fn keep_selection(state: &mut State) {
    let last = state.tasks.len().saturating_sub(1);
    let choices = state.cancellables().len().saturating_sub(1);
    match &mut state.modal {
        Modal::Tasks(selected) => *selected = (*selected).min(last),
        Modal::Cancel(selected) => *selected = (*selected).min(choices),
        Modal::None | Modal::Leave => {}
    }
}

fn pressed(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    state.problem = None;
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('l') if ctrl => return vec![Effect::Redraw],
        KeyCode::Char('z') if ctrl => return vec![Effect::Suspend],
        KeyCode::PageUp | KeyCode::PageDown => {
            let page = usize::from(state.areas()[1].height).saturating_sub(1).max(1) as isize;
            state.scroll(if key.code == KeyCode::PageUp { -page } else { page });
            return Vec::new();
        }
        _ => {}
    }
    if state.modal == Modal::Leave {
        return leaving(state, key);
    }
    if let Some(question) = state.question() {
        let id = question.id.clone();
        let reply = match key.code {
            KeyCode::Char('c') if ctrl => return leave(state),
            KeyCode::Char('y') if !ctrl => Reply::Once,
            KeyCode::Char('s') if question.for_session => Reply::Session,
            KeyCode::Char('n') => Reply::Deny,
            KeyCode::Esc => {
                state.is_aside = true;
                return Vec::new();
            }
            _ => return Vec::new(),
        };
        state.questions.pop_front();
        return vec![Effect::Order(ChatOrder::Answer(id, reply))];
    }
    match state.modal {
        Modal::Tasks(selected) => in_tasks(state, key, selected),
        Modal::Cancel(selected) => in_cancel(state, key, selected),
        Modal::None | Modal::Leave => in_talk(state, key),
    }
}

fn leaving(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    match key.code {
        KeyCode::Char('y') | KeyCode::Enter => vec![Effect::Quit],
        KeyCode::Char('n') | KeyCode::Esc => {
            state.modal = Modal::None;
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Leaves, unless tasks would end with the chat: then it asks.
fn leave(state: &mut State) -> Vec<Effect> {
    if state.tasks.is_empty() {
        return vec![Effect::Quit];
    }
    state.modal = Modal::Leave;
    Vec::new()
}

fn in_tasks(state: &mut State, key: KeyEvent, selected: usize) -> Vec<Effect> {
    let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
    let last = state.tasks.len().saturating_sub(1);
    match key.code {
        KeyCode::Up => state.modal = Modal::Tasks(selected.saturating_sub(1)),
        KeyCode::Down => state.modal = Modal::Tasks((selected + 1).min(last)),
        KeyCode::Char('b') => {
            state.modal = Modal::None;
            if state.has_foreground() {
                return vec![Effect::Order(ChatOrder::MoveToBackground)];
            }
        }
        KeyCode::Char('c') if ctrl => state.modal = Modal::None,
        KeyCode::Char('k' | 'x') => {
            if let Some(task) = state.tasks.get(selected) {
                return vec![Effect::Order(ChatOrder::Kill(task.id.clone()))];
            }
        }
        KeyCode::Esc | KeyCode::Char('q') => state.modal = Modal::None,
        _ => {}
    }
    Vec::new()
}

fn in_cancel(state: &mut State, key: KeyEvent, selected: usize) -> Vec<Effect> {
    let choices = state.cancellables();
    match key.code {
        KeyCode::Up => state.modal = Modal::Cancel(selected.saturating_sub(1)),
        KeyCode::Down => state.modal = Modal::Cancel((selected + 1).min(choices.len().saturating_sub(1))),
        KeyCode::Enter => {
            state.modal = Modal::None;
            return match choices.into_iter().nth(selected) {
                Some(Cancellable::Turn) => vec![Effect::Order(ChatOrder::Stop)],
                Some(Cancellable::Task(task)) => vec![Effect::Order(ChatOrder::Kill(task.id))],
                None => Vec::new(),
            };
        }
        KeyCode::Esc | KeyCode::Char('k' | 'q' | 'c') => state.modal = Modal::None,
        _ => {}
    }
    Vec::new()
}

fn in_talk(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return with_ctrl(state, key.code);
    }
    match key.code {
        KeyCode::Enter if key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT) => {
            state.composer.insert("\n");
        }
        KeyCode::Enter => return send(state),
        KeyCode::Esc if state.agent_state == AgentState::Busy => {
            return vec![Effect::Order(ChatOrder::Stop)];
        }
        KeyCode::Char(c) => state.composer.insert(c.encode_utf8(&mut [0; 4])),
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
        KeyCode::Char('b') => state.modal = Modal::Tasks(0),
        KeyCode::Char('k') => state.modal = Modal::Cancel(0),
        KeyCode::Char('o') => state.unfold_all(),
        KeyCode::Char('y') => state.is_aside = false,
        KeyCode::Char('j') => state.composer.insert("\n"),
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
    state.top = None;
    if text.trim() == "/quit" {
        return leave(state);
    }
    vec![Effect::Order(ChatOrder::Say(text))]
}

fn moused(state: &mut State, mouse: MouseEvent) -> Vec<Effect> {
    match mouse.kind {
        MouseEventKind::ScrollUp => state.scroll(-WHEEL),
        MouseEventKind::ScrollDown => state.scroll(WHEEL),
        MouseEventKind::Down(_) if state.modal == Modal::None && state.question().is_none() => {
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
        let (width, theme) = (state.width(), state.theme.clone());
        state.items[at].lay_out(width, &theme);
    }
}
