//! Finds the place of an entry in a JSON text, adds it and removes it.

use std::ops::Range;

use jsonc_parser::ast::Value as Node;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Value, json};

use super::splice;
use crate::hosts::host::starts_mw;
use crate::hosts::setup::error::Flaw;
use crate::hosts::setup::planned_entry::CommandField;
use crate::hosts::setup::value::{COMMAND_FIELDS, Layout, line_end_of, on_lines, on_one_line};

/// What a host accepts in addition to plain JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hosts) enum Syntax {
    /// Nothing.
    Json,
    /// Comments.
    Comments,
    /// Comments, and commas before a closing bracket.
    Jsonc,
}

/// What an entry is.
#[derive(Clone, Copy)]
pub(in crate::hosts::setup) enum Spot<'a> {
    /// A member of an object. The last word of the path is its name.
    Member,
    /// An element of the array at the path. It has the hook that starts `mw` with these arguments.
    Element { arguments: &'a str },
}

/// Adds a value that the text does not have yet.
pub(in crate::hosts::setup) fn add(
    text: Option<&str>,
    syntax: Syntax,
    path: &[&str],
    spot: Spot<'_>,
    value: &Value,
) -> Result<String, Flaw> {
    let in_new_array = match spot {
        Spot::Member => value.clone(),
        Spot::Element { .. } => json!([value]),
    };
    let below = |names: &[&str]| {
        names.iter().rev().fold(in_new_array.clone(), |inner, name| json!({ (*name): inner }))
    };
    let Some(text) = text else {
        let layout = Layout::plain();
        return Ok(on_lines(&below(path), &layout, "") + layout.line_end);
    };
    let Some(root) = parse(text, syntax)? else {
        if !text.trim().is_empty() {
            return Err(Flaw::unfit(text, 0, "it contains only comments"));
        }
        return Ok(on_one_line(&below(path)) + text);
    };
    Ok(match search(text, &root, path, spot)? {
        Search::Found { .. } => text.to_owned(),
        Search::Missing { holder, names } => {
            let layout = layout(text, &root);
            match names.split_first() {
                Some((name, rest)) => splice::insert(text, &holder, &layout, Some(name), &below(rest)),
                None => splice::insert(text, &holder, &layout, None, value),
            }
        }
    })
}

/// Removes our entry. Returns `None` if the file was created for it.
pub(in crate::hosts::setup) fn take_out(
    text: &str,
    syntax: Syntax,
    path: &[&str],
    spot: Spot<'_>,
) -> Result<Option<String>, Flaw> {
    let root = parse(text, syntax)?;
    match root.as_ref().map(|root| search(text, root, path, spot)).transpose()? {
        Some(Search::Found { chain, .. }) => Ok(splice::take_out(text, chain)),
        Some(Search::Missing { .. }) | None => Ok(Some(text.to_owned())),
    }
}

/// Returns the command of our entry.
pub(in crate::hosts::setup) fn command(
    text: &str,
    syntax: Syntax,
    path: &[&str],
    spot: Spot<'_>,
) -> Result<Option<Vec<CommandField>>, Flaw> {
    let Some(root) = parse(text, syntax)? else { return Ok(None) };
    let Search::Found { entry, .. } = search(text, &root, path, spot)? else { return Ok(None) };
    let field = |name| {
        let value = &entry.as_object()?.get(name)?.value;
        let texts = match value {
            Node::Array(list) => list.elements.iter().collect(),
            other => vec![other],
        };
        let words =
            texts.into_iter().filter_map(|text| Some(text.as_string_lit()?.value.clone().into_owned()));
        Some(CommandField { name, range: span(value), words: words.collect() })
    };
    Ok(Some(COMMAND_FIELDS.into_iter().filter_map(field).collect()))
}

