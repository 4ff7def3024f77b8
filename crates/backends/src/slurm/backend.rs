//! The back-end of one run: submits the job and follows it to its end.

use std::process::Stdio;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use mw_model::signal::{SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM};
use mw_model::wire::PlaceEnd;
use mw_model::{Exit, SlurmPlace, Stream};

use super::shared::Shared;
use super::submit::submit;
use super::tools;
use super::verdict::{Phase, Reason, Recorded, ended_by, memory_of, not_started, phase, reason_in, recorded};
use super::watch::{JobState, Known, Watch, now_ms};
use crate::driver::{Attempt, Job, Output, Signals};
use crate::error::{PlaceError, Result};

/// The pause between two looks at the output, at first and at most.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// How often a signal that could not be delivered is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// How long the node has for a SIGKILL, before Slurm ends the job.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// A node that is alive writes a new beat every five seconds.
const SILENCE: Duration = Duration::from_secs(20);
/// How long the reason for an end that Slurm has caused may take to show.
const REASON_TIMEOUT: Duration = Duration::from_secs(10);

/// The back-end of one run.
pub(crate) struct SlurmBackend {
    place: SlurmPlace,
}

impl SlurmBackend {
    pub(crate) fn new(place: &SlurmPlace) -> Self {
        Self { place: place.clone() }
    }
}

impl Attempt for SlurmBackend {
    fn attempt(&mut self, job: &mut Job, output: &mut Output, signals: &Signals) -> Result<PlaceEnd> {
        let shared = Shared::of(&self.place, job)?;
        let id = submit(&self.place, job, signals, &shared)?;
        let watch = Watch::of(&job.place.name, &id)?;
        let following = Following {
            may_requeue: self.place.requeue,
            shared,
            id,
            watch,
            known_since_ms: now_ms(),
            has_begun: false,
            retry_at: Instant::now(),
            killed_at: None,
            beat: (None, Instant::now()),
            ended_at: None,
        };
        following.follow(job, output, signals)
    }

    fn clean_up(&mut self, job: &mut Job) {
        // A command that may still run keeps its files. What Slurm has ended does not run.
        let is_known = match &job.record.end {
            Some(PlaceEnd::Ended { exit, limit, asked }) => {
                !matches!(exit, Exit::Unknown(_)) || limit.is_some() || asked.is_some()
            }
            Some(PlaceEnd::NotStarted { .. }) => true,
            None => false,
        };
        if is_known && let Ok(shared) = Shared::of(&self.place, job) {
            shared.remove();
        }
    }
}

/// A job, as long as its end is not known.
struct Following {
    shared: Shared,
    id: String,
    watch: Watch,
    may_requeue: bool,
    /// What Slurm has said before this moment says nothing about the job.
    known_since_ms: u64,
    /// Whether the node has begun the run.
    has_begun: bool,
    /// When signals are tried again.
    retry_at: Instant,
    /// When SIGKILL was passed on.
    killed_at: Option<Instant>,
    /// The last beat of the node, and when it was new.
    beat: (Option<String>, Instant),
    /// When the end was recorded by the node, if that needs an explanation of Slurm.
    ended_at: Option<Instant>,
}

