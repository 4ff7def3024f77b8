//! From one message on stdin to a supervised command: who forks whom, and who stands in for whom.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use mw_model::wire::{
    Answer, EndRequest, JournalEntry, Launch, START_VERSION, STDERR_FIFO, STDOUT_FIFO, StartMessage,
};
use mw_model::{Exit, Process, Timestamp};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use crate::clock;
use crate::control::Connections;
use crate::ending::{Ending, SIGKILL};
use crate::fail_point::fail_point;
use crate::files::{self, Files};
use crate::record;
use crate::supervise::{Leader, Supervisor};
use crate::sys::{self, Board, Child, ChildEvents, ExecPlan, Fork, Phase, SpawnStep, WaitResult};
use crate::tree::Tree;
use crate::watchdog::Watchdog;

/// How long a lock may stay with the supervisors of an earlier run that are just ending.
const LOCK_PATIENCE_MS: u64 = 5000;

/// Why a start is refused.
struct Refusal {
    code: &'static str,
    message: String,
}

impl Refusal {
    fn system(what: &str, error: &io::Error) -> Self {
        Self {
            code: "system",
            message: format!("{what}: {error}"),
        }
    }
}

/// The supervisor's `main`. Returns in the first of its processes only.
#[must_use]
pub fn run() -> ExitCode {
    sys::close_inherited();
    // A session of its own: hosts kill the group, or everything on their terminal, when they end.
    let _ = rustix::process::setsid();
    match sys::fork() {
        Ok(Fork::Parent(_)) => ExitCode::SUCCESS,
        Ok(Fork::Child) => {
            guard();
            sys::exit_at_once(0)
        }
        Err(error) => {
            answer(&Answer::Refused {
                code: "system".to_owned(),
                message: format!("cannot fork: {error}"),
            });
            ExitCode::FAILURE
        }
    }
}

/// P1: sets everything up, forks the supervisor and sleeps until it is needed.
fn guard() {
    let Some(message) = read_message() else { return };
    let prepared = message.and_then(|message| prepare(&message).map(|ready| (message, ready)));
    let (message, (board, files, events)) = match prepared {
        Ok(prepared) => prepared,
        Err(refusal) => {
            return answer(&Answer::Refused {
                code: refusal.code.to_owned(),
                message: refusal.message,
            });
        }
    };
    match sys::fork() {
        Ok(Fork::Child) => supervise_first(message, board, files, events),
        Ok(Fork::Parent(supervisor)) => stand_by(supervisor, message, board, files, events),
        // Without a stand-in the task still runs.
        Err(_) => supervise_first(message, board, files, events),
    }
}

/// Reads the start message; nothing when the start was called off.
fn read_message() -> Option<Result<StartMessage, Refusal>> {
    let mut text = Vec::new();
    if io::stdin().read_to_end(&mut text).is_err() || text.is_empty() {
        return None;
    }
    let bad = |message: String| Refusal {
        code: "version",
        message,
    };
    let message =
        serde_json::from_slice::<StartMessage>(&text).map_err(|error| bad(format!("start message: {error}")));
    Some(message.and_then(|message| match message.version {
        START_VERSION => Ok(message),
        other => Err(bad(format!(
            "start message has version {other}, this supervisor speaks {START_VERSION}"
        ))),
    }))
}

fn prepare(message: &StartMessage) -> Result<(Board, Files, ChildEvents), Refusal> {
    let directory = std::ffi::OsStr::from_bytes(message.task_dir.as_bytes());
    std::env::set_current_dir(directory).map_err(|error| Refusal::system("task directory", &error))?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let lock = take_lock()?;
    if matches!(message.launch, Launch::Spawn { .. }) && already_ran(message.run) {
        return Err(Refusal {
            code: "busy",
            message: "this run was started already".to_owned(),
        });
    }
    fail_point("supervisor-locked");
    let board = Board::new().map_err(|error| Refusal::system("shared page", &error))?;
    let files = Files::open(lock, message, board).map_err(|error| Refusal::system("task files", &error))?;
    let events = ChildEvents::new().map_err(|error| Refusal::system("signals", &error))?;
    fail_point("supervisor-files-made");
    Ok((board, files, events))
}

/// A command is executed once per run, even if two starters mean it.
fn already_ran(run: u32) -> bool {
    record::read_result(run).is_some() || !record::read_journal(run).is_empty()
}

fn take_lock() -> Result<File, Refusal> {
    let patience = clock::monotonic_ms() + LOCK_PATIENCE_MS;
    loop {
        match files::lock().map_err(|error| Refusal::system("spec.json", &error))? {
            Some(lock) => return Ok(lock),
            None if clock::monotonic_ms() > patience => {
                return Err(Refusal {
                    code: "busy",
                    message: "the task has a supervisor already".to_owned(),
                });
            }
            None => std::thread::sleep(std::time::Duration::from_millis(2)),
        }
    }
}

