//! A run of a task, as its driver sees it: the spec, and the record of what happened at the place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

use mw_model::wire::{
    PLACE_FILE, PLACE_LOCK_FILE, PLACE_VERSION, PlaceEnd, PlaceRecord, PlaceStep, SPEC_FILE,
};
use mw_model::{BackendPlace, EnvVar, Place, TaskSpec};
use rustix::fs::FlockOperation;

use crate::error::{PlaceError, Result};

/// The record while it is written.
const NEW_RECORD: &str = ".place.json";

/// A run of a task. The task's directory is the current directory of this process.
pub(crate) struct Job {
    pub(crate) spec: TaskSpec,
    pub(crate) run: u32,
    pub(crate) place: BackendPlace,
    pub(crate) record: PlaceRecord,
    /// Whether what the run left at the place was removed.
    pub(crate) is_cleaned: bool,
    lock: File,
}

impl Job {
    /// Opens a run. Waits for another driver of the task, which may still live if its supervisor was killed.
    pub(crate) fn open(run: u32) -> Result<Self> {
        let lock = private(OpenOptions::new().create(true).append(true), PLACE_LOCK_FILE)
            .map_err(PlaceError::files("cannot open the lock of the driver"))?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)
            .map_err(|error| PlaceError::files("cannot lock the task")(error.into()))?;
        let text = fs::read(SPEC_FILE).map_err(PlaceError::files("cannot read the spec"))?;
        let spec: TaskSpec = serde_json::from_slice(&text)
            .map_err(|error| PlaceError::files("cannot read the spec")(error.into()))?;
        let Place::Backend(place) = &spec.place else {
            return Err(PlaceError::Refused("the task runs on this machine".to_owned()));
        };
        let place = (**place).clone();
        let record = read_record(run, &place.name)?;
        Ok(Self { spec, run, place, record, is_cleaned: false, lock })
    }

    /// Returns whether an earlier driver has worked for this run.
    pub(crate) fn is_resumed(&self) -> bool {
        self.record.step != PlaceStep::Connecting
    }

    /// Records a step before it takes effect.
    pub(crate) fn record_step(&mut self, step: PlaceStep) -> Result<()> {
        self.record.step = step;
        self.write()
    }

    /// Records what the driver waits for, or that it waits for nothing.
    pub(crate) fn record_note(&mut self, note: Option<&str>) {
        if self.record.note.as_deref() != note {
            self.record.note = note.map(str::to_owned);
            // It is only shown.
            let _ = self.write();
        }
    }

    /// Records how the command ended.
    pub(crate) fn record_end(&mut self, end: PlaceEnd) -> Result<()> {
        self.record.note = None;
        self.record.end = Some(end);
        self.write()
    }

    pub(crate) fn write(&self) -> Result<()> {
        let failed = || PlaceError::files("cannot write place.json");
        let mut text = serde_json::to_vec(&self.record).map_err(|error| failed()(error.into()))?;
        text.push(b'\n');
        let mut file = private(OpenOptions::new().create(true).write(true).truncate(true), NEW_RECORD)
            .map_err(failed())?;
        file.write_all(&text).map_err(failed())?;
        fs::rename(NEW_RECORD, PLACE_FILE).map_err(failed())
    }

    /// Returns the lock of the driver. A process that holds it, too, keeps the next driver waiting until it has ended.
    pub(crate) fn lock(&self) -> Result<File> {
        self.lock.try_clone().map_err(PlaceError::files("cannot duplicate the lock of the driver"))
    }

    /// Returns the name of the run at the place.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}", self.spec.id, self.run)
    }

    /// Returns the variables that the command gets: those that were chosen for it, and the task's id.
    pub(crate) fn variables(&self) -> Vec<EnvVar> {
        let is_chosen = |var: &&EnvVar| {
            self.place.variables.contains(&var.name) || var.name.as_bytes().starts_with(b"MEANWHILE_TASK_")
        };
        self.spec.env.iter().filter(is_chosen).cloned().collect()
    }
}

/// Reads the record of a run, or begins a new one.
fn read_record(run: u32, backend: &str) -> Result<PlaceRecord> {
    let new =
        PlaceRecord { version: PLACE_VERSION, run, backend: backend.to_owned(), ..PlaceRecord::default() };
    let text = match fs::read(PLACE_FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(new),
        read => read.map_err(PlaceError::files("cannot read place.json"))?,
    };
    let known: PlaceRecord = serde_json::from_slice(&text)
        .map_err(|error| PlaceError::files("cannot read place.json")(error.into()))?;
    Ok(if known.run == run { known } else { new })
}

fn private(options: &mut OpenOptions, name: &str) -> io::Result<File> {
    options.mode(0o600).open(name)
}
