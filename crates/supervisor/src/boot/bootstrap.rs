//! The start of `mw-supervisor`: reads its arguments and the start message, and forks guardian and supervisor.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mw_model::wire::{Answer, JournalEntry, Launch, RefusalCode, SUPERVISOR_NAME, StartMessage};
use mw_model::{Enforcement, RawText};
use rustix::io::Errno;
use rustix::process::getpid;

use super::check;
use super::descriptors::{ensure_spare, is_shortage};
use super::fork_server;
use super::guardian;
use super::run::Run;
use super::start_message::{read_message, receive_directory};
use super::takeover::ADOPTER;
use crate::clock;
use crate::end::record;
use crate::fail_point::fail_point;
use crate::files;
use crate::files::Prepared;
use crate::spawn::cgroup;
use crate::spawn::cgroup::Cgroup;
use crate::spawn::launch;
use crate::sys;
use crate::sys::{Board, ChildEvents, Fork};

/// How long to wait for the lock of an earlier run whose supervisors are still exiting.
const LOCK_TIMEOUT_MS: u64 = 5000;

/// Why a start is refused.
pub(crate) struct Refusal {
    pub(crate) code: RefusalCode,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn system(what: &str, error: &io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::StorageFull => RefusalCode::DiskFull,
            _ if is_shortage(error) => RefusalCode::Lack,
            _ => RefusalCode::System,
        };
        Self { code, message: format!("{what}: {error}") }
    }

    fn busy(message: &str) -> Self {
        Self { code: RefusalCode::Busy, message: message.to_owned() }
    }

    pub(crate) fn answer(self) {
        answer(&Answer::Refused { code: self.code, message: self.message });
    }
}

/// The arguments: which run to supervise. What to run comes later, in the start message.
pub(crate) struct Address {
    run: u32,
    purpose: Purpose,
    /// Whether the starter is about to exit, so that no fork is needed to detach from it.
    stays: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
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
    // Clients find the supervisors above them by this name.
    if let Ok(name) = CString::new(SUPERVISOR_NAME) {
        let _ = rustix::thread::set_name(&name);
    }
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
        guard(&address);
        sys::exit_at_once(0)
    }
    detach(|| guard(&address))
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
            Refusal::system("cannot fork", &error).answer();
            1
        }
    }
}

/// The guardian (P1): prepares the task, forks the supervisor and sleeps until it is needed.
///
/// The functions it calls are not inlined: its own stack frame stays in memory as long as the task runs, theirs do not.
#[inline(never)]
pub(crate) fn guard(address: &Address) {
    let directory = match receive_directory() {
        Ok(Some(directory)) => directory,
        Ok(None) => return,
        Err(error) => return Refusal::system("task directory", &error).answer(),
    };
    let prepared = prepare(address, &directory);
    let Some(message) = read_message() else { return };
    let run = message.and_then(|(message, slots)| {
        let Ready { board, prepared, events, group, boot_id } = prepared?;
        let cgroup = match address.purpose {
            Purpose::Spawn => make_cgroup(group.as_deref(), &message)?,
            Purpose::Adopt => find_cgroup(address.run).map_err(|error| Refusal::system("journal", &error))?,
        };
        let files = prepared
            .complete(&message, address.run)
            .map_err(|error| Refusal::system("task files", &error))?;
        if address.purpose == Purpose::Adopt {
            ensure_spare(&files.journal).map_err(|error| Refusal::system("adopter", &error))?;
        }
        Ok(Run { number: address.run, message, board, files, events, cgroup, boot_id, guardian: None, slots })
    });
    let mut run = match run {
        Ok(run) => run,
        Err(refusal) => return refusal.answer(),
    };
    fail_point("supervisor-files-made");
    let guardian = Some(getpid());
    match sys::fork() {
        Ok(Fork::Parent(supervisor)) => guardian::stand_by(supervisor, run),
        Ok(Fork::Child) => {
            run.guardian = guardian;
            launch::supervise(run);
        }
        // The task runs even without a guardian.
        Err(_) => launch::supervise(run),
    }
}

