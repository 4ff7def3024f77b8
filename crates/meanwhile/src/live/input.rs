//! A task's standard input and the size of its terminal.

use std::fs::File;
use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, Operation, STDIN_FIFO};
use mw_model::{Io, RawText, TaskId};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::Live;
use crate::database::Lookup;
use crate::error::{Error, Result};
use crate::reconcile::Reconciler;
use crate::task::Scope;

impl Live<'_> {
    fn running(&self, handle: &str, scope: &Scope) -> Result<TaskId> {
        let id = Lookup::on(&self.base.database).resolve_to_act(handle, scope)?;
        Reconciler::on(self.base).reconcile_task(&id)?;
        let task = self.base.database.stored(&id)?;
        if task.state.process().is_some() {
            return Ok(id);
        }
        Err(task.refusal("it is not running"))
    }

    /// Opens a task's standard input for writing, as a pipe that blocks until the task reads. Returns `None` if the
    /// task has no input, or its input is closed. The input exists from the moment the task has a pid.
    ///
    /// # Errors
    /// When it cannot be opened for any other reason.
    pub fn open_input(&self, id: &TaskId) -> Result<Option<File>> {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let failed =
            |error: Errno| Error::io(format!("cannot open the standard input of {id}"))(error.into());
        let end = match rustix::fs::open(self.base.home.task(id).join(STDIN_FIFO), flags, Mode::empty()) {
            Ok(end) => end,
            Err(Errno::NOENT | Errno::NXIO) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        rustix::io::ioctl_fionbio(&end, false).map_err(failed)?;
        Ok(Some(File::from(end)))
    }

    /// Writes to a task's standard input and returns how many bytes were accepted. `eof` closes the input afterwards.
    ///
    /// # Errors
    /// When the task is not running, has no open input, or does not read for five seconds.
    pub fn input(&self, handle: &str, scope: &Scope, data: &[u8], eof: bool) -> Result<u64> {
        const PART: usize = 32 << 10;
        let id = self.running(handle, scope)?;
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut sent = 0;
        loop {
            let part = &data[sent..(sent + PART).min(data.len())];
            let last = sent + part.len() == data.len();
            let (bytes, end_is_due) = self.type_some(&id, part, eof && last)?;
            sent += bytes;
            if sent == data.len() && !end_is_due {
                return Ok(sent as u64);
            }
            if Instant::now() > deadline {
                let end = if sent == data.len() { ", and the end of input was not" } else { "" };
                let message =
                    format!("it does not read its input: {sent} of {} bytes were accepted{end}", data.len());
                return Err(Error::Refused { id, message });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Writes as much to a task's standard input as it accepts without blocking. `eof` closes the input once
    /// everything was accepted. Returns how many bytes were accepted, and whether the end of input is still to be
    /// sent.
    ///
    /// # Errors
    /// When the task has no open input, or its supervisor cannot be reached.
    pub fn type_some(&self, id: &TaskId, data: &[u8], eof: bool) -> Result<(usize, bool)> {
        let refused = |message: String| Error::Refused { id: id.clone(), message };
        match self.control(id, Operation::Input { data: RawText::from(data), eof })? {
            ControlReply::Done { bytes, eof_due } => Ok((bytes as usize, eof_due)),
            ControlReply::Refused { .. }
                if self
                    .base
                    .home
                    .task(id)
                    .spec()
                    .is_ok_and(|spec| matches!(spec.io, Io::Pipes | Io::Direct)) =>
            {
                Err(Error::NoInput { id: id.clone() })
            }
            ControlReply::Refused { message } => Err(refused(message)),
            _ => Err(refused("unexpected answer from its supervisor".to_owned())),
        }
    }

    /// Changes the size of a task's terminal.
    ///
    /// # Errors
    /// When the task is not running or has no terminal.
    pub fn resize(&self, handle: &str, scope: &Scope, rows: u16, cols: u16) -> Result<()> {
        let id = self.running(handle, scope)?;
        match self.control(&id, Operation::Resize { rows, cols })? {
            ControlReply::Refused { message } => Err(Error::Refused { id: id.clone(), message }),
            _ => Ok(()),
        }
    }
}
