//! P2: executes the command, answers the starter, and supervises.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use mw_model::signal::SIGKILL;
use mw_model::wire::{JournalEntry, Launch, RefusalCode, StartAnswer};
use mw_model::{Io, Process, Resources, Timestamp};

use crate::boot::bootstrap::{StartRefusal, answer, opening_entry};
use crate::boot::descriptors::is_shortage;
use crate::boot::run::Run;
use crate::boot::takeover::resume;
use crate::clock;
use crate::end::conclude::conclude;
use crate::end::driver::started_driver;
use crate::end::record;
use crate::fail_point::fail_point;
use crate::files;
use crate::output::direct::DirectOutput;
use crate::spawn::confined;
use crate::sys;
use crate::sys::{Child, ExecPlan, Phase, ProcessHandle, SpawnStep};
use crate::watch::supervise::{Leader, Supervisor};

/// The task's first process, just started or found.
pub(crate) struct Begun {
    pub(crate) leader: Leader,
    pub(crate) process: Process,
    pub(crate) started_at: Timestamp,
}

/// Starts or adopts the command and supervises it to its end.
#[inline(never)]
pub(crate) fn supervise(mut run: Run) {
    sys::become_subreaper();
    let adopts = matches!(run.message.launch, Launch::Adopt { .. });
    let begun = match open_journal(&mut run).and_then(|()| begin(&mut run)) {
        Ok(begun) => begun,
        Err(refusal) => return cancel_start(&mut run, refusal),
    };
    fail_point("supervisor-spawned");
    if !adopts {
        let entry = JournalEntry::Started {
            process: begun.process.clone(),
            started_at: begun.started_at,
            confined_by: run.board.confined_by(),
        };
        record::journal(&mut run.files.journal, run.number, entry);
    }
    fail_point("supervisor-journalled");
    answer(&StartAnswer::Started { process: begun.process.clone(), started_at: begun.started_at });
    run.board.set_phase(Phase::Running);
    fail_point("supervisor-answered");
    // The starter was just woken on this CPU: whatever can wait is done when the task has lived for some milliseconds.
    let run_number = run.number;
    let mut supervisor = Supervisor::new(run, begun);
    if adopts {
        resume(&mut supervisor, &record::retry(|| record::read_journal(run_number)));
    }
    conclude(supervisor.run());
}

/// Records and answers that the command was not executed, and releases everything. A command that already runs is
/// left to the next adopter.
pub(crate) fn cancel_start(run: &mut Run, refusal: StartRefusal) {
    if let Launch::Spawn { .. } = run.message.launch {
        let entry = JournalEntry::NotExecuted { message: refusal.message.clone() };
        record::journal(&mut run.files.journal, run.number, entry);
        run.remove_cgroup();
        run.free_slots();
    }
    refusal.answer();
    run.board.set_phase(Phase::Settling);
}

/// Writes the first journal line of a run. Nothing is executed without it: if the supervisors were killed then, the
/// run would look as if it had never begun, and be executed again.
fn open_journal(run: &mut Run) -> Result<(), StartRefusal> {
    let entry = opening_entry(run);
    match run.message.launch {
        Launch::Spawn { .. } => record::try_journal(&mut run.files.journal, run.number, entry)
            .map_err(|error| StartRefusal::system("journal", &error)),
        Launch::Adopt { .. } => {
            record::end_torn_line(&run.files.journal);
            record::journal(&mut run.files.journal, run.number, entry);
            fail_point("adopter-noted");
            Ok(())
        }
    }
}

#[inline(never)]
fn begin(run: &mut Run) -> Result<Begun, StartRefusal> {
    match &run.message.launch {
        Launch::Spawn { program, argv, env, cwd, umask } => {
            let plan = ExecPlan::new(program, argv, env, cwd, *umask)
                .map_err(|error| StartRefusal::system("command", &error))?
                .with_cpu_seconds(cpu_seconds(&run.message.limits.resources))
                .off_cpu(run.message.caller_cpu);
            let process = execute(&plan, run)?;
            Ok(Begun { leader: Leader::Child(process.pid), process, started_at: clock::wall() })
        }
        Launch::Adopt { process, started_at } => {
            // A driver may have been executed several times.
            let journal = record::retry(|| record::read_journal(run.number));
            let process = journal.iter().rev().find_map(started_driver).unwrap_or(process);
            let leader = adopt(process).map_err(|error| StartRefusal::system("process", &error))?;
            Ok(Begun { leader, process: process.clone(), started_at: *started_at })
        }
    }
}

/// A limit per process that none can reach before the limit of the whole tree. The kernel enforces it even if all
/// supervisors are dead.
fn cpu_seconds(limits: &Resources) -> Option<u64> {
    limits.cpu_time_ms.map(|ms| ms.div_ceil(1000) + 1)
}

