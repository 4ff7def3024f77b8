//! The table of tools and modes.

use mw_model::{Dialect, Grant, ToolClass};

use super::decision::{Decision, Reason, Verdict};
use super::mode::Mode;

/// Describes a call in a sentence.
const fn in_words(class: ToolClass) -> &'static str {
    match class {
        ToolClass::Reads => "viewing tasks",
        ToolClass::Starts => "starting a background task",
        ToolClass::Awaits => "running a command",
        ToolClass::Kills => "ending a task",
        ToolClass::Types => "sending input to a task",
        ToolClass::Clears => "removing finished tasks",
        ToolClass::Delegates => "starting a subagent",
        ToolClass::ReadsFile => "reading a file",
        ToolClass::WritesFile => "writing a file",
    }
}

/// Decides a call by its tool and the mode; returns the reason if it is not allowed.
pub(super) fn stage_one(
    class: ToolClass,
    mode: Mode,
    dialect: Dialect,
    ci_reads: bool,
) -> (Decision, String) {
    use Decision::{Allow, Ask, Deny};
    let asks_first = dialect.asks_first();
    let decision = match (mode, class) {
        (Mode::Dangerous | Mode::Auto, _) => Allow,
        // One dialect asks before every start and kill. In the others the command decides.
        (
            Mode::Safe,
            ToolClass::Starts
            | ToolClass::Awaits
            | ToolClass::Kills
            | ToolClass::ReadsFile
            | ToolClass::WritesFile,
        ) => {
            if asks_first {
                Ask
            } else {
                Allow
            }
        }
        (Mode::Safe | Mode::Plan, ToolClass::Reads) => Allow,
        // Reading files changes nothing.
        (Mode::Plan | Mode::Ci, ToolClass::ReadsFile) => Allow,
        (Mode::Safe, ToolClass::Clears) => Allow,
        // Typed text may be code for the program that reads it, and a subagent acts independently.
        (Mode::Safe, ToolClass::Types | ToolClass::Delegates) => Ask,
        (
            Mode::Plan,
            ToolClass::Starts
            | ToolClass::Awaits
            | ToolClass::Kills
            | ToolClass::Types
            | ToolClass::Clears
            | ToolClass::Delegates
            | ToolClass::WritesFile,
        ) => Deny,
        (Mode::Ci, ToolClass::Awaits | ToolClass::WritesFile) => Allow,
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
    let (what, mode) = (in_words(class), mode.name());
    let why = match decision {
        Allow => String::new(),
        Ask if asks_first => {
            format!("{what} needs approval in mode {mode} with the profile {}", dialect.profile())
        }
        Ask => format!("{what} needs approval in mode {mode}"),
        Deny if mode == "ci" && class == ToolClass::Starts => {
            format!("{what} is not allowed in mode ci; run the command in the foreground, with a time limit")
        }
        Deny => format!("{what} is not allowed in mode {mode}"),
    };
    (decision, why)
}

/// Judges a call of a tool of another server. Its effects are unknown, except for what the server declares: whether it
/// only reads.
#[must_use]
pub fn foreign_tool(mode: Mode, name: &str, reads: bool) -> Verdict {
    let decision = match mode {
        Mode::Dangerous | Mode::Auto => Decision::Allow,
        Mode::Safe | Mode::Plan if reads => Decision::Allow,
        Mode::Safe => Decision::Ask,
        Mode::Plan | Mode::Ci => Decision::Deny,
    };
    let why = match decision {
        Decision::Allow => None,
        Decision::Ask => Some("its effects are unknown".to_owned()),
        Decision::Deny => Some(format!("not allowed in mode {}", mode.name())),
    };
    let reasons = why.into_iter().map(|why| Reason { part: name.to_owned(), why }).collect();
    Verdict {
        decision,
        reasons,
        effects: Vec::new(),
        rules: vec!["foreign-tool".to_owned()],
        parsed: true,
        grant: Grant::default(),
    }
}

#[cfg(test)]
mod tests {
    use mw_model::Tool;

    use super::*;

    /// Returns the decisions for start, status, output and kill, as one row of the table.
    fn row(mode: Mode, dialect: Dialect) -> String {
        let decision = |name: &str| {
            let class = Tool::named(name).unwrap().class;
            stage_one(class, mode, dialect, false).0.word()
        };
        ["bg_start", "bg_status", "bg_output", "bg_kill"].map(decision).join(" ")
    }

    #[test]
    fn opta_decides_by_tool_and_mode() {
        assert_eq!(row(Mode::Safe, Dialect::Opta), "ask allow allow ask");
        assert_eq!(row(Mode::Auto, Dialect::Opta), "allow allow allow allow");
        assert_eq!(row(Mode::Dangerous, Dialect::Opta), "allow allow allow allow");
        assert_eq!(row(Mode::Plan, Dialect::Opta), "deny allow allow deny");
        assert_eq!(row(Mode::Ci, Dialect::Opta), "deny deny deny deny");
    }

    #[test]
    fn other_dialects_do_not_ask_before_a_start_or_a_kill() {
        for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::Opta) {
            assert_eq!(row(Mode::Safe, dialect), "allow allow allow allow", "{}", dialect.name());
            assert_eq!(row(Mode::Plan, dialect), "deny allow allow deny", "{}", dialect.name());
            assert_eq!(row(Mode::Ci, dialect), "deny deny deny deny", "{}", dialect.name());
        }
    }

    #[test]
    fn ci_mode_allows_awaited_commands_and_on_request_read_only_tools() {
        assert_eq!(stage_one(ToolClass::Reads, Mode::Ci, Dialect::Opta, true).0, Decision::Allow);
        assert_eq!(stage_one(ToolClass::Kills, Mode::Ci, Dialect::Opta, true).0, Decision::Deny);
        let awaited = Tool::named("shell").unwrap().awaited();
        assert_eq!(stage_one(awaited.class, Mode::Ci, Dialect::Canonical, false).0, Decision::Allow);
    }
}
