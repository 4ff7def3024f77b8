//! Draws the subset of Markdown that agents write: headings, lists, quotes, code, emphasis, links and tables. All other
//! text is shown as written, so no text is lost.

use meanwhile::model::Status;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::highlight::{self, Language};
use super::table;
use crate::screen::{Theme, wrap};

/// The fence of an open code block: its character and length.
type Fence = (char, usize);

/// A position in a text. Later text does not change how the part before it is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ResumePoint {
    bytes: usize,
    lines: usize,
    fence: Option<Fence>,
    /// The language of the open code block.
    language: Option<Language>,
    /// Whether the position is inside a line.
    is_inside: bool,
}

/// The length above which a line is drawn in pieces. An endless line then costs no more for each additional word.
const MAX_PIECE: usize = 8 << 10;

impl ResumePoint {
    /// Returns the position of the beginning of a text, below this many lines.
    pub(super) const fn below(lines: usize) -> Self {
        Self { bytes: 0, lines, fence: None, language: None, is_inside: false }
    }
}

/// Draws a text from a position on and appends the lines to those already drawn. Returns the position at which to
/// continue when text is added. A long answer arrives in thousands of pieces, and each must cost only its own length.
pub(super) fn draw(
    text: &str,
    from: ResumePoint,
    width: usize,
    theme: &Theme,
    drawn: &mut Vec<Line<'static>>,
) -> ResumePoint {
    drawn.truncate(from.lines);
    let mut resume = from;
    let mut next = from;
    // The start of the previous line, if the following lines decide how it is drawn, as in a table or the head of one.
    let mut above = None;
    let lines: Vec<&str> =
        text.get(from.bytes..).unwrap_or_default().split_inclusive('\n').flat_map(pieces).collect();
    let mut number = 0;
    while let Some(&whole) = lines.get(number) {
        let here = next;
        let ResumePoint { fence, is_inside, .. } = here;
        resume = above.take().unwrap_or(here);
        let line = whole.trim_end_matches(['\n', '\r']);
        let mark = if is_inside { None } else { fence_of(line) };
        let is_text = fence.is_none() && !is_inside;
        let table = if is_text { table::draw(&lines[number..], width, theme) } else { None };
        let mut taken = 1;
        match (fence, mark, table) {
            (Some(open), Some((mark, rest)), _) if closes(open, mark) && rest.is_empty() => next.fence = None,
            (Some(_), ..) => {
                let base = if next.language.is_some() { Style::new() } else { code(theme) };
                let code = highlight::spans(line, next.language, base, theme);
                drawn.extend(wrap(&code, width, "  ", "  "));
            }
            (None, Some((mark, language)), _) => {
                if !language.is_empty() {
                    drawn.extend(wrap(&[Span::styled(language.to_owned(), theme.dim)], width, "  ", "  "));
                }
                next.fence = Some(mark);
                next.language = language.split_whitespace().next().and_then(Language::named);
            }
            (None, None, Some((table, rows))) => {
                drawn.extend(table);
                taken = rows;
            }
            (None, None, None) if is_inside => {
                drawn.extend(wrap(&inline(line, Style::new(), theme), width, "", ""));
            }
            (None, None, None) => drawn.extend(paragraph(line, width, theme)),
        }
        above = (is_text && line.contains('|')).then_some(here);
        let lines = &lines[number..number + taken];
        next.bytes += lines.iter().map(|line| line.len()).sum::<usize>();
        next.lines = drawn.len();
        next.is_inside = lines.last().is_some_and(|line| !line.ends_with('\n'));
        number += taken;
    }
    resume
}

/// Splits a long line, at spaces if possible.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        if end > MAX_PIECE {
            end = rest.floor_char_boundary(MAX_PIECE);
            end = rest[..end].rfind(' ').map_or(end, |at| at + 1);
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// Returns the fence of a code block and the text after it.
fn fence_of(line: &str) -> Option<(Fence, &str)> {
    let text = line.trim_start();
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let times = text.len() - rest.len();
    // A line with more backticks after the first ones is inline code, not a fence.
    (times >= 3 && !rest.contains('`')).then(|| ((mark, times), rest.trim()))
}

fn closes(open: Fence, mark: Fence) -> bool {
    open.0 == mark.0 && mark.1 >= open.1
}

