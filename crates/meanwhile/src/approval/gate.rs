//! The gate: decides whether a call may proceed, and asks a person if needed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use mw_model::approval::{ApprovalState, BY_POLICY, Deed, PROPOSAL_VERSION, Proposal, ProposalId, Remember};
use mw_model::{CommandSpec, EnvVar, Limits, RawText, clipped};
use mw_policy::{Decision, Mode, Tool, ToolClass, Verdict, steps};

use super::asker::{Asked, Asker};
use super::consent::{Approval, Consent};
use super::digest::{digest_of, digest_of_request, digest_of_spec};
use super::policy::Policy;
use crate::approval::Approvals;
use crate::disk::platform;
use crate::disk::store::ApprovalEntry;
use crate::error::{Denial, Error, NoConsent, Result};
use crate::record::Lookup;
use crate::redact::secrets_in;
use crate::request::TaskRequest;
use crate::task::Scope;
use crate::variables::check_set_variables;

/// How often a waiting call looks at the database, in case a wake-up was lost.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A call at the gate, and the inputs of the decision.
pub struct Passage<'a> {
    /// The tool or command that is called.
    pub tool: Tool,
    /// Inputs of the decision.
    pub policy: &'a Policy,
    /// How to reach a person.
    pub asker: &'a dyn Asker,
}

/// How an open approval request was decided.
enum Outcome {
    Granted(Consent),
    Refused(Error),
}

