//! Submits the job of a run, once.

use std::path::Path;
use std::process::Stdio;

use mw_model::wire::PlaceStep;
use mw_model::{Resources, SlurmPlace};

use super::shared::Shared;
use super::tools;
use super::watch::{PREFIX, named};
use crate::driver::{Job, Signals};
use crate::error::{PlaceError, Result};

/// Messages of an `sbatch` that has not reached the controller at all.
const NOT_SENT: [&str; 2] = ["contact slurm controller", "Munge encode failed"];

/// Submits the job, unless that was done before. Returns its id.
pub(super) fn submit(
    place: &SlurmPlace,
    job: &mut Job,
    signals: &Signals,
    shared: &Shared,
) -> Result<String> {
    if job.record.step == PlaceStep::Started
        && let Some(id) = &job.record.job
    {
        return Ok(id.clone());
    }
    let may_be_submitted = job.record.step == PlaceStep::Starting;
    let found = if may_be_submitted { find(job, shared)? } else { None };
    let id = match found {
        Some(id) => id,
        None if !signals.all().is_empty() => {
            return Err(PlaceError::Refused("it was killed before its job was submitted".to_owned()));
        }
        None => {
            shared.make(place, job)?;
            job.record_step(PlaceStep::Starting)?;
            request(place, job, shared, may_be_submitted)?
        }
    };
    job.record.job = Some(id.clone());
    job.record_step(PlaceStep::Started)?;
    Ok(id)
}

/// Finds the job that an earlier driver may have submitted: on the node that runs it, or in Slurm.
fn find(job: &Job, shared: &Shared) -> Result<Option<String>> {
    if let Some(lease) = shared.lease().filter(|lease| lease.run == job.run) {
        return Ok(Some(lease.job));
    }
    let mut jobs = named(&name(job))?;
    jobs.sort_by_key(|job| job.id.parse::<u64>().unwrap_or(u64::MAX));
    let mut ids = jobs.into_iter().map(|job| job.id);
    let first = ids.next();
    // The answer to the first request came late. At most one of the jobs can execute the command.
    for id in ids {
        let _ = tools::run("scancel", &["--state=PENDING".to_owned(), id], Stdio::null());
    }
    Ok(first)
}

/// Returns the name of the job, by which it is found again.
fn name(job: &Job) -> String {
    format!("{PREFIX}{}", job.name())
}

fn request(place: &SlurmPlace, job: &Job, shared: &Shared, was_tried: bool) -> Result<String> {
    // It keeps the lock of the driver: the next driver waits until this request is over.
    let lock = Stdio::from(job.lock()?);
    let failure = match tools::run("sbatch", &arguments(place, job, shared.directory()), lock) {
        Ok(printed) => match job_id(&printed) {
            Some(id) => return Ok(id),
            None => {
                PlaceError::Unreachable(format!("sbatch says {:?} instead of a job's number", printed.trim()))
            }
        },
        Err(failure) => failure,
    };
    match failure {
        PlaceError::Unreachable(message) if !was_tried && NOT_SENT.iter().any(|it| message.contains(it)) => {
            Err(PlaceError::Refused(message))
        }
        // Only a look at the jobs shows that nothing was submitted.
        PlaceError::Refused(message) => match named(&name(job))?.pop() {
            Some(found) => Ok(found.id),
            None => Err(PlaceError::Refused(message)),
        },
        other => Err(other),
    }
}

/// Reads `12` or `12;cluster`.
fn job_id(printed: &str) -> Option<String> {
    let id = printed.trim().split(';').next()?;
    (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())).then(|| id.to_owned())
}

fn arguments(place: &SlurmPlace, job: &Job, directory: &Path) -> Vec<String> {
    let directory = directory.to_string_lossy();
    let mut words = vec![
        "--parsable".to_owned(),
        format!("--job-name={}", name(job)),
        format!("--comment=meanwhile {}", job.spec.id),
        format!("--chdir={directory}"),
        // A percent sign begins a pattern.
        format!("--output={}/slurm", directory.replace('%', "%%")),
        "--open-mode=append".to_owned(),
        "--export=ALL".to_owned(),
        "--nodes=1".to_owned(),
        "--ntasks=1".to_owned(),
        if place.requeue { "--requeue" } else { "--no-requeue" }.to_owned(),
    ];
    let mut add = |option: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("--{option}={value}")));
    };
    add("partition", place.partition.clone());
    add("account", place.account.clone());
    let limit = job.spec.limits.run_timeout_ms.map(time_for);
    add("time", place.time.clone().or(limit));
    let resources: &Resources = &job.spec.limits.resources;
    add("mem", resources.memory.map(|bytes| format!("{}K", bytes.div_ceil(1024))));
    add("cpus-per-task", resources.milli_cpus.map(|milli| milli.div_ceil(1000).max(1).to_string()));
    words.extend(place.options.iter().cloned());
    words.push(format!("{directory}/job"));
    words
}

/// Returns the time limit of a job whose task may take this long. It is longer, so that the task's own limit comes first.
fn time_for(timeout_ms: u64) -> String {
    (timeout_ms.div_ceil(60_000) + 1).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_job_is_read() {
        assert_eq!(job_id("12\n").as_deref(), Some("12"));
        assert_eq!(job_id("12;east\n").as_deref(), Some("12"));
        assert_eq!((job_id(""), job_id("Submitted batch job 12")), (None, None));
    }

    #[test]
    fn the_time_limit_of_a_job_is_longer_than_that_of_its_task() {
        assert_eq!((time_for(1), time_for(60_000), time_for(60_001)), ("2".into(), "2".into(), "3".into()));
    }
}
