//! A separate home with one session and the tools of a dialect.

use std::cell::Cell;
use std::time::{Duration, Instant};

use meanwhile::engine::{ApprovalTimeouts, KillRequest, Policy, Runtime, TaskRequest, confined_by_kernel};
use meanwhile::settings::{AtCapacity, Executables};
use meanwhile::{Scope, Settings, Task, TaskFilter};
use mw_model::{CommandSpec, EnvVar, Limits, TaskId};
use mw_policy::{ConfinementLevel, Mode};
use mw_testkit::{Home, SOON, beside, need_program, processes, settle_command, wait_until};
use mw_tools::call::{Background, CallContext, CallSettings, Caller, PatientCaller, Reply, WaitDecision};
use mw_tools::{Dialect, Toolset};
use serde_json::Value;

pub const SESSION: &str = "conversation";
/// A script that runs until it is killed.
pub const SLEEPER: &str = "exec sleep 600";

/// How a task can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Exit(i32),
    Crash,
    KilledByModel,
    KilledByUser,
    TimeLimit,
    Lost,
}

/// Returns the policy of a host that confines every command, if this kernel can.
fn confining(settings: &Settings) -> Policy {
    let timeouts = ApprovalTimeouts { wait: Duration::from_millis(20), keep: Duration::from_secs(600) };
    match confined_by_kernel(settings) {
        ConfinementLevel::Fully => {
            Policy { mode: Mode::Auto, confined: ConfinementLevel::Fully, timeouts, ..Policy::default() }
        }
        ConfinementLevel::Partly | ConfinementLevel::No => Policy::open(),
    }
}

pub struct World {
    pub runtime: Runtime,
    pub call_settings: CallSettings,
    pub tools: Toolset,
    // Dropped last: running tasks are killed with it.
    pub home: Home,
}

impl World {
    /// Creates a world with the settings of the dialect's profile.
    pub fn new(dialect: Dialect) -> Self {
        if dialect == Dialect::Mycode {
            need_program("bash");
        }
        let home = Home::new(beside("mw"));
        let (slots, at_capacity) = match dialect {
            Dialect::Mycode => (10, AtCapacity::Queue),
            Dialect::Opta => (5, AtCapacity::Reject),
            Dialect::CoCli => (5, AtCapacity::Queue),
            Dialect::Canonical | Dialect::Zidane | Dialect::BackgroundTask => (8, AtCapacity::Queue),
        };
        let shell = if dialect == Dialect::Mycode { "bash" } else { "/bin/sh" };
        let run_timeout_ms = (dialect == Dialect::Opta).then_some(300_000);
        let mut settings = Settings::new(home.state().to_owned(), programs(&home, slots));
        settings.queue.max_running = slots;
        let call_settings = CallSettings {
            session: SESSION.to_owned(),
            cwd: home.work(),
            env: environment(&home),
            umask: 0o022,
            shell: shell.into(),
            limits: Limits { run_timeout_ms, ..Limits::default() },
            lifetime: mw_model::Lifetime::Session,
            session_end: mw_tools::call::SessionEnd::Keep,
            at_capacity,
            context_stamp: "20260523-024147-123".to_owned(),
            reply_bytes: 16 << 10,
            stream_bytes: 1 << 20,
            longest_call: Duration::from_secs(60),
            background: Background::On,
            agents: None,
            // Questions are tested elsewhere.
            policy: confining(&settings),
        };
        let runtime = Runtime::open(settings).unwrap();
        Self { runtime, call_settings, tools: Toolset::of(dialect), home }
    }

    /// Allows also commands about which policy asks in every mode.
    #[must_use]
    pub fn open(mut self) -> Self {
        self.call_settings.policy = Policy::open();
        self
    }

    /// Enables log headers.
    pub fn log_headers(&mut self) {
        let settings = Settings { log_header: true, ..self.runtime.settings().clone() };
        self.runtime = Runtime::open(settings).unwrap();
    }

