//! A home with tasks in it, and what must hold of them.

mod history;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use meanwhile::model::{CommandSpec, EnvVar, RawText, Status, TaskId, TaskState};
use std::sync::Arc;

use meanwhile::engine::{Clock, KillRequest, Runtime, TaskRequest};
use meanwhile::{Filter, Programs, Scope, Settings, Task};
use tempfile::TempDir;

/// The deadline for what takes milliseconds on an idle machine.
const SOON: Duration = Duration::from_secs(90);
/// The file without which every task ends by itself: none outlives its world.
const ALIVE: &str = "alive";

/// How many may run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of one session.
    pub per_session: u32,
    /// Of all together; 0 = no limit.
    pub in_all: u32,
}

/// A task as it was asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Whose it is.
    pub session: usize,
    /// Higher starts earlier.
    pub priority: i32,
    /// The tasks before it, by place.
    pub after: Vec<usize>,
    /// What it exits with.
    pub code: i32,
}

struct Known {
    id: TaskId,
    asked: Asked,
    killed: bool,
    /// The newest event when its start had returned: what comes later may rely on it.
    since: i64,
}

/// A home of its own, with the tasks that were asked for, oldest first.
pub struct World {
    runtime: Runtime,
    /// Another front end on the same home, without any limits.
    stranger: Runtime,
    limits: Limits,
    known: Vec<Known>,
    // Dropped last: with it goes the file that keeps the tasks alive.
    dir: TempDir,
}

impl World {
    pub fn new(limits: Limits) -> Self {
        let dir = tempfile::Builder::new().prefix("mw-queue-").tempdir().unwrap();
        fs::write(dir.path().join(ALIVE), "").unwrap();
        let home = dir.path().join("state");
        let mut settings = Settings::new(home.clone(), programs(&home, limits));
        settings.queue.max_running = limits.per_session;
        settings.queue.max_running_total = limits.in_all;
        let mut others = settings.clone();
        (others.queue.max_running, others.queue.max_agents, others.queue.max_running_total) = (100, 100, 0);
        let (runtime, stranger) = (Runtime::open(settings).unwrap(), Runtime::open(others).unwrap());
        Self { runtime, stranger, limits, known: Vec::new(), dir }
    }

    /// Returns another view of the same home, by another clock.
    pub fn at_another_time(&self, clock: Arc<dyn Clock>) -> Runtime {
        Runtime::open_with_clock(self.runtime.settings().clone(), clock).unwrap()
    }