/// P2: starts the command and supervises it.
fn supervise_first(message: StartMessage, board: Board, mut files: Files, events: ChildEvents) {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let begun = match &message.launch {
        Launch::Spawn {
            program,
            argv,
            env,
            cwd,
            umask,
        } => ExecPlan::new(program, argv, env, cwd, *umask)
            .map_err(|error| Refusal::system("command", &error))
            .and_then(|plan| {
                record::journal(&mut files.journal, message.run, JournalEntry::Spawning);
                start_command(&plan, &files, board)
            })
            .map(|process| (Leader::Child(process.pid), process, clock::wall())),
        Launch::Adopt { process, started_at } => Ok((adopt(process), process.clone(), *started_at)),
    };
    let (leader, process, started_at) = match begun {
        Ok(begun) => begun,
        Err(refusal) => {
            answer(&Answer::Refused {
                code: refusal.code.to_owned(),
                message: refusal.message,
            });
            board.set_phase(Phase::Settling);
            return;
        }
    };
    fail_point("supervisor-spawned");
    let entry = match message.launch {
        Launch::Spawn { .. } => JournalEntry::Started {
            process: process.clone(),
            started_at,
        },
        Launch::Adopt { .. } => JournalEntry::TakenOver {
            by: "adopter".to_owned(),
        },
    };
    record::journal(&mut files.journal, message.run, entry);
    fail_point("supervisor-journalled");
    answer(&Answer::Started {
        process: process.clone(),
        started_at,
    });
    board.set_phase(Phase::Running);
    fail_point("supervisor-answered");
    after_answer(&message, &process, started_at);
    conclude(supervisor_of(message, board, files, events, leader, process, started_at).run());
}

fn start_command(plan: &ExecPlan, files: &Files, board: Board) -> Result<Process, Refusal> {
    let open = |name| files::open_for_command(name).map_err(|error| Refusal::system("output pipe", &error));
    let null = || OpenOptions::new().read(true).open("/dev/null").map(OwnedFd::from);
    let (stdin, stdout, stderr);
    let streams = if let Some(terminal) = &files.terminal {
        let end = terminal.task.as_fd();
        Child {
            stdin: end,
            stdout: end,
            stderr: end,
            terminal: true,
        }
    } else {
        stdin = if files.stdin.is_some() {
            files::open_stdin_for_command()
        } else {
            null()
        }
        .map_err(|error| Refusal::system("standard input", &error))?;
        (stdout, stderr) = (open(STDOUT_FIFO)?, open(STDERR_FIFO)?);
        Child {
            stdin: stdin.as_fd(),
            stdout: stdout.as_fd(),
            stderr: stderr.as_fd(),
            terminal: false,
        }
    };
    board.set_started_ms(clock::monotonic_ms());
    let pid = sys::spawn(plan, &streams, board).map_err(|(step, errno)| spawn_refusal(step, errno))?;
    Ok(identify(pid))
}

fn identify(pid: u32) -> Process {
    Process {
        pid,
        start_ticks: sys::start_ticks(pid).unwrap_or(0),
        boot_id: sys::boot_id(),
    }
}

fn spawn_refusal(step: SpawnStep, errno: i32) -> Refusal {
    let error = io::Error::from_raw_os_error(errno);
    let (code, what) = match (step, error.kind()) {
        (SpawnStep::Directory, _) => ("cwd", "working directory"),
        (SpawnStep::Streams, _) => ("system", "standard streams"),
        (SpawnStep::Execute, io::ErrorKind::NotFound) => ("not_found", "program"),
        (SpawnStep::Execute, _) => ("not_executable", "program"),
    };
    Refusal {
        code,
        message: format!("{what}: {error}"),
    }
}

fn adopt(process: &Process) -> Leader {
    let same = process.boot_id == sys::boot_id();
    let handle = Pid::from_raw(process.pid as i32).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    // The pidfd first, the identity behind it: what it holds now can no longer be exchanged.
    let alive = sys::start_ticks(process.pid) == Some(process.start_ticks);
    Leader::Foreign {
        handle: handle.filter(|_| same && alive),
        ended_ms: None,
    }
}

/// Work that nobody waits for.
fn after_answer(message: &StartMessage, process: &Process, started_at: Timestamp) {
    detach_streams();
    record::reserve_result();
    if let Some(metadata) = &message.metadata {
        let mut metadata = metadata.clone();
        metadata.pid = Some(process.pid);
        metadata.started_at = Some(started_at);
        record::write_metadata(&metadata);
    }
}