/// What is prepared before the start message arrives.
struct Ready {
    board: Board,
    prepared: Prepared,
    events: ChildEvents,
    /// The directory for the control group.
    group: Option<PathBuf>,
    boot_id: String,
}

/// Prepares what does not depend on the start message, while the starter still writes it.
#[inline(never)]
fn prepare(address: &Address, directory: &OwnedFd) -> Result<Ready, Refusal> {
    rustix::process::fchdir(directory).map_err(|error| Refusal::system("task directory", &error.into()))?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    sys::become_subreaper();
    let journal = take_lock()?;
    if address.purpose == Purpose::Spawn {
        let already_ran =
            already_ran(address.run).map_err(|error| Refusal::system("earlier record", &error))?;
        if already_ran {
            return Err(Refusal::busy("this run has already been started"));
        }
    }
    fail_point("supervisor-locked");
    let board = Board::new().map_err(|error| Refusal::system("shared page", &error))?;
    let events = ChildEvents::new().map_err(|error| Refusal::system("signals", &error))?;
    let (prepared, group) = match address.purpose {
        Purpose::Spawn => (Prepared::for_spawn(journal, board), cgroup::base_group()),
        Purpose::Adopt => {
            // An adopter without spare descriptors could neither answer nor search for processes.
            ensure_spare(&journal).map_err(|error| Refusal::system("adopter", &error))?;
            // An adopter that was started inside a task must not end with that task's group.
            let _ = cgroup::base_group();
            (Prepared::for_adoption(journal, board), None)
        }
    };
    let prepared = prepared.map_err(|error| Refusal::system("task files", &error))?;
    let boot_id = sys::boot_id().map_err(|error| Refusal::system("identity of this boot", &error))?;
    Ok(Ready { board, prepared, events, group, boot_id })
}

/// Tells whether this run was executed before: a command is executed once per run, even if two processes start it.
fn already_ran(run: u32) -> io::Result<bool> {
    Ok(record::read_result(run)?.is_some() || !record::read_journal(run)?.is_empty())
}

fn take_lock() -> Result<std::fs::File, Refusal> {
    let deadline = clock::monotonic_ms() + LOCK_TIMEOUT_MS;
    loop {
        match files::lock_journal().map_err(|error| Refusal::system("journal", &error))? {
            Some(journal) => return Ok(journal),
            None if clock::monotonic_ms() > deadline => {
                return Err(Refusal::busy("the task already has a supervisor"));
            }
            None => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    }
}

/// Creates the task's control group, with its limits if the group can enforce them. Only the CPU limit needs a group.
fn make_cgroup(base: Option<&Path>, message: &StartMessage) -> Result<Option<Cgroup>, Refusal> {
    let limits = &message.limits.resources;
    let limited = base.filter(|_| !limits.is_none());
    match limited.and_then(|base| Cgroup::make_limited(base, &message.task, limits)) {
        Some(group) => Ok(Some(group)),
        None if limits.milli_cpus.is_some() => Err(Refusal {
            code: RefusalCode::NoControlGroup,
            message:
                "a CPU limit needs cgroup v2 with the cpu controller in a delegated group, and none was found"
                    .to_owned(),
        }),
        None => Ok(base.and_then(|base| Cgroup::make(base, &message.task))),
    }
}

/// The group that an earlier supervisor made for this run.
fn find_cgroup(run: u32) -> io::Result<Option<Cgroup>> {
    Ok(record::read_journal(run)?.into_iter().find_map(|line| match line.entry {
        JournalEntry::Spawning { cgroup: Some(path), enforcement, .. } => {
            let enforces = enforcement == Some(Enforcement::ControlGroup);
            Cgroup::find(Path::new(OsStr::from_bytes(path.as_bytes())), enforces)
        }
        _ => None,
    }))
}

/// Writes the answer. It does not matter if the starter has exited.
pub(crate) fn answer(answer: &Answer) {
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
