//! The files of a run in the directory that this machine and the nodes share. `node.sh` has the other side.
//!
//! ```text
//! STATE/<id>/lease              run, attempt, job and node that have the right to run
//! STATE/<id>/run-<n>/job        the batch script: variables and node.sh
//!                   /command    the script that becomes the command
//!                   /signal     the script that signals all its processes
//!                   /signals    a number per line, for the node
//!                   /slurm      messages of Slurm about the job
//!                   /claim<k>/  made by the one job that may do the attempt
//!                   /a<k>/      stdout, stderr, status, beat and leader of attempt k
//! ```

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mw_model::{RawText, SlurmPlace};

use crate::driver::{Job, Output, copy_streams, open_regular, private_file};
use crate::error::{PlaceError, Result};
use crate::far;

const NODE: &str = include_str!("node.sh");
/// How much of a small file is read.
const MAX_TEXT: u64 = 4096;
/// The job in the lease of a run that no node has begun.
const NO_JOB: &str = "0";

/// The files of a run.
pub(super) struct Shared {
    task: PathBuf,
    run: PathBuf,
}

/// Who has the right to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) run: u32,
    pub(super) attempt: u32,
    pub(super) job: String,
    pub(super) node: String,
}

impl Shared {
    pub(super) fn of(place: &SlurmPlace, job: &Job) -> Result<Self> {
        let task = state_of(place)?.join(job.spec.id.as_str());
        Ok(Self { run: task.join(format!("run-{}", job.run)), task })
    }

    /// Makes all files, unless they exist. A job that runs already keeps what it has written.
    pub(super) fn make(&self, place: &SlurmPlace, job: &Job) -> Result<()> {
        let failed = |error: io::Error| {
            PlaceError::Refused(format!("cannot write to {}: {error}", self.task.display()))
        };
        let first = self.attempt(0);
        DirBuilder::new().recursive(true).mode(0o700).create(&first).map_err(failed)?;
        for name in ["stdout", "stderr", "status", "beat"] {
            private_file(&first.join(name)).map_err(failed)?;
        }
        private_file(&self.run.join("signals")).map_err(failed)?;
        if self.leased().is_none_or(|lease| lease.run < job.run) {
            self.take_lease(job.run).map_err(failed)?;
        }
        let cwd = place.directory.as_deref().map_or_else(|| job.spec.cwd.clone(), RawText::from);
        self.write("command", &far::command(job, &cwd)).map_err(failed)?;
        self.write("signal", format!("R=$1 G=$2 E=$3\n{}", far::SIGNAL).as_bytes()).map_err(failed)?;
        self.write("job", &self.script(place, job, &cwd)).map_err(failed)
    }

    /// Returns the batch script.
    fn script(&self, place: &SlurmPlace, job: &Job, cwd: &RawText) -> Vec<u8> {
        let program = job.spec.command.argv().into_iter().next().unwrap_or_default();
        let mark = far::mark(job);
        let number = job.run.to_string();
        let mask = format!("{:03o}", job.spec.umask);
        let (run, lease) = (path_bytes(&self.run), path_bytes(&self.task.join("lease")));
        let requeue: &[u8] = if place.requeue { b"yes" } else { b"" };
        let variables: [(&str, &[u8]); 8] = [
            ("R", &run),
            ("N", number.as_bytes()),
            ("L", &lease),
            ("M", mask.as_bytes()),
            ("W", cwd.as_bytes()),
            ("P", program.as_bytes()),
            ("E", mark.as_bytes()),
            ("Q", requeue),
        ];
        let mut script = b"#!/bin/sh\n".to_vec();
        for (name, value) in variables {
            script.extend([name.as_bytes(), b"=", &far::quoted(value), b"\n"].concat());
        }
        script.extend(NODE.as_bytes());
        script
    }

    /// Writes a file that is complete or absent.
    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let new = self.run.join(format!("{name}.new"));
        let mut file = File::options().create(true).write(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(content)?;
        fs::rename(new, self.run.join(name))
    }

    pub(super) fn directory(&self) -> &Path {
        &self.run
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.run.join(name)
    }

    fn attempt(&self, attempt: u32) -> PathBuf {
        self.run.join(format!("a{attempt}"))
    }