    /// Calls a tool, and checks that the reply fits its schema and reports no end of a running task.
    #[expect(clippy::needless_pass_by_value, reason = "calls are written with `json!` in place")]
    #[track_caller]
    pub fn call(&self, tool: &str, given: Value) -> Reply {
        self.call_as(tool, &given, &PatientCaller)
    }

    #[track_caller]
    pub fn call_as(&self, tool: &str, given: &Value, caller: &dyn Caller) -> Reply {
        let cx = CallContext::new(&self.runtime, &self.call_settings, caller);
        let reply = self.tools.call(tool, given.as_object().unwrap(), &cx).expect("a tool of that name");
        self.check_schema(tool, &reply);
        for id in &reply.reported {
            if let Ok(task) = self.runtime.tasks().task(id.as_str(), &Scope::All) {
                assert!(task.status.is_terminal(), "{id} is reported as ended and is {:?}", task.status);
            }
        }
        reply
    }

    /// Calls a tool that must succeed.
    #[track_caller]
    pub fn done(&self, tool: &str, given: Value) -> Reply {
        let reply = self.call(tool, given);
        assert!(!reply.failed, "{}", reply.text);
        reply
    }

    /// Calls a tool that must refuse.
    #[track_caller]
    pub fn refused(&self, tool: &str, given: Value) -> Reply {
        let reply = self.call(tool, given);
        assert!(reply.failed, "{}", reply.text);
        assert!(reply.reported.is_empty(), "{:?}", reply.reported);
        reply
    }

