//! Forking and executing.

use std::ffi::{CString, c_char};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use mw_model::{PROGRESS_FD, RawText, TASK_VARIABLE};

use super::board::{Board, MaybePid, SpawnStep};
use super::confine::Confine;
use super::time_slice::restore_time_slice;
use super::wait::reap;
use crate::boot::descriptors;
use crate::fail_point::fail_point_of_child;

/// The side of a fork.
pub(crate) enum Fork {
    /// The old process, with the pid of the new one.
    Parent(u32),
    /// The new process.
    Child,
}

/// Forks. Sound because this program has one thread.
pub(crate) fn fork() -> io::Result<Fork> {
    // SAFETY: there is no other thread, so the child may go on using memory and locks as they are.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => Ok(Fork::Parent(pid as u32)),
    }
}

/// The CPUs on which this process may run.
#[derive(Clone, Copy)]
pub(crate) struct Cpus(Option<CpuSet>);

impl Cpus {
    pub(crate) fn of_this_process() -> Self {
        Self(sched_getaffinity(None).ok())
    }

    /// Moves a process that was just forked to another CPU, if there is one, so that it runs at the same time as this one. The
    /// kernel often leaves it where it was forked, behind its parent. It and its children stay off this CPU until they call
    /// [`Cpus::allow_all`].
    pub(crate) fn keep_off_this_one(self, pid: u32) {
        let child = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if let (Some(child), Some(others)) = (child, self.others()) {
            let _ = sched_setaffinity(Some(child), &others);
        }
    }

    /// Returns those on which this process does not run now, if there are any.
    fn others(self) -> Option<CpuSet> {
        self.without(sched_getcpu())
    }

    fn without(self, cpu: usize) -> Option<CpuSet> {
        let mut others = self.0?;
        others.unset(cpu);
        (others.count() > 0).then_some(others)
    }

    /// Lets this process run on all of them again.
    pub(crate) fn allow_all(self) {
        if let Some(all) = self.0 {
            let _ = sched_setaffinity(None, &all);
        }
    }
}

