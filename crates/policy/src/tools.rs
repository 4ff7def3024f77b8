//! Stage one: which tool may be called in which mode.

use super::decision::Decision;
use super::mode::{Mode, Profile};

/// What calling a tool means, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolClass {
    /// Looks at tasks and their output.
    Reads,
    /// Runs a command in the background.
    Starts,
    /// Runs a command and waits for its end.
    Awaits,
    /// Ends a task.
    Kills,
    /// Types into a task.
    Types,
    /// Removes finished tasks.
    Clears,
    /// Starts a subagent, or sends one back to work.
    Delegates,
}

/// A tool, by the name a model or a person calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What calling it means.
    pub class: ToolClass,
}

const fn tool(name: &'static str, class: ToolClass) -> Tool {
    Tool { name, class }
}

/// Every tool of every dialect, and the commands that do the same.
pub static TOOLS: [Tool; 44] = [
    // Canonical; zidane has `shell` too.
    tool("shell", ToolClass::Starts),
    tool("task_output", ToolClass::Reads),
    tool("task_wait", ToolClass::Reads),
    tool("task_list", ToolClass::Reads),
    tool("task_stop", ToolClass::Kills),
    tool("task_input", ToolClass::Types),
    tool("task_clear", ToolClass::Clears),
    tool("agent", ToolClass::Delegates),
    tool("task_resume", ToolClass::Delegates),
    // zidane.
    tool("shell_kill", ToolClass::Kills),
    // mycode.
    tool("Bash", ToolClass::Starts),
    tool("Task", ToolClass::Delegates),
    tool("TaskOutput", ToolClass::Reads),
    tool("KillShell", ToolClass::Kills),
    // The background-task specification.
    tool("background_task", ToolClass::Delegates),
    tool("background_resume", ToolClass::Delegates),
    tool("background_output", ToolClass::Reads),
    tool("background_block", ToolClass::Reads),
    tool("background_cancel", ToolClass::Kills),
    tool("background_clear", ToolClass::Clears),
    // opta.
    tool("bg_start", ToolClass::Starts),
    tool("bg_status", ToolClass::Reads),
    tool("bg_output", ToolClass::Reads),
    tool("bg_kill", ToolClass::Kills),
    // co-cli.
    tool("start_background_task", ToolClass::Starts),
    tool("check_task_status", ToolClass::Reads),
    tool("list_background_tasks", ToolClass::Reads),
    tool("cancel_background_task", ToolClass::Kills),
    // The command line.
    tool("start", ToolClass::Starts),
    tool("restart", ToolClass::Starts),
    tool("run", ToolClass::Awaits),
    tool("list", ToolClass::Reads),
    tool("status", ToolClass::Reads),
    tool("output", ToolClass::Reads),
    tool("wait", ToolClass::Reads),
    tool("watch", ToolClass::Reads),
    tool("notices", ToolClass::Reads),
    tool("tools", ToolClass::Reads),
    tool("policy", ToolClass::Reads),
    tool("kill", ToolClass::Kills),
    tool("input", ToolClass::Types),
    tool("attach", ToolClass::Types),
    tool("clear", ToolClass::Clears),
    tool("resume", ToolClass::Delegates),
];

impl Tool {
    /// Finds one by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TOOLS.iter().copied().find(|tool| tool.name == name)
    }

    /// Returns the same tool for a call that waits for the end, as `shell` without `run_in_background` does.
    #[must_use]
    pub const fn awaited(self) -> Self {
        let class = match self.class {
            ToolClass::Starts => ToolClass::Awaits,
            other => other,
        };
        Self { name: self.name, class }
    }
}

impl ToolClass {
    /// Tells whether a command comes with the call.
    #[must_use]
    pub const fn runs_a_command(self) -> bool {
        match self {
            Self::Starts | Self::Awaits => true,
            Self::Reads | Self::Kills | Self::Types | Self::Clears | Self::Delegates => false,
        }
    }

    /// Returns what it is called in a sentence.
    const fn words(self) -> &'static str {
        match self {
            Self::Reads => "looking at tasks",
            Self::Starts => "starting a background task",
            Self::Awaits => "running a command",
            Self::Kills => "ending a task",
            Self::Types => "typing into a task",
            Self::Clears => "removing finished tasks",
            Self::Delegates => "starting a subagent",
        }
    }
}

