//! A container for each task.
//!
//! The output goes into files that the container and this machine share. The engines' own logs would not do: Docker's
//! changes bytes that are not UTF-8, and both lose parts when they are followed under load.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use mw_model::signal::SIGKILL;
use mw_model::wire::{PLACE_FILE, PlaceEnd, PlaceRecord, PlaceStep};
use mw_model::{ContainerPlace, Exit, RawText, ResourceLimit};
use serde_json::{Value, json};

use super::engine::{ContainerState, Engine};
use super::shared_files::SharedFiles;
use crate::driver::{Attempt, Job, Output, Signals};
use crate::error::{PlaceError, Result};

/// The label with the task's directory, by which leftovers are found.
const LABEL: &str = "meanwhile.task";
const RUN_LABEL: &str = "meanwhile.run";
const HOME_LABEL: &str = "meanwhile.home";
/// How often signals that could not be delivered are tried again.
const RETRY: Duration = Duration::from_secs(1);
/// The pause between two looks at the output, at first and at most.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// What wakes a driver.
enum Event {
    /// The container does not run any more, or the engine was restarted.
    Waited,
    Signals,
}

/// A container for one run.
pub(super) struct NewContainer {
    engine: Engine,
    place: ContainerPlace,
}

impl NewContainer {
    pub(super) fn new(place: &ContainerPlace) -> Self {
        Self { engine: Engine::of(place), place: place.clone() }
    }

    /// Makes the container, unless that was done before. Returns its id.
    fn create(&self, job: &mut Job, signals: &Signals) -> Result<String> {
        if let Some(id) = &job.record.job {
            return Ok(id.clone());
        }
        if job.record.step == PlaceStep::Connecting {
            self.engine.version()?;
            if !signals.all().is_empty() {
                return Err(PlaceError::Refused("it was killed before its container was made".to_owned()));
            }
            job.record_step(PlaceStep::Starting)?;
        }
        let image = self.place.image.as_deref().unwrap_or_default();
        let files = SharedFiles::make(job.run)?;
        let (name, container) = (format!("mw-{}", job.name()), self.description(job, image, &files));
        let id = match self.engine.create(&name, &container)? {
            Ok(id) => id,
            Err(_) if self.place.pull_missing => {
                job.record_note(Some(&format!("pulling the image {image}")));
                self.pull(image, signals)?;
                let created = self.engine.create(&name, &container)?;
                created.map_err(|_| {
                    PlaceError::Refused(format!("the image {image} is missing after its pull"))
                })?
            }
            Err(_) => {
                let message = format!("the image {image} is missing; pull it, or set pull = \"missing\"");
                return Err(PlaceError::Refused(message));
            }
        };
        // Before it is started, so that a start is never repeated.
        job.record.job = Some(id.clone());
        job.write()?;
        Ok(id)
    }

