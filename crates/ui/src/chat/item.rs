//! The visible items of a conversation. They are built from entries, and cache their lines.

use std::collections::HashMap;

use meanwhile::model::{Notice, Status};
use mw_desk::chat_protocol::{ApprovalReply, ChatEntry};
use mw_desk::text::shortened;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::call::ToolItem;
use super::markdown::{self, ResumePoint};
use crate::screen::{Theme, wrap};

/// An item of a conversation and its lines at the current width.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) lines: Vec<Line<'static>>,
    /// Whether its turn is still running.
    is_open: bool,
    /// The width, and the position from which a growing answer is drawn again.
    resume: Option<(usize, ResumePoint)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Said(String),
    Thought(String),
    Tool(ToolItem),
    Plan(Vec<(String, String)>),
    /// An entry that never changes.
    Entry(ChatEntry),
}

/// An index of the items that can still change. It keeps lookups fast in a long turn.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The last call with each id.
    calls: HashMap<String, usize>,
    plan: Option<usize>,
}

/// Adds an entry. Returns the indices of changed items.
pub(super) fn take(items: &mut Vec<Item>, index: &mut Index, entry: ChatEntry) -> Vec<usize> {
    let mut changed = match &entry {
        ChatEntry::User { .. }
        | ChatEntry::Delivered { .. }
        | ChatEntry::TurnEnded { .. }
        | ChatEntry::Opened { .. } => close(items),
        _ => Vec::new(),
    };
    // An entry that is not from the agent must not split the agent's sentence, so it is placed below.
    let last =
        items.iter().rposition(|item| !matches!(item.kind, Kind::Entry(_))).filter(|at| items[*at].is_open);
    let is_begun = items.iter().any(|item| !matches!(item.kind, Kind::Entry(ChatEntry::Notice { .. })));
    let kind = match (entry, last.map(|at| &mut items[at].kind)) {
        (ChatEntry::Said { text }, Some(Kind::Said(before)))
        | (ChatEntry::Thought { text }, Some(Kind::Thought(before))) => {
            before.push_str(&text);
            return last.into_iter().collect();
        }
        (ChatEntry::Said { text }, _) => Kind::Said(text),
        (ChatEntry::Thought { text }, _) => Kind::Thought(text),
        (ChatEntry::Tool(update), _) => match index.call(items, &update.id, update.title.is_some()) {
            Some((at, call)) => {
                call.take(update);
                return vec![at];
            }
            None => {
                index.calls.insert(update.id.clone(), items.len());
                Kind::Tool(ToolItem::new(update))
            }
        },
        (ChatEntry::Plan { steps }, _) => match index.plan(items) {
            Some((at, before)) => {
                *before = steps;
                return vec![at];
            }
            None => {
                index.plan = Some(items.len());
                Kind::Plan(steps)
            }
        },
        (ChatEntry::Opened { .. }, _) if !is_begun => return changed,
        (
            ChatEntry::Delivered { .. }
            | ChatEntry::TurnEnded { early: None }
            | ChatEntry::Joined { .. }
            | ChatEntry::NotReceived { .. }
            | ChatEntry::Waits { .. },
            _,
        ) => return changed,
        (entry, _) => Kind::Entry(entry),
    };
    items.push(Item { kind, lines: Vec::new(), is_open: true, resume: None });
    changed.push(items.len() - 1);
    changed
}

/// Closes the items of a turn. Returns the calls that have not ended.
fn close(items: &mut [Item]) -> Vec<usize> {
    let mut stopped = Vec::new();
    // All items before a closed item are closed as well.
    for (at, item) in items.iter_mut().enumerate().rev().take_while(|(_, item)| item.is_open) {
        item.is_open = false;
        if let Kind::Tool(call) = &item.kind
            && !call.is_over()
        {
            stopped.push(at);
        }
    }
    stopped
}

impl Index {
    /// Finds a call by its id. Ids are unique only within a turn. A late update may refer to a call of an earlier turn,
    /// but an entry that begins a call never does.
    fn call<'a>(&self, items: &'a mut [Item], id: &str, is_named: bool) -> Option<(usize, &'a mut ToolItem)> {
        let at = *self.calls.get(id)?;
        let item = items.get_mut(at).filter(|item| item.is_open || !is_named)?;
        match &mut item.kind {
            Kind::Tool(call) => Some((at, call)),
            _ => None,
        }
    }

    /// Finds the plan of the turn. A changed plan replaces it.
    fn plan<'a>(&self, items: &'a mut [Item]) -> Option<(usize, &'a mut Vec<(String, String)>)> {
        let at = self.plan?;
        match &mut items.get_mut(at).filter(|item| item.is_open)?.kind {
            Kind::Plan(steps) => Some((at, steps)),
            _ => None,
        }
    }
}

