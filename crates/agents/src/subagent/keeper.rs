//! Keeps an agent running that cannot reload its session. Between two messages it waits here, in a separate task.
//!
//! A keeper passes lines between the agent and its driver, and interprets only one of them: the request to keep the
//! agent. If a driver disconnects without that request, it was killed, and the keeper ends the agent.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use meanwhile::engine::Runtime;
use meanwhile::{Error, Settings};
use mw_model::TaskId;
use mw_model::wire::AGENT_FILE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::acp::process::{AgentProcess, Start};
use crate::lock::Lock;

/// The line that requests to keep the agent. Messages of the protocol are JSON, so it cannot be one.
pub(super) const KEEP: &str = "#keep\n";
/// How long the first driver may take to connect.
const FIRST_DRIVER_TIMEOUT: Duration = Duration::from_secs(30);
/// The time between two checks whether the task still exists.
const TASK_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The connected driver, if any.
type Driver = Arc<Mutex<Option<UnixStream>>>;

/// Keeps the agent of a task until no driver has connected for the configured time, its driver is killed, the agent
/// ends, or the task is removed.
///
/// # Errors
/// Fails if the task's files cannot be read, or the agent cannot be started.
pub fn keep(settings: Settings, id: &TaskId, cwd: &Path) -> Result<(), Error> {
    let runtime = Runtime::open(settings)?;
    let failed = |source: io::Error| Error::Io { what: format!("cannot keep the agent of {id}"), source };
    let spec = runtime.home().task(id).spec()?;
    let Some(agent) = spec.agent else { return Ok(()) };
    let listener = runtime.agents().keep_agent(id).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let start = Start { command: &agent.command, env: &[], cwd, stderr: Stdio::inherit() };
    let (process, mut stdin, stdout) =
        AgentProcess::start(start).map_err(|error| failed(io::Error::other(error)))?;
    let driver = Driver::default();
    let (lives, agent_lives) = UnixStream::pair().map_err(failed)?;
    pass_on(stdout, Arc::clone(&driver), agent_lives);
    let record = runtime.home().task(id).join(AGENT_FILE);
    let mut deadline = Instant::now() + FIRST_DRIVER_TIMEOUT;
    while let Some(stream) = next_driver(&listener, &lives, deadline, || record.exists()) {
        match serve(stream, &mut stdin, &driver) {
            Served::Nothing => {}
            Served::Kept => deadline = Instant::now() + Duration::from_millis(agent.linger_ms),
            Served::Abandoned => break,
        }
    }
    drop(stdin);
    process.end(Duration::from_millis(200));
    Ok(())
}

/// Waits for the next driver. Returns `None` if the time has passed, the agent has ended (`lives` is then closed), or
/// the task was removed.
fn next_driver(
    listener: &UnixListener,
    lives: &UnixStream,
    deadline: Instant,
    is_worth_it: impl Fn() -> bool,
) -> Option<UnixStream> {
    while Instant::now() < deadline && is_worth_it() {
        let mut watched = [PollFd::new(listener, PollFlags::IN), PollFd::new(lives, PollFlags::IN)];
        let left = deadline.saturating_duration_since(Instant::now()).min(TASK_CHECK_INTERVAL);
        match poll(&mut watched, Timespec::try_from(left).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
        if !watched[1].revents().is_empty() {
            return None;
        }
        match listener.accept() {
            Ok((stream, _)) => return stream.set_nonblocking(false).ok().map(|()| stream),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
    }
    None
}

/// How a connection ended.
enum Served {
    /// Nothing was sent. The client only checked whether the agent is running.
    Nothing,
    /// The driver requests to keep the agent.
    Kept,
    /// The driver was killed.
    Abandoned,
}

fn serve(stream: UnixStream, stdin: &mut ChildStdin, driver: &Driver) -> Served {
    let Ok(reader) = stream.try_clone() else { return Served::Nothing };
    let mut served = Served::Nothing;
    let mut place = Some(stream);
    for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
        if let Some(stream) = place.take() {
            *driver.locked() = Some(stream);
        }
        if line == KEEP.trim_end().as_bytes() {
            served = Served::Kept;
            break;
        }
        served = Served::Abandoned;
        if stdin.write_all(&line).and_then(|()| stdin.write_all(b"\n")).and_then(|()| stdin.flush()).is_err()
        {
            break;
        }
    }
    *driver.locked() = None;
    served
}

/// Passes the agent's output on. Output without a driver is dropped, because nothing was requested.
fn pass_on(output: impl Read + Send + 'static, driver: Driver, agent_lives: UnixStream) {
    thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if let Some(stream) = driver.locked().as_mut() {
                // The disconnection of a driver is noticed by reading from it.
                let _ = stream.write_all(&line);
            }
            line.clear();
        }
        drop(agent_lives);
        if let Some(stream) = driver.locked().take() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    });
}
