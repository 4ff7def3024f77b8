//! The state of the chat screen.

use std::time::Duration;

use meanwhile::model::{Status, Timestamp};
use mw_desk::chat_protocol::{AgentCommand, AgentState, ChatOrder, ChatTask};
use ratatui::layout::Rect;

use super::composer::Composer;
use super::dialog;
use super::item::{Index, Item, Kind};
use super::menu::Menu;
use super::questions::Questions;
use crate::screen::{TerminalRequest, Theme, ThemeChoice};

/// The maximum number of rows of the input field.
const MAX_ROWS: usize = 8;

/// The time between two pictures of the sign of work.
const SPIN: Duration = Duration::from_millis(200);

/// An effect outside the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Order(ChatOrder),
    /// Opens this file in the user's editor.
    Open(String),
    Screen(TerminalRequest),
}

/// The dialog over the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Modal {
    None,
    /// The list of tasks. The id is that of the selected one.
    Tasks(Option<String>),
    /// The question whether to kill this task.
    Kill(Box<ChatTask>),
    /// The list of everything that can be cancelled, with the selected item.
    Cancel(Option<Target>),
    /// The question whether to quit.
    Leave(Leaving),
}

/// The state of a request to quit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// The running tasks are being looked up.
    Looks,
    /// Tasks are running, and the user is asked for confirmation.
    Warned,
    /// The tasks cannot be listed, for this reason.
    Unseen(String),
}

/// One thing that can be cancelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Turn,
    /// The task with this id.
    Task(String),
}

pub(super) struct State {
    pub(super) size: (u16, u16),
    pub(super) theme: Theme,
    pub(super) session: String,
    pub(super) agent: String,
    pub(super) agent_state: AgentState,
    pub(super) mode: Option<String>,
    /// The model of the agent, if it is known.
    pub(super) model: Option<String>,
    /// The working directory of the agent.
    pub(super) directory: String,
    /// The used tokens of the agent's context, and the size of the context, or 0 if it is unknown.
    pub(super) context: Option<(u64, u64)>,
    /// The slash commands of the agent.
    pub(super) commands: Vec<AgentCommand>,
    pub(super) menu: Menu,
    /// When the agent began what it does now.
    pub(super) busy_since: Option<Timestamp>,
    pub(super) items: Vec<Item>,
    pub(super) index: Index,
    /// The indices of items that have changed since they were drawn.
    pub(super) stale: Vec<usize>,
    /// The width for which items were drawn.
    drawn_width: usize,
    /// The first visible line, unless the end is followed.
    pub(super) top: Option<usize>,
    pub(super) composer: Composer,
    /// Messages that were not sent yet.
    pub(super) waiting: Vec<String>,
    pub(super) tasks: Vec<ChatTask>,
    pub(super) questions: Questions,
    pub(super) modal: Modal,
    pub(super) are_unfolded: bool,
    pub(super) problem: Option<String>,
    pub(super) now: Timestamp,
    pub(super) is_changed: bool,
    /// The effects of the input that is being processed.
    pub(super) effects: Vec<Effect>,
}

impl State {
    pub(super) fn new(
        size: (u16, u16),
        theme: ThemeChoice,
        session: &str,
        agent: &str,
        now: Timestamp,
    ) -> Self {
        Self {
            size,
            theme: Theme::of(theme),
            session: session.to_owned(),
            agent: agent.to_owned(),
            agent_state: AgentState::Starting,
            mode: None,
            model: None,
            directory: String::new(),
            context: None,
            commands: Vec::new(),
            menu: Menu::default(),
            busy_since: Some(now),
            items: Vec::new(),
            index: Index::default(),
            stale: Vec::new(),
            drawn_width: 0,
            top: None,
            composer: Composer::default(),
            waiting: Vec::new(),
            tasks: Vec::new(),
            questions: Questions::default(),
            modal: Modal::None,
            are_unfolded: false,
            problem: None,
            now,
            is_changed: true,
            effects: Vec::new(),
        }
    }

    pub(super) fn order(&mut self, order: ChatOrder) {
        self.effects.push(Effect::Order(order));
    }

    pub(super) fn request(&mut self, request: TerminalRequest) {
        self.effects.push(Effect::Screen(request));
    }

    pub(super) fn width(&self) -> usize {
        usize::from(self.size.0).saturating_sub(2).max(4)
    }

    /// Draws changed items. It must run before anything is shown or measured.
    pub(super) fn lay_out_stale(&mut self) {
        let width = self.width();
        let mut stale = std::mem::take(&mut self.stale);
        if width != self.drawn_width {
            self.drawn_width = width;
            stale = (0..self.items.len()).collect();
        }
        stale.sort_unstable();
        stale.dedup();
        for at in stale {
            if let Some(item) = self.items.get_mut(at) {
                item.lay_out(width, &self.theme);
            }
        }
    }

    pub(super) fn total_lines(&self) -> usize {
        self.items.iter().map(|item| item.lines.len()).sum()
    }

