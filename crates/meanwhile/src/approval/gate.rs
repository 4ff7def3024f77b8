//! The gate: decides whether a call may proceed, and asks a person if needed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

use mw_model::approval::{
    ApprovalState, BY_POLICY, Digest, PROPOSAL_VERSION, Proposal, ProposalId, ProposedAction, Remember,
};
use mw_model::{CommandSpec, EnvVar, Limits, RawText, Schedule};
use mw_policy::{ConfinementLevel, Decision, Tool, ToolClass, Verdict, steps};

use super::asker::{AskOutcome, Asker};
use super::digest::{digest_of, digest_of_request, digest_of_spec};
use super::policy::Policy;
use super::question::{NoAnswer, POLL_INTERVAL, answer_timeout, unanswered};
use crate::approval::Approvals;
use crate::database::Lookup;
use crate::disk::platform;
use crate::disk::store::ApprovalEntry;
use crate::error::{Denial, Error, Result};
use crate::redact::secrets_in;
use crate::request::TaskRequest;
use crate::request::{Approval, Consent};
use crate::task::Scope;
use crate::variables::check_set_variables;

/// A call at the gate, and the inputs of the decision.
pub struct GatedCall<'a> {
    /// The tool or command that is called.
    pub tool: Tool,
    /// Inputs of the decision.
    pub policy: &'a Policy,
    /// How to reach a person.
    pub asker: &'a dyn Asker,
}

