//! Passing the gate.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use mw_model::approval::{ApprovalState, BY_POLICY, Deed, PROPOSAL_VERSION, Proposal, ProposalId, Remember};
use mw_model::{CommandSpec, EnvVar, Limits, RawText};
use mw_policy::{Decision, Mode, Tool, ToolClass, Verdict, steps};

use super::answer::Entry;
use super::asker::{Asked, Asker};
use super::consent::{Approval, Consent};
use super::digest::{digest_of, digest_of_request, digest_of_spec};
use super::policy::Policy;
use crate::disk::platform;
use crate::error::{Error, Result};
use crate::read::redact::secrets_in;
use crate::runtime::Runtime;
use crate::start::request::TaskRequest;
use crate::task::Scope;

/// How often a waiting call looks for itself, should a ring be lost.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Who wants to pass, and by what it is decided.
pub struct Passage<'a> {
    /// The tool or command that is called.
    pub tool: Tool,
    /// What is decided by.
    pub policy: &'a Policy,
    /// The way to a person.
    pub asker: &'a dyn Asker,
}

/// What was decided about a question that stood open.
enum Outcome {
    Granted(Consent),
    Refused(Error),
}

impl Runtime {
    /// Lets a start pass, or not; `added` is what was added to the environment for it. The approval goes into the
    /// request, which must be started as it is.
    ///
    /// # Errors
    /// When policy or a person says no, or nobody answers.
    pub fn pass_start(
        &self,
        request: &TaskRequest,
        added: &[(String, String)],
        passage: &Passage<'_>,
    ) -> Result<Approval> {
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

    /// Lets a command pass that somebody else will run, once; it was judged by whoever asks. The environment of the
    /// request is what the call sets.
    ///
    /// # Errors
    /// As [`Runtime::pass_start`].
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

    /// Lets a further run of a task pass, or not.
    ///
    /// # Errors
    /// As [`Runtime::pass_start`]; or when there is no such task.
    pub fn pass_restart(&self, handle: &str, scope: &Scope, passage: &Passage<'_>) -> Result<()> {
        let spec = self.home.spec(&self.resolve_for_deed(handle, scope)?)?;
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

    /// Lets something pass that starts nothing, such as ending or typing into a task; `text` says exactly what.
    ///
    /// # Errors
    /// As [`Runtime::pass_start`].
    pub fn pass_deed(&self, session: &str, cwd: &Path, text: &str, passage: &Passage<'_>) -> Result<()> {
        let verdict = passage.policy.verdict(passage.tool, None, cwd, &[]);
        if verdict.decision == Decision::Allow {
            return Ok(());
        }
        self.pass_judged(session, text, &verdict, passage)
    }

    /// The same for something that was judged elsewhere, such as a request of a subagent.
    ///
    /// # Errors
    /// As [`Runtime::pass_start`].
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
        let took_ms = self.store()?.last_duration(&command.to_line(), &cwd.to_lossy())?;
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
        let random: [u8; 8] = platform::random_bytes().map_err(Error::io("no random numbers"))?;
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
            asked_at: self.clock.now(),
            secrets: Vec::new(),
        })
    }

    fn pass(&self, proposal: &Proposal, decision: Decision, passage: &Passage<'_>) -> Result<Consent> {
        if decision == Decision::Deny {
            let why = proposal.reasons.join("; ");
            let state = ApprovalState::Denied { by: BY_POLICY.to_owned(), at: self.clock.now(), why };
            // Looking is no deed that anybody would look up later.
            if passage.tool.class != ToolClass::Reads {
                self.enter(proposal, &state)?;
            }
            return Err(denied_by_policy(proposal, passage.policy.mode));
        }
        // Listening begins before the question is there to be answered.
        let ear = self.listen()?;
        let proposal = self.ask_or_join(proposal, passage.policy)?;
        if let Some(outcome) = self.standing(&proposal)? {
            return outcome.into_result();
        }
        let mut answered = || !matches!(self.standing(&proposal), Ok(None));
        let until = Instant::now() + patience(passage.policy);
        match passage.asker.ask(&proposal, &mut answered) {
            Asked::Answered { answer, by } => {
                // Somebody else may have been faster; the first answer counts.
                let _ = self.answer_first(&proposal.id, answer, by);
            }
            Asked::Dismissed => {
                // Another answer may have come at the same moment.
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

    /// Waits until a question that somebody else has put stands open no more, or nobody has answered it in time. It decides
    /// nothing: the one who asks reads the answer.
    ///
    /// # Errors
    /// When the database fails.
    pub fn await_answer(&self, question: &ProposalId, policy: &Policy) -> Result<()> {
        let ear = self.listen()?;
        let until = Instant::now() + patience(policy);
        loop {
            let entry = self.store()?.approval(question)?;
            let is_open = entry.is_some_and(|entry| matches!(entry.state, ApprovalState::Open));
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !is_open {
                return Ok(());
            }
            ear.wait(left.min(LOOK_EVERY));
        }
    }

    /// Enters a question, or finds the same one that was asked before and is not done with.
    fn ask_or_join(&self, proposal: &Proposal, policy: &Policy) -> Result<Proposal> {
        self.lapse_approvals(policy.patience.keep)?;
        let store = self.durable()?;
        let transaction = store.begin(&self.home.tasks())?;
        if let Some(Entry { proposal: found, state, .. }) =
            transaction.proposed(&proposal.session, &proposal.digest)?
        {
            let stands = match &state {
                ApprovalState::Open | ApprovalState::Approved { .. } => true,
                // A no counts for a while: asking again at once would wear people down.
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
        self.ring();
        Ok(proposal.clone())
    }

    fn enter(&self, proposal: &Proposal, state: &ApprovalState) -> Result<()> {
        self.transact(|transaction| Ok(transaction.propose(proposal, state)?))?;
        self.ring();
        Ok(())
    }

    fn standing(&self, proposal: &Proposal) -> Result<Option<Outcome>> {
        let Some(entry) = self.store()?.approval(&proposal.id)? else {
            // The database was removed meanwhile.
            return Ok(Some(Outcome::Refused(refused(proposal, "the question was lost"))));
        };
        Ok(match entry.state {
            ApprovalState::Open => None,
            ApprovalState::Approved { at, .. } => Some(Outcome::Granted(Consent {
                proposal: proposal.id.clone(),
                digest: proposal.digest.clone(),
                at,
            })),
            ApprovalState::Denied { why, .. } => Some(Outcome::Refused(denied(proposal, &why))),
            ApprovalState::Used { .. } => {
                Some(Outcome::Refused(refused(proposal, "the approval was used by another call")))
            }
            ApprovalState::Lapsed { .. } => {
                Some(Outcome::Refused(refused(proposal, "nobody answered in time")))
            }
        })
    }
}

/// Returns how long a call waits for an answer. In mode ci nobody is there by definition.
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

impl Entry {
    /// Tells whether an approval holds for every further start of exactly this in its session.
    #[must_use]
    pub const fn is_remembered(&self) -> bool {
        matches!(self.state, ApprovalState::Approved { remember: Remember::Session, .. })
    }
}

/// Notes which values in the texts of a proposal are secret in the environment it was made in.
fn with_secrets(mut proposal: Proposal, environment: &[EnvVar]) -> Proposal {
    let exact = proposal.exact();
    let texts: Vec<&str> = [&exact].into_iter().chain(&proposal.reasons).map(String::as_str).collect();
    proposal.secrets = secrets_in(environment, &texts);
    proposal
}

fn subject(proposal: &Proposal) -> String {
    const MOST: usize = 200;
    let exact = proposal.exact();
    let mut shown: String = exact.chars().take(MOST).collect();
    if shown.len() < exact.len() {
        shown.push('…');
    }
    shown
}

/// A person's no, which they can still take back.
fn denied(proposal: &Proposal, why: &str) -> Error {
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    Error::NoConsent {
        why: format!("a person said no{why}"),
        what: subject(proposal),
        hint: format!(
            "do not try it another way; ask the user what to do instead. Should they change their mind: mw approve {}, then exactly the same call again",
            proposal.id
        ),
    }
}

/// A question that came to no answer and cannot be answered any more.
fn refused(proposal: &Proposal, why: &str) -> Error {
    Error::NoConsent {
        why: why.to_owned(),
        what: subject(proposal),
        hint: "do not try it another way; make exactly the same call again when the user can answer"
            .to_owned(),
    }
}

fn denied_by_policy(proposal: &Proposal, mode: Mode) -> Error {
    Error::Denied {
        message: format!("not allowed in mode {}: {}", mode.name(), proposal.reasons.join("; ")),
        hint: "mw policy explains a decision; the user can choose another mode (MEANWHILE_MODE, or mode in config.toml)".to_owned(),
    }
}

/// Why a question that stands open has no answer yet.
enum Silence {
    /// It is about to be put.
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
        Silence::Dismissed => ", and the question was closed without an answer".to_owned(),
    };
    let (id, minutes) = (&proposal.id, policy.patience.keep.as_secs().div_ceil(60));
    Error::NeedsApproval {
        message: format!(
            "not done, because it needs a person's approval{waited}: {}: {}",
            subject(proposal),
            proposal.reasons.join("; ")
        ),
        hint: format!(
            "ask the user to run mw approve {id} (or mw deny {id}) in a terminal within {minutes} min, then make exactly the same call again"
        ),
        proposal: Box::new(proposal.clone()),
    }
}
