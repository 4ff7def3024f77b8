//! From a command line and one message on stdin to a supervised command: who forks whom.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mw_model::wire::{
    Answer, JournalEntry, LACK, Launch, MOST_SLOTS, SLOT_FREE, START_VERSION, StartMessage,
};
use mw_model::{Enforcement, RawText};
use rustix::fs::FlockOperation;
use rustix::io::{Errno, FdFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recvmsg};
use rustix::process::{Pid, Signal, getpid, getppid, kill_process};

use super::check;
use super::descriptors::{ensure_spare, is_lack};
use super::fork_server;
use super::guardian;
use super::takeover::ADOPTER;
use crate::clock;
use crate::end::record;
use crate::fail_point::fail_point;
use crate::files;
use crate::files::{Files, Prepared};
use crate::spawn::cgroup;
use crate::spawn::cgroup::Cgroup;
use crate::spawn::launch;
use crate::sys;
use crate::sys::{Board, ChildEvents, Fork};

/// How long a lock may stay with the supervisors of an earlier run that are just ending.
const LOCK_PATIENCE_MS: u64 = 5000;

/// Why a start is refused.
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn system(what: &str, error: &io::Error) -> Self {
        let code = match error.kind() {
            io::ErrorKind::StorageFull => "no_room",
            _ if is_lack(error) => LACK,
            _ => "system",
        };
        Self { code, message: format!("{what}: {error}") }
    }

    fn busy(message: &str) -> Self {
        Self { code: "busy", message: message.to_owned() }
    }

    pub(crate) fn answer(self) {
        answer(&Answer::Refused { code: self.code.to_owned(), message: self.message });
    }
}

/// What the command line says: which run to look after, before it is known what to do with it.
pub(crate) struct Address {
    run: u32,
    purpose: Purpose,
    /// Whether the starter is about to end, so that no fork is needed to get away from it.
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

    /// The address of a run that is to be executed, by a process that nobody waits for.
    pub(crate) const fn of_first_process(run: u32) -> Self {
        Self { run, purpose: Purpose::Spawn, stays: true }
    }
}

/// One run and everything that is held open for it.
pub(crate) struct Run {
    pub(crate) number: u32,
    pub(crate) message: StartMessage,
    pub(crate) board: Board,
    pub(crate) files: Files,
    pub(crate) events: ChildEvents,
    pub(crate) cgroup: Option<Cgroup>,
    pub(crate) boot_id: String,
    /// The stand-in of whoever has this; nobody for the stand-in itself.
    pub(crate) guardian: Option<Pid>,
    /// Locks that say that this task runs. Guardian and supervisor have the same.
    slots: Vec<OwnedFd>,
}

impl Run {
    /// Lets others run: unlocks the slots for everybody who holds them.
    pub(crate) fn free_slots(&self) {
        for slot in &self.slots {
            // A stand-in may come after this was done, and after somebody else has the slot.
            if rustix::fs::flock(slot, FlockOperation::NonBlockingLockExclusive).is_ok() {
                let _ = rustix::io::pwrite(slot, &[SLOT_FREE], 0);
                let _ = rustix::fs::flock(slot, FlockOperation::Unlock);
            }
        }
    }

    /// Says how limits on resources are held.
    pub(crate) fn enforcement(&self) -> Enforcement {
        match &self.cgroup {
            Some(group) if group.enforces() => Enforcement::ControlGroup,
            Some(_) | None => Enforcement::Sampled,
        }
    }

    /// Drops what was needed to execute the command.
    pub(crate) fn forget_command(&mut self) {
        if let Launch::Spawn { argv, env, .. } = &mut self.message.launch {
            (*argv, *env) = (Vec::new(), Vec::new());
        }
    }

    /// Reaps a process of the task's, and notes what it used.
    pub(crate) fn reap(&self, pid: u32) {
        if let Ok(us) = sys::reap(pid) {
            self.board.add_spent_us(us);
        }
    }

