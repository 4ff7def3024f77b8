//! Inserts and removes text; see the table in the parent module.

use std::ops::Range;

use serde_json::Value;

use super::edit::Container;
use crate::hosts::setup::value::{Layout, on_lines, on_one_line};

/// Adds an item at the front of a container.
pub(super) fn insert(
    text: &str,
    container: &Container,
    layout: &Layout,
    name: Option<&str>,
    value: &Value,
) -> String {
    let name = name.map(|name| format!("\"{name}\": ")).unwrap_or_default();
    let end = layout.line_end;
    let outer = line_indent(text, container.whole.start);
    let inside = container.inside();
    let (at, added) = match container.items.first() {
        None if text[inside.clone()].contains('\n') => {
            (inside.start, format!(" {name}{}", on_one_line(value)))
        }
        None => {
            let line = format!("{outer}{}{name}{}", layout.unit, on_one_line(value));
            (inside.start, format!("{end}{line}{end}{outer}"))
        }
        Some(first) => match find_outside_comments(&text[inside.start..first.start], '\n') {
            None => (first.start, format!("{name}{}, ", on_one_line(value))),
            Some(line_end) => {
                let deeper = format!("{outer}{}", layout.unit);
                let indent = own_line_indent(text, first.start).unwrap_or(&deeper);
                let before = text[..inside.start + line_end]
                    .strip_suffix('\r')
                    .map_or(inside.start + line_end, str::len);
                (before, format!("{end}{indent}{name}{},", on_lines(value, layout, indent)))
            }
        },
    };
    format!("{}{added}{}", &text[..at], &text[at..])
}

/// Removes an item, and the containers that were added with it.
pub(super) fn take_out(text: &str, mut chain: Vec<(Container, usize)>) -> Option<String> {
    while let Some((container, at)) = chain.pop() {
        if !is_made_by_us(text, &container) {
            return Some(without(text, &container, at));
        }
        if chain.is_empty() {
            let left = format!("{}{}", &text[..container.whole.start], &text[container.whole.end..]);
            let item = &text[container.items.first()?.clone()];
            return match (left.trim().is_empty(), item.contains('\n')) {
                // The file existed before and was empty.
                (true, false) => Some(left),
                (true, true) => None,
                (false, _) => Some(without(text, &container, at)),
            };
        }
    }
    Some(text.to_owned())
}

/// Returns whether a container has a single item and was added together with it.
fn is_made_by_us(text: &str, container: &Container) -> bool {
    let [item] = container.items.as_slice() else {
        return false;
    };
    let inside = container.inside();
    let (lead, tail) = (&text[inside.start..item.start], &text[item.end..inside.end]);
    let is_bare = lead.trim().is_empty() && tail.trim().is_empty();
    is_bare && (text[item.clone()].contains('\n') || (lead == " " && tail == " "))
}

/// Removes one item of a container that stays.
fn without(text: &str, container: &Container, at: usize) -> String {
    let Some(item) = container.items.get(at) else {
        return text.to_owned();
    };
    let inside = container.inside();
    let next = container.items.get(at + 1).map_or(inside.end, |next| next.start);
    let comma = find_outside_comments(&text[item.end..next], ',').map(|comma| item.end + comma);
    let line_end = line_end_before(text, item.start).filter(|end| *end >= inside.start);
    let mut cuts: Vec<Range<usize>> = Vec::new();
    match comma {
        Some(comma) if comma == item.end => cuts.push(match line_end {
            Some(start) if is_blank_to_line_end(&text[comma + 1..]) => start..comma + 1,
            _ => item.start..comma + 1 + usize::from(text[comma + 1..].starts_with(' ')),
        }),
        Some(comma) => cuts.extend([comma..comma + 1, item.clone()]),
        None => {
            let start = line_end.filter(|_| is_blank_to_line_end(&text[item.end..])).unwrap_or(item.start);
            let end = if at == 0 { end_of_only(text, container, item) } else { item.end };
            let start = if &text[inside.start..item.start] == " " { inside.start } else { start };
            cuts.push(start..end);
            let previous = at.checked_sub(1).and_then(|at| container.items.get(at));
            cuts.extend(previous.and_then(|previous| {
                let comma = previous.end + find_outside_comments(&text[previous.end..item.start], ',')?;
                Some(comma..comma + 1)
            }));
        }
    }
    let mut left = text.to_owned();
    for cut in cuts {
        left.replace_range(cut, "");
    }
    left
}

/// Returns the end of the line of a single item that was added to an empty container.
fn end_of_only(text: &str, container: &Container, item: &Range<usize>) -> usize {
    let tail = &text[item.end..container.inside().end];
    let outer = line_indent(text, container.whole.start);
    let ours = ["\r\n", "\n"].iter().find_map(|end| tail.strip_prefix(end)?.strip_prefix(outer));
    match ours.filter(|rest| !rest.contains('\n')) {
        Some(rest) if line_end_before(text, item.start).is_some() => item.end + tail.len() - rest.len(),
        _ => item.end,
    }
}

/// Returns the text before a position on its line, if it is only white space and not on the first line.
pub(super) fn own_line_indent(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind('\n')? + 1;
    let indent = &text[start..at];
    indent.chars().all(|c| c == ' ' || c == '\t').then_some(indent)
}

/// Returns the first position of a character outside comments. The text has only white space, comments and
/// punctuation.
fn find_outside_comments(text: &str, wanted: char) -> Option<usize> {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if c == wanted {
            return Some(at);
        } else {
            at += c.len_utf8();
        }
    }
    None
}

/// Returns where the line end before a position begins, if only blanks are between.
fn line_end_before(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    let before = before.strip_suffix('\n')?;
    Some(before.strip_suffix('\r').unwrap_or(before).len())
}

/// Returns whether the rest of a line is blank.
fn is_blank_to_line_end(text: &str) -> bool {
    let rest = text.trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n")
}

/// Returns the white space at the beginning of the line of a position.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