/// Looks a call up in the table of tools and modes, and says why when it is not simply allowed.
pub(super) fn stage_one(
    class: ToolClass,
    mode: Mode,
    profile: Profile,
    ci_reads: bool,
) -> (Decision, String) {
    use Decision::{Allow, Ask, Deny};
    let asks_first = profile == Profile::Opta;
    let decision = match (mode, class) {
        (Mode::Dangerous | Mode::Auto, _) => Allow,
        // opta asks before every start and kill; the others let the command itself decide.
        (Mode::Safe, ToolClass::Starts | ToolClass::Awaits | ToolClass::Kills) if asks_first => Ask,
        (Mode::Safe, ToolClass::Starts | ToolClass::Awaits | ToolClass::Kills) => Allow,
        (Mode::Safe | Mode::Plan, ToolClass::Reads) => Allow,
        (Mode::Safe, ToolClass::Clears) => Allow,
        // What is typed is code to whatever reads it, and a subagent acts on its own.
        (Mode::Safe, ToolClass::Types | ToolClass::Delegates) => Ask,
        (
            Mode::Plan,
            ToolClass::Starts
            | ToolClass::Awaits
            | ToolClass::Kills
            | ToolClass::Types
            | ToolClass::Clears
            | ToolClass::Delegates,
        ) => Deny,
        (Mode::Ci, ToolClass::Awaits) => Allow,
        (Mode::Ci, ToolClass::Reads) if ci_reads => Allow,
        (
            Mode::Ci,
            ToolClass::Reads
            | ToolClass::Starts
            | ToolClass::Kills
            | ToolClass::Types
            | ToolClass::Clears
            | ToolClass::Delegates,
        ) => Deny,
    };
    let (what, mode) = (class.words(), mode.name());
    let why = match decision {
        Allow => String::new(),
        Ask if asks_first => format!("{what} is asked about in mode {mode} of the profile opta"),
        Ask => format!("{what} is asked about in mode {mode}"),
        Deny if mode == "ci" => {
            format!("{what} is not for mode ci; run commands that are waited for, with a time limit")
        }
        Deny => format!("{what} is not for mode {mode}"),
    };
    (decision, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the table as opta writes it: one letter each for start, status, kill.
    fn row(mode: Mode, profile: Profile) -> String {
        let letter = |name: &str| {
            let class = Tool::named(name).unwrap().class;
            stage_one(class, mode, profile, false).0.word()
        };
        ["bg_start", "bg_status", "bg_output", "bg_kill"].map(letter).join(" ")
    }

    #[test]
    fn opta_has_its_table_of_tools_and_modes() {
        assert_eq!(row(Mode::Safe, Profile::Opta), "ask allow allow ask");
        assert_eq!(row(Mode::Auto, Profile::Opta), "allow allow allow allow");
        assert_eq!(row(Mode::Dangerous, Profile::Opta), "allow allow allow allow");
        assert_eq!(row(Mode::Plan, Profile::Opta), "deny allow allow deny");
        assert_eq!(row(Mode::Ci, Profile::Opta), "deny deny deny deny");
    }

    #[test]
    fn the_others_let_the_command_decide_and_do_not_ask_before_a_kill() {
        for profile in Profile::ALL.into_iter().filter(|profile| *profile != Profile::Opta) {
            assert_eq!(row(Mode::Safe, profile), "allow allow allow allow", "{}", profile.name());
            assert_eq!(row(Mode::Plan, profile), "deny allow allow deny", "{}", profile.name());
            assert_eq!(row(Mode::Ci, profile), "deny deny deny deny", "{}", profile.name());
        }
    }

    #[test]
    fn ci_lets_read_only_tools_back_in_on_request_and_runs_what_is_waited_for() {
        assert_eq!(stage_one(ToolClass::Reads, Mode::Ci, Profile::Opta, true).0, Decision::Allow);
        assert_eq!(stage_one(ToolClass::Kills, Mode::Ci, Profile::Opta, true).0, Decision::Deny);
        let awaited = Tool::named("shell").unwrap().awaited();
        assert_eq!(stage_one(awaited.class, Mode::Ci, Profile::Neutral, false).0, Decision::Allow);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TOOLS.len());
    }
}