    /// Wakes the guardian, so that it looks at the board. Whoever took its place as our parent knows nothing of us.
    pub(crate) fn nudge_guardian(&self) {
        if let Some(guardian) = self.guardian
            && getppid() == Some(guardian)
        {
            let _ = kill_process(guardian, Signal::USR1);
        }
    }

    /// Removes the task's control group, which is empty now.
    pub(crate) fn remove_cgroup(&self) {
        if let Some(cgroup) = &self.cgroup {
            cgroup.remove();
        }
    }
}

/// What `mw-supervisor` does; returns what the process ends with. Returns in the first of its processes only.
#[must_use]
pub fn run() -> i32 {
    // A half-done step is the guardian's to finish, so nothing is tidied up on the way out.
    std::panic::set_hook(Box::new(|info| {
        eprintln!("mw-supervisor: {info}");
        std::process::abort();
    }));
    sys::close_inherited();
    let purpose = std::env::args_os().nth(1).unwrap_or_default();
    if purpose == "check" {
        println!("{}", check::report());
        return 0;
    }
    if purpose == "nursery" {
        let _ = rustix::process::setsid();
        return leave_family(fork_server::tend);
    }
    let Some(address) = Address::parse(std::env::args_os()) else {
        eprintln!("mw-supervisor is started by mw; it is not meant to be run by hand");
        return 1;
    };
    // A session of its own: hosts kill the group, or everything on their terminal, when they end.
    let _ = rustix::process::setsid();
    if address.stays {
        guard(&address);
        sys::exit_at_once(0)
    }
    leave_family(|| guard(&address))
}

/// Does something in a process that is no descendant of the starter's: hosts kill those when they end. Returns in the
/// starter's child only.
fn leave_family(act: impl FnOnce()) -> i32 {
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

/// P1: sets everything up, forks the supervisor and sleeps until it is needed.
///
/// What it calls is not inlined: its frame stays for as long as the task runs, theirs are given back.
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
        // Without a stand-in the task still runs.
        Err(_) => launch::supervise(run),
    }
}

/// What does not depend on the message.
struct Ready {
    board: Board,
    prepared: Prepared,
    events: ChildEvents,
    /// Where to make a control group.
    group: Option<PathBuf>,
    boot_id: String,
}

/// Makes ready what does not depend on the message, while that is still being written.
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
            return Err(Refusal::busy("this run was started already"));
        }
    }
    fail_point("supervisor-locked");
    let board = Board::new().map_err(|error| Refusal::system("shared page", &error))?;
    let events = ChildEvents::new().map_err(|error| Refusal::system("signals", &error))?;
    let (prepared, group) = match address.purpose {
        Purpose::Spawn => (Prepared::for_spawn(journal, board), cgroup::base_group()),
        Purpose::Adopt => {
            // One that could neither be asked nor look for processes would only be in the way.
            ensure_spare(&journal).map_err(|error| Refusal::system("adopter", &error))?;
            // For no group of its own: one that was sent from inside a task must not end with that.
            let _ = cgroup::base_group();
            (Prepared::for_adoption(journal, board), None)
        }
    };
    let prepared = prepared.map_err(|error| Refusal::system("task files", &error))?;
    let boot_id = sys::boot_id().map_err(|error| Refusal::system("identity of this boot", &error))?;
    Ok(Ready { board, prepared, events, group, boot_id })
}

/// A command is executed once per run, even if two starters mean it.
fn already_ran(run: u32) -> io::Result<bool> {
    Ok(record::read_result(run)?.is_some() || !record::read_journal(run)?.is_empty())
}