    /// Pulls the image. A kill does not wait for the end of it.
    fn pull(&self, image: &str, signals: &Signals) -> Result<()> {
        let (sender, done) = channel();
        let (engine, name) = (self.engine.clone(), image.to_owned());
        thread::spawn(move || sender.send(engine.pull(&name)));
        loop {
            match done.recv_timeout(LONGEST_PAUSE) {
                Ok(pulled) => return pulled,
                Err(_) if !signals.all().is_empty() => {
                    return Err(PlaceError::Refused("it was killed while its image was pulled".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PlaceError::Unreachable("the pull has ended without a result".to_owned()));
                }
            }
        }
    }

    fn description(&self, job: &Job, image: &str, files: &SharedFiles) -> Value {
        let text = |raw: &RawText| raw.to_lossy();
        let words: Vec<_> = job.spec.command.argv().iter().map(text).collect();
        let env: Vec<_> =
            job.variables().iter().map(|var| format!("{}={}", text(&var.name), text(&var.value))).collect();
        let cwd = text(&job.spec.cwd);
        let directory = self.place.directory.as_deref().unwrap_or(&cwd);
        let mut binds = self.place.mounts.clone();
        binds.push(files.mount());
        if self.place.mount_project {
            let project = project_of(Path::new(&cwd)).to_string_lossy().into_owned();
            binds.push(format!("{project}:{project}"));
        }
        let limits = &job.spec.limits.resources;
        let mut host = json!({
            "Binds": binds,
            "Init": !self.place.no_init,
            "LogConfig": {"Type": "none", "Config": {}},
        });
        if let Some(network) = &self.place.network {
            host["NetworkMode"] = json!(network);
        }
        if let Some(memory) = limits.memory {
            // Without swap, so that the limit is one.
            host["Memory"] = json!(memory);
            host["MemorySwap"] = json!(memory);
        }
        if let Some(milli_cpus) = limits.milli_cpus {
            host["NanoCpus"] = json!(milli_cpus * 1_000_000);
        }
        if let Some(pids) = limits.pids {
            host["PidsLimit"] = json!(pids);
        }
        json!({
            "Image": image,
            "Entrypoint": SharedFiles::wrapper(),
            "Cmd": words,
            "Env": env,
            "WorkingDir": directory,
            "User": self.place.user.clone().unwrap_or_default(),
            "Labels": {LABEL: job.spec.id.as_str(), RUN_LABEL: job.run.to_string(), HOME_LABEL: tasks_dir()},
            "HostConfig": host,
        })
    }

    fn start(&self, job: &mut Job, id: &str) -> Result<()> {
        if job.record.step == PlaceStep::Started {
            return Ok(());
        }
        match self.engine.inspect(id)? {
            None => {
                return Err(PlaceError::Lost(
                    "its container was removed before it was seen to run".to_owned(),
                ));
            }
            Some(state) if state.status == "created" || state.status == "initialized" => {
                self.engine.start(id).inspect_err(|error| {
                    // A container that could not be started is of no use.
                    if matches!(error, PlaceError::Refused(_)) {
                        let _ = self.engine.remove(id);
                    }
                })?;
            }
            // An earlier driver was killed right after the start.
            Some(_) => {}
        }
        job.record_step(PlaceStep::Started)
    }

    /// Copies the output until the container has ended.
    fn follow(&self, job: &mut Job, output: &mut Output, signals: &Signals, id: &str) -> Result<()> {
        let (sender, events) = channel();
        let for_signals = sender.clone();
        let _wake_up = Signals::on_wake_up(move || for_signals.send(Event::Signals).is_ok())
            .map_err(PlaceError::files("cannot wait for signals"))?;
        wait_in_thread(self.engine.clone(), id.to_owned(), sender);
        let files = SharedFiles::of(job.run);
        let (mut pause, mut retry_at) = (PAUSE, Instant::now());
        loop {
            if Instant::now() >= retry_at && self.pass_signals_on(job, signals, id).is_err() {
                retry_at = Instant::now() + RETRY;
            }
            pause = if files.copy(output)? { PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
            match events.recv_timeout(pause) {
                Ok(Event::Signals) => retry_at = Instant::now(),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Event::Waited) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn pass_signals_on(&self, job: &mut Job, signals: &Signals, id: &str) -> Result<()> {
        for number in signals.all().into_iter().skip(job.record.signals) {
            self.engine.kill(id, number)?;
            job.record.signals += 1;
            job.write()?;
        }
        Ok(())
    }

    /// Removes containers of tasks of this home that have ended, which drivers left behind that were killed.
    fn sweep(&self) {
        let label = format!("{HOME_LABEL}={}", tasks_dir());
        for (id, labels) in self.engine.ended_with_label(&label).unwrap_or_default() {
            let (Some(task), Some(run)) = (labels[LABEL].as_str(), labels[RUN_LABEL].as_str()) else {
                continue;
            };
            if is_left_over(task, run) {
                let _ = self.engine.remove(&id);
            }
        }
    }
}

impl Attempt for NewContainer {
    fn attempt(&mut self, job: &mut Job, output: &mut Output, signals: &Signals) -> Result<PlaceEnd> {
        let id = self.create(job, signals)?;
        self.start(job, &id)?;
        loop {
            job.record_note(None);
            self.follow(job, output, signals, &id)?;
            let Some(state) = self.engine.inspect(&id)? else {
                let reason = "its container was removed by another program".to_owned();
                return Err(PlaceError::Lost(reason));
            };
            match state.status.as_str() {
                "exited" | "dead" => {
                    let files = SharedFiles::of(job.run);
                    while files.copy(output)? {}
                    if let Some(message) = files.why_not_started() {
                        return Ok(PlaceEnd::NotStarted { message });
                    }
                    return Ok(end_of(&state, &signals.all(), || self.engine.is_podman()));
                }
                "removing" => return Err(PlaceError::Lost("its container is being removed".to_owned())),
                // The engine was restarted.
                _ => thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    fn clean_up(&mut self, job: &mut Job) {
        if let Some(id) = &job.record.job {
            let _ = self.engine.remove(id);
        }
        SharedFiles::of(job.run).remove();
        self.sweep();
    }
}

/// Returns how a container has ended. Engines report a signal as an exit code above 128. Podman does not say that memory ran out,
/// so there a SIGKILL that was not sent counts as that.
fn end_of(state: &ContainerState, sent: &[i32], is_podman: impl FnOnce() -> bool) -> PlaceEnd {
    let number = state.exit_code - 128;
    let is_killed = number == SIGKILL;
    let may_lack_memory = state.memory.is_some() && is_killed && !sent.contains(&SIGKILL);
    let is_out_of_memory = state.oom_killed || (may_lack_memory && is_podman());
    let limit = state.memory.filter(|_| is_out_of_memory).map(ResourceLimit::Memory);
    let is_ours = sent.contains(&number) || limit.is_some() && is_killed;
    let exit = if is_ours { Exit::Signal { number, core: false } } else { Exit::Code(state.exit_code) };
    PlaceEnd::Ended { exit, limit, asked: None }
}

/// Returns whether a container belongs to a run that has ended, or to a task that was removed.
fn is_left_over(task: &str, run: &str) -> bool {
    let directory = Path::new("..").join(task);
    if task.contains('/') || task.is_empty() {
        return false;
    }
    let Ok(text) = fs::read(directory.join(PLACE_FILE)) else { return !directory.exists() };
    let record = serde_json::from_slice::<PlaceRecord>(&text);
    record.is_ok_and(|record| match run.parse::<u32>() {
        Ok(run) => record.run > run || (record.run == run && record.end.is_some()),
        Err(_) => false,
    })
}

/// Returns the directory of all tasks of this home.
fn tasks_dir() -> String {
    fs::canonicalize("..").map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the project of a directory: the nearest one that is a repository, or the directory itself.
fn project_of(directory: &Path) -> &Path {
    directory.ancestors().find(|above| above.join(".git").exists()).unwrap_or(directory)
}

fn wait_in_thread(engine: Engine, id: String, sender: Sender<Event>) {
    thread::spawn(move || {
        engine.wait(&id);
        let _ = sender.send(Event::Waited);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(exit_code: i32, oom_killed: bool, memory: Option<u64>) -> ContainerState {
        ContainerState { status: "exited".to_owned(), exit_code, oom_killed, memory }
    }

    #[test]
    fn an_exit_code_is_a_signal_only_if_it_was_sent_or_memory_ran_out() {
        let killed = Exit::Signal { number: 9, core: false };
        let ended = |exit, limit| PlaceEnd::Ended { exit, limit, asked: None };
        let podman = || true;
        assert_eq!(end_of(&state(137, false, None), &[], podman), ended(Exit::Code(137), None));
        assert_eq!(end_of(&state(137, false, None), &[15, 9], podman), ended(killed.clone(), None));
        assert_eq!(end_of(&state(137, false, Some(64)), &[9], podman), ended(killed.clone(), None));
        let limit = Some(ResourceLimit::Memory(64));
        assert_eq!(end_of(&state(137, true, Some(64)), &[], podman), ended(killed.clone(), limit));
        assert_eq!(end_of(&state(137, false, Some(64)), &[], podman), ended(killed, limit));
        assert_eq!(
            end_of(&state(137, false, Some(64)), &[], || false),
            ended(Exit::Code(137), None),
            "Docker says whether memory ran out"
        );
        assert_eq!(end_of(&state(7, false, Some(64)), &[], podman), ended(Exit::Code(7), None));
    }
}