/// Turns a write to a closed pipe into an error instead of a signal.
pub(crate) fn ignore_broken_pipes() {
    // SAFETY: ignoring a signal has no preconditions.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// Lets the system reap the children of this process.
pub(crate) fn ignore_children() {
    // SAFETY: ignoring a signal has no preconditions.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Ends this process without running destructors, which belong to the other side of the fork.
pub(crate) fn exit_at_once(code: i32) -> ! {
    // SAFETY: ends the process; nothing is touched afterwards.
    unsafe { libc::_exit(code) }
}

/// Where a command and its supervisor begin to run. When the command is executed, the supervisor has a starter to answer, and
/// another process may wait for that starter. Neither must have to wait until the command sleeps, as they would on its CPU.
struct Placement {
    cpus: Cpus,
    supervisor: Option<Pid>,
    /// The CPUs for the command.
    others: Option<CpuSet>,
    /// The CPU for the supervisor: that of the waiting process, if it is known.
    own: Option<CpuSet>,
}

impl Placement {
    fn of_command(caller_cpu: Option<u32>) -> Self {
        let cpus = Cpus::of_this_process();
        let own = caller_cpu.map(|cpu| cpu as usize);
        let others = cpus.without(own.unwrap_or_else(sched_getcpu));
        let own = own.filter(|_| others.is_some()).map(|cpu| {
            let mut own = CpuSet::new();
            own.set(cpu);
            own
        });
        Self { cpus, supervisor: Some(rustix::process::getpid()), others, own }
    }

    /// Called in the command's process, while the supervisor sleeps.
    fn apply(&self) {
        let Some(others) = &self.others else { return };
        let _ = sched_setaffinity(None, others);
        self.cpus.allow_all();
        if let Some(own) = &self.own {
            let _ = sched_setaffinity(self.supervisor, own);
        }
    }

    /// Called in the supervisor, when the command was executed.
    fn end(&self) {
        if self.own.is_some() {
            self.cpus.allow_all();
        }
    }
}

/// A command that is ready to execute: nothing is allocated after the fork.
pub(crate) struct ExecPlan {
    program: CString,
    argv: Vec<CString>,
    env: Vec<CString>,
    cwd: CString,
    umask: u32,
    cpu_seconds: Option<u64>,
    caller_cpu: Option<u32>,
}

impl ExecPlan {
    /// Prepares a command; refuses texts with a NUL byte.
    pub(crate) fn new(
        program: &RawText,
        argv: &[RawText],
        env: &[RawText],
        cwd: &RawText,
        umask: u32,
    ) -> io::Result<Self> {
        let text = |raw: &RawText| CString::new(raw.as_bytes()).map_err(io::Error::other);
        Ok(Self {
            program: text(program)?,
            argv: argv.iter().map(text).collect::<io::Result<_>>()?,
            env: env.iter().map(text).collect::<io::Result<_>>()?,
            cwd: text(cwd)?,
            umask,
            cpu_seconds: None,
            caller_cpu: None,
        })
    }

    /// Limits the CPU time of each process.
    pub(crate) const fn with_cpu_seconds(mut self, seconds: Option<u64>) -> Self {
        self.cpu_seconds = seconds;
        self
    }

    /// Lets the command begin on another CPU than this.
    pub(crate) const fn off_cpu(mut self, cpu: Option<u32>) -> Self {
        self.caller_cpu = cpu;
        self
    }
}

/// The streams of a child; with `terminal`, stdin becomes its controlling terminal.
pub(crate) struct Child<'fd> {
    pub(crate) stdin: BorrowedFd<'fd>,
    pub(crate) stdout: BorrowedFd<'fd>,
    pub(crate) stderr: BorrowedFd<'fd>,
    pub(crate) terminal: bool,
    /// Becomes [`PROGRESS_FD`].
    pub(crate) progress: Option<BorrowedFd<'fd>>,
}

/// Starts the command in a separate session. Returns when it was executed, or what failed.
///
/// The child writes its pid to the board first, so that the guardian finds it even if this process is killed before
/// the call returns.
pub(crate) fn spawn(
    plan: &ExecPlan,
    confine: Option<&Confine>,
    streams: &Child<'_>,
    board: Board,
    cgroup: Option<BorrowedFd<'_>>,
) -> Result<u32, (SpawnStep, i32)> {
    let argv = pointers(&plan.argv);
    let env = pointers(&plan.env);
    let placement = Placement::of_command(plan.caller_cpu);
    let descriptors = Descriptors {
        streams: [streams.stdin.as_raw_fd(), streams.stdout.as_raw_fd(), streams.stderr.as_raw_fd()],
        terminal: streams.terminal,
        progress: streams.progress.map(|end| end.as_raw_fd()),
    };
    let begin = || {
        fail_point_of_child();
        // SAFETY: getpid has no preconditions.
        board.child.set(Some(unsafe { libc::getpid() } as u32));
        placement.apply();
    };
    let execute = || {
        let (step, errno) = become_command(plan, confine, &argv, &env, &descriptors);
        board.set_spawn_failure(step, errno);
    };
    let pid = if confine.is_some_and(Confine::has_own_pids) {
        super::own_pids::run_until_exec(&execute, &begin, board, cgroup)
    } else {
        super::kernel::run_until_exec(
            &mut || {
                begin();
                execute();
            },
            cgroup,
        )
    };
    placement.end();
    match pid {
        -1 => Err((SpawnStep::Execute, last_errno())),
        pid => match board.spawn_failure() {
            None => Ok(pid as u32),
            Some(failure) => {
                let _ = reap(pid as u32);
                Err(failure)
            }
        },
    }
}

/// CPU time between SIGXCPU and SIGKILL.
const CPU_GRACE_SECONDS: u64 = 3;

/// [`Child`] as numbers.
struct Descriptors {
    streams: [RawFd; 3],
    terminal: bool,
    progress: Option<RawFd>,
}

fn become_command(
    plan: &ExecPlan,
    confine: Option<&Confine>,
    argv: &[*const c_char],
    env: &[*const c_char],
    descriptors: &Descriptors,
) -> (SpawnStep, i32) {
    // SAFETY: plain system calls in a child that may share its parent's memory; all pointers were prepared
    // before and stay valid, since the parent is held.
    unsafe {
        libc::setsid();
        if descriptors.terminal && libc::ioctl(descriptors.streams[0], libc::TIOCSCTTY, 0) < 0 {
            return (SpawnStep::Streams, last_errno());
        }
        for (target, source) in descriptors.streams.iter().enumerate() {
            if libc::dup2(*source, target as i32) < 0 {
                return (SpawnStep::Streams, last_errno());
            }
        }
        // After the streams, because one of them may have this number.
        if let Some(source) = descriptors.progress {
            let kept = match source {
                PROGRESS_FD => libc::fcntl(source, libc::F_SETFD, 0),
                _ => libc::dup2(source, PROGRESS_FD),
            };
            if kept < 0 {
                return (SpawnStep::Streams, last_errno());
            }
        }
        if let Some(Err((enforcer, errno))) = confine.map(Confine::enter) {
            return (SpawnStep::Confine(enforcer), errno);
        }
        if libc::chdir(plan.cwd.as_ptr()) < 0 {
            return (SpawnStep::Directory, last_errno());
        }
        unblock_signals();
        restore_time_slice();
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        if let Some(seconds) = plan.cpu_seconds {
            let limit = libc::rlimit {
                rlim_cur: seconds as libc::rlim_t,
                rlim_max: seconds.saturating_add(CPU_GRACE_SECONDS) as libc::rlim_t,
            };
            // If it cannot be set, the limit is already stricter.
            libc::setrlimit(libc::RLIMIT_CPU, &raw const limit);
        }
        libc::umask(plan.umask as libc::mode_t);
        if let Some(Err((enforcer, errno))) = confine.map(Confine::restrict) {
            return (SpawnStep::Confine(enforcer), errno);
        }
        libc::execve(plan.program.as_ptr(), argv.as_ptr(), env.as_ptr());
    }
    (SpawnStep::Execute, last_errno())
}

/// Restores the default action of every signal that the starter ignored, so that commands do not inherit that. Only
/// broken pipes stay ignored here; [`spawn`] restores them in the command.
pub(crate) fn reset_signals() {
    super::kernel::default_all_signals();
    ignore_broken_pipes();
}

fn unblock_signals() {
    // SAFETY: valid, initialised signal set.
    unsafe {
        let mut none = MaybeUninit::<libc::sigset_t>::zeroed();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

pub(super) fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Replaces this process by another program of meanwhile, with this standard input. Returns only if that fails.
pub(crate) fn execute_last(argv: &[RawText], stdin: Option<BorrowedFd<'_>>) -> io::Error {
    let Some(mut command) = command_of(argv) else {
        return io::Error::from(io::ErrorKind::NotFound);
    };
    if let Some(stdin) = stdin
        && let Err(error) = rustix::stdio::dup2_stdin(stdin)
    {
        return error.into();
    }
    // It is not part of a task, even if this process is.
    command.env_remove(TASK_VARIABLE);
    descriptors::give_back_limit();
    forget_signals();
    unblock_signals();
    restore_time_slice();
    super::kernel::default_all_signals();
    command.exec()
}

/// Drops pending signals: unblocked, they would end this process.
fn forget_signals() {
    for signal in super::kernel::BLOCKED {
        // SAFETY: ignoring a signal has no preconditions.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Starts another program of meanwhile and returns its pid, which `noted` has as well.
pub(crate) fn spawn_program(
    argv: &[RawText],
    noted: Option<&MaybePid>,
    stdin: Option<BorrowedFd<'_>>,
) -> io::Result<u32> {
    let note = |pid: u32| noted.into_iter().for_each(|noted| noted.set(Some(pid)));
    match fork()? {
        Fork::Parent(pid) => {
            note(pid);
            Ok(pid)
        }
        Fork::Child => {
            // Both processes note it, because either may be killed before it does.
            note(std::process::id());
            let _ = execute_last(argv, stdin);
            exit_at_once(127)
        }
    }
}

fn command_of(argv: &[RawText]) -> Option<Command> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (program, arguments) = argv.split_first()?;
    let mut command = Command::new(OsStr::from_bytes(program.as_bytes()));
    command.args(arguments.iter().map(|word| OsStr::from_bytes(word.as_bytes())));
    Some(command)
}