impl Approvals<'_> {
    /// Decides about a start. `added` lists the variables that the call adds to the environment. The approval is stored in the
    /// request, which must then be started unchanged.
    ///
    /// # Errors
    /// When policy or a person denies it, nobody answers, or `added` has a reserved variable.
    pub fn pass_start(
        &self,
        request: &TaskRequest,
        added: &[(String, String)],
        passage: &Passage<'_>,
    ) -> Result<Approval> {
        check_set_variables(added.iter().map(|(name, _)| name.as_bytes()))?;
        let verdict = passage.policy.verdict(passage.tool, Some(&request.command), &request.cwd, added);
        let set = added
            .iter()
            .map(|(name, value)| EnvVar { name: name.as_str().into(), value: value.as_str().into() });
        self.pass_start_judged(request, set.collect(), &verdict, passage)
    }

    fn pass_start_judged(
        &self,
        request: &TaskRequest,
        set: Vec<EnvVar>,
        verdict: &Verdict,
        passage: &Passage<'_>,
    ) -> Result<Approval> {
        if verdict.decision == Decision::Allow {
            return Ok(Approval::Auto);
        }
        let cwd = RawText::from(request.cwd.as_os_str().as_bytes());
        let mut deed = self.start_of(&request.command, cwd, &request.limits)?;
        if let Deed::Start { expected, awaited, env, .. } = &mut deed {
            *env = set;
            expected.clone_from(&request.expected);
            *awaited = passage.tool.class == ToolClass::Awaits;
        }
        let proposal = Proposal {
            digest: digest_of_request(request),
            ..self.proposal(&request.session, passage.tool, deed, verdict)?
        };
        let proposal = with_secrets(proposal, &request.env);
        self.pass(&proposal, verdict.decision, passage).map(Approval::Granted)
    }

    /// Decides once about a command that another program will run. The caller has judged it already. The environment of the
    /// request holds only what the call sets.
    ///
    /// # Errors
    /// As [`Approvals::pass_start`](crate::engine::Approvals::pass_start).
    pub fn pass_foreign(
        &self,
        request: &TaskRequest,
        verdict: &Verdict,
        passage: &Passage<'_>,
    ) -> Result<()> {
        match self.pass_start_judged(request, request.env.clone(), verdict, passage)? {
            Approval::Granted(consent) => self.use_up(&consent, None),
            Approval::User | Approval::Auto => Ok(()),
        }
    }

    /// Decides about a further run of a task.
    ///
    /// # Errors
    /// As [`Approvals::pass_start`](crate::engine::Approvals::pass_start); or when there is no such task.
    pub fn pass_restart(&self, handle: &str, scope: &Scope, passage: &Passage<'_>) -> Result<()> {
        let spec = self.base.home.spec(&Lookup::on(self.base).resolve_for_deed(handle, scope)?)?;
        let cwd = Path::new(OsStr::from_bytes(spec.cwd.as_bytes()));
        let verdict = passage.policy.verdict(passage.tool, Some(&spec.command), cwd, &[]);
        if verdict.decision == Decision::Allow {
            return Ok(());
        }
        let deed = self.start_of(&spec.command, spec.cwd.clone(), &spec.limits)?;
        let proposal = Proposal {
            digest: digest_of_spec(&spec),
            ..self.proposal(&spec.session, passage.tool, deed, &verdict)?
        };
        let proposal = with_secrets(proposal, &spec.env);
        let granted = self.pass(&proposal, verdict.decision, passage)?;
        self.use_up(&granted, Some(spec.id))
    }

    /// Decides about a call that starts nothing, such as a kill or input; `text` says exactly what it does.
    ///
    /// # Errors
    /// As [`Approvals::pass_start`](crate::engine::Approvals::pass_start).
    pub fn pass_deed(&self, session: &str, cwd: &Path, text: &str, passage: &Passage<'_>) -> Result<()> {
        let verdict = passage.policy.verdict(passage.tool, None, cwd, &[]);
        if verdict.decision == Decision::Allow {
            return Ok(());
        }
        self.pass_judged(session, text, &verdict, passage)
    }

    /// Like the above, for a call that was judged elsewhere, such as a request of a subagent.
    ///
    /// # Errors
    /// As [`Approvals::pass_start`](crate::engine::Approvals::pass_start).
    pub fn pass_judged(
        &self,
        session: &str,
        text: &str,
        verdict: &Verdict,
        passage: &Passage<'_>,
    ) -> Result<()> {
        let deed = Deed::Other { text: text.to_owned() };
        let proposal = Proposal {
            digest: digest_of(&(session, passage.tool.name, text)),
            ..self.proposal(session, passage.tool, deed, verdict)?
        };
        let granted = self.pass(&proposal, verdict.decision, passage)?;
        self.use_up(&granted, None)
    }

    fn start_of(&self, command: &CommandSpec, cwd: RawText, limits: &Limits) -> Result<Deed> {
        let steps = match command {
            CommandSpec::Shell { script, .. } => steps(&script.to_lossy()),
            CommandSpec::Argv(_) => Vec::new(),
        };
        let took_ms = self.base.store()?.last_duration(&command.to_line(), &cwd.to_lossy())?;
        let (command, limits) = (command.clone(), Box::new(limits.clone()));
        Ok(Deed::Start {
            command,
            steps,
            cwd,
            limits,
            expected: None,
            took_ms,
            awaited: false,
            env: Vec::new(),
        })
    }

    fn proposal(&self, session: &str, tool: Tool, deed: Deed, verdict: &Verdict) -> Result<Proposal> {
        let random: [u8; 8] = platform::random_bytes().map_err(Error::io("no random numbers available"))?;
        Ok(Proposal {
            version: PROPOSAL_VERSION,
            id: ProposalId::from_random(u64::from_le_bytes(random)),
            session: session.to_owned(),
            tool: tool.name.to_owned(),
            digest: digest_of(&()),
            deed,
            reasons: verdict.reasons.iter().map(ToString::to_string).collect(),
            effects: verdict.effects.clone(),
            rules: verdict.rules.clone(),
            asked_at: self.base.clock.now(),
            secrets: Vec::new(),
        })
    }

    fn pass(&self, proposal: &Proposal, decision: Decision, passage: &Passage<'_>) -> Result<Consent> {
        if decision == Decision::Deny {
            let why = proposal.reasons.join("; ");
            let state = ApprovalState::Denied { by: BY_POLICY.to_owned(), at: self.base.clock.now(), why };
            // Calls that only read are not recorded.
            if passage.tool.class != ToolClass::Reads {
                self.enter(proposal, &state)?;
            }
            return Err(denied_by_policy(proposal, passage.policy.mode));
        }
        // Listen before the request can be answered.
        let ear = self.base.listen()?;
        let proposal = self.ask_or_join(proposal, passage.policy)?;
        if let Some(outcome) = self.standing(&proposal)? {
            return outcome.into_result();
        }
        let mut answered = || !matches!(self.standing(&proposal), Ok(None));
        let until = Instant::now() + patience(passage.policy);
        match passage.asker.ask(&proposal, &mut answered) {
            Asked::Answered { answer, by } => {
                // Another person may have answered first; the first answer counts.
                let _ = self.answer_first(&proposal.id, answer, by);
            }
            Asked::Dismissed => {
                // Another answer may have arrived at the same moment.
                return match self.standing(&proposal)? {
                    Some(outcome) => outcome.into_result(),
                    None => Err(unanswered(&proposal, &Silence::Dismissed, passage.policy)),
                };
            }
            Asked::Later => return Err(unanswered(&proposal, &Silence::Pending, passage.policy)),
            Asked::Elsewhere => {}
        }
        loop {
            if let Some(outcome) = self.standing(&proposal)? {
                return outcome.into_result();
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !passage.asker.still_waits() {
                let waited = Silence::Waited(patience(passage.policy));
                return Err(unanswered(&proposal, &waited, passage.policy));
            }
            ear.wait(left.min(LOOK_EVERY));
        }
    }

    /// Waits until a request of another process is closed or times out. It decides nothing: the requester reads the answer.
    ///
    /// # Errors
    /// When the database fails.
    pub fn await_answer(&self, question: &ProposalId, policy: &Policy) -> Result<()> {
        let ear = self.base.listen()?;
        let until = Instant::now() + patience(policy);
        loop {
            let entry = self.base.store()?.approval(question)?;
            let is_open = entry.is_some_and(|entry| matches!(entry.state, ApprovalState::Open));
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !is_open {
                return Ok(());
            }
            ear.wait(left.min(LOOK_EVERY));
        }
    }

    /// Records an approval request, or finds the same one that is still open or approved.
    fn ask_or_join(&self, proposal: &Proposal, policy: &Policy) -> Result<Proposal> {
        self.lapse_approvals(policy.patience.keep)?;
        let store = self.base.durable()?;
        let transaction = store.begin(&self.base.home.tasks())?;
        if let Some(ApprovalEntry { proposal: found, state, .. }) =
            transaction.proposed(&proposal.session, &proposal.digest)?
        {
            let stands = match &state {
                ApprovalState::Open | ApprovalState::Approved { .. } => true,
                // A denial stays valid for a while, so that a person is not asked again at once.
                ApprovalState::Denied { at, by, .. } => {
                    let age = Duration::from_millis(proposal.asked_at.ms_since(*at));
                    by != BY_POLICY && age < policy.patience.keep
                }
                ApprovalState::Used { .. } | ApprovalState::Lapsed { .. } => false,
            };
            if stands {
                return Ok(found);
            }
        }
        transaction.propose(proposal, &ApprovalState::Open)?;
        transaction.commit()?;
        self.base.ring();
        Ok(proposal.clone())
    }

    fn enter(&self, proposal: &Proposal, state: &ApprovalState) -> Result<()> {
        self.base.transact(|transaction| Ok(transaction.propose(proposal, state)?))?;
        self.base.ring();
        Ok(())
    }

    fn standing(&self, proposal: &Proposal) -> Result<Option<Outcome>> {
        let Some(entry) = self.base.store()?.approval(&proposal.id)? else {
            // The database was removed meanwhile.
            return Ok(Some(Outcome::Refused(refused(proposal, NoConsent::Lost))));
        };
        Ok(match entry.state {
            ApprovalState::Open => None,
            ApprovalState::Approved { at, .. } => Some(Outcome::Granted(Consent {
                proposal: proposal.id.clone(),
                digest: proposal.digest.clone(),
                at,
            })),
            ApprovalState::Denied { why, .. } => {
                Some(Outcome::Refused(refused(proposal, NoConsent::Denied(why))))
            }
            ApprovalState::Used { .. } => Some(Outcome::Refused(refused(proposal, NoConsent::Used))),
            ApprovalState::Lapsed { .. } => Some(Outcome::Refused(refused(proposal, NoConsent::Lapsed))),
        })
    }
}

