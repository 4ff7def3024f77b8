//! Decides whether file tools and tools of MCP servers may be used. The engine checks its own tools itself.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use meanwhile::engine::{GatedCall, Policy, Runtime};
use mw_desk::text::with_hint;
use mw_model::CommandSpec;
use mw_policy::{Decision, Tool, ToolClass, Verdict, foreign_tool};

use super::caller::TurnCaller;
use super::files::FileTool;
use super::session::AcpSession;
use mw_tools::call::next_step;

/// A call to decide about.
pub(super) enum Wanted<'a> {
    /// A file tool, with the resolved path.
    File { tool: FileTool, path: &'a Path, root: &'a Path },
    /// A tool of an MCP server, and whether the server marks it as read-only.
    Foreign { name: &'a str, reads: bool },
}

/// Decides about a call, which may wait for a person. `text` is the exact call. The error is the reason for the refusal.
pub(super) fn pass_call(
    session: &AcpSession,
    wanted: &Wanted<'_>,
    text: &str,
    asker: &TurnCaller,
) -> Result<(), String> {
    let call_settings = session.call_settings_now();
    let policy = &call_settings.policy;
    let (tool, verdict) = match wanted {
        Wanted::File { tool, path, root } => (tool.as_judged(), file(policy, *tool, path, root)),
        Wanted::Foreign { name, reads } => {
            let tool = Tool { name: "mcp", class: ToolClass::Delegates };
            (tool, foreign_tool(policy.mode, name, *reads))
        }
    };
    if verdict.decision == Decision::Allow {
        return Ok(());
    }
    let passed = tokio::task::block_in_place(|| {
        let gated_call = GatedCall { tool, policy, asker };
        let pass = |runtime: &Runtime| {
            runtime.approvals().pass_judged(&call_settings.session, text, &verdict, &gated_call)
        };
        session.home.with(pass)
    });
    passed.map_err(|error| with_hint(&error.to_string(), &next_step(&error)))
}

/// Judges a file tool like the equivalent command: `cat` for reading, `tee` for writing.
fn file(policy: &Policy, tool: FileTool, path: &Path, root: &Path) -> Verdict {
    let program = if tool.writes() { "tee" } else { "cat" };
    let command = CommandSpec::Argv(vec![program.into(), path.as_os_str().as_bytes().into()]);
    policy.verdict(tool.as_judged(), Some(&command), root, &[])
}

#[cfg(test)]
mod tests {
    use mw_policy::Mode;

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
        let verdict = file(
            &Policy { mode: Mode::Plan, ..Policy::default() },
            FileTool::Write,
            Path::new("/p/a"),
            Path::new("/p"),
        );
        assert_eq!(
            verdict.reasons[0].to_string(),
            "`write_file`: writing a file is not allowed in mode plan"
        );
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
