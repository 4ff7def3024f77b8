//! The life of a driver: it works for one run until that has ended.

use std::thread;
use std::time::{Duration, Instant};

use mw_model::wire::{PlaceEnd, PlaceStep};
use mw_model::{BackendKind, Exit};

use super::{Job, Output, Signals};
use crate::error::{PlaceError, Result};
use crate::{container, slurm, ssh};

/// The pause after the first failed attempt to reach a place; it doubles each time.
const PAUSE: Duration = Duration::from_millis(200);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What a back-end does for a run. An attempt ends when the command has ended there, or when the place cannot be reached.
pub(crate) trait Attempt {
    /// Starts the command if that was not done yet, and follows it to its end.
    fn attempt(&mut self, job: &mut Job, output: &mut Output, signals: &Signals) -> Result<PlaceEnd>;

    /// Removes what the run has left at the place. The end is recorded already.
    fn clean_up(&mut self, job: &mut Job);
}

/// Works for a run of the task in the current directory, until the command has ended at its place. Returns the exit code
/// of this process, which means nothing: `place.json` says how the command ended.
#[must_use]
pub fn run_driver(run: u32) -> u8 {
    // Nothing may be printed: standard error is that of the task.
    match drive(run) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

fn drive(run: u32) -> Result<()> {
    let mut job = Job::open(run)?;
    let mut place: Box<dyn Attempt> = match &job.place.kind {
        BackendKind::Ssh(place) => Box::new(ssh::SshBackend::new(place, &job)),
        BackendKind::Container(place) => container::backend(place),
        BackendKind::Slurm(place) => Box::new(slurm::SlurmBackend::new(place)),
    };
    if job.record.end.is_none() {
        let mut output = if job.is_resumed() { Output::resume()? } else { Output::new()? };
        let end = attempts(&mut *place, &mut job, &mut output)?;
        // No other driver repeats the output once the end is recorded, and the pipes end with this process.
        output.settle();
        job.record_end(end)?;
    }
    place.clean_up(&mut job);
    Ok(())
}

/// Tries until the end is known.
fn attempts(place: &mut dyn Attempt, job: &mut Job, output: &mut Output) -> Result<PlaceEnd> {
    let signals = Signals::of(job.run);
    let mut pause = PAUSE;
    loop {
        let begun = Instant::now();
        match place.attempt(job, output, &signals) {
            Ok(end) => return Ok(end),
            Err(PlaceError::Unreachable(message)) => {
                // Nothing was requested there, so nothing can run there.
                if job.record.step == PlaceStep::Connecting {
                    return Ok(PlaceEnd::NotStarted { message });
                }
                job.record_note(Some(&format!("cannot reach {}: {message}; retrying", job.place.name)));
            }
            Err(PlaceError::Refused(message)) => return Ok(PlaceEnd::NotStarted { message }),
            Err(PlaceError::Lost(reason)) => {
                return Ok(PlaceEnd::by_itself(Exit::Unknown(reason)));
            }
            Err(error @ PlaceError::Files { .. }) => return Err(error),
        }
        if begun.elapsed() > LONGEST_PAUSE {
            pause = PAUSE;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
