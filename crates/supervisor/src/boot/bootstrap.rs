//! The start of `mw-supervisor`: reads its arguments and the start message, and forks guardian and supervisor.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use mw_model::wire::{JournalEntry, Launch, RefusalCode, SUPERVISOR_NAME, StartAnswer, StartMessage};
use mw_model::{Enforcement, RawText};
use rustix::io::Errno;
use rustix::process::{Pid, getpid};

use super::check;
use super::descriptors::{FEW, MANY, ensure_spare, is_shortage};
use super::entrusted::entrust;
use super::fork_server;
use super::guardian;
use super::guardian::Ward;
use super::prepare::{self, Early, Ready};
use super::run::Run;
use super::start_message::{Received, read_message, receive_directory};
use super::takeover::ADOPTER;
use crate::end::record;
use crate::fail_point::fail_point;
use crate::spawn::cgroup::Cgroup;
use crate::spawn::launch;
use crate::sys;
use crate::sys::{Cpus, Fork};

/// Why a start is refused.
#[derive(Debug)]
pub(crate) struct StartRefusal {
    pub(crate) code: RefusalCode,
    pub(crate) message: String,
}

impl StartRefusal {
    pub(crate) fn system(what: &str, error: &io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::StorageFull => RefusalCode::DiskFull,
            _ if is_shortage(error) => RefusalCode::Lack,
            _ => RefusalCode::System,
        };
        Self { code, message: format!("{what}: {error}") }
    }

    pub(super) fn busy(message: &str) -> Self {
        Self { code: RefusalCode::Busy, message: message.to_owned() }
    }

    pub(crate) fn answer(self) {
        answer(&StartAnswer::Refused { code: self.code, message: self.message });
    }
}

/// The arguments: which run to supervise. What to run comes later, in the start message.
pub(crate) struct Address {
    pub(super) run: u32,
    pub(super) purpose: Purpose,
    /// Whether the starter is about to exit, so that no fork is needed to detach from it.
    stays: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Spawn,
    Adopt,
}

impl Address {
    /// Reads `mw-supervisor spawn|adopt RUN [stay]`.
    fn parse(mut words: impl Iterator<Item = OsString>) -> Option<Self> {
        let purpose = match words.nth(1)?.to_str()? {
            "spawn" => Purpose::Spawn,
            "adopt" => Purpose::Adopt,
            _ => return None,
        };
        let run = words.next()?.to_str()?.parse().ok()?;
        let stays = words.next().is_some_and(|word| word == "stay");
        Some(Self { run, purpose, stays })
    }

    /// The address of a run to execute, for a process that nobody waits for.
    pub(crate) const fn of_first_process(run: u32) -> Self {
        Self { run, purpose: Purpose::Spawn, stays: true }
    }
}

/// Runs `mw-supervisor` and returns its exit code. Returns only in the first of its processes.
#[must_use]
pub fn run() -> i32 {
    // The guardian completes a step that a panic interrupts, so nothing is cleaned up here.
    std::panic::set_hook(Box::new(|info| {
        eprintln!("mw-supervisor: {info}");
        std::process::abort();
    }));
    sys::close_inherited();
    sys::shorten_time_slice();
    // Clients find the supervisors above them by this name.
    sys::set_name(SUPERVISOR_NAME);
    let purpose = sys::arguments().nth(1).unwrap_or_default();
    if purpose == "check" {
        println!("{}", check::report());
        return 0;
    }
    if purpose == "fork-server" {
        let _ = rustix::process::setsid();
        return detach(fork_server::serve);
    }
    let Some(address) = Address::parse(sys::arguments()) else {
        eprintln!("mw-supervisor is internal; run mw instead");
        return 1;
    };
    // A separate session: when a host ends, its process group or everything on its terminal may be killed.
    let _ = rustix::process::setsid();
    if address.stays {
        guard(&address, None);
        sys::exit_at_once(0)
    }
    detach(|| guard(&address, None))
}

/// Runs a function in a process that is not a descendant of the starter: hosts kill their descendants when they end. Returns
/// only in the starter's child.
fn detach(act: impl FnOnce()) -> i32 {
    match sys::fork() {
        Ok(Fork::Parent(_)) => 0,
        Ok(Fork::Child) => {
            act();
            sys::exit_at_once(0)
        }
        Err(error) => {
            StartRefusal::system("cannot fork", &error).answer();
            1
        }
    }
}

/// The guardian (P1): forks the supervisor and sleeps until it is needed. `cpus` is set if its starter has moved it.
///
/// The functions it calls are not inlined: its own stack frame stays in memory as long as the task runs, theirs do not.
#[inline(never)]
pub(crate) fn guard(address: &Address, cpus: Option<Cpus>) {
    let early = match prepare::early(address.purpose) {
        Ok(early) => early,
        Err(refusal) => return refusal.answer(),
    };
    match address.purpose {
        Purpose::Spawn => guard_new(address, early, cpus),
        Purpose::Adopt => guard_adopted(address, early),
    }
}

/// Forks the supervisor of a new run at once: it receives the start message itself, and leaves a copy here before it executes
/// the command.
fn guard_new(address: &Address, early: Early, cpus: Option<Cpus>) {
    let (ours, its_end) = match UnixStream::pair() {
        Ok(pair) => pair,
        Err(error) => return StartRefusal::system("socket", &error).answer(),
    };
    let guardian = getpid();
    let forked = sys::fork();
    if let Some(cpus) = cpus {
        // Both, and what they execute, may run anywhere from here on.
        cpus.allow_all();
    }
    match forked {
        Ok(Fork::Parent(supervisor)) => {
            drop(its_end);
            guardian::stand_by(supervisor, Ward::expected(address.run, early, ours, cpus));
        }
        Ok(Fork::Child) => {
            drop(ours);
            if let Some((run, text, directory)) = receive_run(address, early) {
                supervise_new(run, guardian, &text, &directory, &its_end);
            }
        }
        Err(error) => StartRefusal::system("supervisor", &error).answer(),
    }
}

