//! A home with tasks, and the checks that must always pass for them.

mod history;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use meanwhile::engine::model::{CommandSpec, EnvVar, RawText, Status, TaskId, TaskState};
use std::sync::Arc;

use meanwhile::engine::{Clock, KillRequest, Runtime, TaskRequest};
use meanwhile::settings::Executables;
use meanwhile::{Scope, Settings, Task, TaskFilter};
use tempfile::TempDir;

/// The deadline for operations that take milliseconds on an idle machine.
const SOON: Duration = Duration::from_secs(90);
/// Every task exits when this file is removed, so no task outlives its world.
const ALIVE: &str = "alive";

/// How many tasks may run at a time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The limit of each session.
    pub per_session: u32,
    /// The limit over all sessions; 0 = no limit.
    pub total: u32,
}

/// A task to start, and how it ends.
#[derive(Clone, Debug)]
pub struct TaskPlan {
    /// The number of the session that owns the task.
    pub session: usize,
    /// Tasks with a higher priority start earlier.
    pub priority: i32,
    /// The indexes of the tasks that must complete first.
    pub after: Vec<usize>,
    /// The exit code.
    pub code: i32,
}

struct StartedTask {
    id: TaskId,
    plan: TaskPlan,
    killed: bool,
    /// The newest event when the start returned. Later events must take this task into account.
    since: i64,
}

/// A separate home with the tasks that were started in it, oldest first.
pub struct World {
    runtime: Runtime,
    /// Another front end on the same home, without limits.
    unlimited: Runtime,
    limits: Limits,
    started: Vec<StartedTask>,
    // Dropped last, because it contains the file that keeps the tasks alive.
    dir: TempDir,
}

impl World {
    pub fn new(limits: Limits) -> Self {
        let dir = tempfile::Builder::new().prefix("mw-queue-").tempdir().unwrap();
        fs::write(dir.path().join(ALIVE), "").unwrap();
        let home = dir.path().join("state");
        let mut settings = Settings::new(home.clone(), programs(&home, limits));
        settings.queue.max_running = limits.per_session;
        settings.queue.max_running_total = limits.total;
        let mut no_limits = settings.clone();
        (no_limits.queue.max_running, no_limits.queue.max_agents, no_limits.queue.max_running_total) =
            (100, 100, 0);
        let (runtime, unlimited) = (Runtime::open(settings).unwrap(), Runtime::open(no_limits).unwrap());
        Self { runtime, unlimited, limits, started: Vec::new(), dir }
    }

    /// Opens the same home with another clock.
    pub fn with_clock(&self, clock: Arc<dyn Clock>) -> Runtime {
        Runtime::open_with_clock(self.runtime.settings().clone(), clock).unwrap()
    }

