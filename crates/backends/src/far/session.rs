//! Starts, follows and signals a run through shells at the far side.

use std::io::{BufReader, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use mw_model::Exit;
use mw_model::Stream;
use mw_model::wire::{PlaceEnd, PlaceStep};

use super::frames::{FarEnd, Frame, read_frame, read_line};
use super::script::{self, HELLO};
use super::transport::{Connection, Transport};
use crate::driver::{Job, Output, Signals, WakeUp};
use crate::error::{PlaceError, Result};

/// How often signals that could not be delivered are tried again.
const RETRY: Duration = Duration::from_secs(1);
/// The number of frames that may wait to be written.
const WAITING_FRAMES: usize = 4;

/// What wakes a driver.
enum Event {
    Frame(Frame),
    /// The connection has ended.
    Closed(String),
    /// The supervisor may have left signals.
    Signals,
}

/// A place with a shell.
pub(crate) struct FarSide<'a, T> {
    pub(crate) transport: &'a T,
    /// The directory there for the files of all tasks; empty for the usual one.
    pub(crate) state: &'a str,
    /// The directory for commands, if it is not that of the task.
    pub(crate) directory: Option<&'a str>,
}

impl<T: Transport> FarSide<'_, T> {
    /// Starts the command if that was not done yet, and follows it to its end.
    pub(crate) fn attempt(&self, job: &mut Job, output: &mut Output, signals: &Signals) -> Result<PlaceEnd> {
        let mut connection = self.transport.open()?;
        let mut reader = BufReader::with_capacity(
            64 << 10,
            std::mem::replace(&mut connection.output, Box::new(std::io::empty())),
        );
        let mut ask = |connection: &mut Connection, script: &[u8]| -> Result<String> {
            let asked = connection.input.write_all(script).and_then(|()| connection.input.flush());
            asked
                .and_then(|()| read_line(&mut reader))
                .map_err(|error| broken(connection, &error.to_string()))
        };
        // A shell's own greeting may come first.
        let mut line = ask(&mut connection, &script::hello())?;
        for _ in 0..50 {
            if line.ends_with(HELLO) {
                break;
            }
            line = ask(&mut connection, b"")?;
        }
        if !line.ends_with(HELLO) {
            return Err(PlaceError::Unreachable(format!("its shell says {line:?} instead of greeting")));
        }
        let run_dir = self.launch(job, signals, |script| ask(&mut connection, script))?;
        let offsets = [output.offset(Stream::Stdout), output.offset(Stream::Stderr)];
        let asked = connection.input.write_all(&script::follow(&run_dir, offsets));
        asked
            .and_then(|()| connection.input.flush())
            .map_err(|error| broken(&connection, &error.to_string()))?;
        let (sender, events) = sync_channel(WAITING_FRAMES);
        let _wake_up = wake_on_signals(sender.clone())?;
        read_in_thread(reader, sender)?;
        job.record_note(None);
        self.follow(job, output, signals, (&connection, &events), &run_dir)
    }

    /// Starts the command if that was not done yet. Returns the directory of the run.
    fn launch(
        &self,
        job: &mut Job,
        signals: &Signals,
        mut ask: impl FnMut(&[u8]) -> Result<String>,
    ) -> Result<String> {
        if job.record.step == PlaceStep::Started
            && let Some(run_dir) = &job.record.job
        {
            return Ok(run_dir.clone());
        }
        if job.record.step == PlaceStep::Connecting {
            if !signals.all().is_empty() {
                return Err(PlaceError::Refused("it was killed before it was started there".to_owned()));
            }
            job.record_step(PlaceStep::Starting)?;
        }
        let answer = ask(&script::launch(job, self.state, self.directory))?;
        if let Some(run_dir) = answer.strip_prefix("mw started ") {
            job.record.job = Some(run_dir.to_owned());
            job.record_step(PlaceStep::Started)?;
            return Ok(run_dir.to_owned());
        }
        match answer.strip_prefix("mw refused ") {
            Some(why) => Err(PlaceError::Refused(why.to_owned())),
            None => Err(PlaceError::Unreachable(format!("its shell says {answer:?}"))),
        }
    }

    fn follow(
        &self,
        job: &mut Job,
        output: &mut Output,
        signals: &Signals,
        (connection, events): (&Connection, &Receiver<Event>),
        run_dir: &str,
    ) -> Result<PlaceEnd> {
        loop {
            let is_due = self.pass_signals_on(job, signals, run_dir).is_err();
            let event = match events.recv_timeout(if is_due { RETRY } else { RETRY * 10 }) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Err(broken(connection, "it was closed")),
            };
            match event {
                Event::Frame(Frame::Data(stream, bytes)) => output.write(stream, &bytes)?,
                Event::Frame(Frame::Ended(end)) => {
                    let end = PlaceEnd::by_itself(exit_of(end, &signals.all()));
                    // No other driver repeats the output once the end is recorded, and the pipes end with this process.
                    output.settle();
                    job.record_end(end.clone())?;
                    // The open connection makes this fast.
                    self.clean_up(job);
                    return Ok(end);
                }
                Event::Frame(Frame::Gone(reason)) => return Err(PlaceError::Lost(reason)),
                Event::Frame(Frame::Beat) | Event::Signals => {}
                Event::Closed(why) => return Err(broken(connection, &why)),
            }
        }
    }

    /// Delivers the signals that were not delivered yet.
    fn pass_signals_on(&self, job: &mut Job, signals: &Signals, run_dir: &str) -> Result<()> {
        for number in signals.all().into_iter().skip(job.record.signals) {
            self.execute(&script::signal(job, run_dir, number), "mw sent")?;
            job.record.signals += 1;
            job.write()?;
        }
        Ok(())
    }

    /// Removes the files of a run that has ended.
    pub(crate) fn clean_up(&self, job: &mut Job) {
        if let Some(run_dir) = job.record.job.clone().filter(|_| !job.is_cleaned) {
            job.is_cleaned = true;
            let _ = self.execute(&script::clean_up(&run_dir), "mw removed");
        }
    }

    /// Executes a script over a separate connection, and waits for its last line.
    pub(crate) fn execute(&self, script: &[u8], last: &str) -> Result<()> {
        let mut connection = self.transport.open()?;
        let asked = connection.input.write_all(script).and_then(|()| connection.input.flush());
        asked.map_err(|error| broken(&connection, &error.to_string()))?;
        let output = std::mem::replace(&mut connection.output, Box::new(std::io::empty()));
        let mut reader = BufReader::new(output);
        loop {
            let line = read_line(&mut reader).map_err(|error| broken(&connection, &error.to_string()))?;
            if line.ends_with(last) {
                return Ok(());
            }
        }
    }

    /// Checks whether a shell can be reached.
    pub(crate) fn probe(&self) -> Result<()> {
        self.execute(&script::hello(), HELLO)
    }
}