/// Parses a file. Returns `None` if it has no value.
fn parse(text: &str, syntax: Syntax) -> Result<Option<Node<'_>>, Flaw> {
    let options = ParseOptions {
        allow_comments: syntax != Syntax::Json,
        allow_trailing_commas: syntax == Syntax::Jsonc,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(text, &CollectOptions::default(), &options) {
        Ok(parsed) => Ok(parsed.value),
        Err(error) => Err(Flaw::Broken { line: error.line_display(), why: error.kind().to_string() }),
    }
}

fn span(node: &impl Ranged) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}

/// An object or an array.
pub(super) struct Container {
    /// Its range, with the brackets.
    pub(super) whole: Range<usize>,
    /// The ranges of its items.
    pub(super) items: Vec<Range<usize>>,
}

impl Container {
    fn new<'a, T: Ranged + 'a>(node: &Node<'_>, items: impl IntoIterator<Item = &'a T>) -> Self {
        Self { whole: span(node), items: items.into_iter().map(span).collect() }
    }

    /// Returns the range of its content.
    pub(super) const fn inside(&self) -> Range<usize> {
        self.whole.start + 1..self.whole.end - 1
    }
}

/// Returns the layout of a file, from its first line with a member.
fn layout(text: &str, root: &Node<'_>) -> Layout {
    let first = root.as_object().and_then(|object| object.properties.first());
    let indent = first.and_then(|first| splice::own_line_indent(text, first.range.start));
    let unit = indent.filter(|indent| !indent.is_empty()).unwrap_or("  ").to_owned();
    Layout { unit, line_end: line_end_of(text) }
}

/// The result of looking for our entry.
enum Search<'node, 'path> {
    Found {
        /// The containers around it, outermost first, with the position in each.
        chain: Vec<(Container, usize)>,
        entry: &'node Node<'node>,
    },
    Missing {
        /// The innermost container that exists.
        holder: Container,
        /// The names that are missing below it.
        names: &'path [&'path str],
    },
}

fn search<'node, 'path>(
    text: &str,
    root: &'node Node<'node>,
    path: &'path [&'path str],
    spot: Spot<'_>,
) -> Result<Search<'node, 'path>, Flaw> {
    let mut chain = Vec::new();
    let mut node = root;
    for (depth, name) in path.iter().enumerate() {
        let Node::Object(object) = node else {
            return Err(Flaw::unfit(text, span(node).start, "an object was expected here"));
        };
        let container = Container::new(node, &object.properties);
        let mut named = object.properties.iter().enumerate().filter(|(_, one)| one.name.as_str() == *name);
        let Some((at, member)) = named.next() else {
            return Ok(Search::Missing { holder: container, names: &path[depth..] });
        };
        if let Some((_, second)) = named.next() {
            return Err(Flaw::unfit(text, second.range.start, format!("duplicate key {name:?}")));
        }
        chain.push((container, at));
        node = &member.value;
    }
    let Spot::Element { arguments } = spot else { return Ok(Search::Found { chain, entry: node }) };
    let Node::Array(groups) = node else {
        return Err(Flaw::unfit(text, span(node).start, "an array was expected here"));
    };
    let container = Container::new(node, &groups.elements);
    for (at, group) in groups.elements.iter().enumerate() {
        let Some(hooks) = group.as_object().and_then(|group| group.get("hooks")) else { continue };
        let elements = hooks.value.as_array().map(|list| list.elements.as_slice()).unwrap_or_default();
        let command = |hook: &'node Node<'node>| hook.as_object()?.get_string("command");
        let is_ours = |hook| command(hook).is_some_and(|command| starts_mw(&command.value, arguments));
        if let Some(inner) = elements.iter().position(is_ours) {
            chain.push((container, at));
            // Somebody put further hooks into the same group: they stay.
            if elements.len() > 1 {
                chain.push((Container::new(&hooks.value, elements), inner));
            }
            return Ok(Search::Found { chain, entry: &elements[inner] });
        }
    }
    Ok(Search::Missing { holder: container, names: &[] })
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