    /// Opens the same home with another clock and without automatic removal of finished tasks.
    pub fn without_automatic_removal(&self, clock: Arc<dyn Clock>) -> Runtime {
        let mut settings = self.runtime.settings().clone();
        settings.retention.automatic = false;
        Runtime::open_with_clock(settings, clock).unwrap()
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub fn id(&self, at: usize) -> &TaskId {
        &self.started[at].id
    }

    pub fn len(&self) -> usize {
        self.started.len()
    }

    pub fn start(&mut self, plan: TaskPlan) {
        self.start_in(plan, None);
    }

    /// Starts a task, optionally in a context of its session.
    pub fn start_in(&mut self, plan: TaskPlan, context: Option<&str>) {
        // The loop is bounded, because nobody removes the file if this process is killed.
        let script = format!(
            "echo $$ > pid-{at}; i=0
            while [ ! -e gate-{at} ] && [ -e {ALIVE} ] && [ $i -lt 10000 ]; do i=$((i+1)); sleep 0.02; done
            exit {code}",
            at = self.len(),
            code = plan.code,
        );
        let command = CommandSpec::Shell { program: "/bin/sh".into(), script: script.as_str().into() };
        let path = EnvVar { name: "PATH".into(), value: "/usr/local/bin:/usr/bin:/bin".into() };
        let cwd = self.dir.path().to_owned();
        let request = TaskRequest {
            context: context.map(str::to_owned),
            after: plan.after.iter().map(|at| self.started[*at].id.clone().into()).collect(),
            priority: plan.priority,
            ..TaskRequest::new(&session_name(plan.session), command, cwd, vec![path])
        };
        let id = self.runtime.starts().start(&request).unwrap().task.id;
        let since = self.runtime.tasks().last_event().unwrap();
        self.started.push(StartedTask { id, plan, killed: false, since });
    }

    /// Lets a task exit, now or as soon as it runs.
    pub fn finish(&self, at: usize) {
        fs::write(self.dir.path().join(format!("gate-{at}")), "").unwrap();
    }

    pub fn finish_all(&self) {
        (0..self.len()).for_each(|at| self.finish(at));
        let tasks = self.wait_for_list("all tasks have ended", |tasks| {
            tasks.iter().all(|task| task.status.is_terminal())
        });
        assert_eq!(tasks.len(), self.len());
    }

    pub fn kill(&mut self, at: usize) {
        let request = KillRequest { by: "a test".to_owned(), signal: 15, grace_ms: None };
        let receipt = self.runtime.live().kill(self.started[at].id.as_str(), &Scope::All, &request).unwrap();
        assert!(receipt.status.is_terminal(), "{receipt:?}");
        assert!(receipt.survivors.is_empty(), "{receipt:?}");
        self.started[at].killed = true;
    }

    /// Checks the limits now, and that no runnable task stays queued while a slot is free.
    pub fn check_queue(&self) {
        // A list starts the tasks that may run. The limits stored with the tasks apply, not those of the caller.
        let _ = self.unlimited.tasks().list(&TaskFilter::new(Scope::All)).unwrap();
        self.wait_for_list("no runnable task is queued while a slot is free", |tasks| {
            self.check_limits(tasks);
            !(0..2).any(|session| self.has_runnable_task_and_free_slot(tasks, session))
        });
    }

    /// Lists all tasks until the condition is met.
    fn wait_for_list(&self, what: &str, mut wanted: impl FnMut(&[Task]) -> bool) -> Vec<Task> {
        let begun = Instant::now();
        loop {
            let filter = TaskFilter { limit: u32::MAX, ..TaskFilter::new(Scope::All) };
            let tasks = self.runtime.tasks().list(&filter).unwrap().tasks;
            if wanted(&tasks) {
                return tasks;
            }
            let states: Vec<_> = tasks.iter().map(|task| (task.id.as_str(), task.status.word())).collect();
            assert!(begun.elapsed() < SOON, "not met after {SOON:?}: {what}; {states:?}");
            self.runtime.listen().unwrap().wait(Duration::from_millis(20));
        }
    }

    fn check_limits(&self, tasks: &[Task]) {
        for session in 0..2 {
            let holders = count_holders_in(tasks, session);
            assert!(holders <= self.limits.per_session, "{holders} tasks hold slots of session {session}");
            let name = session_name(session);
            let live = self.live_tasks().into_iter().filter(|at| self.started[*at].plan.session == session);
            let live = u32::try_from(live.count()).unwrap();
            assert!(live <= self.limits.per_session, "{live} processes of {name} are alive at the same time");
        }
        let (holders, live) = (count_holders(tasks), u32::try_from(self.live_tasks().len()).unwrap());
        assert!(self.limits.total == 0 || holders <= self.limits.total, "{holders} tasks hold slots");
        assert!(
            self.limits.total == 0 || live <= self.limits.total,
            "{live} processes are alive at the same time"
        );
    }

    /// Returns whether a session has a task that could run and a free slot for it.
    fn has_runnable_task_and_free_slot(&self, tasks: &[Task], session: usize) -> bool {
        let completed: BTreeSet<_> =
            tasks.iter().filter(|task| task.status == Status::Completed).map(|task| &task.id).collect();
        let room = count_holders_in(tasks, session) < self.limits.per_session
            && (self.limits.total == 0 || count_holders(tasks) < self.limits.total);
        let runnable = |task: &Task| {
            task.session == session_name(session)
                && matches!(task.state, TaskState::Pending { .. })
                && task.after.iter().all(|before| completed.contains(&before.id))
        };
        room && tasks.iter().any(runnable)
    }

    /// Returns the tasks whose first processes are alive at the same moment.
    ///
    /// Processes are checked one after the other. Those that are alive in both rounds were alive between the rounds.
    fn live_tasks(&self) -> BTreeSet<usize> {
        let round = || (0..self.len()).filter(|at| self.is_alive(*at)).collect::<BTreeSet<_>>();
        &round() & &round()
    }

    fn is_alive(&self, at: usize) -> bool {
        let text = fs::read_to_string(self.dir.path().join(format!("pid-{at}"))).unwrap_or_default();
        let Some(pid) = text.strip_suffix('\n') else { return false };
        let mark = format!("MEANWHILE_TASK_ID={}", self.started[at].id);
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let dead = stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']));
        !dead && environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    }

    /// Checks that every task ended as planned.
    pub fn check_endings(&self) {
        let tasks: Vec<_> = self
            .started
            .iter()
            .map(|started| self.runtime.tasks().task(started.id.as_str(), &Scope::All).unwrap())
            .collect();
        for (started, task) in self.started.iter().zip(&tasks) {
            let free = started.plan.after.iter().all(|at| tasks[*at].status == Status::Completed);
            let own = if started.plan.code == 0 { Status::Completed } else { Status::Failed };
            let fits = match (free, task.status) {
                (true, status) if status == own => task.exit_code == Some(started.plan.code),
                (false, Status::Cancelled) => {
                    started.killed || task.cause.as_ref().unwrap().contains("skipped")
                }
                (true, Status::Cancelled) => started.killed,
                _ => false,
            };
            assert!(fits, "{:?} ended as {:?} ({:?})", started.plan, task.status, task.cause);
        }
    }
}

impl Drop for World {
    /// Ends all tasks that a failed test left running, because no process may write to the directory after its removal.
    fn drop(&mut self) {
        let _ = fs::remove_file(self.dir.path().join(ALIVE));
        let begun = Instant::now();
        while has_process_in(self.dir.path()) && begun.elapsed() < SOON {
            // Queued tasks start, find that the file is missing, and exit.
            let _ = self.runtime.reconciler().reconcile();
            self.runtime.listen().unwrap().wait(Duration::from_millis(20));
        }
    }
}

/// Returns whether the working directory of any process is below a directory, as with tasks and supervisors.
fn has_process_in(directory: &Path) -> bool {
    let is_here = |process: fs::DirEntry| {
        fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(directory))
    };
    fs::read_dir("/proc").unwrap().flatten().any(is_here)
}