fn execute(plan: &ExecPlan, run: &mut Run) -> Result<Process, StartRefusal> {
    let missing = || StartRefusal::system("output pipe", &io::Error::from(io::ErrorKind::NotFound));
    let ends = run.files.for_command.take().ok_or_else(missing)?;
    let progress = run.files.progress.as_ref().map(|_| files::open_progress_for_command()).transpose();
    let progress = progress.map_err(|error| StartRefusal::system("progress pipe", &error))?;
    let progress = progress.as_ref().map(AsFd::as_fd);
    let direct = run.files.direct.as_ref().map(|_| DirectOutput::for_command()).transpose();
    let direct = direct.map_err(|error| StartRefusal::system("log", &error))?;
    let stdin;
    let streams = match (&run.files.terminal, &run.files.stdin) {
        (Some(terminal), _) => {
            let end = terminal.task.as_fd();
            let stderr = match run.message.io {
                Io::PtyAndPipe { .. } => ends.stderr.as_fd(),
                Io::Pipes | Io::Stdin | Io::Direct | Io::Pty { .. } => end,
            };
            Child { stdin: end, stdout: end, stderr, terminal: true, progress }
        }
        (None, open) => {
            stdin = match open {
                Some(_) => files::open_stdin_for_command(),
                None => Ok(OwnedFd::from(ends.null)),
            }
            .map_err(|error| StartRefusal::system("standard input", &error))?;
            let (stdout, stderr) = match &direct {
                Some(log) => (log.as_fd(), log.as_fd()),
                None => (ends.stdout.as_fd(), ends.stderr.as_fd()),
            };
            Child { stdin: stdin.as_fd(), stdout, stderr, terminal: false, progress }
        }
    };
    run.board.started_ms.set(clock::monotonic_ms());
    let cgroup = run.cgroup.as_ref().map(AsFd::as_fd);
    let pid = match &run.message.confinement {
        None => sys::spawn(plan, None, &streams, run.board, cgroup),
        Some(confinement) => {
            let spawned = confined::spawn(plan, confinement, &streams, run.board, cgroup);
            spawned.map(|(pid, connects)| {
                run.connects = connects;
                pid
            })
        }
    }
    .map_err(|(step, errno)| spawn_refusal(step, errno))?;
    if let Some(group) = run.cgroup.as_ref().filter(|group| group.enforces)
        && !group.take_in(pid)
    {
        // Its limits would not be enforced.
        let _ = ProcessHandle::open(pid).map(|process| process.signal(SIGKILL));
        run.reap(pid);
        let message = format!("it cannot enter its control group {}", group.path.display());
        return Err(StartRefusal { code: RefusalCode::System, message });
    }
    Ok(identify(pid, &run.boot_id))
}

/// Returns what identifies a process.
pub(crate) fn identify(pid: u32, boot_id: &str) -> Process {
    Process { pid, start_ticks: sys::start_ticks(pid).unwrap_or(0), boot_id: boot_id.to_owned() }
}

pub(crate) fn spawn_refusal(step: SpawnStep, errno: i32) -> StartRefusal {
    let error = io::Error::from_raw_os_error(errno);
    let (code, what) = match (step, error.kind()) {
        (SpawnStep::Confine(enforcer), _) => {
            let message = format!("the command cannot be confined: {}: {error}", enforcer.word());
            return StartRefusal { code: RefusalCode::Confinement, message };
        }
        (_, _) if is_shortage(&error) => (RefusalCode::Lack, "no process can be started"),
        (SpawnStep::Directory, _) => (RefusalCode::Directory, "working directory"),
        (SpawnStep::Streams, _) => (RefusalCode::System, "standard streams"),
        (SpawnStep::Execute, io::ErrorKind::NotFound) => (RefusalCode::NotFound, "program"),
        (SpawnStep::Execute, _) => (RefusalCode::NotExecutable, "program"),
    };
    StartRefusal { code, message: format!("{what}: {error}") }
}

/// Opens a process that is the child of another process. A process that is gone is not held; an error means that this
/// could not be checked.
pub(crate) fn adopt(process: &Process) -> io::Result<Leader> {
    let same = process.boot_id == sys::boot_id()?;
    let handle = ProcessHandle::find(process.pid)?;
    // The process is opened before its identity is checked, so that it cannot be replaced in between.
    let alive = sys::find_start_ticks(process.pid)? == Some(process.start_ticks);
    Ok(Leader::Foreign { handle: handle.filter(|_| same && alive), ended_ms: None })
}

/// Closes the starter's streams, because the starter may wait for their end.
pub(crate) fn detach_streams() {
    if let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}