fn take_lock() -> Result<std::fs::File, Refusal> {
    let patience = clock::monotonic_ms() + LOCK_PATIENCE_MS;
    loop {
        match files::lock_journal().map_err(|error| Refusal::system("journal", &error))? {
            Some(journal) => return Ok(journal),
            None if clock::monotonic_ms() > patience => {
                return Err(Refusal::busy("the task has a supervisor already"));
            }
            None => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    }
}

/// Reads the start message and what came with it; nothing when the start was called off.
#[inline(never)]
fn read_message() -> Option<Result<(StartMessage, Vec<OwnedFd>), Refusal>> {
    let (text, slots) = match receive() {
        Ok(received) => received,
        // Without its slots it would run beside others that have them.
        Err(error) => return Some(Err(Refusal::system("start message", &error))),
    };
    if text.is_empty() {
        return None;
    }
    let bad = |message: String| Refusal { code: "version", message };
    let message =
        serde_json::from_slice::<StartMessage>(&text).map_err(|error| bad(format!("start message: {error}")));
    Some(message.and_then(|message| match message.version {
        1..=START_VERSION => Ok((message, slots)),
        other => {
            Err(bad(format!("start message has version {other}, this supervisor speaks {START_VERSION}")))
        }
    }))
}

/// Takes the task's directory, which comes first; nothing when the start was called off.
fn receive_directory() -> io::Result<Option<OwnedFd>> {
    Ok(receive_some(&mut [0])?.1.pop())
}

/// Takes bytes and descriptors from standard input, to its end.
fn receive() -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut text, mut slots) = (Vec::new(), Vec::new());
    let mut part = [0; 2 << 10];
    loop {
        let (got, descriptors) = receive_some(&mut part)?;
        if got == 0 {
            return Ok((text, slots));
        }
        text.extend_from_slice(&part[..got]);
        slots.extend(descriptors);
    }
}

/// Takes some; an error where a descriptor that was sent could not be had.
pub(crate) fn receive_some(part: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_SLOTS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let parts = &mut [IoSliceMut::new(part)];
        let received = match recvmsg(rustix::stdio::stdin(), parts, &mut ancillary, RecvFlags::empty()) {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        let mut descriptors = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(passed) = message {
                descriptors.extend(passed);
            }
        }
        // They are ours, not the command's.
        for descriptor in &descriptors {
            rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC)?;
        }
        if received.flags.contains(ReturnFlags::CTRUNC) {
            return Err(Errno::MFILE.into());
        }
        return Ok((received.bytes, descriptors));
    }
}

/// Makes the task's group, with its limits where it can hold them. All limits but one can be held without.
fn make_cgroup(base: Option<&Path>, message: &StartMessage) -> Result<Option<Cgroup>, Refusal> {
    let limits = &message.limits.resources;
    let limited = base.filter(|_| !limits.is_none());
    match limited.and_then(|base| Cgroup::make_limited(base, &message.task, limits)) {
        Some(group) => Ok(Some(group)),
        None if limits.milli_cpus.is_some() => Err(Refusal {
            code: "no_control_group",
            message:
                "a limit on CPUs needs cgroup v2 with the cpu controller, in a group that is ours to divide, \
                      and there is none here"
                    .to_owned(),
        }),
        None => Ok(base.and_then(|base| Cgroup::make(base, &message.task))),
    }
}

/// The group that an earlier supervisor made for this run.
fn find_cgroup(run: u32) -> io::Result<Option<Cgroup>> {
    Ok(record::read_journal(run)?.into_iter().find_map(|line| match line.entry {
        JournalEntry::Spawning { cgroup: Some(path), enforcement, .. } => {
            let mut group = Cgroup::find(Path::new(OsStr::from_bytes(path.as_bytes())))?;
            group.set_enforces(enforcement == Some(Enforcement::ControlGroup));
            Some(group)
        }
        _ => None,
    }))
}

/// Writes the one answer line. A starter that is gone does not matter.
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

/// The journal line with which a run begins its life under a supervisor.
pub(crate) fn opening_entry(run: &Run) -> JournalEntry {
    match run.message.launch {
        Launch::Spawn { .. } => {
            let cgroup = run.cgroup.as_ref().map(|group| RawText::from(group.path().as_os_str().as_bytes()));
            let enforcement = (!run.message.limits.resources.is_none()).then(|| run.enforcement());
            let pipes = [run.files.stdout.inode(), run.files.stderr.inode()];
            JournalEntry::Spawning { pipes, cgroup, enforcement }
        }
        Launch::Adopt { .. } => JournalEntry::TakenOver { by: ADOPTER.to_owned() },
    }
}
