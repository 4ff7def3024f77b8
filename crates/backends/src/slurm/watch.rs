//! What Slurm says about all jobs of a back-end. One process asks for all drivers on this machine: the answer is in a file of
//! the home, and whoever finds it too old asks again, unless another one does so at the moment.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirBuilder};
use std::hash::{Hash, Hasher};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mw_model::wire::BACKENDS_DIR;
use rustix::fs::FlockOperation;

use super::tools;
use crate::driver::private_file;
use crate::error::{PlaceError, Result};

/// How old an answer about few jobs may be. About many it may be older, as Slurm needs longer for it.
const FRESH: Duration = Duration::from_secs(2);
/// How much older it may be for each job.
const PER_JOB: Duration = Duration::from_millis(5);
const OLDEST: Duration = Duration::from_secs(30);
/// The names of all our jobs begin with it.
pub(super) const PREFIX: &str = "mw-";

/// Slurm's answers, for one job.
pub(super) struct Watch {
    file: PathBuf,
    job: String,
    /// The last answer, so that the file is read again only when that is too old.
    last: Option<(Head, Known)>,
}

/// What an answer begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    /// When it was requested, in milliseconds since 1970. What happened later is not in it.
    asked_ms: u64,
    /// When it was complete.
    done_ms: u64,
    /// How many jobs it is about.
    jobs: u32,
    /// Why it has none, if Slurm did not answer.
    problem: Option<String>,
}

/// What Slurm says about a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobState {
    pub(super) id: String,
    /// The long word for its state, such as `RUNNING`.
    pub(super) state: String,
    pub(super) reason: String,
    pub(super) name: String,
}

/// What is known about a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Job(JobState),
    /// Slurm was asked after this moment, and does not know the job.
    Absent {
        asked_ms: u64,
    },
    /// Slurm does not answer.
    Unreachable(String),
}

impl Watch {
    /// Returns the answers about a job of a back-end. They are in the home that contains the task's directory, which is the
    /// current directory.
    pub(super) fn of(backend: &str, job: &str) -> Result<Self> {
        let failed = || PlaceError::files("cannot make the directory for the answers of Slurm");
        let directory = std::env::current_dir().map_err(failed())?.join("../..").join(BACKENDS_DIR);
        DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed())?;
        // The same name may mean another cluster in another environment.
        let mut hasher = DefaultHasher::new();
        ["SLURM_CONF", "SLURM_CLUSTERS"].map(std::env::var_os).hash(&mut hasher);
        let file = directory.join(format!("{backend}-{:08x}.jobs", hasher.finish() & 0xffff_ffff));
        Ok(Self { file, job: job.to_owned(), last: None })
    }

    /// Returns what is known about the job. Asks Slurm if the answer is older than it may be and nobody else asks.
    pub(super) fn look(&mut self) -> Known {
        self.look_after(0)
    }

    /// Like [`Watch::look`], but the answer was requested after this moment, if Slurm can be asked now.
    pub(super) fn look_after(&mut self, after_ms: u64) -> Known {
        let is_due = |head: &Head| head.is_due(now_ms()) || head.asked_ms <= after_ms;
        if self.last.as_ref().is_none_or(|(head, _)| is_due(head)) {
            self.read();
        }
        if self.last.as_ref().is_none_or(|(head, _)| is_due(head)) {
            self.ask_unless_another_asks(is_due);
        }
        match &self.last {
            Some((_, known)) => known.clone(),
            None => Known::Unreachable("it was not asked yet".to_owned()),
        }
    }

    /// Continues with another job, if it is another one.
    pub(super) fn turn_to(&mut self, job: &str) {
        if self.job != job {
            job.clone_into(&mut self.job);
            self.last = None;
        }
    }

    fn ask_unless_another_asks(&mut self, is_due: impl Fn(&Head) -> bool) {
        let Ok(lock) = private_file(&self.file.with_extension("lock")) else { return };
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        // Another one may have asked before the lock was free.
        self.read();
        if self.last.as_ref().is_some_and(|(head, _)| !is_due(head)) {
            return;
        }
        let asked_ms = now_ms();
        let (jobs, problem) = match list(&[]) {
            Ok(jobs) => (jobs, None),
            Err(error) => (String::new(), Some(error.to_string())),
        };
        let count = u32::try_from(jobs.lines().count()).unwrap_or(u32::MAX);
        let head = Head { asked_ms, done_ms: now_ms(), jobs: count, problem };
        let new = self.file.with_extension("new");
        // Without the file, the others ask themselves.
        let _ = fs::write(&new, format!("{}\n{jobs}", head.to_text()))
            .and_then(|()| fs::rename(&new, &self.file));
        let known = known_about(&self.job, &head, &jobs);
        self.last = Some((head, known));
    }

    fn read(&mut self) {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        if let Some((head, jobs)) = text.split_once('\n')
            && let Some(head) = Head::parse(head)
        {
            let known = known_about(&self.job, &head, jobs);
            self.last = Some((head, known));
        }
    }
}

