//! What is seen of a conversation: entries put together, and how each looks.

use meanwhile::model::Notice;
use meanwhile::model::Status;
use meanwhile::model::chat::{Entry, Reply, ToolContent, ToolState};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::markdown;
use super::wrap::wrap;
use crate::text::{count, shortened};
use crate::tui::Theme;

/// How much of a tool call is shown unfolded.
const MOST_LINES: usize = 200;

/// One thing in a conversation, and its lines at the present width.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) lines: Vec<Line<'static>>,
    /// Whether its turn goes on.
    is_open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    OpenedAgain,
    User(String),
    Command(String),
    Printed(String),
    Said(String),
    Thought(String),
    Tool(Call),
    Plan(Vec<(String, String)>),
    Notice(Box<Notice>),
    Mode(String),
    Answered(String, Reply),
    Early(String),
    Note(String),
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) state: ToolState,
    pub(super) content: Vec<ToolContent>,
    pub(super) is_unfolded: bool,
}

/// Puts an entry to what is there; returns the first item that has changed, if any has.
pub(super) fn take(items: &mut Vec<Item>, entry: Entry) -> Option<usize> {
    // What ends in the midst of a sentence is told below it, not in it.
    let talk = items.iter().rposition(|item| !matches!(item.kind, Kind::Notice(_)));
    let open = talk.filter(|at| items[*at].is_open);
    let last = open.map(|at| &mut items[at].kind);
    let kind = match (entry, last) {
        (Entry::Said { text }, Some(Kind::Said(said))) => {
            said.push_str(&text);
            return open;
        }
        (Entry::Thought { text }, Some(Kind::Thought(thought))) => {
            thought.push_str(&text);
            return open;
        }
        (Entry::Said { text }, _) => Kind::Said(text),
        (Entry::Thought { text }, _) => Kind::Thought(text),
        (Entry::Tool(news), _) => {
            // Names of calls are only good for their turn.
            let turn = items.iter().rposition(|item| matches!(item.kind, Kind::User(_) | Kind::OpenedAgain));
            let begin = turn.unwrap_or(0);
            for (at, item) in items.iter_mut().enumerate().skip(begin) {
                if let Kind::Tool(call) = &mut item.kind
                    && call.id == news.id
                {
                    call.title = news.title.unwrap_or_else(|| std::mem::take(&mut call.title));
                    call.state = news.state.unwrap_or(call.state);
                    call.content = news.content.unwrap_or_else(|| std::mem::take(&mut call.content));
                    return Some(at);
                }
            }
            Kind::Tool(Call {
                title: news.title.unwrap_or_else(|| news.id.clone()),
                id: news.id,
                state: news.state.unwrap_or(ToolState::Pending),
                content: news.content.unwrap_or_default(),
                is_unfolded: false,
            })
        }
        (Entry::User { text }, _) => Kind::User(text),
        (Entry::Command { text }, _) => Kind::Command(text),
        (Entry::Printed { text }, _) => Kind::Printed(text),
        (Entry::Plan { steps }, _) => Kind::Plan(steps),
        (Entry::Notice { notice }, _) => Kind::Notice(notice),
        (Entry::Mode { mode }, _) => Kind::Mode(mode),
        (Entry::Answered { what, reply }, _) => Kind::Answered(what, reply),
        (Entry::TurnEnded { early: Some(why) }, _) => Kind::Early(why),
        (Entry::Note { text }, _) => Kind::Note(text),
        (Entry::Opened { .. }, _) if talk.is_some() => Kind::OpenedAgain,
        (Entry::Told { .. } | Entry::TurnEnded { early: None }, _) => {
            items.iter_mut().for_each(|item| item.is_open = false);
            return None;
        }
        (Entry::Opened { .. } | Entry::Joined { .. } | Entry::NotHeard { .. } | Entry::Waits { .. }, _) => {
            return None;
        }
    };
    items.push(Item { kind, lines: Vec::new(), is_open: true });
    Some(items.len() - 1)
}