/// Returns how the command ended. A signal that was sent is recognised in the status of a shell.
fn exit_of(end: FarEnd, sent: &[i32]) -> Exit {
    match end {
        FarEnd::Exact(exit) => exit,
        FarEnd::ShellCode(code) if sent.contains(&(code - 128)) => {
            Exit::Signal { number: code - 128, core: false }
        }
        FarEnd::ShellCode(code) => Exit::Code(code),
    }
}

fn broken(connection: &Connection, why: &str) -> PlaceError {
    PlaceError::Unreachable((connection.diagnosis)().unwrap_or_else(|| why.to_owned()))
}

fn wake_on_signals(sender: SyncSender<Event>) -> Result<WakeUp> {
    Signals::on_wake_up(move || sender.send(Event::Signals).is_ok())
        .map_err(PlaceError::files("cannot wait for signals"))
}

fn read_in_thread(
    mut reader: BufReader<Box<dyn std::io::Read + Send>>,
    sender: SyncSender<Event>,
) -> Result<()> {
    let read = move || {
        loop {
            let event = match read_frame(&mut reader) {
                Ok(frame) => Event::Frame(frame),
                Err(error) => {
                    let _ = sender.send(Event::Closed(error.to_string()));
                    return;
                }
            };
            if sender.send(event).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().spawn(read).map(drop).map_err(|error| PlaceError::no_thread(&error))
}
