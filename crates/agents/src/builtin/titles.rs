//! Titles of tool calls for display.

use agent_client_protocol::v1::schema::ToolKind;
use mw_model::clipped;
use mw_policy::{Tool, ToolClass};
use serde_json::{Map, Value};

use super::files::FileTool;

/// The maximum length of a title, in characters.
const MAX_TITLE: usize = 100;

/// Returns the kind of a tool. The name may be of any dialect.
pub(super) fn kind(tool: &str) -> ToolKind {
    let file = FileTool::named(tool);
    if let Some(FileTool::Glob | FileTool::Grep) = file {
        return ToolKind::Search;
    }
    match file.map(FileTool::as_judged).or_else(|| Tool::named(tool)).map(|tool| tool.class) {
        Some(ToolClass::Starts | ToolClass::Awaits | ToolClass::Types) => ToolKind::Execute,
        Some(ToolClass::Reads | ToolClass::ReadsFile) => ToolKind::Read,
        Some(ToolClass::WritesFile) => ToolKind::Edit,
        Some(ToolClass::Kills | ToolClass::Clears | ToolClass::Delegates) | None => ToolKind::Other,
    }
}

/// Returns whether a tool runs a command. The name may be of any dialect.
pub(super) fn runs_a_command(tool: &str) -> bool {
    Tool::named(tool).is_some_and(|tool| tool.class.runs_a_command())
}

/// Returns a one-line description of a call.
pub(super) fn title(tool: &str, arguments: &Map<String, Value>) -> String {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let words = match FileTool::named(tool) {
        Some(FileTool::Read) => format!("Read {}", text("path")),
        Some(FileTool::Write) => format!("Write {}", text("path")),
        Some(FileTool::Edit) => format!("Edit {}", text("path")),
        Some(FileTool::Glob) => format!("Find {}", text("pattern")),
        Some(FileTool::Grep) => format!("Search {}", text("pattern")),
        None if runs_a_command(tool) => text("command").to_owned(),
        None => match arguments.get("task_id").or(arguments.get("task_ids")) {
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
    fn a_tool_has_the_same_kind_in_every_dialect() {
        let kinds = |names: &[&str], expected| names.iter().all(|name| kind(name) == expected);
        assert!(kinds(
            &["shell", "Bash", "bg_start", "start_background_task", "task_input"],
            ToolKind::Execute
        ));
        assert!(kinds(&["task_output", "TaskOutput", "bg_output", "check_task_status"], ToolKind::Read));
        assert!(kinds(&["task_stop", "KillShell", "bg_kill", "agent", "unknown"], ToolKind::Other));
        assert_eq!([kind("read_file"), kind("edit_file")], [ToolKind::Read, ToolKind::Edit]);
    }

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
