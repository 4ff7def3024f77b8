//! The part of Markdown that agents write: headings, lists, quotes, code, emphasis, links. What is not understood
//! stays as it was written, so that nothing an agent says is lost.

use meanwhile::model::Status;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::wrap::wrap;
use crate::tui::Theme;

/// Draws a text in so many columns.
pub(super) fn lines(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut drawn = Vec::new();
    let mut fence: Option<String> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let marker: String = trimmed.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        if marker.len() >= 3 && fence.as_ref().is_none_or(|open| marker.starts_with(open.as_str())) {
            match fence.take() {
                Some(_) => {}
                None => {
                    let language = trimmed[marker.len()..].trim();
                    if !language.is_empty() {
                        drawn.push(Line::from(Span::styled(format!("  {language}"), theme.dim)));
                    }
                    fence = Some(marker);
                }
            }
            continue;
        }
        match &fence {
            Some(_) => {
                let code = [Span::styled(line.to_owned(), code(theme))];
                drawn.extend(wrap(&code, width, "  ", "  "));
            }
            None => drawn.extend(paragraph(line, width, theme)),
        }
    }
    drawn
}

fn paragraph(line: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let indent = line.len() - line.trim_start().len();
    let text = &line[indent..];
    let level = text.chars().take_while(|c| *c == '#').count();
    if (1..=6).contains(&level) && text[level..].starts_with(' ') {
        let style = theme.accent.add_modifier(Modifier::BOLD);
        return wrap(&inline(text[level..].trim(), style, theme), width, "", "");
    }
    if text.len() >= 3 && text.chars().all(|c| matches!(c, '-' | '*' | '_')) {
        return vec![Line::from(Span::styled("─".repeat(width.min(40)), theme.dim))];
    }
    if let Some(quoted) = text.strip_prefix('>') {
        return wrap(&inline(quoted.trim_start(), theme.dim, theme), width, "│ ", "│ ");
    }
    let pad = " ".repeat(indent);
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

/// How code looks.
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

/// Takes a line apart by its emphasis.
fn inline(text: &str, base: Style, theme: &Theme) -> Vec<Span<'static>> {
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
            '\\' if rest[1..].starts_with(|c: char| c.is_ascii_punctuation()) => {
                plain.push_str(&rest[1..2]);
                before = Some('\\');
                rest = &rest[2..];
                continue;
            }
            _ => None,
        };
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

fn enclosed<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let inner = text.strip_prefix(mark)?;
    let end = inner.find(mark).filter(|end| *end > 0)?;
    Some((&inner[..end], &inner[end + mark.len()..]))
}

/// Finds emphasis. Underscores inside of words are part of names.
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
mod tests {
    use super::*;
    use crate::tui::ThemeChoice;

    fn drawn(text: &str, width: usize) -> Vec<String> {
        let theme = Theme::of(ThemeChoice::Dark);
        lines(text, width, &theme).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_agents_write_is_drawn() {
        let text = "# Title\n\ntext with `code` and **bold** _it_\n- one\n  - two\n1. first\n> quote\n```rust\nlet a = \"b\";\n```\nend";
        assert_eq!(
            drawn(text, 40),
            [
                "Title",
                "",
                "text with code and bold it",
                "• one",
                "  • two",
                "1. first",
                "│ quote",
                "  rust",
                "  let a = \"b\";",
                "end"
            ]
        );
    }

    #[test]
    fn nothing_is_lost_that_only_looks_like_emphasis() {
        for text in ["a * b * c", "snake_case_name", "2 ** 3", "`open", "**open", "a_b", "\u{1f600} _"] {
            assert_eq!(drawn(text, 40), [text]);
        }
        assert_eq!(drawn("\\*not\\*", 40), ["*not*"]);
    }

    #[test]
    fn long_lines_hang_under_their_bullet() {
        assert_eq!(drawn("- aaa bbb ccc", 8), ["• aaa", "  bbb", "  ccc"]);
        assert_eq!(drawn("aaaaaaaaaa", 4), ["aaaa", "aaaa", "aa"]);
    }
}
