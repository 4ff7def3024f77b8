//! Edits TOML files without changing any other byte.
//!
//! A table is added at the end of the file, after an empty line. In a file whose last line has no line end, the
//! table has neither the empty line nor a line end, which shows later how the file was before.

use serde_json::Value;
use toml_edit::{Document, DocumentMut, Item, TableLike};

use super::error::Flaw;
use super::planned_entry::CommandField;
use super::value::{COMMAND_FIELDS, line_end_of, on_one_line};

fn parse(text: &str) -> Result<Document<&str>, Flaw> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
        Flaw::Broken { line, why: error.message().to_owned() }
    })
}

fn find<'tree>(root: &'tree dyn TableLike, path: &[&str]) -> Option<&'tree Item> {
    let (name, rest) = path.split_first()?;
    let item = root.get(name)?;
    if rest.is_empty() { Some(item) } else { find(item.as_table_like()?, rest) }
}

/// Adds a table that the text does not have yet.
pub(in crate::hosts) fn add(text: Option<&str>, path: &[&str], value: &Value) -> Result<String, Flaw> {
    let table = |end: &str| {
        let fields = value.as_object().into_iter().flatten();
        let lines: Vec<_> = fields.map(|(name, value)| format!("{name} = {}", on_one_line(value))).collect();
        format!("[{}]{end}{}", path.join("."), lines.join(end))
    };
    let Some(text) = text else {
        return Ok(table("\n") + "\n");
    };
    parse(text)?;
    let end = line_end_of(text);
    let added = if text.ends_with('\n') {
        format!("{text}{end}{}{end}", table(end))
    } else {
        format!("{text}{end}{}", table(end))
    };
    // An inline table cannot be extended elsewhere.
    parse(&added).map_err(|_| Flaw::unfit(text, 0, format!("{} cannot be added to it", path.join("."))))?;
    Ok(added)
}

/// Returns the command of a table.
pub(in crate::hosts) fn command(text: &str, path: &[&str]) -> Result<Option<Vec<CommandField>>, Flaw> {
    let document = parse(text)?;
    let Some(table) = find(document.as_table(), path) else { return Ok(None) };
    let field = |name| {
        let value = table.get(name)?.as_value()?;
        let texts = value.as_array().map_or_else(|| vec![value], |list| list.iter().collect());
        let words = texts.into_iter().filter_map(|text| text.as_str().map(str::to_owned)).collect();
        Some(CommandField { name, range: value.span()?, words })
    };
    Ok(Some(COMMAND_FIELDS.into_iter().filter_map(field).collect()))
}

/// Removes a table. Returns `None` if the file was created for it.
pub(in crate::hosts) fn take_out(text: &str, path: &[&str]) -> Result<Option<String>, Flaw> {
    let document = parse(text)?;
    let Some(item) = find(document.as_table(), path) else {
        return Ok(Some(text.to_owned()));
    };
    Ok(match own_lines(text, item) {
        Some((start, end)) => {
            let (before, after) = (&text[..start], &text[end..]);
            if before.is_empty() && after.is_empty() && text.ends_with('\n') {
                return Ok(None);
            }
            let before =
                before.strip_suffix('\n').map_or(before, |rest| rest.strip_suffix('\r').unwrap_or(rest));
            Some(format!("{before}{after}"))
        }
        None => Some(without(text, path)?),
    })
}

/// Returns the lines of a table that is in one piece, has plain values and nothing else on its lines.
fn own_lines(text: &str, item: &Item) -> Option<(usize, usize)> {
    let table = item.as_table()?;
    let header = table.span()?;
    let values = table.iter().map(|(_, item)| item.as_value()?.span());
    let last = values.collect::<Option<Vec<_>>>()?.into_iter().map(|span| span.end).max()?;
    let begins_line = header.start == 0 || text[..header.start].ends_with('\n');
    let rest = &text[last..];
    let line_rest = rest.find('\n').map_or(rest.len(), |end| end + 1);
    let is_bare = rest[..line_rest].trim().is_empty() && !text[header.start..last].contains('#');
    (begins_line && is_bare).then_some((header.start, last + line_rest))
}