impl Approvals<'_> {
    /// Decides about a start. `added` lists the variables that the call adds to the environment. The grant is stored in the
    /// request, which must then be started with the returned approval and otherwise unchanged.
    ///
    /// # Errors
    /// When policy or a person denies it, nobody answers, or `added` has a reserved variable.
    pub fn pass_start(
        &self,
        request: &mut TaskRequest,
        added: &[(String, String)],
        gated_call: &GatedCall<'_>,
    ) -> Result<Approval> {
        check_set_variables(added.iter().map(|(name, _)| name.as_bytes()))?;
        let policy = gated_call.policy;
        let elsewhere;
        let judging = if request.place.has_driver() {
            // The kernel of this machine confines nothing that runs elsewhere.
            elsewhere = Policy { confined: ConfinementLevel::No, ..policy.clone() };
            &elsewhere
        } else {
            policy
        };
        let (verdict, grant) =
            judging.verdict_of_start(gated_call.tool, &request.command, &request.cwd, added);
        request.grant = grant;
        let set = added
            .iter()
            .map(|(name, value)| EnvVar { name: name.as_str().into(), value: value.as_str().into() });
        self.pass_start_judged(request, set.collect(), &verdict, gated_call)
    }

    fn pass_start_judged(
        &self,
        request: &TaskRequest,
        set: Vec<EnvVar>,
        verdict: &Verdict,
        gated_call: &GatedCall<'_>,
    ) -> Result<Approval> {
        if verdict.decision == Decision::Allow {
            return Ok(Approval::Auto);
        }
        let cwd = RawText::from(request.cwd.as_os_str().as_bytes());
        let mut action = self.start_of(&request.command, cwd, &request.limits)?;
        if let ProposedAction::Start { expected, awaited, env, grant, .. } = &mut action {
            *grant = request.grant.as_ref().map(|task| task.grant.clone());
            *env = set;
            expected.clone_from(&request.expected);
            *awaited = gated_call.tool.class == ToolClass::Awaits;
        }
        let digest = digest_of_request(request);
        let mut proposal = self.proposal(&request.session, gated_call.tool, action, digest, verdict)?;
        let Schedule { restart, repeat, .. } = &request.schedule;
        proposal.effects.extend(restart.map(|policy| format!("runs again {}", policy.to_words())));
        proposal
            .effects
            .extend(repeat.as_ref().map(|repeat| format!("runs again {}", repeat.due.to_words())));
        let proposal = with_secrets(proposal, &request.env);
        self.pass(&proposal, verdict.decision, gated_call).map(Approval::Granted)
    }

    /// Gets approval for one execution by another program. The caller has already evaluated the policy. The environment of
    /// the request holds only what the call sets.
    ///
    /// # Errors
    /// As [`Approvals::pass_start`](crate::engine::Approvals::pass_start).
    pub fn pass_foreign(
        &self,
        request: &TaskRequest,
        verdict: &Verdict,
        gated_call: &GatedCall<'_>,
    ) -> Result<()> {
        match self.pass_start_judged(request, request.env.clone(), verdict, gated_call)? {
            Approval::Granted(consent) => self.use_up(&consent, None),
            Approval::User | Approval::Auto => Ok(()),
        }
    }

    /// Decides about another run of a task.
    ///
    /// # Errors
    /// As [`Approvals::pass_start`](crate::engine::Approvals::pass_start); or when there is no such task.
    pub fn pass_restart(&self, handle: &str, scope: &Scope, gated_call: &GatedCall<'_>) -> Result<()> {
        let spec =
            self.base.home.task(&Lookup::on(&self.base.database).resolve_to_act(handle, scope)?).spec()?;
        let cwd = Path::new(OsStr::from_bytes(spec.cwd.as_bytes()));
        let (tool, policy) = (gated_call.tool, gated_call.policy);
        // It runs again with its grant, whatever it would get now.
        let verdict = match &spec.grant {
            Some(own) => {
                let (confined, now) = policy.verdict_of_start(tool, &spec.command, cwd, &[]);
                let is_enough = now.is_some_and(|now| now.grant.includes(&own.grant));
                if is_enough { confined } else { policy.verdict(tool, Some(&spec.command), cwd, &[]) }
            }
            None => policy.verdict(tool, Some(&spec.command), cwd, &[]),
        };
        if verdict.decision == Decision::Allow {
            return Ok(());
        }
        let mut action = self.start_of(&spec.command, spec.cwd.clone(), &spec.limits)?;
        if let ProposedAction::Start { grant, .. } = &mut action {
            *grant = spec.grant.as_ref().map(|task| task.grant.clone());
        }
        let digest = digest_of_spec(&spec);
        let proposal = self.proposal(&spec.session, gated_call.tool, action, digest, &verdict)?;
        let proposal = with_secrets(proposal, &spec.env);
        let granted = self.pass(&proposal, verdict.decision, gated_call)?;
        self.use_up(&granted, Some(spec.id))
    }

    /// Decides about a call that starts nothing, such as a kill or input; `text` says exactly what it does.
    ///
    /// # Errors
    /// As [`Approvals::pass_start`](crate::engine::Approvals::pass_start).
    pub fn pass_action(
        &self,
        session: &str,
        cwd: &Path,
        text: &str,
        gated_call: &GatedCall<'_>,
    ) -> Result<()> {
        let verdict = gated_call.policy.verdict(gated_call.tool, None, cwd, &[]);
        if verdict.decision == Decision::Allow {
            return Ok(());
        }
        self.pass_judged(session, text, &verdict, gated_call)
    }

    /// Like [`Approvals::pass_action`](crate::engine::Approvals::pass_action), for a call that was judged elsewhere, such
    /// as a request of a subagent.
    ///
    /// # Errors
    /// As [`Approvals::pass_start`](crate::engine::Approvals::pass_start).
    pub fn pass_judged(
        &self,
        session: &str,
        text: &str,
        verdict: &Verdict,
        gated_call: &GatedCall<'_>,
    ) -> Result<()> {
        let action = ProposedAction::Other { text: text.to_owned() };
        let digest = digest_of(&(session, gated_call.tool.name, text));
        let proposal = self.proposal(session, gated_call.tool, action, digest, verdict)?;
        let granted = self.pass(&proposal, verdict.decision, gated_call)?;
        self.use_up(&granted, None)
    }

    fn start_of(&self, command: &CommandSpec, cwd: RawText, limits: &Limits) -> Result<ProposedAction> {
        let steps = match command {
            CommandSpec::Shell { script, .. } => steps(&script.to_lossy()),
            CommandSpec::Argv(_) => Vec::new(),
        };
        let took_ms = self.base.database.store()?.last_duration(&command.to_line(), &cwd.to_lossy())?;
        let (command, limits) = (command.clone(), Box::new(limits.clone()));
        Ok(ProposedAction::Start {
            command,
            steps,
            cwd,
            limits,
            expected: None,
            took_ms,
            awaited: false,
            env: Vec::new(),
            grant: None,
        })
    }

    fn proposal(
        &self,
        session: &str,
        tool: Tool,
        action: ProposedAction,
        digest: Digest,
        verdict: &Verdict,
    ) -> Result<Proposal> {
        let random: [u8; 8] = platform::random_bytes().map_err(Error::io("no random numbers available"))?;
        Ok(Proposal {
            version: PROPOSAL_VERSION,
            id: ProposalId::from_random(u64::from_le_bytes(random)),
            session: session.to_owned(),
            tool: tool.name.to_owned(),
            digest,
            action,
            reasons: verdict.reasons.iter().map(ToString::to_string).collect(),
            effects: verdict.effects.clone(),
            rules: verdict.rules.clone(),
            asked_at: self.base.clock.now(),
            secrets: Vec::new(),
        })
    }

    fn pass(&self, proposal: &Proposal, decision: Decision, gated_call: &GatedCall<'_>) -> Result<Consent> {
        if decision == Decision::Deny {
            let why = proposal.reasons.join("; ");
            let state = ApprovalState::Denied { by: BY_POLICY.to_owned(), at: self.base.clock.now(), why };
            // Calls that only read are not recorded.
            if !matches!(gated_call.tool.class, ToolClass::Reads | ToolClass::ReadsFile) {
                self.enter(proposal, &state)?;
            }
            let (mode, reasons) = (gated_call.policy.mode, proposal.reasons.clone());
            return Err(Error::Denied(Denial::Policy { mode, reasons }));
        }
        // Listen before the request can be answered.
        let listener = self.base.listen()?;
        let proposal = self.ask_or_join(proposal, gated_call.policy)?;
        if let Some(outcome) = self.standing(&proposal)? {
            return outcome;
        }
        let mut answered = || !matches!(self.standing(&proposal), Ok(None));
        let until = Instant::now() + answer_timeout(gated_call.policy);
        match gated_call.asker.ask(&proposal, &mut answered) {
            AskOutcome::Answered { answer, by } => {
                match self.answer_first(&proposal.id, answer, by) {
                    // Another person answered first; the first answer counts.
                    Err(Error::NoProposal(_) | Error::Denied(Denial::Closed { .. })) => {}
                    answered => answered?,
                }
            }
            AskOutcome::Dismissed => {
                // Another answer may have arrived at the same moment.
                let no_answer = || Err(unanswered(&proposal, &NoAnswer::Dismissed, gated_call.policy));
                return self.standing(&proposal)?.unwrap_or_else(no_answer);
            }
            AskOutcome::Later => return Err(unanswered(&proposal, &NoAnswer::Pending, gated_call.policy)),
            AskOutcome::Elsewhere => {}
        }
        loop {
            if let Some(outcome) = self.standing(&proposal)? {
                return outcome;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !gated_call.asker.still_waits() {
                let waited = NoAnswer::Waited(answer_timeout(gated_call.policy));
                return Err(unanswered(&proposal, &waited, gated_call.policy));
            }
            listener.wait(left.min(POLL_INTERVAL));
        }
    }
}

impl ApprovalEntry {
    /// Returns whether the approval is valid for every further start of exactly this command in its session.
    #[must_use]
    pub const fn is_remembered(&self) -> bool {
        matches!(self.state, ApprovalState::Approved { remember: Remember::Session, .. })
    }
}

/// Records which values in the texts of a request are secret in the environment it was made in.
fn with_secrets(mut proposal: Proposal, environment: &[EnvVar]) -> Proposal {
    let exact = proposal.exact();
    let texts: Vec<&str> = [&exact].into_iter().chain(&proposal.reasons).map(String::as_str).collect();
    proposal.secrets = secrets_in(environment, &texts);
    proposal
}