fn paragraph(line: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let indent = line.len() - line.trim_start().len();
    let text = &line[indent..];
    let level = text.chars().take_while(|c| *c == '#').count();
    if (1..=6).contains(&level) && text[level..].starts_with(' ') {
        // The level can be seen without colours, too.
        let style = match level {
            1 => theme.accent.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            2 => theme.accent.add_modifier(Modifier::BOLD),
            _ => Style::new().add_modifier(Modifier::BOLD | Modifier::ITALIC),
        };
        return wrap(&inline(text[level..].trim(), style, theme), width, "", "");
    }
    if text.len() >= 3 && text.chars().all(|c| matches!(c, '-' | '*' | '_')) {
        return vec![Line::from(Span::styled("─".repeat(width.min(40)), theme.dim))];
    }
    if let Some(quoted) = text.strip_prefix('>') {
        return wrap(&inline(quoted.trim_start(), theme.dim, theme), width, "│ ", "│ ");
    }
    // An indent takes at most half of the width.
    let pad = " ".repeat(indent.min(width / 2));
    for bullet in ["- ", "* ", "+ "] {
        if let Some(item) = text.strip_prefix(bullet) {
            let (mark, item) = checkbox(item);
            let first = format!("{pad}{mark} ");
            return wrap(&inline(item, Style::new(), theme), width, &first, &format!("{pad}  "));
        }
    }
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    if (1..=3).contains(&digits) && text[digits..].starts_with(". ") {
        let first = format!("{pad}{}. ", &text[..digits]);
        let rest = " ".repeat(first.len());
        return wrap(&inline(&text[digits + 2..], Style::new(), theme), width, &first, &rest);
    }
    wrap(&inline(text, Style::new(), theme), width, &pad, &pad)
}

/// Returns the style of code.
const fn code(theme: &Theme) -> Style {
    theme.status(Status::Running)
}

fn checkbox(item: &str) -> (&'static str, &str) {
    match (item.strip_prefix("[ ] "), item.strip_prefix("[x] ")) {
        (Some(item), _) => ("☐", item),
        (_, Some(item)) => ("☑", item),
        _ => ("•", item),
    }
}

/// Splits a line into spans by emphasis.
pub(super) fn inline(text: &str, base: Style, theme: &Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        let found = match c {
            '`' => enclosed(rest, "`").map(|(inner, after)| (inner, base.patch(code(theme)), after)),
            '*' | '_' => emphasis(rest, c, before).map(|(inner, bold, after)| {
                let added = if bold { Modifier::BOLD } else { Modifier::ITALIC };
                (inner, base.add_modifier(added), after)
            }),
            '~' if rest.starts_with("~~") => enclosed(rest, "~~")
                .map(|(inner, after)| (inner, base.add_modifier(Modifier::CROSSED_OUT), after)),
            '\\' if rest[1..].starts_with(|c: char| c.is_ascii_punctuation()) => {
                plain.push_str(&rest[1..2]);
                before = Some('\\');
                rest = &rest[2..];
                continue;
            }
            _ => None,
        };
        if c == '['
            && let Some((words, target, after)) = link(rest)
        {
            if !plain.is_empty() {
                spans.push(Span::styled(std::mem::take(&mut plain), base));
            }
            spans.push(Span::styled(words.to_owned(), base.add_modifier(Modifier::UNDERLINED)));
            if target != words {
                spans.push(Span::styled(format!(" ({target})"), base.patch(theme.dim)));
            }
            before = Some(')');
            rest = after;
            continue;
        }
        match found {
            Some((inner, style, after)) => {
                if !plain.is_empty() {
                    spans.push(Span::styled(std::mem::take(&mut plain), base));
                }
                spans.push(Span::styled(inner.to_owned(), style));
                before = Some(c);
                rest = after;
            }
            None => {
                plain.push(c);
                before = Some(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    if !plain.is_empty() {
        spans.push(Span::styled(plain, base));
    }
    spans
}

/// Returns the words and the target of a link, and the text after it.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (words, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (target, after) = rest.split_once(')')?;
    let is_plain = !words.is_empty() && !words.contains(['[', ']']) && !target.is_empty();
    (is_plain && !target.contains(char::is_whitespace)).then_some((words, target, after))
}

fn enclosed<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let inner = text.strip_prefix(mark)?;
    let end = inner.find(mark).filter(|end| *end > 0)?;
    Some((&inner[..end], &inner[end + mark.len()..]))
}

/// Finds emphasis. Underscores inside words do not count, because names contain them.
fn emphasis(text: &str, mark: char, before: Option<char>) -> Option<(&str, bool, &str)> {
    if mark == '_' && before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let double = format!("{mark}{mark}");
    let (marks, bold) = if text.starts_with(&double) { (double, true) } else { (mark.to_string(), false) };
    let (inner, after) = enclosed(text, &marks)?;
    let tight = !inner.starts_with(char::is_whitespace) && !inner.ends_with(char::is_whitespace);
    let ends = mark != '_' || !after.starts_with(char::is_alphanumeric);
    (tight && ends).then_some((inner, bold, after))
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
