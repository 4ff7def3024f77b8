//! Titles of tool calls for people.

use agent_client_protocol::v1::schema::ToolKind;
use mw_model::clipped;
use mw_policy::Tool;
use serde_json::{Map, Value};

use super::files::FileTool;

/// Most characters of a title.
const MOST_TITLE: usize = 100;

/// Returns what sort of tool it is.
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

/// Returns whether a call ran a command that did not succeed, by the reply for programs.
pub(super) fn ran_badly(tool: &str, data: &Value) -> bool {
    let bad_code = data["exit_code"].as_i64().is_some_and(|code| code != 0);
    let bad_end = matches!(data["status"].as_str(), Some("failed" | "cancelled" | "timed_out" | "lost"));
    runs_a_command(tool) && (bad_code || bad_end)
}

/// Returns the task that a call has left running or queued, by the reply for programs: the call says that it has
/// started it, or that a command in the foreground continues.
pub(super) fn left_running<'a>(tool: &str, has_started: bool, data: &'a Value) -> Option<&'a str> {
    let goes_on = runs_a_command(tool) && matches!(data["status"].as_str(), Some("running" | "pending"));
    let task = data["task_id"].as_str().or(data["id"].as_str());
    task.filter(|_| has_started || goes_on)
}

/// Returns whether a tool, by its name in any dialect, runs a command.
fn runs_a_command(tool: &str) -> bool {
    Tool::named(tool).is_some_and(|tool| tool.class.runs_a_command())
}

/// Returns a line that says what a call does.
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
    if line.is_empty() { tool.to_owned() } else { clipped(line, MOST_TITLE) }
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