/// Returns how long a call waits for an answer. In mode ci there is nobody to answer.
fn patience(policy: &Policy) -> Duration {
    if policy.mode == Mode::Ci { Duration::ZERO } else { policy.patience.wait }
}

impl Outcome {
    fn into_result(self) -> Result<Consent> {
        match self {
            Self::Granted(granted) => Ok(granted),
            Self::Refused(error) => Err(error),
        }
    }
}

impl ApprovalEntry {
    /// Tells whether the approval is valid for every further start of exactly this command in its session.
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

fn subject(proposal: &Proposal) -> String {
    const MOST: usize = 200;
    clipped(&proposal.exact(), MOST)
}

/// An approval request that did not lead to an approval.
fn refused(proposal: &Proposal, why: NoConsent) -> Error {
    Error::NoConsent { why, what: subject(proposal), proposal: Box::new(proposal.clone()) }
}

fn denied_by_policy(proposal: &Proposal, mode: Mode) -> Error {
    Error::Denied(Denial::Policy { mode, reasons: proposal.reasons.clone() })
}

/// Why an open approval request has no answer yet.
enum Silence {
    /// A person is about to be asked.
    Pending,
    /// Nobody answered within this time.
    Waited(Duration),
    /// It was closed without an answer.
    Dismissed,
}

fn unanswered(proposal: &Proposal, silence: &Silence, policy: &Policy) -> Error {
    let waited = match silence {
        Silence::Pending | Silence::Waited(Duration::ZERO) => String::new(),
        Silence::Waited(wait) => format!(", and nobody answered within {} s", wait.as_secs()),
        Silence::Dismissed => ", and the request was closed without an answer".to_owned(),
    };
    Error::NeedsApproval {
        message: format!("approval required{waited}: {}: {}", subject(proposal), proposal.reasons.join("; ")),
        proposal: Box::new(proposal.clone()),
        keep: policy.patience.keep,
    }
}