    /// The same, where finished tasks do not go by themselves.
    pub fn by_hand(&self, clock: Arc<dyn Clock>) -> Runtime {
        let mut settings = self.runtime.settings().clone();
        settings.retention.automatic = false;
        Runtime::open_with_clock(settings, clock).unwrap()
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub fn id(&self, at: usize) -> &TaskId {
        &self.known[at].id
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn start(&mut self, asked: Asked) {
        self.start_in(asked, None);
    }

    /// The same in a context of its session.
    pub fn start_in(&mut self, asked: Asked, context: Option<&str>) {
        // Bounded, for the case that this process is killed and nobody takes the file away.
        let script = format!(
            "echo $$ > pid-{at}; i=0
            while [ ! -e gate-{at} ] && [ -e {ALIVE} ] && [ $i -lt 10000 ]; do i=$((i+1)); sleep 0.02; done
            exit {code}",
            at = self.len(),
            code = asked.code,
        );
        let command = CommandSpec::Shell { program: "/bin/sh".into(), script: script.as_str().into() };
        let path = EnvVar { name: "PATH".into(), value: "/usr/local/bin:/usr/bin:/bin".into() };
        let cwd = self.dir.path().to_owned();
        let request = TaskRequest {
            context: context.map(str::to_owned),
            after: asked.after.iter().map(|at| self.known[*at].id.clone()).collect(),
            priority: asked.priority,
            ..TaskRequest::new(&session_name(asked.session), command, cwd, vec![path])
        };
        let id = self.runtime.starts().start(&request).unwrap().task.id;
        let since = self.runtime.tasks().last_event().unwrap();
        self.known.push(Known { id, asked, killed: false, since });
    }

    /// Lets a task end, now or as soon as it runs.
    pub fn finish(&self, at: usize) {
        fs::write(self.dir.path().join(format!("gate-{at}")), "").unwrap();
    }

    pub fn finish_all(&self) {
        (0..self.len()).for_each(|at| self.finish(at));
        let tasks = self.until("all are over", |tasks| tasks.iter().all(|task| task.status.is_terminal()));
        assert_eq!(tasks.len(), self.len());
    }

    pub fn kill(&mut self, at: usize) {
        let request = KillRequest { by: "a test".to_owned(), signal: 15, grace_ms: None };
        let receipt = self.runtime.live().kill(self.known[at].id.as_str(), &Scope::All, &request).unwrap();
        assert!(receipt.status.is_terminal(), "{receipt:?}");
        assert!(receipt.survivors.is_empty(), "{receipt:?}");
        self.known[at].killed = true;
    }

    /// Checks the limits now, and that nothing goes on waiting beside a free slot.
    pub fn look(&self) {
        // Whoever looks starts what may start, under the limits of those tasks.
        let _ = self.stranger.tasks().list(&Filter::new(Scope::All)).unwrap();
        self.until("no task waits beside a free slot", |tasks| {
            self.check_limits(tasks);
            !(0..2).any(|session| self.waits_in_vain(tasks, session))
        });
    }

    /// Asks for the list until it is as wanted.
    fn until(&self, what: &str, mut wanted: impl FnMut(&[Task]) -> bool) -> Vec<Task> {
        let begun = Instant::now();
        loop {
            let filter = Filter { limit: u32::MAX, ..Filter::new(Scope::All) };
            let tasks = self.runtime.tasks().list(&filter).unwrap().tasks;
            if wanted(&tasks) {
                return tasks;
            }
            let states: Vec<_> = tasks.iter().map(|task| (task.id.as_str(), task.status.word())).collect();
            assert!(begun.elapsed() < SOON, "still not after {SOON:?}: {what}; {states:?}");
            self.runtime.listen().unwrap().wait(Duration::from_millis(20));
        }
    }

    fn check_limits(&self, tasks: &[Task]) {
        for session in 0..2 {
            let holders = holders_in(tasks, session);
            assert!(holders <= self.limits.per_session, "{holders} hold slots of session {session}");
            let name = session_name(session);
            let living = self.living().into_iter().filter(|at| self.known[*at].asked.session == session);
            let living = u32::try_from(living.count()).unwrap();
            assert!(living <= self.limits.per_session, "{living} processes of {name} live at once");
        }
        let (holders, living) = (holders_in_all(tasks), u32::try_from(self.living().len()).unwrap());
        assert!(self.limits.in_all == 0 || holders <= self.limits.in_all, "{holders} hold slots");
        assert!(self.limits.in_all == 0 || living <= self.limits.in_all, "{living} processes live at once");
    }

    /// Tells whether a session has a task that could run, and a slot for it.
    fn waits_in_vain(&self, tasks: &[Task], session: usize) -> bool {
        let completed: BTreeSet<_> =
            tasks.iter().filter(|task| task.status == Status::Completed).map(|task| &task.id).collect();
        let room = holders_in(tasks, session) < self.limits.per_session
            && (self.limits.in_all == 0 || holders_in_all(tasks) < self.limits.in_all);
        let runnable = |task: &Task| {
            task.session == session_name(session)
                && matches!(task.state, TaskState::Pending { .. })
                && task.after.iter().all(|id| completed.contains(id))
        };
        room && tasks.iter().any(runnable)
    }

    /// Returns the tasks whose first processes live at one and the same moment.
    ///
    /// They are looked at one after the other; those that live in two rounds lived between the rounds.
    fn living(&self) -> BTreeSet<usize> {
        let round = || (0..self.len()).filter(|at| self.lives(*at)).collect::<BTreeSet<_>>();
        &round() & &round()
    }

    fn lives(&self, at: usize) -> bool {
        let text = fs::read_to_string(self.dir.path().join(format!("pid-{at}"))).unwrap_or_default();
        let Some(pid) = text.strip_suffix('\n') else { return false };
        let mark = format!("MEANWHILE_TASK_ID={}", self.known[at].id);
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let dead = stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']));
        !dead && environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    }

    /// Checks that everything ended as it had to.
    pub fn check_endings(&self) {
        let tasks: Vec<_> = self
            .known
            .iter()
            .map(|known| self.runtime.tasks().task(known.id.as_str(), &Scope::All).unwrap())
            .collect();
        for (known, task) in self.known.iter().zip(&tasks) {
            let free = known.asked.after.iter().all(|at| tasks[*at].status == Status::Completed);
            let own = if known.asked.code == 0 { Status::Completed } else { Status::Failed };
            let fits = match (free, task.status) {
                (true, status) if status == own => task.exit_code == Some(known.asked.code),
                (false, Status::Cancelled) => {
                    known.killed || task.cause.as_ref().unwrap().contains("skipped")
                }
                (true, Status::Cancelled) => known.killed,
                _ => false,
            };
            assert!(fits, "{:?} ended as {:?} ({:?})", known.asked, task.status, task.cause);
        }
    }
}

impl Drop for World {
    /// Lets everything end that a failed case left running; nothing may write here once the directory is gone.
    fn drop(&mut self) {
        let _ = fs::remove_file(self.dir.path().join(ALIVE));
        let begun = Instant::now();
        while anybody_in(self.dir.path()) && begun.elapsed() < SOON {
            // Tasks that still wait get their turn, see that they are not wanted, and end.
            let _ = self.runtime.reconciler().reconcile();
            self.runtime.listen().unwrap().wait(Duration::from_millis(20));
        }
    }
}

/// Tells whether some process stands in a directory, as tasks, supervisors and settlers do.
fn anybody_in(directory: &Path) -> bool {
    let stands_here = |process: fs::DirEntry| {
        fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(directory))
    };
    fs::read_dir("/proc").unwrap().flatten().any(stands_here)
}

pub fn session_name(session: usize) -> String {
    format!("session-{session}")
}

fn holders_in(tasks: &[Task], session: usize) -> u32 {
    let holds = |task: &&Task| task.session == session_name(session) && task.state.holds_slot();
    u32::try_from(tasks.iter().filter(holds).count()).unwrap()
}

fn holders_in_all(tasks: &[Task]) -> u32 {
    u32::try_from(tasks.iter().filter(|task| task.state.holds_slot()).count()).unwrap()
}

/// Finds the executables, and makes `mw settle` see the same limits as the library and nothing else.
fn programs(home: &Path, limits: Limits) -> Programs {
    let here = std::env::current_exe().unwrap();
    let beside = |name: &str| -> PathBuf {
        let file = here.parent().unwrap().parent().unwrap().join(name);
        assert!(file.is_file(), "{} is missing: build it with `cargo build -p mw-cli`", file.display());
        file
    };
    let words = [
        "/usr/bin/env".to_owned(),
        "-i".to_owned(),
        format!("MEANWHILE_HOME={}", home.display()),
        format!("MEANWHILE_QUEUE_MAX_RUNNING={}", limits.per_session),
        format!("MEANWHILE_QUEUE_MAX_RUNNING_TOTAL={}", limits.in_all),
        beside("mw").to_str().unwrap().to_owned(),
        "settle".to_owned(),
        "--home".to_owned(),
        home.to_str().unwrap().to_owned(),
    ];
    let settle = words.iter().map(|word| RawText::from(word.as_str())).collect();
    Programs { supervisor: beside("mw-supervisor"), settle, starter_exits: false }
}