    /// Returns the tasks that a call of the agent waits for, if there is room to show what they do.
    pub(super) fn awaited(&self) -> impl Iterator<Item = &ChatTask> {
        const MAX_SHOWN: usize = 3;
        const MIN_HEIGHT: u16 = 12;
        let shown = if self.size.1 < MIN_HEIGHT { 0 } else { MAX_SHOWN };
        self.tasks.iter().filter(|task| task.awaited && task.status != Status::Pending).take(shown)
    }

    /// Returns the area above the input field that shows what running calls do.
    pub(super) fn activity_area(&self) -> Rect {
        let talk = self.areas()[1];
        let rows = self.awaited().count() as u16;
        Rect { y: talk.bottom(), height: rows, ..talk }
    }

    /// Returns the areas of the header, the conversation, the input field and the footer.
    pub(super) fn areas(&self) -> [Rect; 4] {
        let (width, height) = self.size;
        let (rows, _) = self.composer.rows(self.width().saturating_sub(2));
        let wanted = rows.len().min(MAX_ROWS) as u16 + 1;
        let composer = wanted.min(height.saturating_sub(3)).max(1);
        let below = height.saturating_sub(composer + 1);
        let talk = below.saturating_sub(1 + self.awaited().count() as u16);
        [
            Rect::new(0, 0, width, height.min(1)),
            Rect::new(0, 1.min(height), width, talk),
            Rect::new(0, below.min(height), width, composer.min(height.saturating_sub(below))),
            Rect::new(0, height.saturating_sub(1), width, height.min(1)),
        ]
    }

    /// Returns the first visible line of the conversation.
    pub(super) fn first_line(&self) -> usize {
        let rows = usize::from(self.areas()[1].height);
        let last = self.total_lines().saturating_sub(rows);
        self.top.map_or(last, |top| top.min(last))
    }

    pub(super) fn scroll(&mut self, by: isize) {
        let rows = usize::from(self.areas()[1].height);
        let last = self.total_lines().saturating_sub(rows);
        let top = self.first_line().saturating_add_signed(by);
        self.top = (top < last).then_some(top);
    }

    /// Returns the index of the item at a line of the conversation.
    pub(super) fn item_at(&self, line: usize) -> Option<usize> {
        let mut begin = 0;
        for (at, item) in self.items.iter().enumerate() {
            begin += item.lines.len();
            if line < begin {
                return Some(at);
            }
        }
        None
    }

    /// Returns the number of running tasks that no call waits for.
    pub(super) fn background(&self) -> usize {
        let runs = |task: &&ChatTask| !task.awaited && task.status != Status::Pending;
        self.tasks.iter().filter(runs).count()
    }

    pub(super) fn has_foreground(&self) -> bool {
        self.tasks.iter().any(|task| task.awaited)
    }

    /// Returns the sign of work, which turns while the agent works.
    pub(super) fn spinner(&self) -> &'static str {
        const SIGNS: [&str; 4] = ["◐", "◓", "◑", "◒"];
        let turns = self.now.as_micros() / i64::try_from(SPIN.as_micros()).unwrap_or(1);
        SIGNS[turns.rem_euclid(4) as usize]
    }

    /// Returns for how long the agent has been working, in milliseconds.
    pub(super) fn busy_ms(&self) -> Option<u64> {
        let since = self.busy_since?;
        Some(u64::try_from((self.now.as_micros() - since.as_micros()) / 1000).unwrap_or(0))
    }

    pub(super) fn is_turn_under_way(&self) -> bool {
        self.agent_state == AgentState::Busy
    }

    /// Returns everything that can be cancelled, in display order.
    pub(super) fn targets(&self) -> Vec<Target> {
        let turn = self.is_turn_under_way().then_some(Target::Turn);
        turn.into_iter().chain(self.tasks.iter().map(|task| Target::Task(task.id.clone()))).collect()
    }

    /// Shows the current question, and records which part was visible.
    pub(super) fn bring_up_question(&mut self) {
        let width = dialog::inner_width(self);
        self.questions.bring_up(matches!(self.modal, Modal::Leave(_)), width, self.now);
        self.questions.see(dialog::question_rows(self));
    }

    /// Returns how often the screen changes with time alone.
    pub(super) fn ticks(&self) -> Option<Duration> {
        const SECOND: Duration = Duration::from_secs(1);
        if self.busy_since.is_some() {
            return Some(SPIN);
        }
        let are_times_shown = matches!(self.modal, Modal::Tasks(_) | Modal::Kill(_) | Modal::Cancel(_));
        (are_times_shown && !self.tasks.is_empty() || self.questions.is_early(self.now)).then_some(SECOND)
    }

    pub(super) fn unfold_all(&mut self) {
        self.are_unfolded = !self.are_unfolded;
        for (at, item) in self.items.iter_mut().enumerate() {
            if let Kind::Tool(call) = &mut item.kind {
                call.is_unfolded = self.are_unfolded;
                self.stale.push(at);
            }
        }
        self.lay_out_stale();
    }
}
