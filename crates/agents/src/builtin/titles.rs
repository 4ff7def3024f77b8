//! Titles of tool calls for display.

use agent_client_protocol::v1::schema::ToolKind;
use mw_model::clipped;
use mw_policy::Tool;
use serde_json::{Map, Value};

use super::files::FileTool;

/// The maximum length of a title, in characters.
const MAX_TITLE: usize = 100;

/// Returns the kind of a tool.
pub(super) fn kind(tool: &str) -> ToolKind {
    match FileTool::named(tool) {
        Some(FileTool::Read) => ToolKind::Read,
        Some(FileTool::Write | FileTool::Edit) => ToolKind::Edit,
        Some(FileTool::Glob | FileTool::Grep) => ToolKind::Search,
        None if runs_a_command(tool) => ToolKind::Execute,
        None => match tool {
            "task_input" => ToolKind::Execute,
            "task_output" | "task_list" | "task_wait" => ToolKind::Read,
            _ => ToolKind::Other,
        },
    }
}

/// Returns whether a tool runs a command. The name may be of any dialect.
pub(super) fn runs_a_command(tool: &str) -> bool {
    Tool::named(tool).is_some_and(|tool| tool.class.runs_a_command())
}

/// Returns a one-line description of a call.
pub(super) fn title(tool: &str, arguments: &Map<String, Value>) -> String {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let words = match tool {
        tool if runs_a_command(tool) => text("command").to_owned(),
        "read_file" => format!("Read {}", text("path")),
        "write_file" => format!("Write {}", text("path")),
        "edit_file" => format!("Edit {}", text("path")),
        "glob" => format!("Find {}", text("pattern")),
        "grep" => format!("Search {}", text("pattern")),
        _ => match arguments.get("task_id").or(arguments.get("task_ids")) {
            Some(Value::String(id)) => format!("{tool} {id}"),
            Some(ids) => format!("{tool} {ids}"),
            None => tool.to_owned(),
        },
    };
    let line: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim();
    if line.is_empty() { tool.to_owned() } else { clipped(line, MAX_TITLE) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_title_is_one_short_line() {
        let shown = |tool: &str, arguments: Value| title(tool, arguments.as_object().unwrap());
        assert_eq!(shown("shell", json!({"command": "ls\n-l"})), "ls -l");
        assert_eq!(shown("read_file", json!({"path": "a"})), "Read a");
        assert_eq!(shown("task_stop", json!({"task_ids": ["bash-1"]})), "task_stop [\"bash-1\"]");
        assert_eq!(shown("task_list", json!({})), "task_list");
        assert_eq!(shown("shell", json!({})), "shell");
        assert_eq!(shown("shell", json!({"command": "ä".repeat(300)})).chars().count(), 101);
    }
}