pub fn session_name(session: usize) -> String {
    format!("session-{session}")
}

fn count_holders_in(tasks: &[Task], session: usize) -> u32 {
    let holds = |task: &&Task| task.session == session_name(session) && task.state.holds_slot();
    u32::try_from(tasks.iter().filter(holds).count()).unwrap()
}

fn count_holders(tasks: &[Task]) -> u32 {
    u32::try_from(tasks.iter().filter(|task| task.state.holds_slot()).count()).unwrap()
}

/// Finds the executables. `mw settle` gets the same limits as the library and an otherwise empty environment.
fn programs(home: &Path, limits: Limits) -> Executables {
    let here = std::env::current_exe().unwrap();
    let executable = |name: &str| -> PathBuf {
        let file = here.parent().unwrap().parent().unwrap().join(name);
        assert!(file.is_file(), "{} is missing: build it with `cargo build -p mw-cli`", file.display());
        file
    };
    let words = [
        "/usr/bin/env".to_owned(),
        "-i".to_owned(),
        format!("MEANWHILE_HOME={}", home.display()),
        format!("MEANWHILE_QUEUE_MAX_RUNNING={}", limits.per_session),
        format!("MEANWHILE_QUEUE_MAX_RUNNING_TOTAL={}", limits.total),
        executable("mw").to_str().unwrap().to_owned(),
        "settle".to_owned(),
        "--home".to_owned(),
        home.to_str().unwrap().to_owned(),
    ];
    let settle = words.iter().map(|word| RawText::from(word.as_str())).collect();
    Executables { supervisor: executable("mw-supervisor"), settle, starter_exits: false }
}
