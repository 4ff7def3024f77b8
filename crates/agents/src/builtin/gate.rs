//! Decides whether file tools and tools of MCP servers may be used. The engine checks its own tools itself.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use meanwhile::Error;
use meanwhile::engine::{Passage, Policy, Runtime};
use mw_model::CommandSpec;
use mw_policy::{Decision, Mode, Tool, ToolClass, Verdict, foreign_tool};

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

/// Decides about a call, which may wait for a person. The error is the reason for the refusal.
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
/// Fails if the policy or a person denies the call, or nobody answers.
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
        Wanted::Foreign { name, reads } => foreign_tool(policy.mode, name, *reads),
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

/// Judges a file tool like the equivalent command: `cat` for reading, `tee` for writing.
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
    let action = if tool.writes() { "writing a file" } else { "reading a file" };
    for reason in &mut verdict.reasons {
        reason.why = reason.why.replace("running a command", action);
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(mode: Mode, tool: FileTool, path: &str) -> Decision {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let policy = Policy { mode, ..Policy::default() };
        file(&policy, tool, &root.join(path), &root).decision
    }

    #[test]
    fn a_file_tool_is_judged_like_the_equivalent_command() {
        use Decision::{Allow, Ask, Deny};
        for mode in [Mode::Safe, Mode::Plan, Mode::Ci] {
            assert_eq!(decided(mode, FileTool::Read, "src/a.rs"), Allow, "{}", mode.name());
            assert_eq!(decided(mode, FileTool::Read, ".env"), Ask, "{}", mode.name());
        }
        assert_eq!(decided(Mode::Safe, FileTool::Write, "src/a.rs"), Allow);
        assert_eq!(decided(Mode::Safe, FileTool::Edit, ".git/hooks/pre-commit"), Ask);
        assert_eq!(decided(Mode::Plan, FileTool::Write, "src/a.rs"), Deny);
        assert_eq!(decided(Mode::Ci, FileTool::Write, "src/a.rs"), Allow);
        assert_eq!(decided(Mode::Dangerous, FileTool::Read, ".env"), Allow);
    }

    #[test]
    fn a_foreign_tool_is_judged_by_mode_and_whether_it_only_reads() {
        use Decision::{Allow, Ask, Deny};
        for (mode, writes, reads) in [
            (Mode::Safe, Ask, Allow),
            (Mode::Auto, Allow, Allow),
            (Mode::Plan, Deny, Allow),
            (Mode::Ci, Deny, Deny),
            (Mode::Dangerous, Allow, Allow),
        ] {
            assert_eq!(
                (foreign_tool(mode, "x", false).decision, foreign_tool(mode, "x", true).decision),
                (writes, reads)
            );
        }
    }
}
