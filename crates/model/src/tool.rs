//! Tools by name, and what a call of each means for the policy.

use crate::dialects::Dialect;

/// What a call of a tool does, regardless of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolClass {
    /// Shows tasks and their output.
    Reads,
    /// Runs a command in the background.
    Starts,
    /// Runs a command and waits for its end.
    Awaits,
    /// Ends a task, or changes when it runs.
    Kills,
    /// Writes to the input of a task.
    Types,
    /// Removes finished tasks.
    Clears,
    /// Starts a subagent, or sends it a follow-up.
    Delegates,
    /// Reads a file. The policy judges it like a command that does so.
    ReadsFile,
    /// Changes a file. The policy judges it like a command that does so.
    WritesFile,
}

/// A tool by the name under which a model or a person calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What a call does.
    pub class: ToolClass,
}

/// The commands of `mw` that correspond to tools.
static COMMANDS: [Tool; 19] = [
    Tool::new("start", ToolClass::Starts),
    Tool::new("restart", ToolClass::Starts),
    Tool::new("run", ToolClass::Awaits),
    Tool::new("list", ToolClass::Reads),
    Tool::new("status", ToolClass::Reads),
    Tool::new("output", ToolClass::Reads),
    Tool::new("wait", ToolClass::Reads),
    Tool::new("watch", ToolClass::Reads),
    Tool::new("notices", ToolClass::Reads),
    Tool::new("tools", ToolClass::Reads),
    Tool::new("policy", ToolClass::Reads),
    Tool::new("kill", ToolClass::Kills),
    Tool::new("signal", ToolClass::Kills),
    Tool::new("pause", ToolClass::Kills),
    Tool::new("queue", ToolClass::Kills),
    Tool::new("input", ToolClass::Types),
    Tool::new("attach", ToolClass::Types),
    Tool::new("clear", ToolClass::Clears),
    Tool::new("resume", ToolClass::Delegates),
];

impl Tool {
    /// A tool without a known name. It is in the strictest class.
    pub const UNKNOWN: Self = Self::new("", ToolClass::Delegates);

    /// Creates a tool.
    #[must_use]
    pub const fn new(name: &'static str, class: ToolClass) -> Self {
        Self { name, class }
    }

    /// Finds a tool of any dialect, or a command, by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let tools = Dialect::ALL.into_iter().flat_map(Dialect::tools);
        tools.chain(&COMMANDS).copied().find(|tool| tool.name == name)
    }

    /// Returns the same tool for a call that waits for the end, as `shell` without `run_in_background` does.
    #[must_use]
    pub const fn awaited(self) -> Self {
        match self.class {
            ToolClass::Starts => Self::new(self.name, ToolClass::Awaits),
            _ => self,
        }
    }

    /// Compares names in constants, where `==` is not available.
    pub(crate) const fn is_named(self, name: &str) -> bool {
        let (own, other) = (self.name.as_bytes(), name.as_bytes());
        let mut at = 0;
        while at < own.len() && at < other.len() && own[at] == other[at] {
            at += 1;
        }
        at == own.len() && at == other.len()
    }
}

impl ToolClass {
    /// Returns whether a call has a command to run, or is judged like one.
    #[must_use]
    pub const fn runs_a_command(self) -> bool {
        match self {
            Self::Starts | Self::Awaits | Self::ReadsFile | Self::WritesFile => true,
            Self::Reads | Self::Kills | Self::Types | Self::Clears | Self::Delegates => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_name_has_the_same_class_in_every_dialect() {
        for tool in Dialect::ALL.into_iter().flat_map(Dialect::tools).chain(&COMMANDS) {
            assert_eq!(Tool::named(tool.name), Some(*tool));
        }
        assert_eq!(Tool::named("nothing"), None);
    }

    #[test]
    fn a_dialect_finds_a_tool_by_its_full_name() {
        assert_eq!(Dialect::Zidane.tool("shell"), Tool::new("shell", ToolClass::Starts));
        assert_eq!(Dialect::Zidane.tool("shell_kill").class, ToolClass::Kills);
    }
}