    #[track_caller]
    fn check_schema(&self, tool: &str, reply: &Reply) {
        let specs = self.tools.specs(Background::On);
        let Some(spec) = specs.iter().find(|spec| spec.name == tool) else { return };
        let Some(properties) = spec.output_schema.as_ref().map(|schema| &schema["properties"]) else {
            return;
        };
        for (name, value) in reply.data.as_object().expect("an object") {
            let kinds = &properties[name.as_str()]["type"];
            let fits = |kind: &str| match kind {
                "string" => value.is_string(),
                "integer" => value.is_i64() || value.is_u64(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                "null" => value.is_null(),
                other => panic!("no JSON type: {other}"),
            };
            let allowed = match kinds {
                Value::Null => true,
                Value::String(kind) => fits(kind),
                kinds => kinds.as_array().unwrap().iter().any(|kind| fits(kind.as_str().unwrap())),
            };
            assert!(allowed, "{tool}: {name} = {value} is no {kinds}");
        }
    }

    /// Starts a script as another process of the same session.
    pub fn start(&self, script: &str) -> Task {
        self.start_with(script, |_| {})
    }

    pub fn start_with(&self, script: &str, change: impl FnOnce(&mut TaskRequest)) -> Task {
        let shell = CommandSpec::Shell { program: "/bin/sh".into(), script: script.into() };
        let mut request = TaskRequest::new(SESSION, shell, self.home.work(), self.call_settings.env.clone());
        change(&mut request);
        self.runtime.starts().start(&request).unwrap().task
    }

    /// Starts a script and waits for its end.
    pub fn finished(&self, script: &str) -> Task {
        self.over(&self.start(script).id)
    }

    /// Creates a task with this outcome.
    pub fn ended(&self, ending: Ending) -> Task {
        let kill = KillRequest { by: "the user".to_owned(), signal: 15, grace_ms: None };
        let task = match ending {
            Ending::Exit(code) => self.start(&format!("echo out; exit {code}")),
            Ending::Crash => self.start("echo out; kill -SEGV $$"),
            Ending::TimeLimit => self
                .start_with("echo out; exec sleep 600", |request| request.limits.run_timeout_ms = Some(100)),
            Ending::KilledByModel | Ending::KilledByUser | Ending::Lost => {
                self.start("echo out; exec sleep 600")
            }
        };
        let id = task.id.as_str();
        if matches!(ending, Ending::KilledByModel | Ending::KilledByUser | Ending::Lost) {
            self.home.until_logged(id, "out");
        }
        match ending {
            Ending::KilledByModel => {
                drop(
                    self.runtime
                        .notifications()
                        .kill_as_owner(&[id], SESSION, &kill)
                        .unwrap()
                        .all_done()
                        .unwrap(),
                );
            }
            Ending::KilledByUser => drop(self.runtime.live().kill(id, &Scope::All, &kill).unwrap()),
            Ending::Lost => {
                self.home.kill_supervisors(id);
                self.home.kill_process(task.pid.unwrap());
            }
            Ending::Exit(_) | Ending::Crash | Ending::TimeLimit => {}
        }
        self.over(&task.id)
    }

    /// Waits until a task has ended.
    #[track_caller]
    pub fn over(&self, id: &TaskId) -> Task {
        wait_until(SOON, &format!("{id} has ended"), || {
            Some(self.task(id.as_str())).filter(|task| task.status.is_terminal())
        })
    }

    #[track_caller]
    pub fn task(&self, handle: &str) -> Task {
        self.runtime.tasks().task(handle, &Scope::Session(SESSION.to_owned())).unwrap()
    }

    /// Returns all tasks of the home.
    pub fn tasks(&self) -> Vec<Task> {
        self.runtime
            .tasks()
            .list(&TaskFilter { limit: u32::MAX, ..TaskFilter::new(Scope::All) })
            .unwrap()
            .tasks
    }

    /// Fills every slot.
    pub fn fill(&self) -> Vec<Task> {
        let slots = self.runtime.settings().queue.max_running;
        (0..slots).map(|_| self.start(SLEEPER)).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let live: Vec<_> = self.tasks().into_iter().filter(|task| !task.status.is_terminal()).collect();
        let ids: Vec<_> = live.into_iter().map(|task| task.id).collect();
        let kill = KillRequest { by: "the end of a test".to_owned(), signal: 9, grace_ms: None };
        let _ = self.runtime.live().kill_all(&ids, &kill);
        // Supervisors and `mw settle` run in the home; none may write there later.
        let inside = |pid: &u32| processes::cwd(*pid).is_some_and(|cwd| cwd.starts_with(self.home.state()));
        let begun = Instant::now();
        while processes::all().iter().any(inside) && begun.elapsed() < SOON {
            std::thread::yield_now();
        }
    }
}

/// A caller that aborts as soon as a condition holds.
pub struct LeavesWhen<F: Fn() -> bool> {
    pub so: F,
    pub looks: Cell<u32>,
}

impl<F: Fn() -> bool> LeavesWhen<F> {
    pub const fn new(so: F) -> Self {
        Self { so, looks: Cell::new(0) }
    }
}

impl<F: Fn() -> bool> Caller for LeavesWhen<F> {
    fn while_waiting(&self, _: &[Task]) -> WaitDecision {
        self.looks.set(self.looks.get() + 1);
        if (self.so)() { WaitDecision::Cancel } else { WaitDecision::Continue }
    }
}

/// Returns a time of less than a minute as the sources write it, so that a slow machine fails no test.
pub fn briefly(ms: u64) -> String {
    assert!(ms < 60_000, "a test that takes minutes");
    format!("{}s", ms / 1000)
}

fn environment(home: &Home) -> Vec<EnvVar> {
    let path = std::env::var("PATH").unwrap();
    let pairs = [("PATH", path.as_str()), ("LANG", "C.UTF-8"), ("MW_TEST_TAG", home.tag())];
    pairs.map(|(name, value)| EnvVar { name: name.into(), value: value.into() }).into()
}

/// Finds the executables, and gives `mw settle` the same limits as the library.
fn programs(home: &Home, slots: u32) -> Executables {
    let settle = settle_command(home, &[("MEANWHILE_QUEUE_MAX_RUNNING", &slots.to_string())]);
    Executables { supervisor: beside("mw-supervisor"), settle, starter_exits: false }
}
