//! Passes the standard input of `mw run` on to the command, if it is a pipe or a file.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use meanwhile::engine::Runtime;
use meanwhile::model::TaskId;
use meanwhile::{Error, Scope, Settings};
use rustix::fs::{FileType, fstat};

use crate::context::Context;
use crate::render;

/// How often a queued task is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// `/dev/null`, as the kernel numbers devices.
const NULL_DEVICE: (u32, u32) = (1, 3);

/// Returns whether there is input for the command: a pipe, file, socket or device, but no terminal and not `/dev/null`.
pub(crate) fn has_input() -> bool {
    let stdin = io::stdin();
    let Ok(stat) = fstat(&stdin) else { return false };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Fifo | FileType::Socket | FileType::RegularFile => true,
        FileType::CharacterDevice => {
            let device = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
            device != NULL_DEVICE && !rustix::termios::isatty(&stdin)
        }
        _ => false,
    }
}

/// Input on its way to a task.
pub(crate) struct Feed {
    all_sent: Arc<AtomicBool>,
}

impl Feed {
    /// Starts to pass standard input on, on a detached thread.
    pub(crate) fn begin(context: &Context, id: &TaskId, has_terminal: bool) -> io::Result<Self> {
        let source = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let all_sent = Arc::new(AtomicBool::new(false));
        let (settings, scope, id, done) =
            (context.config.settings.clone(), context.scope(), id.clone(), Arc::clone(&all_sent));
        let pass_on = if has_terminal { type_on } else { pass_on };
        std::thread::Builder::new().spawn(move || match pass_on(settings, &scope, &id, source) {
            Ok(()) => done.store(true, Ordering::Release),
            Err(error) => render::note(&format!("not all input was passed to {id}: {error}")),
        })?;
        Ok(Self { all_sent })
    }

    /// Returns whether the command has all input, or does not read it.
    pub(crate) fn is_all_sent(&self) -> bool {
        self.all_sent.load(Ordering::Acquire)
    }
}

/// Copies until the input ends or the command stops reading, then closes the command's standard input.
fn pass_on(settings: Settings, scope: &Scope, id: &TaskId, mut source: File) -> Result<(), Error> {
    let runtime = Runtime::open(settings)?;
    let opened = while_it_runs(&runtime, scope, id, || runtime.live().open_input(id))?;
    let Some(mut sink) = opened else { return Ok(()) };
    let copied = io::copy(&mut source, &mut sink);
    drop(sink);
    let closed = runtime.live().input(id.as_str(), scope, &[], true);
    match copied {
        // A command need not read to the end.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Error::Io { what: "cannot copy standard input".to_owned(), source: error }),
        Ok(_) => match closed {
            // It has ended meanwhile.
            Err(
                Error::WrongState { .. }
                | Error::Refused { .. }
                | Error::Unresponsive { .. }
                | Error::NoInput { .. },
            ) => Ok(()),
            other => other.map(drop),
        },
    }
}

/// Types the input on the command's terminal, then the end of input, as `script -c` does.
fn type_on(settings: Settings, scope: &Scope, id: &TaskId, mut source: File) -> Result<(), Error> {
    let failed = |source| Error::Io { what: "cannot read standard input".to_owned(), source };
    let runtime = Runtime::open(settings)?;
    let (mut buffer, mut last) = ([0; 4096], b'\n');
    loop {
        let read = source.read(&mut buffer).map_err(failed)?;
        let mut part = &buffer[..read];
        while !part.is_empty() {
            match type_some(&runtime, scope, id, part, false)? {
                Some(taken) => {
                    last = taken.checked_sub(1).map_or(last, |at| part[at]);
                    part = &part[taken..];
                }
                None => return Ok(()),
            }
        }
        if read == 0 {
            break;
        }
    }
    // In the middle of a line, the first end of file only ends the line.
    for _ in 0..if last == b'\n' { 1 } else { 2 } {
        type_some(&runtime, scope, id, &[], true)?;
    }
    Ok(())
}

/// Types bytes, or the end of input, as soon as the task accepts them; none if it has ended.
fn type_some(
    runtime: &Runtime,
    scope: &Scope,
    id: &TaskId,
    part: &[u8],
    eof: bool,
) -> Result<Option<usize>, Error> {
    while_it_runs(runtime, scope, id, || match runtime.live().type_some(id, part, eof) {
        Ok((taken, end_is_due)) if taken > 0 || (eof && !end_is_due) => Ok(Some(taken)),
        // It does not read now, or is about to end.
        Ok(_) | Err(Error::Refused { .. } | Error::Unresponsive { .. }) => Ok(None),
        Err(error) => Err(error),
    })
}

/// Tries again and again once the task has started; none if it ends before a try has a result.
fn while_it_runs<T>(
    runtime: &Runtime,
    scope: &Scope,
    id: &TaskId,
    attempt: impl Fn() -> Result<Option<T>, Error>,
) -> Result<Option<T>, Error> {
    loop {
        let task = runtime.tasks().task(id.as_str(), scope)?;
        if task.status.is_terminal() {
            return Ok(None);
        }
        if task.pid.is_some()
            && let Some(found) = attempt()?
        {
            return Ok(Some(found));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}