/// Executes the command, once the guardian has everything that it needs to take over.
#[inline(never)]
fn supervise_new(mut run: Run, guardian: Pid, text: &[u8], directory: &OwnedFd, line: &UnixStream) {
    if let Err(error) = entrust(line, text, directory, &run) {
        return StartRefusal::system("guardian", &error).answer();
    }
    fail_point("supervisor-entrusted");
    run.guardian = Some(guardian);
    launch::supervise(run);
}

/// Receives everything before the supervisor of an adopted run is forked: only the processes of the task know its pipes.
fn guard_adopted(address: &Address, early: Early) {
    let Some((mut run, ..)) = receive_run(address, early) else { return };
    let guardian = Some(getpid());
    match sys::fork() {
        Ok(Fork::Parent(supervisor)) => guardian::stand_by(supervisor, Ward::known(run)),
        Ok(Fork::Child) => {
            run.guardian = guardian;
            launch::supervise(run);
        }
        // The task runs even without a guardian.
        Err(_) => launch::supervise(run),
    }
}

/// Receives the task's directory and the start message, and opens the task's files; nothing if the start was cancelled or is
/// refused.
#[inline(never)]
fn receive_run(address: &Address, early: Early) -> Option<(Run, Vec<u8>, OwnedFd)> {
    let directory = match receive_directory() {
        Ok(directory) => directory?,
        Err(error) => {
            StartRefusal::system("task directory", &error).answer();
            return None;
        }
    };
    let prepared = prepare::in_directory(address, &directory, early);
    let run = read_message()?.and_then(|Received { text, message, slots }| {
        let Ready { board, files, events, group, boot_id } = prepared?;
        let cgroup = match address.purpose {
            Purpose::Spawn => make_cgroup(group.as_deref(), &message)?,
            Purpose::Adopt => {
                find_cgroup(address.run).map_err(|error| StartRefusal::system("journal", &error))?
            }
        };
        let files = files
            .complete(&message, address.run)
            .map_err(|error| StartRefusal::system("task files", &error))?;
        // Without spare descriptors it could neither answer nor search for processes, and no kill would reach the task.
        let number = match address.purpose {
            Purpose::Spawn => FEW,
            Purpose::Adopt => MANY,
        };
        ensure_spare(&files.journal, number).map_err(|error| StartRefusal::system("supervisor", &error))?;
        let number = address.run;
        Ok((
            Run {
                number,
                message,
                board,
                files,
                events,
                cgroup,
                connects: None,
                boot_id,
                guardian: None,
                slots,
            },
            text,
        ))
    });
    fail_point("supervisor-files-made");
    run.map(|(run, text)| (run, text, directory)).map_err(StartRefusal::answer).ok()
}

/// Creates the task's control group, with its limits if the group can enforce them. Only the CPU limit needs a group.
fn make_cgroup(base: Option<&Path>, message: &StartMessage) -> Result<Option<Cgroup>, StartRefusal> {
    let limits = &message.limits.resources;
    let limited = base.filter(|_| !limits.is_none());
    match limited.and_then(|base| Cgroup::make_limited(base, message.task.as_str(), limits)) {
        Some(group) => Ok(Some(group)),
        None if limits.milli_cpus.is_some() => Err(StartRefusal {
            code: RefusalCode::NoControlGroup,
            message:
                "a CPU limit needs cgroup v2 with the cpu controller in a delegated group, and none was found"
                    .to_owned(),
        }),
        None => Ok(base.and_then(|base| Cgroup::make(base, message.task.as_str()))),
    }
}

/// The group that an earlier supervisor made for this run.
pub(super) fn find_cgroup(run: u32) -> io::Result<Option<Cgroup>> {
    Ok(record::read_journal(run)?.into_iter().find_map(|line| match line.entry {
        JournalEntry::Spawning { cgroup: Some(path), enforcement, .. } => {
            let enforces = enforcement == Some(Enforcement::ControlGroup);
            Cgroup::find(Path::new(OsStr::from_bytes(path.as_bytes())), enforces)
        }
        _ => None,
    }))
}

/// Writes the answer. It does not matter if the starter has exited.
pub(crate) fn answer(answer: &StartAnswer) {
    if let Ok(mut line) = serde_json::to_vec(answer) {
        line.push(b'\n');
        let mut left = line.as_slice();
        while !left.is_empty() {
            match rustix::io::write(rustix::stdio::stdout(), left) {
                Ok(written) if written > 0 => left = &left[written..],
                Err(Errno::INTR) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }
}

/// Returns the first journal line of a run under this supervisor.
pub(crate) fn opening_entry(run: &Run) -> JournalEntry {
    match run.message.launch {
        Launch::Spawn { .. } => {
            let cgroup = run.cgroup.as_ref().map(|group| RawText::from(group.path.as_os_str().as_bytes()));
            let enforcement = (!run.message.limits.resources.is_none()).then(|| run.enforcement());
            let pipes = [run.files.stdout.inode(), run.files.stderr.inode()];
            JournalEntry::Spawning { pipes, cgroup, enforcement }
        }
        Launch::Adopt { .. } => JournalEntry::TakenOver { by: ADOPTER.to_owned() },
    }
}
