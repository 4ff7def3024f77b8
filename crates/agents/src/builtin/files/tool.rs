//! The file tools as models see them.

use serde_json::{Value, json};

use mw_policy::{Tool, ToolClass};
use mw_tools::ToolSpec;

/// A tool for files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileTool {
    Read,
    Write,
    Edit,
    Glob,
    Grep,
}

impl FileTool {
    pub(crate) const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Edit, Self::Glob, Self::Grep];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read_file",
            Self::Write => "write_file",
            Self::Edit => "edit_file",
            Self::Glob => "glob",
            Self::Grep => "grep",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Returns whether the tool changes files.
    pub(crate) const fn writes(self) -> bool {
        match self {
            Self::Write | Self::Edit => true,
            Self::Read | Self::Glob | Self::Grep => false,
        }
    }

    /// Returns the tool as the policy judges it.
    pub(crate) const fn as_judged(self) -> Tool {
        let class = if self.writes() { ToolClass::WritesFile } else { ToolClass::ReadsFile };
        Tool { name: self.name(), class }
    }

    /// Returns the definition of the tool for models.
    pub(crate) fn spec(self) -> ToolSpec {
        let (title, description, properties, required) = match self {
            Self::Read => (
                "Read a file",
                "Read a text file of the project, or the log of one of your tasks. Long files are returned in parts; the reply says at which line to continue.",
                json!({"path": text(""), "offset": whole("First line, from 1"), "limit": whole("Maximum number of lines")}),
                &["path"] as &[&str],
            ),
            Self::Write => (
                "Write a file",
                "Create a file in the project, or replace its whole content. Prefer edit_file for changes.",
                json!({"path": text(""), "content": text("")}),
                &["path", "content"] as &[&str],
            ),
            Self::Edit => (
                "Edit a file",
                "Replace old_string with new_string. old_string is literal and must occur exactly once.",
                json!({
                    "path": text(""), "old_string": text(""), "new_string": text(""),
                    "replace_all": {"type": "boolean", "description": "Replace every occurrence"},
                }),
                &["path", "old_string", "new_string"] as &[&str],
            ),
            Self::Glob => (
                "Find files",
                "Find files by name, such as *.rs (anywhere) or src/**/*.ts. Respects .gitignore.",
                json!({"pattern": text(""), "path": text("Directory to look in")}),
                &["pattern"] as &[&str],
            ),
            Self::Grep => (
                "Search in files",
                "Find lines that match a regular expression. Respects .gitignore.",
                json!({
                    "pattern": text(""), "path": text("File or directory to look in"),
                    "glob": text("Only files of this name, such as *.rs"),
                    "ignore_case": {"type": "boolean"}, "context": whole("Lines before and after each"),
                    "files_only": {"type": "boolean", "description": "List files instead of lines"},
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
            class: Some(self.as_judged().class),
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
