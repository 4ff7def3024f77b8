//! Approvals that an agent got through the protocol. Many agents then open a terminal for the same command: the
//! approval covers exactly that command, once.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use agent_client_protocol::v1::schema::RequestPermissionRequest;
use mw_model::{CommandSpec, RawText};

use super::quirks::Quirks;
use super::requested::{DIRECTORY_FIELDS, Operation, understand};
use crate::lock::Lock;

/// The commands that were approved in this turn and have not run yet.
#[derive(Default)]
pub(crate) struct Approved(Mutex<Vec<ApprovedCommand>>);

/// A command and its directory, in a form that does not depend on how the agent writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ApprovedCommand {
    words: Vec<String>,
    cwd: PathBuf,
}

impl Approved {
    /// Adds an approval, if it is one of a command.
    pub(crate) fn give(&self, request: &RequestPermissionRequest, cwd: &Path) {
        let input = request.tool_call.fields.raw_input.as_ref();
        let mut directories = DIRECTORY_FIELDS.iter().filter_map(|name| input?.get(name));
        // If the directory is unclear, the approval is not recorded.
        let is_clear = directories.all(|path| path.as_str().is_some_and(|path| path.starts_with('/')));
        let asked = understand(request, Quirks::of(&[]), &RawText::default());
        if let Some(command) = approved_command(&asked, cwd).filter(|_| is_clear) {
            self.0.locked().push(command);
        }
    }

    /// Uses up the approval of an operation. Returns whether there was one.
    pub(crate) fn take(&self, asked: &Operation, cwd: &Path) -> bool {
        let mut given = self.0.locked();
        let at =
            approved_command(asked, cwd).and_then(|command| given.iter().position(|given| *given == command));
        at.map(|at| given.swap_remove(at)).is_some()
    }

    /// Removes all of them, because their turn has ended.
    pub(crate) fn forget(&self) {
        self.0.locked().clear();
    }
}

fn approved_command(asked: &Operation, cwd: &Path) -> Option<ApprovedCommand> {
    let Operation::Command { command, cwd: directory, .. } = asked else { return None };
    let words = match command {
        CommandSpec::Shell { script, .. } => words_of(&script.to_lossy()),
        CommandSpec::Argv(words) => plain(words.iter().map(RawText::to_lossy).collect()),
    };
    Some(ApprovedCommand { words, cwd: directory.clone().unwrap_or_else(|| cwd.to_owned()) })
}

/// Reduces a well-known shell with a script to the script.
fn plain(words: Vec<String>) -> Vec<String> {
    const SHELLS: [&str; 6] = ["sh", "bash", "/bin/sh", "/bin/bash", "/usr/bin/sh", "/usr/bin/bash"];
    match &words[..] {
        [shell, flag, script] if SHELLS.contains(&shell.as_str()) && flag == "-c" => words_of(script),
        _ => words,
    }
}

/// Splits a script without shell syntax into words. Any other script stays whole.
fn words_of(script: &str) -> Vec<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_-./:,@%+ ".contains(c);
    if script.chars().all(is_word) {
        script.split_whitespace().map(str::to_owned).collect()
    } else {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{ToolCallUpdate, ToolCallUpdateFields};
    use serde_json::{Value, json};

    use super::*;

    fn approved(input: Value) -> Approved {
        let fields = ToolCallUpdateFields::new().raw_input(input);
        let request = RequestPermissionRequest::new("s", ToolCallUpdate::new("1", fields), Vec::new());
        let approved = Approved::default();
        approved.give(&request, Path::new("/work"));
        approved
    }

    fn program(words: &[&str], cwd: Option<&str>) -> Operation {
        let command = CommandSpec::Argv(words.iter().map(|word| RawText::from(*word)).collect());
        Operation::Command { command, cwd: cwd.map(PathBuf::from), env: Vec::new() }
    }

    fn takes(approved: &Approved, asked: &Operation) -> bool {
        approved.take(asked, Path::new("/work"))
    }

    #[test]
    fn an_approval_covers_the_same_command_in_the_same_directory_once() {
        let approval = approved(json!({"command": "rm -rf build", "description": "clean"}));
        assert!(!takes(&approval, &program(&["rm", "-rf", "src"], None)));
        assert!(!takes(&approval, &program(&["rm", "-rf", "build"], Some("/"))));
        assert!(takes(&approval, &program(&["rm", "-rf", "build"], Some("/work"))));
        assert!(!takes(&approval, &program(&["rm", "-rf", "build"], None)), "the approval is used up");
        let approval = approved(json!({"command": "rm -rf build; ls | wc"}));
        assert!(
            !takes(&approval, &program(&["/tmp/sh", "-c", "rm -rf build; ls | wc"], None)),
            "only well-known shells are accepted"
        );
        assert!(!takes(&approval, &program(&["sh", "-c", "rm -rf build; ls | wc "], None)));
        assert!(takes(&approval, &program(&["sh", "-c", "rm -rf build; ls | wc"], None)));
        let approval = approved(json!({"command": ["rm", "a b"], "cwd": "/tmp"}));
        assert!(!takes(&approval, &program(&["rm", "a", "b"], Some("/tmp"))));
        assert!(takes(&approval, &program(&["rm", "a b"], Some("/tmp"))));
    }

    #[test]
    fn unclear_commands_and_forgotten_approvals_allow_nothing() {
        for input in
            [json!({"command": "rm x", "cwd": "sub"}), json!({"command": "rm x", "workdir": 7}), json!({})]
        {
            let approval = approved(input.clone());
            assert!(!takes(&approval, &program(&["rm", "x"], None)), "{input}");
        }
        let approval = approved(json!({"command": "rm x"}));
        approval.forget();
        assert!(!takes(&approval, &program(&["rm", "x"], None)));
    }
}