impl Item {
    /// Draws the item at a width.
    pub(super) fn lay_out(&mut self, width: usize, theme: &Theme) {
        self.lines = match &mut self.kind {
            Kind::Said(text) => {
                let (mut lines, resume) = match self.resume {
                    Some((at_width, resume)) if at_width == width => {
                        (std::mem::take(&mut self.lines), resume)
                    }
                    _ => (vec![Line::default()], ResumePoint::below(1)),
                };
                let resume = markdown::draw(text.trim_end(), resume, width, theme, &mut lines);
                self.resume = Some((width, resume));
                lines
            }
            Kind::Thought(text) => thought(text, width, theme),
            Kind::Tool(call) => call.draw(self.is_open, width, theme),
            Kind::Plan(steps) => plan(steps, width, theme),
            Kind::Entry(entry) => draw(entry, width, theme),
        };
    }
}

/// Draws an entry that does not change.
fn draw(entry: &ChatEntry, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    match entry {
        ChatEntry::Opened { .. } => spaced(vec![styled("── resumed ──", theme.dim)]),
        ChatEntry::User { text } => spaced(prompted("❯ ", text, width, theme.accent)),
        ChatEntry::Command { text } => spaced(prompted("❯ ", text, width, theme.title)),
        ChatEntry::Printed { text } => {
            text.lines().flat_map(|line| plain(line, width, Style::new())).collect()
        }
        ChatEntry::Notice { notice } => {
            let mut lines = plain(&banner(notice), width, banner_style(notice, theme));
            lines.push(styled(&shortened(&format!("  {}", notice.command), width), theme.dim));
            spaced(lines)
        }
        ChatEntry::Mode { mode } => plain(&format!("mode: {mode}"), width, theme.dim),
        ChatEntry::Answered { what, reply } => {
            let word = match reply {
                ApprovalReply::Once => "✓ allowed",
                ApprovalReply::Session => "✓ allowed for the session",
                ApprovalReply::Deny => "✗ denied",
            };
            plain(&format!("{word}: {what}"), width, theme.dim)
        }
        ChatEntry::TurnEnded { early: Some(why) } => {
            plain(&format!("■ stopped: {why}"), width, theme.status(Status::Cancelled))
        }
        ChatEntry::Note { text } => plain(&format!("! {text}"), width, theme.error),
        _ => Vec::new(),
    }
}

/// Formats a notification as `⌁ bash_1 exited (0) · 4.2s · path`, with the command on a second line.
fn banner(notice: &Notice) -> String {
    let code = notice.exit_code().map(|code| format!(" ({code})")).unwrap_or_default();
    let took = notice.took().map(|took| format!(" · {took}")).unwrap_or_default();
    format!("⌁ {} {}{code}{took} · {}", notice.handle, notice.status(), notice.output_path)
}

fn banner_style(notice: &Notice, theme: &Theme) -> Style {
    match (notice.kind.status(), notice.kind.exit_code()) {
        ("exited", Some(0)) => theme.dim,
        ("ready", _) => theme.status(Status::Completed),
        ("exited" | "stalled" | "skipped", _) => theme.status(Status::Cancelled),
        ("lost", _) => theme.status(Status::Lost),
        _ => theme.status(Status::Failed),
    }
}

fn styled(text: &str, style: Style) -> Line<'static> {
    Line::from(Span::styled(text.to_owned(), style))
}

/// Adds an empty line before the lines.
fn spaced(lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
    std::iter::once(Line::default()).chain(lines).collect()
}

fn plain(text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    wrap(&[Span::styled(text.to_owned(), style)], width, "", "")
}

fn prompted(sign: &str, text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    let lines = text.lines().enumerate().flat_map(|(at, line)| {
        let first = if at == 0 { sign } else { "  " };
        wrap(&[Span::styled(line.to_owned(), style)], width, first, "  ")
    });
    lines.collect()
}

fn thought(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    const MAX_BYTES: usize = 4 << 10;
    let begin = text.trim_start();
    let first = begin[..begin.floor_char_boundary(MAX_BYTES)].lines().next().unwrap_or_default().trim_end();
    let style = theme.dim.add_modifier(Modifier::ITALIC);
    vec![styled(&shortened(&format!("∴ {first}"), width), style)]
}

fn plan(steps: &[(String, String)], width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let lines = steps.iter().flat_map(|(step, state)| {
        let (sign, style) = match state.as_str() {
            "completed" => ("☑ ", theme.dim),
            "in_progress" => ("▸ ", Style::new()),
            _ => ("☐ ", Style::new()),
        };
        wrap(&[Span::styled(step.clone(), style)], width, sign, "  ")
    });
    spaced(lines.collect())
}
