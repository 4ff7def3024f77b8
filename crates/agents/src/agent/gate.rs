//! Whether a call may be carried out: the policy decides, and asks the user through the client where it must.

use std::path::Path;
use std::sync::Arc;

use meanwhile::LocalFiles;
use mw_model::policy::{CommandText, Decision, Mode, Profile, Request, Rules, Tool, Verdict, decide};
use serde_json::{Map, Value};

use super::files::{FileTool, Place};

/// What decisions about a session's calls hang on.
#[derive(Clone)]
pub struct Policy {
    /// How much is asked about, until the client chooses another mode.
    pub mode: Mode,
    /// Whose conventions hold.
    pub profile: Profile,
    /// Whether looking at tasks is allowed in mode ci.
    pub ci_reads: bool,
    /// Directories besides the project that may be written to, absolute and without links.
    pub writable: Vec<String>,
    /// The user's directory; empty when there is none.
    pub home: String,
    /// The project's directory.
    pub project: String,
    /// Rules of the user and the project.
    pub rules: Arc<Rules>,
}

/// What is to be decided.
pub(super) enum Wanted<'a> {
    /// A tool of ours.
    Own { name: &'a str, arguments: &'a Map<String, Value>, shell: &'a str },
    /// A file, found already.
    File { tool: FileTool, path: &'a Path },
    /// A tool of somebody's server, and whether that says it only reads.
    Foreign { name: &'a str, reads: bool },
}

/// What was decided, and what a person or a model should know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ruling {
    pub(super) decision: Decision,
    pub(super) why: String,
}

impl Policy {
    pub(super) fn rule(&self, mode: Mode, wanted: &Wanted<'_>, place: &Place) -> Ruling {
        match wanted {
            Wanted::Own { name, arguments, shell } => self.own(mode, name, arguments, shell, place),
            Wanted::File { tool, path } => self.file(mode, *tool, path, place),
            Wanted::Foreign { name, reads } => foreign(mode, name, *reads),
        }
    }

    fn own(
        &self,
        mode: Mode,
        name: &str,
        arguments: &Map<String, Value>,
        shell: &str,
        place: &Place,
    ) -> Ruling {
        let Some(tool) = Tool::named(name) else {
            return Ruling { decision: Decision::Ask, why: format!("{name} is not known to the policy") };
        };
        let in_background =
            ["run_in_background", "pty"].iter().any(|flag| arguments.get(*flag).is_some_and(is_on));
        let tool = if in_background { tool } else { tool.awaited() };
        let text = arguments.get("command").and_then(Value::as_str);
        let command = text.map(|text| CommandText::Script { shell, text });
        let cwd = arguments.get("cwd").and_then(Value::as_str).unwrap_or_default();
        let cwd = place.root().join(cwd);
        let pairs = arguments.get("env").and_then(Value::as_object);
        let env: Vec<_> = pairs
            .into_iter()
            .flatten()
            .map(|(name, value)| {
                (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            })
            .collect();
        self.decide(mode, tool, command, &cwd, &env)
    }

    /// A file is judged as the command that would do the same: `cat` for reading, `tee` for writing.
    fn file(&self, mode: Mode, tool: FileTool, path: &Path, place: &Place) -> Ruling {
        let Some(shell) = Tool::named("shell") else {
            return Ruling { decision: Decision::Ask, why: String::new() };
        };
        // Looking at files changes nothing, so it suits every mode.
        let mode = match mode {
            Mode::Plan | Mode::Ci if !tool.writes() => Mode::Auto,
            other => other,
        };
        let program = if tool.writes() { "tee" } else { "cat" };
        let words = [program.to_owned(), path.to_string_lossy().into_owned()];
        let mut ruling =
            self.decide(mode, shell.awaited(), Some(CommandText::Words(&words)), place.root(), &[]);
        ruling.why = ruling
            .why
            .replace("running a command", if tool.writes() { "writing a file" } else { "reading a file" });
        ruling
    }

    fn decide(
        &self,
        mode: Mode,
        tool: Tool,
        command: Option<CommandText<'_>>,
        cwd: &Path,
        env: &[(String, String)],
    ) -> Ruling {
        let verdict = decide(&Request {
            mode,
            profile: self.profile,
            tool,
            command,
            cwd: &cwd.to_string_lossy(),
            project: &self.project,
            home: &self.home,
            writable: &self.writable,
            env,
            ci_reads: self.ci_reads,
            rules: &self.rules,
            files: &LocalFiles,
        });
        Ruling { decision: verdict.decision, why: why(&verdict) }
    }
}

fn is_on(value: &Value) -> bool {
    match value {
        Value::Bool(on) => *on,
        Value::String(text) => text.eq_ignore_ascii_case("true"),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn why(verdict: &Verdict) -> String {
    let mut lines: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
    lines.extend(verdict.effects.iter().map(|effect| format!("it {effect}")));
    lines.join("; ")
}

/// Nobody here knows what a foreign tool does, beyond what its server says.
fn foreign(mode: Mode, name: &str, reads: bool) -> Ruling {
    let decision = match mode {
        Mode::Dangerous | Mode::Auto => Decision::Allow,
        Mode::Safe | Mode::Plan if reads => Decision::Allow,
        Mode::Safe => Decision::Ask,
        Mode::Plan | Mode::Ci => Decision::Deny,
    };
    let why = match decision {
        Decision::Allow => String::new(),
        Decision::Ask => format!("what {name} does is not known here"),
        Decision::Deny => format!("{name} is not for mode {}", mode.name()),
    };
    Ruling { decision, why }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy(project: &Path) -> Policy {
        Policy {
            mode: Mode::Safe,
            profile: Profile::Neutral,
            ci_reads: false,
            writable: Vec::new(),
            home: "/nobody".to_owned(),
            project: project.to_string_lossy().into_owned(),
            rules: Arc::new(Rules::none()),
        }
    }

    fn ruled(mode: Mode, name: &str, arguments: &Value) -> Decision {
        let place = tempfile::tempdir().unwrap();
        let place = Place::new(place.path(), &[]).unwrap();
        let policy = policy(place.root());
        let wanted = match FileTool::named(name) {
            Some(tool) => {
                let path = place.root().join(arguments["path"].as_str().unwrap());
                return policy.rule(mode, &Wanted::File { tool, path: &path }, &place).decision;
            }
            None => Wanted::Own { name, arguments: arguments.as_object().unwrap(), shell: "/bin/sh" },
        };
        policy.rule(mode, &wanted, &place).decision
    }

    #[test]
    fn a_command_is_judged_with_its_directory_and_environment() {
        use Decision::{Allow, Ask, Deny};
        assert_eq!(ruled(Mode::Safe, "shell", &json!({"command": "ls"})), Allow);
        assert_eq!(ruled(Mode::Safe, "shell", &json!({"command": "rm -r x"})), Ask);
        assert_eq!(ruled(Mode::Safe, "shell", &json!({"command": "touch x", "cwd": "/etc"})), Ask);
        assert_eq!(ruled(Mode::Safe, "shell", &json!({"command": "ls", "env": {"LD_PRELOAD": "x"}})), Ask);
        assert_eq!(ruled(Mode::Plan, "shell", &json!({"command": "ls"})), Deny);
        assert_eq!(ruled(Mode::Ci, "shell", &json!({"command": "ls"})), Allow);
        assert_eq!(ruled(Mode::Ci, "shell", &json!({"command": "ls", "run_in_background": true})), Deny);
        assert_eq!(ruled(Mode::Dangerous, "shell", &json!({"command": "rm -r x"})), Allow);
        assert_eq!(ruled(Mode::Safe, "task_list", &json!({})), Allow);
        assert_eq!(ruled(Mode::Safe, "task_input", &json!({"task_id": "x", "text": "y"})), Ask);
        assert_eq!(ruled(Mode::Safe, "unheard_of", &json!({})), Ask);
    }

    #[test]
    fn a_file_is_judged_as_the_command_that_would_do_the_same() {
        use Decision::{Allow, Ask, Deny};
        for mode in [Mode::Safe, Mode::Plan, Mode::Ci] {
            assert_eq!(ruled(mode, "read_file", &json!({"path": "src/a.rs"})), Allow, "{}", mode.name());
            assert_eq!(ruled(mode, "read_file", &json!({"path": ".env"})), Ask, "{}", mode.name());
        }
        assert_eq!(ruled(Mode::Safe, "write_file", &json!({"path": "src/a.rs"})), Allow);
        assert_eq!(ruled(Mode::Safe, "edit_file", &json!({"path": ".git/hooks/pre-commit"})), Ask);
        assert_eq!(ruled(Mode::Plan, "write_file", &json!({"path": "src/a.rs"})), Deny);
        assert_eq!(ruled(Mode::Ci, "write_file", &json!({"path": "src/a.rs"})), Allow);
        assert_eq!(ruled(Mode::Dangerous, "read_file", &json!({"path": ".env"})), Allow);
    }

    #[test]
    fn a_foreign_tool_is_asked_about_unless_it_only_reads() {
        use Decision::{Allow, Ask, Deny};
        for (mode, writes, reads) in [
            (Mode::Safe, Ask, Allow),
            (Mode::Auto, Allow, Allow),
            (Mode::Plan, Deny, Allow),
            (Mode::Ci, Deny, Deny),
            (Mode::Dangerous, Allow, Allow),
        ] {
            assert_eq!(
                (foreign(mode, "x", false).decision, foreign(mode, "x", true).decision),
                (writes, reads)
            );
        }
    }
}