/// The general case: a table that was written or changed by hand.
fn without(text: &str, path: &[&str]) -> Result<String, Flaw> {
    let broken = |_| Flaw::unfit(text, 0, "it cannot be edited");
    let mut document: DocumentMut = text.parse().map_err(broken)?;
    if let Some((name, containers)) = path.split_last() {
        let holder = containers.iter().try_fold(document.as_item_mut(), |item, name| item.get_mut(name));
        if let Some(holder) = holder.and_then(Item::as_table_like_mut) {
            holder.remove(name);
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const PATH: [&str; 2] = ["mcp_servers", "meanwhile"];

    fn server() -> Value {
        json!({"command": "/opt/mw", "args": ["mcp"]})
    }

    fn round_trip(text: &str) {
        let added = add(Some(text), &PATH, &server()).unwrap();
        assert!(added.starts_with(text), "{added:?}");
        let fields = command(&added, &PATH).unwrap().unwrap();
        assert_eq!(fields.into_iter().flat_map(|field| field.words).collect::<Vec<_>>(), ["/opt/mw", "mcp"]);
        assert_eq!(take_out(&added, &PATH).unwrap().as_deref(), Some(text), "{added:?}");
    }

    #[test]
    fn an_added_entry_can_be_removed_again() {
        for text in [
            "",
            "\n",
            "a = 1",
            "a = 1\n",
            "a = 1\r\n",
            "# words\n\n\n",
            "# words",
            "[mcp_servers.other]\ncommand = \"x\" # why\n",
            "[mcp_servers]\n",
            "mcp_servers.other.command = \"x\"\n",
            "[[list]]\n[list.deep]\nx = [\n 1, # one\n]\n",
        ] {
            round_trip(text);
        }
        let made = add(None, &PATH, &server()).unwrap();
        assert_eq!(made, "[mcp_servers.meanwhile]\ncommand = \"/opt/mw\"\nargs = [\"mcp\"]\n");
        assert_eq!(take_out(&made, &PATH).unwrap(), None);
    }

    #[test]
    fn an_inline_table_is_refused_and_a_syntax_error_is_reported_with_its_line() {
        let inline = "mcp_servers = { other = { command = \"x\" } }\n";
        assert!(matches!(add(Some(inline), &PATH, &server()), Err(Flaw::Unfit { .. })));
        assert!(matches!(add(Some("a = 1\nb = \n"), &PATH, &server()), Err(Flaw::Broken { line: 2, .. })));
    }

    #[test]
    fn removing_the_table_removes_its_subtables_and_nothing_else() {
        let text = "x = 1\n\n[mcp_servers.meanwhile]\ncommand = \"mw\" # mine\n\n[mcp_servers.meanwhile.tools.shell]\n\
                    approval_mode = \"approve\"\n\n# keep\n[mcp_servers.other]\ncommand = \"o\"\n";
        let left = take_out(text, &PATH).unwrap().unwrap();
        assert_eq!(left, "x = 1\n\n# keep\n[mcp_servers.other]\ncommand = \"o\"\n");
    }

    proptest! {
        #[test]
        fn adding_and_removing_an_entry_restores_any_document(
            lines in prop::collection::vec(
                prop_oneof![
                    Just(String::new()), Just("# words".to_owned()), Just("  ".to_owned()),
                    "[a-e] = [0-9]{1,3}( # c)?", "\\[t[0-9]{1,4}\\]", "\\[\\[l[0-9]{1,4}\\]\\]",
                    "\\[mcp_servers\\.[f-l]{1,4}\\]", Just("k = '''\n[mcp_servers.meanwhile]\n'''".to_owned()),
                ],
                0..12,
            ),
            end in prop_oneof![Just("\n"), Just("\r\n")],
            last in any::<bool>(),
        ) {
            let mut text = lines.join(end);
            if last {
                text.push_str(end);
            }
            if parse(&text).is_ok() {
                round_trip(&text);
            }
        }
    }
}
