//! Parses a JSON file and finds the position of a value in it.

use std::ops::Range;

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::Spot;
use crate::hosts::setup::error::Flaw;
use crate::hosts::setup::value::{Layout, line_end_of};

/// What a host accepts beside plain JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hosts) enum Syntax {
    /// Nothing.
    Json,
    /// Comments.
    Comments,
    /// Comments, and commas before a closing bracket.
    Jsonc,
}

/// Parses a file. Returns `None` if it has no value.
pub(super) fn parse(text: &str, syntax: Syntax) -> Result<Option<Value<'_>>, Flaw> {
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

pub(super) fn range_of(value: &Value<'_>) -> Range<usize> {
    let range = value.range();
    range.start..range.end
}

/// An object or an array.
pub(super) struct Container<'text, 'tree> {
    /// Its range, with the brackets.
    pub(super) whole: Range<usize>,
    /// The ranges of its items.
    pub(super) items: Vec<Range<usize>>,
    members: &'tree [ObjectProp<'text>],
}

impl<'text, 'tree> Container<'text, 'tree> {
    pub(super) fn of_object(text: &str, value: &'tree Value<'text>) -> Result<Self, Flaw> {
        let whole = range_of(value);
        let Value::Object(object) = value else {
            return Err(Flaw::unfit(text, whole.start, "an object was expected here"));
        };
        let items = object.properties.iter().map(|member| member.range.start..member.range.end).collect();
        Ok(Self { whole, items, members: &object.properties })
    }

    pub(super) fn of_array(text: &str, value: &'tree Value<'text>) -> Result<Self, Flaw> {
        let whole = range_of(value);
        let Value::Array(array) = value else {
            return Err(Flaw::unfit(text, whole.start, "an array was expected here"));
        };
        Ok(Self { whole, items: array.elements.iter().map(range_of).collect(), members: &[] })
    }

    /// Returns the range of its content.
    pub(super) const fn inside(&self) -> Range<usize> {
        self.whole.start + 1..self.whole.end - 1
    }

    fn position(&self, text: &str, name: &str) -> Result<Option<usize>, Flaw> {
        let mut named = self.members.iter().enumerate().filter(|(_, member)| member.name.as_str() == name);
        let first = named.next();
        if let Some((_, second)) = named.next() {
            return Err(Flaw::unfit(text, second.range.start, format!("duplicate key {name:?}")));
        }
        Ok(first.map(|(position, _)| position))
    }

    /// Returns the value of a member.
    pub(super) fn member(&self, text: &str, name: &str) -> Result<Option<&'tree Value<'text>>, Flaw> {
        Ok(self.position(text, name)?.and_then(|at| self.members.get(at)).map(|member| &member.value))
    }

    /// Returns the layout of a file, from its outermost object.
    pub(super) fn layout(&self, text: &str) -> Layout {
        let first = self.items.first().and_then(|item| own_line_indent(text, item.start));
        let unit = first.filter(|indent| !indent.is_empty()).unwrap_or("  ").to_owned();
        Layout { unit, line_end: line_end_of(text) }
    }
}

/// Returns the text before a position on its line, if it is only white space and not on the first line.
pub(super) fn own_line_indent(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind('\n')? + 1;
    let indent = &text[start..at];
    indent.chars().all(|c| c == ' ' || c == '\t').then_some(indent)
}

/// A value that was found, and the containers around it with the position in each.
pub(super) struct Found<'text, 'tree> {
    pub(super) chain: Vec<(Container<'text, 'tree>, usize)>,
    pub(super) value: &'tree Value<'text>,
}

/// Follows a path to our entry.
pub(super) fn walk<'text, 'tree>(
    text: &str,
    root: &'tree Value<'text>,
    path: &[&str],
    spot: Spot<'_>,
) -> Result<Option<Found<'text, 'tree>>, Flaw> {
    let mut chain = Vec::new();
    let mut value = root;
    for name in path {
        let container = Container::of_object(text, value)?;
        let (Some(at), Some(found)) = (container.position(text, name)?, container.member(text, name)?) else {
            return Ok(None);
        };
        chain.push((container, at));
        value = found;
    }
    let is_ours = match spot {
        Spot::Member => return Ok(Some(Found { chain, value })),
        Spot::Element { is_ours } => is_ours,
    };
    let groups = Container::of_array(text, value)?;
    let elements = value.as_array().map(|array| array.elements.as_slice()).unwrap_or_default();
    for (at, group) in elements.iter().enumerate() {
        let Some(Value::Array(hooks)) =
            group.as_object().and_then(|group| group.get("hooks")).map(|field| &field.value)
        else {
            continue;
        };
        let command =
            |hook: &Value<'_>| Some(hook.as_object()?.get_string("command")?.value.clone().into_owned());
        let Some(inner) = hooks.elements.iter().position(|hook| command(hook).is_some_and(|it| is_ours(&it)))
        else {
            continue;
        };
        let hook = &hooks.elements[inner];
        chain.push((groups, at));
        // Somebody put further hooks into the same group: they stay.
        if hooks.elements.len() > 1
            && let Some(field) = group.as_object().and_then(|group| group.get("hooks"))
        {
            let container = Container::of_object(text, group)?;
            let place = container.position(text, "hooks")?.unwrap_or(0);
            chain.push((container, place));
            chain.push((Container::of_array(text, &field.value)?, inner));
        }
        return Ok(Some(Found { chain, value: hook }));
    }
    Ok(None)
}