/// Lets go of the starter's streams, which it may be waiting on.
fn detach_streams() {
    if let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

fn supervisor_of(
    message: StartMessage,
    board: Board,
    files: Files,
    events: ChildEvents,
    leader: Leader,
    process: Process,
    started_at: Timestamp,
) -> Supervisor {
    let tree = match leader {
        Leader::Foreign { .. } => Tree::of_orphan(&message.task),
        Leader::Child(_) | Leader::Ended => Tree::of_child(),
    };
    let limits = &message.limits;
    let watchdog = Watchdog::new(limits.stall_ms, limits.prompts.clone(), clock::monotonic_ms());
    let grace_ms = limits.kill_grace_ms;
    if board.started_ms() == 0 {
        let ago = clock::wall().ms_since(started_at);
        board.set_started_ms(clock::monotonic_ms().saturating_sub(ago));
    }
    Supervisor {
        message,
        board,
        files,
        events,
        leader,
        process,
        started_at,
        tree,
        record: None,
        ending: None,
        grace_ms,
        watchdog,
        connections: Connections::default(),
        settle: None,
        unrecorded: None,
        limit_struck: false,
        had_survivors: false,
    }
}

/// The last act: lets the stand-in go and becomes `mw settle`.
fn conclude((message, _board): (StartMessage, Board)) {
    fail_point("supervisor-settling");
    files::remove_endpoints();
    if let Some(guardian) = rustix::process::getppid() {
        let _ = rustix::process::kill_process(guardian, Signal::USR1);
    }
    let _ = sys::execute_last(&message.settle);
}

/// P1 after the fork: sleeps until the supervisor has ended, and takes over if that was not its plan.
fn stand_by(supervisor: u32, message: StartMessage, board: Board, mut files: Files, events: ChildEvents) {
    loop {
        let mut fds = [rustix::event::PollFd::new(&events, rustix::event::PollFlags::IN)];
        let _ = rustix::event::poll(&mut fds, None);
        events.clear();
        if board.stdin_closed() {
            files.stdin = None;
        }
        if board.phase() == Phase::Settling {
            return;
        }
        if let WaitResult::Ended(..) = sys::look_at_exit(Some(supervisor)) {
            let _ = sys::reap(supervisor);
            break;
        }
    }
    if board.phase() != Phase::Settling {
        take_over(message, board, files, events);
    }
}

/// The supervisor is dead: its child is ours now.
fn take_over(message: StartMessage, board: Board, mut files: Files, events: ChildEvents) {
    let process = match (&message.launch, board.child()) {
        (Launch::Adopt { process, .. }, _) => process.clone(),
        (Launch::Spawn { .. }, Some(pid)) if board.spawn_failure().is_none() => identify(pid),
        (Launch::Spawn { .. }, _) => {
            let message = "the supervisor was killed before it could start the command".to_owned();
            return answer(&Answer::Refused {
                code: "system".to_owned(),
                message,
            });
        }
    };
    let journal = record::read_journal(message.run);
    let known = journal.iter().find_map(|line| match &line.entry {
        JournalEntry::Started { process, started_at } => Some((process.clone(), *started_at)),
        _ => None,
    });
    let (process, started_at) = known.unwrap_or_else(|| {
        let started_at = clock::wall();
        record::journal(
            &mut files.journal,
            message.run,
            JournalEntry::Started {
                process: process.clone(),
                started_at,
            },
        );
        (process, started_at)
    });
    if board.phase() == Phase::Setup {
        answer(&Answer::Started {
            process: process.clone(),
            started_at,
        });
        board.set_phase(Phase::Running);
    }
    after_answer(&message, &process, started_at);
    record::journal(
        &mut files.journal,
        message.run,
        JournalEntry::TakenOver {
            by: "guardian".to_owned(),
        },
    );
    if let Ok(log) = crate::log::Log::recover(std::path::Path::new("."), message.limits.output_cap, board) {
        files.log = log;
    }
    let leader = match &message.launch {
        Launch::Spawn { .. } => Leader::Child(process.pid),
        Launch::Adopt { process, .. } => adopt(process),
    };
    let mut supervisor = supervisor_of(message, board, files, events, leader, process, started_at);
    resume(&mut supervisor, &journal);
    conclude(supervisor.run());
}

/// Brings back what the predecessor had begun: a record, a limit, a kill.
fn resume(supervisor: &mut Supervisor, journal: &[mw_model::wire::JournalLine]) {
    if let Some(record) = record::read_result(supervisor.message.run) {
        let leader = std::mem::replace(&mut supervisor.leader, Leader::Ended);
        if let Leader::Child(pid) = leader
            && !matches!(record.exit, Exit::Unknown(_))
        {
            let _ = sys::reap(pid);
        }
        supervisor.had_survivors = !record.survivors.is_empty();
        supervisor.record = Some(record);
    }
    for line in journal {
        let asked = match &line.entry {
            JournalEntry::KillRequested { by, .. } => EndRequest::Kill { by: by.clone() },
            JournalEntry::LimitReached { limit } => {
                supervisor.limit_struck = true;
                EndRequest::Limit(*limit)
            }
            _ => continue,
        };
        // The first signal was sent by the predecessor; ours begins where it left off.
        let due = clock::monotonic_ms().saturating_add(supervisor.grace_ms);
        supervisor
            .ending
            .get_or_insert_with(|| Ending::new(asked, SIGKILL, due));
    }
}

fn answer(answer: &Answer) {
    if let Ok(mut line) = serde_json::to_vec(answer) {
        line.push(b'\n');
        let mut out = io::stdout().lock();
        let _ = out.write_all(&line).and_then(|()| out.flush());
    }
}
