//! Decides whether file tools and tools of MCP servers may be used. The engine checks its own tools itself.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use meanwhile::Error;
use meanwhile::engine::{Passage, Policy, Runtime};
use mw_model::CommandSpec;
use mw_policy::{Decision, Mode, Reason, Tool, ToolClass, Verdict};

use super::caller::TurnCaller;
use super::files::FileTool;
use super::session::Session;
use mw_tools::call::next_step;

/// A call to decide about.
pub(super) enum Wanted<'a> {
    /// A file tool, with the resolved path.
    File { tool: FileTool, path: &'a Path, root: &'a Path },
    /// A tool of an MCP server, and whether the server marks it as read-only.
    Foreign { name: &'a str, reads: bool },
}

/// Decides about a call, and may wait for a person. The error is the reason of a refusal.
pub(super) fn pass_call(
    session: &Session,
    wanted: &Wanted<'_>,
    text: &str,
    caller: &TurnCaller,
) -> Result<(), String> {
    tokio::task::block_in_place(|| {
        let premises = session.premises_now();
        let settings = session.settings.as_ref().clone();
        let passed = Runtime::open(settings)
            .and_then(|runtime| pass(&runtime, &premises.session, &premises.policy, wanted, text, caller));
        passed.map_err(|error| format!("{error}. {}", next_step(&error)))
    })
}

/// Decides about a call. `text` is the exact call.
///
/// # Errors
/// When the policy or a person denies it, or nobody answers.
fn pass(
    runtime: &Runtime,
    session: &str,
    policy: &Policy,
    wanted: &Wanted<'_>,
    text: &str,
    asker: &TurnCaller,
) -> Result<(), Error> {
    let verdict = match wanted {
        Wanted::File { tool, path, root } => file(policy, *tool, path, root),
        Wanted::Foreign { name, reads } => foreign(policy.mode, name, *reads),
    };
    let tool = match wanted {
        Wanted::File { tool, .. } if tool.writes() => Tool { name: tool.name(), class: ToolClass::Awaits },
        Wanted::File { tool, .. } => Tool { name: tool.name(), class: ToolClass::Reads },
        Wanted::Foreign { .. } => Tool { name: "mcp", class: ToolClass::Delegates },
    };
    if verdict.decision == Decision::Allow {
        return Ok(());
    }
    runtime.approvals().pass_judged(session, text, &verdict, &Passage { tool, policy, asker })
}

/// A file is judged as the command that would do the same: `cat` for reading, `tee` for writing.
fn file(policy: &Policy, tool: FileTool, path: &Path, root: &Path) -> Verdict {
    // Reading files changes nothing, so every mode allows it.
    let mode = match policy.mode {
        Mode::Plan | Mode::Ci if !tool.writes() => Mode::Auto,
        other => other,
    };
    let program = if tool.writes() { "tee" } else { "cat" };
    let command = CommandSpec::Argv(vec![program.into(), path.as_os_str().as_bytes().into()]);
    let judged = Tool { name: tool.name(), class: ToolClass::Awaits };
    let mut verdict = Policy { mode, ..policy.clone() }.verdict(judged, Some(&command), root, &[]);
    let deed = if tool.writes() { "writing a file" } else { "reading a file" };
    for reason in &mut verdict.reasons {
        reason.why = reason.why.replace("running a command", deed);
    }
    verdict
}

/// The effects of a tool of another server are unknown, except for what the server declares.
fn foreign(mode: Mode, name: &str, reads: bool) -> Verdict {
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
    Verdict { decision, reasons, effects: Vec::new(), rules: vec!["foreign-tool".to_owned()], parsed: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruled(mode: Mode, tool: FileTool, path: &str) -> Decision {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let policy = Policy { mode, ..Policy::default() };
        file(&policy, tool, &root.join(path), &root).decision
    }

    #[test]
    fn a_file_is_judged_as_the_command_that_would_do_the_same() {
        use Decision::{Allow, Ask, Deny};
        for mode in [Mode::Safe, Mode::Plan, Mode::Ci] {
            assert_eq!(ruled(mode, FileTool::Read, "src/a.rs"), Allow, "{}", mode.name());
            assert_eq!(ruled(mode, FileTool::Read, ".env"), Ask, "{}", mode.name());
        }
        assert_eq!(ruled(Mode::Safe, FileTool::Write, "src/a.rs"), Allow);
        assert_eq!(ruled(Mode::Safe, FileTool::Edit, ".git/hooks/pre-commit"), Ask);
        assert_eq!(ruled(Mode::Plan, FileTool::Write, "src/a.rs"), Deny);
        assert_eq!(ruled(Mode::Ci, FileTool::Write, "src/a.rs"), Allow);
        assert_eq!(ruled(Mode::Dangerous, FileTool::Read, ".env"), Allow);
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
