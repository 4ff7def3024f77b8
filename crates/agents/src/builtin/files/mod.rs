//! The project's files: reading, writing, finding. Nothing leads out of the project, but to the session's own tasks.

mod edit;
mod own_task;
mod place;
mod search;
mod view;

pub(super) use edit::{Occurrences, replaced};
pub(super) use own_task::OwnFile;
pub(super) use place::{Place, read_text, write_text};
pub(super) use search::{GrepCall, glob, grep};
pub(super) use view::excerpt;

use serde_json::{Value, json};

use mw_tools::ToolSpec;
use mw_tools::call::Effect;

/// A tool for files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileTool {
    Read,
    Write,
    Edit,
    Glob,
    Grep,
}

impl FileTool {
    pub(super) const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Edit, Self::Glob, Self::Grep];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read_file",
            Self::Write => "write_file",
            Self::Edit => "edit_file",
            Self::Glob => "glob",
            Self::Grep => "grep",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Tells whether it changes files.
    pub(super) const fn writes(self) -> bool {
        match self {
            Self::Write | Self::Edit => true,
            Self::Read | Self::Glob | Self::Grep => false,
        }
    }

    /// Returns what a model sees.
    pub(super) fn spec(self) -> ToolSpec {
        let (title, description, properties, required) = match self {
            Self::Read => (
                "Read a file",
                "Read a text file of the project, or the log of one of your tasks. Long files come in parts: the reply says from which line to go on.",
                json!({"path": text(""), "offset": whole("First line, from 1"), "limit": whole("Most lines")}),
                &["path"] as &[&str],
            ),
            Self::Write => (
                "Write a file",
                "Make a file of the project, or replace all of its content. Prefer edit_file for changes.",
                json!({"path": text(""), "content": text("")}),
                &["path", "content"] as &[&str],
            ),
            Self::Edit => (
                "Edit a file",
                "Replace old_string, which must occur exactly once and is taken literally, by new_string.",
                json!({
                    "path": text(""), "old_string": text(""), "new_string": text(""),
                    "replace_all": {"type": "boolean", "description": "Replace every occurrence"},
                }),
                &["path", "old_string", "new_string"] as &[&str],
            ),
            Self::Glob => (
                "Find files",
                "Find files by name, such as *.rs (anywhere) or src/**/*.ts. What .gitignore names is left out.",
                json!({"pattern": text(""), "path": text("Directory to look in")}),
                &["pattern"] as &[&str],
            ),
            Self::Grep => (
                "Search in files",
                "Find lines that match a regular expression. What .gitignore names is left out.",
                json!({
                    "pattern": text(""), "path": text("File or directory to look in"),
                    "glob": text("Only files of this name, such as *.rs"),
                    "ignore_case": {"type": "boolean"}, "context": whole("Lines before and after each"),
                    "files_only": {"type": "boolean", "description": "Name the files, not the lines"},
                }),
                &["pattern"] as &[&str],
            ),
        };
        ToolSpec {
            name: self.name().to_owned(),
            title: title.to_owned(),
            description: description.to_owned(),
            input_schema: json!({"type": "object", "properties": properties, "required": required}),
            output_schema: None,
            effect: Some(if self.writes() { Effect::Runs } else { Effect::Reads }),
        }
    }
}

fn text(about: &str) -> Value {
    described("string", about)
}

fn whole(about: &str) -> Value {
    described("integer", about)
}

fn described(kind: &str, about: &str) -> Value {
    if about.is_empty() { json!({"type": kind}) } else { json!({"type": kind, "description": about}) }
}
