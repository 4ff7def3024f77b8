//! Decides whether an agent may do what it requests, and asks a person if needed.

use std::path::PathBuf;

use agent_client_protocol::v1::schema::{
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, SelectedPermissionOutcome,
};
use meanwhile::engine::{GatedCall, Nobody, Policy, TaskRequest};
use meanwhile::{Error, Meanwhile};
use mw_model::approval::{ApprovalState, ProposalId};
use mw_model::{EnvVar, RawText};
use mw_policy::{Decision, Grant, Mode, Reason, Tool, ToolClass, Verdict};

use super::requested::Operation;

/// Decides about the requests of an agent by the policy, and asks a person if the policy requires it. It may block: it is
/// called on a separate thread.
pub struct PolicyPermissions {
    /// The home in which approval requests are stored.
    pub home: Meanwhile,
    /// The session of the agent.
    pub session: String,
    /// The policy, and how long a request stays open.
    pub policy: Policy,
    /// The shell that runs scripts.
    pub shell: RawText,
    /// The agent's working directory.
    pub cwd: PathBuf,
    /// The project's directory.
    pub project: PathBuf,
}

/// A verdict about an operation that is not a command.
fn ruled(decision: Decision, why: String) -> Verdict {
    let reasons = match decision {
        Decision::Allow => Vec::new(),
        Decision::Ask | Decision::Deny => vec![Reason { part: String::new(), why }],
    };
    Verdict {
        decision,
        reasons,
        effects: Vec::new(),
        rules: Vec::new(),
        parsed: true,
        grant: Grant::default(),
    }
}

impl PolicyPermissions {
    fn about_files(&self, mode: Mode, paths: &[PathBuf]) -> Verdict {
        let inside = |path: &PathBuf| super::files::within(&self.project, path).is_ok();
        match mode {
            Mode::Plan | Mode::Ci => {
                ruled(Decision::Deny, format!("changing files is not allowed in mode {}", mode.name()))
            }
            Mode::Dangerous => ruled(Decision::Allow, String::new()),
            Mode::Safe | Mode::Auto if !paths.is_empty() && paths.iter().all(inside) => {
                ruled(Decision::Allow, String::new())
            }
            Mode::Safe | Mode::Auto => {
                ruled(Decision::Ask, format!("it would change files outside {}", self.project.display()))
            }
        }
    }

    /// Returns the current policy: the host of the session may have changed the mode.
    fn policy(&self) -> Result<Policy, Error> {
        let stored = self.home.with(|runtime| runtime.approvals().session_policy(&self.session))?;
        let mode = stored.map_or(self.policy.mode, |stored| stored.mode_beside(self.policy.mode));
        Ok(Policy { mode, ..self.policy.clone() })
    }

    fn verdict(&self, policy: &Policy, asked: &Operation) -> Verdict {
        match asked {
            Operation::Command { command, cwd, env } => {
                policy.verdict(runs(), Some(command), cwd.as_ref().unwrap_or(&self.cwd), env)
            }
            Operation::Edit { paths } => self.about_files(policy.mode, paths),
            Operation::Tool { name } => match Tool::named(name) {
                Some(tool) => policy.verdict(tool, None, &self.cwd, &[]),
                None => ruled(Decision::Ask, "unknown tool".to_owned()),
            },
            Operation::Other { title } => match policy.mode {
                Mode::Dangerous => ruled(Decision::Allow, String::new()),
                Mode::Plan | Mode::Ci | Mode::Safe | Mode::Auto => {
                    ruled(Decision::Ask, format!("unknown effects of {title:?}"))
                }
            },
            Operation::Read => ruled(Decision::Allow, String::new()),
        }
    }

    /// Asks for approval, and waits for the answer as long as the request stays open.
    fn propose(&self, policy: &Policy, asked: &Operation, verdict: &Verdict) -> Result<(), Error> {
        let gated_call = GatedCall { tool: runs(), policy, asker: &Nobody };
        let Operation::Command { command, cwd, env } = asked else {
            let text = asked.to_string();
            return self
                .home
                .with(|runtime| runtime.approvals().pass_judged(&self.session, &text, verdict, &gated_call));
        };
        let var = |(name, value): &(String, String)| EnvVar {
            name: name.as_str().into(),
            value: value.as_str().into(),
        };
        let (cwd, env) = (cwd.as_ref().unwrap_or(&self.cwd), env.iter().map(var).collect());
        let request = TaskRequest::new(&self.session, command.clone(), cwd.clone(), env);
        self.home.with(|runtime| runtime.approvals().pass_foreign(&request, verdict, &gated_call))
    }
}

/// The tool as which the operations of an agent are judged.
fn runs() -> Tool {
    let unknown = Tool { name: "shell", class: ToolClass::Awaits };
    Tool::named("shell").map_or(unknown, Tool::awaited)
}

impl PolicyPermissions {
    /// Decides. If a person must be asked, `is_approved` is called first: it says whether the same was already approved.
    /// An error is the reason for a denial, for people and models. Nothing is allowed if the policy cannot be read.
    pub(crate) fn ask(&self, asked: &Operation, is_approved: impl FnOnce() -> bool) -> Result<(), String> {
        let unreadable = |error: Error| {
            format!("denied: the policy of the session {} cannot be read: {error}", self.session)
        };
        let policy = self.policy().map_err(unreadable)?;
        let verdict = self.verdict(&policy, asked);
        match verdict.decision {
            Decision::Allow => Ok(()),
            Decision::Deny => {
                let reasons: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
                Err(format!("denied: {}", reasons.join("; ")))
            }
            Decision::Ask if is_approved() => Ok(()),
            Decision::Ask => self.propose(&policy, asked, &verdict).map_err(|error| error.to_string()),
        }
    }

    /// Waits for the answer to a request that the agent itself has written to the store; `asking` is called before. The
    /// agent reads the answer there. Returns false if no person has to be asked or the request is not open.
    pub(crate) fn await_own(&self, asked: &Operation, question: &ProposalId, asking: impl FnOnce()) -> bool {
        let Ok(policy) = self.policy() else { return false };
        if self.verdict(&policy, asked).decision != Decision::Ask {
            return false;
        }
        // Only a request that is open in the store can be answered by a person.
        let open = self.home.with(|runtime| runtime.approvals().find_approval(question.as_str()));
        if !open.is_ok_and(|entry| matches!(entry.state, ApprovalState::Open)) {
            return false;
        }
        asking();
        // The agent itself reads the answer, and notices if the store fails.
        let _ = self.home.with(|runtime| runtime.approvals().await_answer(question, &policy));
        true
    }

    /// Returns whether the variables that a command adds change the decision.
    pub(crate) fn minds_environment(&self, asked: &Operation) -> bool {
        match asked {
            Operation::Command { command, cwd, env } if !env.is_empty() => {
                let Ok(policy) = self.policy() else { return true };
                let cwd = cwd.as_ref().unwrap_or(&self.cwd);
                let judged = |env| policy.verdict(runs(), Some(command), cwd, env).reasons;
                judged(env) != judged(&[])
            }
            _ => false,
        }
    }
}

/// Chooses the option of the first kind that a request offers.
pub(crate) fn choose(
    request: &RequestPermissionRequest,
    kinds: [PermissionOptionKind; 2],
) -> RequestPermissionOutcome {
    let option = kinds.iter().find_map(|kind| request.options.iter().find(|option| option.kind == *kind));
    option.map_or(RequestPermissionOutcome::Cancelled, |option| {
        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
    })
}
