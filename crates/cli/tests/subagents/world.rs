//! A home with agents that do what their prompts say.

use std::fs;
use std::path::PathBuf;

use mw_testkit::host::Host;
use mw_testkit::{Home, Invocation, Outcome, SOON, need_program, wait_until};
use serde_json::{Value, json};

/// The session that asks.
pub const SESSION: &str = "host";

/// The scripted agent: each line of a prompt is a step.
const SCRIPTED: &str = include_str!("../../../testkit/fixtures/agents/scripted.py");

pub struct World {
    pub home: Home,
}

impl World {
    pub fn new() -> Self {
        Self::with(|home| home)
    }

    /// Creates a world with a long timeout for cancelled agents.
    pub fn with_patience() -> Self {
        Self::with(|home| {
            let home = home.with_env("MEANWHILE_SUBAGENT_CANCEL_MS", "60000");
            let home = home.with_env("MEANWHILE_KILL_GRACE_MS", "60000");
            home.with_env("MEANWHILE_KILL_TIMEOUT_GRACE_MS", "60000")
        })
    }

    /// Creates a world whose home is configured by the caller.
    pub fn with(prepare: impl FnOnce(Home) -> Home) -> Self {
        need_program("python3");
        // Starting an agent needs no approval here; tests of the policy cover that.
        let home = Home::new(env!("CARGO_BIN_EXE_mw")).with_env("MEANWHILE_MODE", "auto");
        let home =
            home.with_env("MEANWHILE_APPROVAL_WAIT", "100ms").with_env("MEANWHILE_APPROVAL_KEEP", "100ms");
        let home = prepare(home);
        let program = home.user().join("scripted.py");
        fs::write(&program, SCRIPTED).unwrap();
        let state = home.user().join("agent-state");
        fs::create_dir(&state).unwrap();
        let agents: String = FLAWS
            .iter()
            .map(|(name, flag)| {
                let words = json!(["python3", program, flag]);
                format!("[agents.{name}]\ncommand = {words}\nenv = {{ SCRIPTED_STATE = {state:?} }}\n")
            })
            .collect();
        let directory = home.user().join(".config/meanwhile");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config.toml"), agents).unwrap();
        // Without a repository, so that this directory is the project.
        fs::write(home.work().join(".meanwhile.toml"), "").unwrap();
        Self { home }
    }

    /// Creates two worlds with a setting: one by the variable, one in the file.
    pub fn both_ways(name: &str, value: &str) -> [Self; 2] {
        let variable = format!("MEANWHILE_{}", name.to_uppercase().replace('.', "_"));
        let by_variable = Self::with(|home| home.with_env(variable, value));
        let in_file = Self::new();
        let file = in_file.home.user().join(".config/meanwhile/config.toml");
        let (section, key) = name.split_once('.').unwrap();
        let bare = value.parse::<i64>().is_ok() || value.parse::<bool>().is_ok();
        let value = if bare { value.to_owned() } else { format!("{value:?}") };
        let agents = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("[{section}]\n{key} = {value}\n{agents}")).unwrap();
        [by_variable, in_file]
    }

    pub fn command(&self, arguments: &[&str]) -> Invocation {
        self.home.command(arguments).session(SESSION)
    }

    pub fn mw(&self, arguments: &[&str]) -> Outcome {
        self.command(arguments).run()
    }

    /// Starts the well-behaved agent.
    #[track_caller]
    pub fn ask(&self, prompt: &str) -> String {
        self.ask_with(&["--agent", "good"], prompt)
    }

    #[track_caller]
    pub fn ask_with(&self, options: &[&str], prompt: &str) -> String {
        let mut arguments = vec!["agent", "--json"];
        arguments.extend(options);
        arguments.push(prompt);
        let outcome = self.mw(&arguments);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        outcome.json()["id"].as_str().unwrap().to_owned()
    }

    /// Starts the well-behaved agent and waits for its answer.
    #[track_caller]
    pub fn answered(&self, prompt: &str) -> String {
        let id = self.ask(prompt);
        self.completed(&id);
        id
    }

    #[track_caller]
    pub fn completed(&self, id: &str) -> Value {
        let task = self.home.ended(id);
        assert_eq!(task["status"], "completed", "{task}");
        task
    }

    #[track_caller]
    pub fn status(&self, id: &str) -> Value {
        self.home.status(id)
    }

    #[track_caller]
    pub fn resume(&self, id: &str, message: &str) {
        let outcome = self.mw(&["resume", "--json", id, message]);
        assert_eq!(outcome.code, Some(0), "{outcome}");
    }

    /// Takes the notifications of the session and acknowledges them.
    pub fn notices(&self) -> Vec<Value> {
        let outcome = self.mw(&["notices", "--session", SESSION, "--json"]);
        let reply = outcome.json();
        let list = reply.as_array().or_else(|| reply["notices"].as_array());
        list.unwrap_or_else(|| panic!("{outcome}")).clone()
    }

    /// Waits until the activity of an agent satisfies a condition.
    #[track_caller]
    pub fn until_activity(&self, id: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        wait_until(SOON, what, || {
            let task = self.status(id);
            is_so(&task["agent"]["activity"]).then_some(task)
        })
    }

    /// Starts an MCP host with a dialect.
    pub fn host(&self, dialect: &str) -> Host {
        Host::of(self.home.command(["mcp", "--dialect", dialect]).session(SESSION))
    }

    pub fn record(&self, id: &str) -> Value {
        let text = fs::read(self.home.task_dir(id).join("agent.json")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    pub fn work(&self, name: &str) -> PathBuf {
        self.home.work().join(name)
    }
}

/// The agents, each with its misbehaviour.
const FLAWS: [(&str, &str); 9] = [
    ("like-gemini", "gemini"),
    ("good", "--good"),
    ("forgetful", "--no-load"),
    ("deaf", "--ignore-cancel"),
    ("silent", "--silent"),
    ("absent", "--exit"),
    ("newer", "--version-2"),
    ("rude", "--bad-exit"),
    ("gone", "--no-such-flaw"),
];