impl Item {
    /// Draws it in so many columns.
    pub(super) fn lay_out(&mut self, width: usize, theme: &Theme) {
        self.lines = match &self.kind {
            Kind::OpenedAgain => spaced(vec![styled("── opened again ──", theme.dim)]),
            Kind::User(text) => spaced(prompted("❯ ", text, width, theme.accent)),
            Kind::Command(text) => spaced(prompted("❯ ", text, width, theme.title)),
            Kind::Printed(text) => text.lines().flat_map(|line| plain(line, width, Style::new())).collect(),
            Kind::Said(text) => spaced(markdown::lines(text.trim_end(), width, theme)),
            Kind::Thought(text) => thought(text, width, theme),
            Kind::Tool(call) => tool(call, width, theme),
            Kind::Plan(steps) => plan(steps, width, theme),
            Kind::Notice(notice) => spaced(plain(&banner(notice), width, banner_style(notice, theme))),
            Kind::Mode(mode) => plain(&format!("mode: {mode}"), width, theme.dim),
            Kind::Answered(what, reply) => {
                let word = match reply {
                    Reply::Once => "✓ allowed",
                    Reply::Session => "✓ allowed for the session",
                    Reply::Deny => "✗ not allowed",
                };
                plain(&format!("{word}: {what}"), width, theme.dim)
            }
            Kind::Early(why) => plain(&format!("■ stopped: {why}"), width, theme.status(Status::Cancelled)),
            Kind::Note(text) => plain(&format!("! {text}"), width, theme.error),
        };
    }
}

/// Returns `⌁ bash_1 exited (0) · 4.2s · path`.
fn banner(notice: &Notice) -> String {
    let code = notice.news.exit_code().map(|code| format!(" ({code})")).unwrap_or_default();
    let took = notice.duration_ms.map(|ms| format!(" · {:.1}s", ms as f64 / 1000.0)).unwrap_or_default();
    format!("⌁ {} {}{code}{took} · {}", notice.handle, notice.news.status(), notice.output_path)
}

fn banner_style(notice: &Notice, theme: &Theme) -> Style {
    match (notice.news.status(), notice.news.exit_code()) {
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

/// Sets something apart from what is before it.
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
    let first = text.trim().lines().next().unwrap_or_default();
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

fn tool(call: &Call, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (sign, status) = match call.state {
        ToolState::Pending => ("○", Status::Pending),
        ToolState::Running => ("⏳", Status::Running),
        ToolState::Done => ("✓", Status::Completed),
        ToolState::Failed => ("✗", Status::Failed),
    };
    let content: Vec<_> = call.content.iter().flat_map(|part| drawn(part, theme)).collect();
    let amount = match content.len() {
        0 => String::new(),
        lines => format!("  ({})", count(lines, "line", "lines")),
    };
    let title = call.title.lines().next().unwrap_or_default();
    let room = width.saturating_sub(super::wrap::columns(&amount) + 3).max(1);
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("{sign} "), theme.status(status)),
        Span::raw(shortened(title, room)),
        Span::styled(amount, theme.dim),
    ])];
    if call.is_unfolded {
        let more = call.title.lines().skip(1).map(|line| (line.to_owned(), Style::new()));
        let all: Vec<_> = more.chain(content).collect();
        let left = all.len().saturating_sub(MOST_LINES);
        for (text, style) in all.into_iter().take(MOST_LINES) {
            lines.extend(wrap(&[Span::styled(text, style)], width, "  ", "  "));
        }
        if left > 0 {
            lines.push(styled(&format!("  … {}", count(left, "more line", "more lines")), theme.dim));
        }
    }
    lines
}

fn drawn(part: &ToolContent, theme: &Theme) -> Vec<(String, Style)> {
    match part {
        ToolContent::Text { text } => text.lines().map(|line| (line.to_owned(), theme.dim)).collect(),
        ToolContent::Diff { path, old, new } => {
            let mut lines = vec![(path.clone(), theme.title)];
            lines.extend(changed(old, new).into_iter().map(|(sign, line)| {
                let style = match sign {
                    '+' => theme.status(Status::Completed),
                    '-' => theme.status(Status::Failed),
                    _ => theme.dim,
                };
                (format!("{sign} {line}"), style)
            }));
            lines
        }
    }
}

/// Returns what was changed between two texts, with a few lines around it: what is the same at both ends is left out.
fn changed<'a>(old: &'a str, new: &'a str) -> Vec<(char, &'a str)> {
    const AROUND: usize = 2;
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let before = old[head.saturating_sub(AROUND)..head].iter().map(|line| (' ', *line));
    let removed = old[head..old.len() - tail].iter().map(|line| ('-', *line));
    let added = new[head..new.len() - tail].iter().map(|line| ('+', *line));
    let after = new[new.len() - tail..].iter().take(AROUND).map(|line| (' ', *line));
    before.chain(removed).chain(added).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_what_changed_and_a_little_around_it() {
        let lines: Vec<_> = changed("a\nb\nc\nd\ne\nf", "a\nb\nc\nX\ne\nf");
        assert_eq!(lines, [(' ', "b"), (' ', "c"), ('-', "d"), ('+', "X"), (' ', "e"), (' ', "f")]);
        assert_eq!(changed("", "n"), [('+', "n")]);
        assert_eq!(changed("a\na", "a"), [(' ', "a"), ('-', "a")]);
    }
}