fn known_about(id: &str, head: &Head, jobs: &str) -> Known {
    if let Some(problem) = &head.problem {
        return Known::Unreachable(problem.clone());
    }
    let is_line = |line: &&str| line.strip_prefix(id).is_some_and(|rest| rest.starts_with('|'));
    let job = jobs.lines().find(is_line).and_then(parse_job);
    job.map_or(Known::Absent { asked_ms: head.asked_ms }, Known::Job)
}

/// Lists our jobs, also those that have ended a short time ago.
fn list(options: &[&str]) -> Result<String> {
    let user = rustix::process::getuid().as_raw().to_string();
    let words = ["--noheader", "--states=all", "--format=%A|%T|%r|%j", "--user", &user];
    let words: Vec<_> = words.iter().chain(options).map(|word| (*word).to_owned()).collect();
    let printed = tools::run("squeue", &words, Stdio::null())?;
    let is_ours = |line: &&str| parse_job(line).is_some_and(|job| job.name.starts_with(PREFIX));
    Ok(printed.lines().filter(is_ours).flat_map(|line| [line, "\n"]).collect())
}

/// Returns the jobs with this name.
pub(super) fn named(name: &str) -> Result<Vec<JobState>> {
    Ok(list(&["--name", name])?.lines().filter_map(parse_job).filter(|job| job.name == name).collect())
}

fn parse_job(line: &str) -> Option<JobState> {
    let mut parts = line.splitn(4, '|').map(str::to_owned);
    let (id, state, reason, name) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Some(JobState { id, state, reason, name })
}

impl Head {
    fn is_due(&self, now_ms: u64) -> bool {
        let oldest = (FRESH + PER_JOB.saturating_mul(self.jobs)).min(OLDEST);
        // A clock that was set back makes every answer old.
        now_ms < self.done_ms || now_ms - self.done_ms > ms(oldest)
    }

    fn to_text(&self) -> String {
        let problem = self.problem.as_deref().unwrap_or_default().replace('\n', " ");
        format!("{} {} {} {problem}", self.asked_ms, self.done_ms, self.jobs)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, ' ');
        let mut number = || parts.next()?.parse().ok();
        let (asked_ms, done_ms, jobs) = (number()?, number()?, number()?);
        let problem = parts.next().filter(|problem| !problem.is_empty()).map(str::to_owned);
        Some(Self { asked_ms, done_ms, jobs: u32::try_from(jobs).ok()?, problem })
    }
}

pub(super) fn now_ms() -> u64 {
    ms(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(jobs: u32, problem: Option<&str>) -> Head {
        Head { asked_ms: 5000, done_ms: 5200, jobs, problem: problem.map(str::to_owned) }
    }

    #[test]
    fn the_head_of_an_answer_is_read_as_it_was_written() {
        for head in [head(2, None), head(0, Some("no answer  at all"))] {
            assert_eq!(Head::parse(&head.to_text()), Some(head));
        }
        for damaged in ["", "12", "a b c ", "5000 5200"] {
            assert_eq!(Head::parse(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn a_job_is_found_by_its_whole_number() {
        let jobs = "112|RUNNING|None|mw-a-1\n12|PENDING|Resources|mw-b-1\n";
        let state = |id| match known_about(id, &head(2, None), jobs) {
            Known::Job(job) => job.state,
            other => format!("{other:?}"),
        };
        assert_eq!(state("12"), "PENDING");
        assert_eq!(state("112"), "RUNNING");
        assert_eq!(state("1"), "Absent { asked_ms: 5000 }");
        let problem = head(0, Some("down"));
        assert_eq!(known_about("12", &problem, jobs), Known::Unreachable("down".to_owned()));
    }

    #[test]
    fn an_answer_about_many_jobs_may_be_older() {
        assert!(!head(1, None).is_due(7200) && head(1, None).is_due(7300));
        assert!(!head(1000, None).is_due(12_000) && head(1000, None).is_due(12_300));
        assert!(head(1000, None).is_due(5100), "the clock was set back");
    }
}
