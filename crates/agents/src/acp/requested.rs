//! The operation for which an agent requests permission.

use std::fmt;
use std::path::PathBuf;

use agent_client_protocol::v1::schema::{RequestPermissionRequest, ToolCallContent, ToolKind};
use mw_model::{CommandSpec, RawText};
use mw_policy::Tool;
use serde_json::Value;

use super::quirks::{Quirks, command_in};

/// An operation that an agent requests. The directory of a command is `None` if it is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Run a command, with these variables added to the environment.
    Command { command: CommandSpec, cwd: Option<PathBuf>, env: Vec<(String, String)> },
    /// Read only.
    Read,
    /// Change files; empty if they are unknown.
    Edit { paths: Vec<PathBuf> },
    /// Call one of our tools that runs no command.
    Tool { name: &'static str },
    /// An unknown operation.
    Other { title: String },
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { command, .. } => f.write_str(&command.to_line()),
            Self::Read => f.write_str("look at files"),
            Self::Edit { paths } if paths.is_empty() => f.write_str("change unspecified files"),
            Self::Edit { paths } => {
                let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(f, "change {}", paths.join(", "))
            }
            Self::Tool { name } => write!(f, "call {name}"),
            Self::Other { title } => f.write_str(title),
        }
    }
}

/// The fields in which agents name the directory of a command.
pub(crate) const DIRECTORY_FIELDS: [&str; 3] = ["cwd", "workdir", "directory"];

/// Determines the operation for which an agent requests permission. Scripts are for this shell.
pub(crate) fn understand(request: &RequestPermissionRequest, quirks: Quirks, shell: &RawText) -> Operation {
    let command = |command, cwd| Operation::Command { command, cwd, env: Vec::new() };
    let script = |text: &str| CommandSpec::Shell { program: shell.clone(), script: text.into() };
    let fields = &request.tool_call.fields;
    let title = fields.title.clone().unwrap_or_else(|| request.tool_call.tool_call_id.0.to_string());
    let input = fields.raw_input.as_ref();
    let cwd = DIRECTORY_FIELDS
        .iter()
        .find_map(|name| Some(PathBuf::from(input?.get(name)?.as_str()?)))
        .filter(|cwd| cwd.is_absolute());
    match input.and_then(|input| input.get("command").or_else(|| input.get("cmd"))) {
        Some(Value::String(text)) => return command(script(text), cwd),
        Some(Value::Array(words)) => {
            let words: Option<Vec<_>> = words.iter().map(|word| Some(word.as_str()?.into())).collect();
            if let Some(words) = words.filter(|words| !words.is_empty()) {
                return command(CommandSpec::Argv(words), cwd);
            }
        }
        _ => {}
    }
    let name = fields.name.as_deref().unwrap_or(&title);
    if name.contains("meanwhile")
        && let Some(tool) =
            Tool::named(name.rsplit("__").next().unwrap_or(name).trim_start_matches("meanwhile_"))
    {
        return Operation::Tool { name: tool.name };
    }
    match fields.kind {
        Some(ToolKind::Read | ToolKind::Search | ToolKind::Think) => Operation::Read,
        Some(ToolKind::Edit) => {
            let places = fields.locations.iter().flatten().map(|place| place.path.clone());
            let diffs = fields.content.iter().flatten().filter_map(|content| match content {
                ToolCallContent::Diff(diff) => Some(diff.path.clone()),
                _ => None,
            });
            Operation::Edit { paths: places.chain(diffs).collect() }
        }
        Some(ToolKind::Execute) if input.is_none() && quirks.titles_are_commands => {
            let (text, cwd) = command_in(&title);
            command(script(&text), cwd)
        }
        _ => Operation::Other { title },
    }
}