impl Following {
    fn follow(mut self, job: &mut Job, output: &mut Output, signals: &Signals) -> Result<PlaceEnd> {
        let (sender, events) = channel();
        let _wake_up = Signals::on_wake_up(move || sender.send(()).is_ok())
            .map_err(PlaceError::files("cannot wait for signals"))?;
        let mut pause = PAUSE;
        loop {
            self.look_at_lease(job, output);
            self.pass_signals_on(job, signals)?;
            // Before the output is copied, so that nothing comes after it.
            let status = self.shared.status(job.record.requeued);
            let moved = self.shared.copy(job.record.requeued, job.record.printed_before, output)?;
            if !moved {
                let end = match status.and_then(|line| recorded(&line, &signals.all())) {
                    Some(end) => self.explain(job, signals, end)?,
                    None => self.ask_slurm(job, signals)?,
                };
                if let Some(end) = end {
                    return Ok(end);
                }
            }
            pause = if moved { PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
            match events.recv_timeout(pause) {
                Ok(()) => self.retry_at = Instant::now(),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    /// Sees whether the job has begun, or was begun again.
    fn look_at_lease(&mut self, job: &mut Job, output: &Output) {
        let Some(lease) = self.shared.lease().filter(|lease| lease.run == job.run) else { return };
        self.has_begun = true;
        // Of several jobs for a run, only one executes the command.
        if job.record.job.as_ref() != Some(&lease.job) {
            self.watch.turn_to(&lease.job);
            self.id.clone_from(&lease.job);
            job.record.job = Some(lease.job);
            let _ = job.write();
        }
        let attempt = job.record.requeued;
        if lease.attempt > attempt {
            // The earlier attempt ends itself, or is given up. Its last output comes first.
            let is_over = self.shared.status(attempt).is_some() || self.shared.has_begun(lease.attempt);
            let printed = [output.offset(Stream::Stdout), output.offset(Stream::Stderr)];
            if is_over && self.shared.printed(attempt, job.record.printed_before) == printed {
                job.record.requeued = lease.attempt;
                job.record.printed_before = printed;
                self.beat = (None, Instant::now());
                self.ended_at = None;
            }
        }
        if job.record.node.as_deref() != Some(&lease.node) || job.record.requeued != attempt {
            job.record.node = Some(lease.node);
            // It is shown, and found again by the next driver.
            let _ = job.write();
        }
    }

    /// Leaves new signals for the node, and wakes it. Slurm ends a job that has not begun, or whose node does not answer.
    fn pass_signals_on(&mut self, job: &mut Job, signals: &Signals) -> Result<()> {
        let all = signals.all();
        let is_new = all.len() > job.record.signals;
        for number in all.iter().skip(job.record.signals) {
            self.shared.leave_signal(*number)?;
            job.record.signals += 1;
            job.write()?;
        }
        if all.contains(&SIGKILL) {
            self.killed_at.get_or_insert_with(Instant::now);
        }
        let is_ignored = self.killed_at.is_some_and(|at| at.elapsed() >= ANSWER_TIMEOUT);
        let is_end = all.iter().any(|number| [SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM].contains(number));
        let is_due = is_end && (is_ignored || !self.has_begun) && Instant::now() >= self.retry_at;
        if !is_new && !is_due {
            return Ok(());
        }
        self.retry_at = Instant::now() + if is_ignored { ANSWER_TIMEOUT } else { RETRY };
        // If that fails, the node looks every five seconds, and a job is cancelled later.
        if is_ignored {
            let _ = self.scancel(&[]);
        } else if self.has_begun {
            let _ = self.scancel(&["--batch", "--signal=URG"]);
        } else if is_end && self.scancel(&["--state=PENDING"]).is_ok() {
            self.known_since_ms = now_ms();
            let _ = self.watch.look_after(self.known_since_ms);
        }
        Ok(())
    }

    fn scancel(&self, options: &[&str]) -> Result<()> {
        let words: Vec<_> = options.iter().copied().chain([self.id.as_str()]).map(str::to_owned).collect();
        tools::run("scancel", &words, Stdio::null()).map(drop)
    }

    /// Returns the end that the node has recorded, with Slurm's reason if it has caused it.
    fn explain(&mut self, job: &mut Job, signals: &Signals, end: Recorded) -> Result<Option<PlaceEnd>> {
        let (exit, was_told) = match end {
            Recorded::Refused(message) => return Ok(Some(PlaceEnd::NotStarted { message })),
            Recorded::Fenced => {
                // A later attempt of this run goes on.
                if self.shared.lease().is_some_and(|lease| lease.run == job.run) {
                    return Ok(None);
                }
                let why = "a later run of the task was started and has ended this one";
                return Ok(Some(PlaceEnd::by_itself(Exit::Unknown(why.to_owned()))));
            }
            Recorded::Ended { exit, was_told } => (exit, was_told),
        };
        // Slurm signals one process after the other: the command may have ended before the script on the node was told.
        let is_by_signal = matches!(exit, Exit::Signal { .. } | Exit::Code(128..));
        let found = reason_in(&self.shared.messages());
        if !signals.all().is_empty() || found.is_none() && !was_told && !is_by_signal {
            return Ok(Some(PlaceEnd::by_itself(exit)));
        }
        // Without a message, the state of the job decides.
        let ended_at = *self.ended_at.get_or_insert_with(Instant::now);
        let reason = match (found, self.watch.look()) {
            (Some(reason), _) if !self.may_requeue => Some(reason),
            (_, Known::Job(state)) => match phase(&state.state) {
                Phase::Waiting if self.may_requeue => {
                    self.note_waiting(job, &state);
                    return Ok(None);
                }
                Phase::Over(reason) => found.or(reason),
                Phase::Waiting | Phase::Active if ended_at.elapsed() < REASON_TIMEOUT => return Ok(None),
                Phase::Waiting | Phase::Active => found,
            },
            (_, Known::Absent { .. } | Known::Unreachable(_)) if ended_at.elapsed() < REASON_TIMEOUT => {
                return Ok(None);
            }
            (found, Known::Absent { .. } | Known::Unreachable(_)) => found,
        };
        Ok(Some(ended_by(reason, exit, self.memory(job, reason))))
    }

    /// Asks Slurm about a job whose end the node has not recorded. Returns the end if there will be no such record.
    fn ask_slurm(&mut self, job: &mut Job, signals: &Signals) -> Result<Option<PlaceEnd>> {
        let (state, reason) = match self.watch.look() {
            Known::Unreachable(problem) => {
                job.record_note(Some(&format!("cannot reach {}: {problem}", job.place.name)));
                return Ok(None);
            }
            Known::Absent { asked_ms } if asked_ms <= self.known_since_ms => return Ok(None),
            Known::Absent { .. } => ("unknown".to_owned(), None),
            Known::Job(state) => match phase(&state.state) {
                Phase::Waiting => {
                    self.note_waiting(job, &state);
                    return Ok(None);
                }
                Phase::Active => {
                    let note = (state.state == "SUSPENDED").then_some("suspended by Slurm");
                    job.record_note(note);
                    return Ok(None);
                }
                Phase::Over(reason) => (state.state, reason),
            },
        };
        let messages = self.shared.messages();
        let found = reason_in(&messages);
        if !self.has_begun {
            // It may have begun and ended since the last look.
            if self.shared.lease().is_some_and(|lease| lease.run == job.run) {
                return Ok(None);
            }
            return Ok(Some(not_started(&self.id, found.or(reason), &messages, &signals.all())));
        }
        // What the node itself has reported is certain. Everything else may be said of a node that was only lost.
        let is_certain = found.is_some_and(|found| found != Reason::NodeFailure) && state != "unknown";
        if !is_certain && !self.is_silent(job.record.requeued) {
            job.record_note(Some(&format!("Slurm says {state}, but its node may still run it")));
            return Ok(None);
        }
        let node = job.record.node.as_deref().unwrap_or("its node");
        let why = format!("Slurm says {state} of its job {}, and {node} has not recorded the exit", self.id);
        let reason = found.or(reason).filter(|_| is_certain && signals.all().is_empty());
        Ok(Some(ended_by(reason, Exit::Unknown(why), self.memory(job, reason))))
    }

    /// Returns whether the node has not shown for long that it is alive.
    fn is_silent(&mut self, attempt: u32) -> bool {
        let beat = self.shared.beat(attempt);
        if beat.is_some() && beat != self.beat.0 {
            self.beat = (beat, Instant::now());
        }
        self.beat.1.elapsed() >= SILENCE
    }

    fn note_waiting(&self, job: &mut Job, state: &JobState) {
        let again = if self.has_begun { " again" } else { "" };
        job.record_note(Some(&format!("queued by Slurm{again}: {}", state.reason)));
    }

    /// Returns the memory limit of a job that has reached it: that of the task, else that of the job.
    fn memory(&self, job: &Job, reason: Option<Reason>) -> Option<u64> {
        if reason != Some(Reason::Memory) {
            return None;
        }
        let of_job = || {
            let words = ["--noheader", "--states=all", "--format=%m", "--jobs", &self.id].map(str::to_owned);
            memory_of(&tools::run("squeue", &words, Stdio::null()).ok()?)
        };
        job.spec.limits.resources.memory.or_else(of_job)
    }
}
