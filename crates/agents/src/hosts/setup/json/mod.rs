//! Edits JSON files without changing any other byte.
//!
//! An entry is inserted at the front of an object or array, in one piece. Its layout shows what was there before, so it
//! can be removed again without any other record:
//!
//! | before | added | removed |
//! |---|---|---|
//! | others, on lines | on lines of its own | those lines |
//! | others, on one line | on that line | up to the next |
//! | empty | on one line, the only one | the line; the container stays |
//! | no container | the container with it, on lines (`{ … }` within one line) | the container too |

mod parse;
mod splice;
mod trivia;

use jsonc_parser::ast;

use super::error::Flaw;
pub(in crate::hosts) use super::json::parse::Syntax;
use super::json::parse::{Container, Found, parse, walk};
use super::value::{Layout, Value};

/// One of our entries: a member of an object, or an element of an array.
#[derive(Clone, Copy)]
pub(super) enum Spot<'a> {
    /// The last word of the path is the member's name.
    Member,
    /// The path leads to an array; an element is recognised by its hook command.
    Element {
        /// Returns whether a hook's command is one of ours.
        is_ours: &'a dyn Fn(&str) -> bool,
    },
}

/// Adds a value that the text does not have yet.
pub(super) fn add(
    text: Option<&str>,
    syntax: Syntax,
    path: &[&'static str],
    spot: Spot<'_>,
    value: &Value,
) -> Result<String, Flaw> {
    let (containers, leaf) = match spot {
        Spot::Member => {
            let (name, containers) = path.split_last().unwrap_or((&"", path));
            (containers, Leaf::Member(name))
        }
        Spot::Element { .. } => (path, Leaf::Element),
    };
    let Some(text) = text else {
        let layout = Layout::plain();
        return Ok(leaf.with_containers(containers, value).on_lines(&layout, "") + layout.line_end);
    };
    let Some(root) = parse(text, syntax)? else {
        if !text.trim().is_empty() {
            return Err(Flaw::unfit(text, 0, "it contains only comments"));
        }
        return Ok(leaf.with_containers(containers, value).on_one_line() + text);
    };
    let mut holder = Container::of_object(text, &root)?;
    let layout = holder.layout(text);
    for (depth, name) in containers.iter().enumerate() {
        let rest = containers.get(depth + 1..).unwrap_or_default();
        match holder.member(text, name)? {
            None => {
                let value = leaf.with_containers(rest, value);
                return Ok(splice::insert(text, &holder, &layout, Some(name), &value));
            }
            Some(found) if rest.is_empty() => holder = leaf.container(text, found)?,
            Some(found) => holder = Container::of_object(text, found)?,
        }
    }
    let name = match leaf {
        Leaf::Member(name) => Some(name),
        Leaf::Element => None,
    };
    Ok(splice::insert(text, &holder, &layout, name, value))
}

/// Removes our entry. Returns `None` if the file was created for it.
pub(super) fn take_out(
    text: &str,
    syntax: Syntax,
    path: &[&'static str],
    spot: Spot<'_>,
) -> Result<Option<String>, Flaw> {
    let Some(root) = parse(text, syntax)? else {
        return Ok(Some(text.to_owned()));
    };
    match walk(text, &root, path, spot)? {
        Some(found) => Ok(splice::take_out(text, found.chain)),
        None => Ok(Some(text.to_owned())),
    }
}

/// Returns the current command.
pub(super) fn command_line(
    text: &str,
    syntax: Syntax,
    path: &[&'static str],
    spot: Spot<'_>,
) -> Result<Option<Vec<String>>, Flaw> {
    let Some(root) = parse(text, syntax)? else {
        return Ok(None);
    };
    Ok(walk(text, &root, path, spot)?.map(|found| words(&found)))
}

fn words(found: &Found<'_, '_>) -> Vec<String> {
    let texts = |value: &ast::Value<'_>| match value {
        ast::Value::StringLit(text) => vec![text.value.clone().into_owned()],
        ast::Value::Array(list) => list
            .elements
            .iter()
            .filter_map(|item| Some(item.as_string_lit()?.value.clone().into_owned()))
            .collect(),
        _ => Vec::new(),
    };
    let fields = ["command", "args"];
    let object = found.value.as_object();
    fields.iter().filter_map(|name| object?.get(name)).flat_map(|field| texts(&field.value)).collect()
}

/// Replaces the command and nothing else.
pub(super) fn change_command(
    text: &str,
    syntax: Syntax,
    path: &[&'static str],
    spot: Spot<'_>,
    value: &Value,
) -> Result<String, Flaw> {
    let root = parse(text, syntax)?;
    let Some(found) = root.as_ref().map(|root| walk(text, root, path, spot)).transpose()?.flatten() else {
        return Ok(text.to_owned());
    };
    let Value::Table(fields) = value else {
        return Ok(text.to_owned());
    };
    let mut changed = text.to_owned();
    let mut cuts = Vec::new();
    for (name, value) in fields.iter().filter(|(name, _)| ["command", "args"].contains(name)) {
        let Some(field) = found.value.as_object().and_then(|object| object.get(name)) else {
            let range = parse::range_of(found.value);
            return Ok(format!(
                "{}{}{}",
                &text[..range.start],
                Value::Table(fields.clone()).on_one_line(),
                &text[range.end..]
            ));
        };
        cuts.push((parse::range_of(&field.value), value.on_one_line()));
    }
    cuts.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    for (range, new) in cuts {
        changed.replace_range(range, &new);
    }
    Ok(changed)
}

#[derive(Clone, Copy)]
enum Leaf {
    Member(&'static str),
    Element,
}

impl Leaf {
    /// Wraps a value in the containers that are missing.
    fn with_containers(self, containers: &[&'static str], value: &Value) -> Value {
        let inner = match self {
            Self::Member(name) => Value::Table(vec![(name, value.clone())]),
            Self::Element => Value::List(vec![value.clone()]),
        };
        containers.iter().rev().fold(inner, |inner, name| Value::Table(vec![(name, inner)]))
    }

    fn container<'text, 'tree>(
        self,
        text: &str,
        value: &'tree ast::Value<'text>,
    ) -> Result<Container<'text, 'tree>, Flaw> {
        match self {
            Self::Member(_) => Container::of_object(text, value),
            Self::Element => Container::of_array(text, value),
        }
    }
}

#[cfg(test)]
mod tests;