    /// Takes the right to run from all earlier runs, before a node has begun this one. The file is not replaced, because other
    /// machines may see a new one late.
    fn take_lease(&self, run: u32) -> io::Result<()> {
        let file = private_file(&self.task.join("lease"))?;
        file.set_len(0)?;
        (&file).write_all(format!("{run} 0 {NO_JOB} none\n").as_bytes())
    }

    /// Returns the node that has begun a run or an attempt last.
    pub(super) fn lease(&self) -> Option<Lease> {
        self.leased().filter(|lease| lease.job != NO_JOB)
    }

    /// Returns who has the right to run, if the file is complete.
    fn leased(&self) -> Option<Lease> {
        let text = read(&self.task.join("lease"))?;
        let mut words = text.strip_suffix('\n')?.split(' ');
        let (run, attempt) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let (job, node) = (words.next()?.to_owned(), words.next()?.to_owned());
        Some(Lease { run, attempt, job, node })
    }

    /// Returns the line in which the node has recorded the end of an attempt.
    pub(super) fn status(&self, attempt: u32) -> Option<String> {
        read(&self.attempt(attempt).join("status"))?.strip_suffix('\n').map(str::to_owned)
    }

    /// Returns whether the command of an attempt was executed.
    pub(super) fn has_begun(&self, attempt: u32) -> bool {
        self.attempt(attempt).join("leader").exists()
    }

    /// Returns a text that changes every few seconds as long as the attempt is alive.
    pub(super) fn beat(&self, attempt: u32) -> Option<String> {
        read(&self.attempt(attempt).join("beat"))
    }

    /// Returns the end of Slurm's messages.
    pub(super) fn messages(&self) -> String {
        let read_end = || -> io::Result<String> {
            let mut file = open_regular(&self.path("slurm"))?;
            let len = file.metadata()?.len();
            file.seek(SeekFrom::Start(len.saturating_sub(MAX_TEXT)))?;
            let mut bytes = Vec::new();
            file.take(MAX_TEXT).read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        read_end().unwrap_or_default()
    }

    /// Leaves a signal for the node.
    pub(super) fn leave_signal(&self, number: i32) -> Result<()> {
        private_file(&self.path("signals"))
            .and_then(|mut file| file.write_all(format!("{number}\n").as_bytes()))
            .map_err(|error| {
                PlaceError::Unreachable(format!("cannot write to {}: {error}", self.run.display()))
            })
    }

    /// Returns how many bytes of each stream the log has when everything that an attempt has printed is in it.
    pub(super) fn printed(&self, attempt: u32, before: [u64; 2]) -> [u64; 2] {
        let len = |name: &str| fs::metadata(self.attempt(attempt).join(name)).map_or(0, |meta| meta.len());
        [before[0] + len("stdout"), before[1] + len("stderr")]
    }

    /// Copies output of an attempt that is not in the log yet. Returns whether there was any.
    pub(super) fn copy(&self, attempt: u32, before: [u64; 2], output: &mut Output) -> Result<bool> {
        match copy_streams(&self.attempt(attempt), before, output) {
            // The shared directory may be away for a while.
            Err(PlaceError::Files { what: "cannot read the output", source }) => {
                Err(PlaceError::Unreachable(format!("cannot read {}: {source}", self.run.display())))
            }
            copied => copied,
        }
    }

    /// Removes the files of the run. The lease goes with the last run: those whose end is unknown have kept their files.
    pub(super) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.run);
        let is_run = |name: &OsStr| name.to_string_lossy().starts_with("run-");
        let mut entries = fs::read_dir(&self.task).into_iter().flatten().flatten();
        if !entries.any(|entry| is_run(&entry.file_name())) {
            let _ = fs::remove_file(self.task.join("lease"));
            let _ = fs::remove_dir(&self.task);
        }
    }
}

/// Returns the directory for the files of all tasks.
pub(super) fn state_of(place: &SlurmPlace) -> Result<PathBuf> {
    if let Some(state) = &place.state {
        return Ok(state.into());
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home =
        home.ok_or_else(|| PlaceError::Refused("HOME is not set; set state of the back-end".to_owned()))?;
    Ok(home.join(".local/state/meanwhile-tasks"))
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    open_regular(path).ok()?.take(MAX_TEXT).read_to_string(&mut text).ok()?;
    Some(text)
}

fn path_bytes(path: &Path) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec()
}
