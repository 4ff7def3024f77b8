//! Generates the parts of the documents that come from the program, and checks that they are up to date.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{built_program, cargo};
use crate::error::Failure;

/// A page that is generated completely.
const REFERENCE: &str = "docs/reference.md";
/// A page whose longest block of settings is generated.
const CONFIGURATION: &str = "docs/configuration.md";
/// A page with a table of tools per dialect.
const TOOLS: &str = "docs/tools.md";

/// Rewrites the generated files.
pub(crate) fn write(root: &Path) -> Result<(), Failure> {
    for (page, text) in pages(root)? {
        let path = root.join(page);
        fs::write(&path, text).map_err(|source| Failure::File { path, source })?;
    }
    Ok(())
}

/// Fails if a generated file is out of date.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    for (page, text) in pages(root)? {
        // A missing page counts as out of date.
        if fs::read_to_string(root.join(page)).unwrap_or_default() != text {
            return Err(Failure::Stale(page));
        }
    }
    Ok(())
}

/// Writes the manual pages into a folder.
pub(crate) fn manual(root: &Path, folder: &Path) -> Result<(), Failure> {
    cargo(root, &["build", "--locked", "--package", "mw-cli", "--bins"])?;
    if folder.exists() {
        // A page of a command that no longer exists.
        fs::remove_dir_all(folder).map_err(|source| Failure::File { path: folder.to_owned(), source })?;
    }
    printed(root, &["reference", "--man", &folder.to_string_lossy()]).map(|_| ())
}

fn pages(root: &Path) -> Result<[(&'static str, String); 3], Failure> {
    cargo(root, &["build", "--locked", "--package", "mw-cli", "--bins"])?;
    let configuration = fs::read_to_string(root.join(CONFIGURATION)).unwrap_or_default();
    let settings = printed(root, &["config", "--default"])?;
    Ok([
        (REFERENCE, printed(root, &["reference"])?),
        (CONFIGURATION, with_settings(&configuration, &settings)),
        (TOOLS, with_tables(root, fs::read_to_string(root.join(TOOLS)).unwrap_or_default())?),
    ])
}

/// Inserts the tables of all dialects for which the page has marks.
fn with_tables(root: &Path, page: String) -> Result<String, Failure> {
    let mut page = page;
    for dialect in ["canonical", "zidane", "mycode", "background-task", "opta", "co-cli"] {
        let table = printed(root, &["tools", "--dialect", dialect, "--format", "markdown"])?;
        page = with_table(&page, dialect, &table);
    }
    Ok(page)
}

/// Inserts a table between the marks of a dialect.
fn with_table(page: &str, dialect: &str, table: &str) -> String {
    let (open, close) = (format!("<!-- tools: {dialect} -->\n"), "<!-- end -->");
    let Some(from) = page.find(&open).map(|at| at + open.len()) else { return page.to_owned() };
    let Some(length) = page[from..].find(close) else { return page.to_owned() };
    format!("{}\n{table}\n{}", &page[..from], &page[from + length..])
}

/// Replaces the longest block of settings.
fn with_settings(page: &str, settings: &str) -> String {
    const OPEN: &str = "```toml\n";
    let blocks = page.match_indices(OPEN).map(|(at, _)| at + OPEN.len());
    let lengths = blocks.filter_map(|from| Some((from, page[from..].find("```")?)));
    match lengths.max_by_key(|(_, length)| *length) {
        Some((from, length)) => format!("{}{settings}{}", &page[..from], &page[from + length..]),
        None => page.to_owned(),
    }
}

/// Runs the program without a terminal and settings and with a fixed width. The output is then the same on every
/// machine.
fn printed(root: &Path, words: &[&str]) -> Result<String, Failure> {
    let name = || format!("mw {}", words.join(" "));
    let mut command = Command::new(built_program(root, "debug", "mw"));
    command.args(words).current_dir(root).stdin(Stdio::null());
    command.env("COLUMNS", "100").env("NO_COLOR", "1");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEANWHILE_") {
            command.env_remove(name);
        }
    }
    let output = command.output().map_err(|source| Failure::Spawn { command: name(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    Err(Failure::Exit { command: name(), status: output.status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_the_text_between_its_marks() {
        let page = "a\n<!-- tools: x -->\nold\n<!-- end -->\nb\n<!-- tools: y -->\n<!-- end -->\n";
        let wanted = "a\n<!-- tools: x -->\n\nnew\n\n<!-- end -->\nb\n<!-- tools: y -->\n<!-- end -->\n";
        assert_eq!(with_table(page, "x", "new\n"), wanted);
        assert_eq!(with_table(page, "z", "new\n"), page);
    }

    #[test]
    fn only_the_longest_settings_block_is_replaced() {
        let page = "a\n```toml\nx = 1\n```\nb\n```toml\nlonger = 1\nmore = 2\n```\nc\n";
        assert_eq!(with_settings(page, "new\n"), "a\n```toml\nx = 1\n```\nb\n```toml\nnew\n```\nc\n");
        assert_eq!(with_settings("none\n", "new\n"), "none\n");
    }
}
