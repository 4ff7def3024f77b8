//! The options of `start` and `run` that describe a task.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;
use meanwhile::engine::model::{
    CommandSpec, Dependency, EndWanted, Io, Lifetime, Place, RawText, ReadyWhen, Resources, Schedule,
    SlotGroup, TaskKind, parse_duration_ms, parse_size,
};
use meanwhile::engine::{Clock, IfRunning, Runtime, Started, SystemClock, TaskRequest};
use meanwhile::settings::AtCapacity;
use mw_tools::task_calls::TaskCall;
use serde_json::{Map, Value, json};

use super::command_line::COMMAND_WORDS;
use super::confine::{ConfineArguments, PROJECT};
use super::environment::{current_umask, environment};
use super::quick::QuickArguments;
use super::resources::ResourceArguments;
use super::values::{one_of, parse_port};
use crate::config::Config;
use crate::context::Context;
use crate::error::CommandError;

// No doc comment: it would become the help of both commands.
#[derive(Args, PartialEq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct TaskArguments {
    /// A name, unique among the session's live tasks
    #[arg(long)]
    name: Option<String>,
    /// What to do when a live task has that name
    #[arg(long, value_parser = one_of(&IF_RUNNING), default_value = "refuse", requires = "name")]
    if_running: IfRunning,
    /// A description for people
    #[arg(long)]
    description: Option<String>,
    /// Working directory
    #[arg(long, short = 'C', value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Where to run the task: `process` is this machine; `sandbox` too, but the command cannot leave its project; `mock` runs
    /// no command and is controlled with `mw input`; `mw backends` lists all of them
    #[arg(long, value_name = "NAME", default_value = PROCESS)]
    on: String,
    /// Add a variable to the environment
    #[arg(long, short, value_name = "KEY=VALUE")]
    env: Vec<OsString>,
    /// Time limit of the run
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    timeout: Option<u64>,
    /// Time limit counted from now, including time in the queue
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    deadline: Option<u64>,
    #[command(flatten)]
    resources: ResourceArguments,
    #[command(flatten)]
    confine: ConfineArguments,
    /// Whether the task ends with its session [default: session, unless session.kill_tasks is false]
    #[arg(long, value_parser = one_of(&[("session", Lifetime::Session), ("detached", Lifetime::Detached)]))]
    lifetime: Option<Lifetime>,
    /// Keep standard input open for `mw input`
    #[arg(long, short = 'i', conflicts_with = "pty")]
    stdin: bool,
    /// Run the task in a terminal
    #[arg(long, short = 't')]
    pty: bool,
    /// Size of the terminal [default: 80x24; for `run`, the size of its terminal]
    #[arg(long, value_name = "COLSxROWS", value_parser = parse_terminal_size, requires = "pty")]
    size: Option<(u16, u16)>,
    /// Whether stderr is not the terminal of the task
    #[arg(skip)]
    stderr_apart: bool,
    /// Maximum size of the log; 0 = no cap
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    cap: Option<u64>,
    /// Let the task write the log file itself: fastest, but without a cap, separate streams or protection from a full disk
    #[arg(long, conflicts_with_all = ["cap", "stdin", "pty"])]
    direct: bool,
    /// Start after this task has completed; skip the new task if it does not complete
    #[arg(long, value_name = "ID")]
    after: Vec<String>,
    /// Start after this task has ended, however it ended
    #[arg(long, value_name = "ID")]
    after_any: Vec<String>,
    /// Start if this task ends without completing; skip the new task if it completes
    #[arg(long, value_name = "ID")]
    after_failure: Vec<String>,
    /// Run at most SLOTS tasks of this group at a time, over all sessions
    #[arg(long, value_name = "NAME=SLOTS", value_parser = group)]
    group: Option<SlotGroup>,
    /// Priority in the queue; higher starts earlier
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,
    /// What to do when no slot is free
    #[arg(long, value_parser = crate::config::at_capacity, value_name = "queue|reject")]
    at_capacity: Option<AtCapacity>,
    /// Treat the task as ready when it prints a line that matches this regular expression
    #[arg(long, value_name = "REGEX", conflicts_with = "ready_port")]
    ready_when: Option<String>,
    /// Ready when the task listens on this port, or on any
    #[arg(long, value_name = "PORT|any", value_parser = parse_ready_port)]
    ready_port: Option<ReadyWhen>,
    /// Open a file descriptor for progress reports as JSON lines; MEANWHILE_PROGRESS_FD names it
    #[arg(long)]
    progress_fd: bool,
    /// The session on whose behalf the owner works
    #[arg(long, value_name = "SESSION")]
    parent_session: Option<String>,
    /// Id of the message that led to the task
    #[arg(long, value_name = "ID")]
    parent_message: Option<String>,
    /// Add the task to this batch
    #[arg(long)]
    batch: Option<String>,
    /// The kind of task
    #[arg(long, value_parser = one_of(&KINDS), default_value = "shell", hide = true)]
    kind: TaskKind,
    /// Shell for the one-argument form
    #[arg(long, value_name = "PROGRAM")]
    shell: Option<OsString>,
    /// One quoted script for the shell, or a program with its arguments, run without a shell; options of mw come
    /// first
    #[arg(
        id = COMMAND_WORDS,
        value_name = "COMMAND",
        num_args = 1..,
        required = true,
        trailing_var_arg = true
    )]
    words: Vec<OsString>,
    /// Treat the single word as a program, because `--` came before it
    #[arg(long, hide = true)]
    no_shell: bool,
}

/// The names of the places that need no configuration.
const PROCESS: &str = "process";
const SANDBOX: &str = "sandbox";
const MOCK: &str = "mock";

static IF_RUNNING: [(&str, IfRunning); 3] =
    [("refuse", IfRunning::Refuse), ("return", IfRunning::Return), ("restart", IfRunning::Restart)];
pub(crate) static KINDS: [(&str, TaskKind); 3] =
    [("shell", TaskKind::Shell), ("agent", TaskKind::Agent), ("remote", TaskKind::Remote)];

fn parse_ready_port(text: &str) -> Result<ReadyWhen, String> {
    if text == "any" {
        return Ok(ReadyWhen::AnyPort);
    }
    parse_port(text).map(ReadyWhen::Port)
}

fn parse_terminal_size(text: &str) -> Result<(u16, u16), String> {
    let size = text.split_once('x').and_then(|(cols, rows)| Some((cols.parse().ok()?, rows.parse().ok()?)));
    size.filter(|(cols, rows)| *cols > 0 && *rows > 0)
        .ok_or_else(|| format!("{text:?} is not a size such as 80x24"))
}

/// The tool that waits for the end of the task.
pub(crate) const RUN: &str = "run";

/// The options of the common forms.
pub(crate) const COMMON_VALUES: [&str; 6] = ["name", "description", "cwd", "timeout", "batch", "shell"];
pub(crate) const COMMON_LISTS: [&str; 1] = ["env"];

impl TaskArguments {
    /// Returns the task of a common form; `None` for what clap must decide.
    pub(crate) fn quick(arguments: &QuickArguments<'_>) -> Option<Self> {
        let [first, more @ ..] = &arguments.words[..] else { return None };
        let is_script = first.as_bytes().iter().any(u8::is_ascii_whitespace);
        if is_script && !more.is_empty() && !arguments.is_escaped {
            // Options may follow a script.
            return None;
        }
        Some(Self {
            name: arguments.text("name")?,
            description: arguments.text("description")?,
            cwd: arguments.all("cwd").next().map(PathBuf::from),
            env: arguments.all("env").map(OsString::from).collect(),
            timeout: arguments.value("timeout", |text| parse_duration_ms(text).ok())?,
            batch: arguments.text("batch")?,
            shell: arguments.all("shell").next().map(OsString::from),
            no_shell: arguments.is_escaped && more.is_empty(),
            ..Self::plain(arguments.words.iter().map(|word| (*word).clone()).collect())
        })
    }

    /// Returns a command without options.
    fn plain(words: Vec<OsString>) -> Self {
        Self {
            name: None,
            if_running: IfRunning::Refuse,
            description: None,
            cwd: None,
            on: PROCESS.to_owned(),
            env: Vec::new(),
            timeout: None,
            deadline: None,
            resources: ResourceArguments::default(),
            confine: ConfineArguments::default(),
            lifetime: None,
            stdin: false,
            pty: false,
            size: None,
            stderr_apart: false,
            cap: None,
            direct: false,
            after: Vec::new(),
            after_any: Vec::new(),
            after_failure: Vec::new(),
            group: None,
            priority: 0,
            at_capacity: None,
            ready_when: None,
            ready_port: None,
            progress_fd: false,
            parent_session: None,
            parent_message: None,
            batch: None,
            kind: TaskKind::Shell,
            shell: None,
            words,
            no_shell: false,
        }
    }

    /// Returns the start as a call of a tool; `None` if an option has no counterpart there.
    pub(crate) fn as_call(&self) -> Option<TaskCall> {
        let known = Self {
            description: self.description.clone(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            timeout: self.timeout,
            no_shell: self.no_shell,
            ..Self::plain(self.words.clone())
        };
        if *self != known {
            return None;
        }
        let command = match &self.words[..] {
            [script] if !self.no_shell => script.to_str()?.to_owned(),
            words => {
                let words: Option<Vec<RawText>> =
                    words.iter().map(|word| Some(word.to_str()?.into())).collect();
                CommandSpec::Argv(words?).to_line()
            }
        };
        let cwd = std::path::absolute(self.cwd.as_deref().unwrap_or(Path::new("."))).ok()?;
        let pair = |pair: &OsString| {
            let (name, value) = pair.to_str()?.split_once('=')?;
            Some((name.to_owned(), value.into()))
        };
        let env: Option<Map<String, Value>> = self.env.iter().map(pair).collect();
        Some(TaskCall::new(
            "shell",
            json!({"command": command, "description": self.description, "cwd": cwd.to_str()?, "env": env?,
                   "timeout": self.timeout}),
        ))
    }

    /// Makes a request of the options and starts the task.
    pub(crate) fn start(
        self,
        context: &Context,
        runtime: &Runtime,
        tool: &str,
        schedule: Schedule,
    ) -> Result<Started, CommandError> {
        let added = added_variables(&self.env);
        let after = self.dependencies(context, runtime)?;
        let wants_slot = self.at_capacity.is_some() || self.group.is_some();
        let mut request = self.request(&context.config, &context.owner(), after)?;
        request.schedule = schedule;
        request.foreground = tool == RUN;
        request.uncounted = tool == RUN && !wants_slot;
        request.approval = context.pass_start(runtime, &mut request, &added, tool)?;
        Ok(runtime.starts().start(&request)?)
    }

    fn dependencies(&self, context: &Context, runtime: &Runtime) -> Result<Vec<Dependency>, CommandError> {
        let lists = [
            (&self.after, EndWanted::Completed),
            (&self.after_any, EndWanted::Any),
            (&self.after_failure, EndWanted::Failed),
        ];
        let named =
            lists.into_iter().flat_map(|(handles, end)| handles.iter().map(move |handle| (handle, end)));
        let resolve = |(handle, end): (&String, EndWanted)| {
            let id = runtime.lookup().resolve(handle, &context.scope())?;
            Ok(Dependency { id, end })
        };
        named.map(resolve).collect()
    }

    /// Makes a request of the options, for a session and behind these tasks.
    pub(crate) fn request(
        self,
        config: &Config,
        session: &str,
        after: Vec<Dependency>,
    ) -> Result<TaskRequest, CommandError> {
        let command = self.command(config);
        let place = config.place(&self.on)?;
        let mut limits = config.settings.limits.clone();
        limits.run_timeout_ms = self.timeout.or(limits.run_timeout_ms).filter(|ms| *ms > 0);
        limits.deadline = self.deadline.map(|ms| SystemClock.now().plus_ms(ms));
        // The limits of the settings are those of this machine.
        let usual = if place.has_driver() { Resources::default() } else { limits.resources };
        limits.resources = self.resources.over(&usual);
        limits.output_cap = self.cap.unwrap_or(limits.output_cap);
        let io = self.io();
        let cwd = match (self.cwd, &config.directory) {
            (Some(cwd), _) => std::path::absolute(cwd)?,
            (None, Some(directory)) => directory.clone(),
            (None, None) => {
                return Err(CommandError::usage(
                    "cannot use the current directory: it was removed, or you have no permission",
                    "give a directory with --cwd",
                ));
            }
        };
        let env = environment(&self.env)?;
        let added = added_variables(&self.env);
        let usual = if place == Place::Sandbox { PROJECT } else { &config.confine_user };
        let grant = self.confine.grant(usual, &cwd, config.user_home());
        let mut request = TaskRequest {
            grant,
            kind: self.kind,
            umask: current_umask(),
            name: self.name,
            if_running: self.if_running,
            description: self.description,
            io,
            limits,
            lifetime: self.lifetime.unwrap_or_else(|| config.lifetime()),
            batch: self.batch,
            after,
            group: self.group,
            priority: self.priority,
            ready: self.ready_when.map(ReadyWhen::Line).or(self.ready_port),
            progress_fd: self.progress_fd,
            parent_session: self.parent_session,
            parent_message: self.parent_message,
            at_capacity: self.at_capacity.unwrap_or(config.settings.queue.at_capacity),
            ..TaskRequest::new(session, command, cwd, env)
        };
        if !place.is_process() {
            request.run_on(place, &added);
        }
        Ok(request)
    }

    /// Runs the task in a terminal of this size, unless the options say how its streams are connected. Returns whether it
    /// runs in a terminal.
    pub(crate) fn take_terminal(&mut self, size: (u16, u16), stderr_apart: bool) -> bool {
        if self.stdin || self.direct || !matches!(self.on.as_str(), PROCESS | SANDBOX) {
            return false;
        }
        self.stderr_apart = stderr_apart && !self.pty;
        self.pty = true;
        self.size.get_or_insert(size);
        true
    }

    /// Keeps standard input open, as `--stdin` does.
    pub(crate) const fn open_stdin(&mut self) {
        self.stdin = true;
    }

    pub(crate) fn io(&self) -> Io {
        let (cols, rows) = self.size.unwrap_or((80, 24));
        match (self.pty, self.on.as_str()) {
            (true, _) if self.stderr_apart => Io::PtyAndPipe { rows, cols },
            (true, _) => Io::Pty { rows, cols },
            (false, _) if self.direct => Io::Direct,
            // Its input tells it how to end.
            (false, MOCK) => Io::Stdin,
            (false, _) if self.stdin => Io::Stdin,
            (false, _) => Io::Pipes,
        }
    }

    fn command(&self, config: &Config) -> CommandSpec {
        let raw = |text: &OsString| RawText::from(text.as_bytes());
        match &self.words[..] {
            [script] if !self.no_shell => CommandSpec::Shell {
                program: self.shell.as_ref().map_or_else(|| RawText::from(config.shell.as_str()), raw),
                script: raw(script),
            },
            words => CommandSpec::Argv(words.iter().map(raw).collect()),
        }
    }
}

fn group(text: &str) -> Result<SlotGroup, String> {
    SlotGroup::parse(text).ok_or_else(|| "write NAME=SLOTS, such as gpu=1".to_owned())
}

/// Returns the variables of `--env`. Values that are not text are refused later.
fn added_variables(entries: &[OsString]) -> Vec<(String, String)> {
    let pair = |entry: &OsString| {
        let text = entry.to_string_lossy();
        let (name, value) = text.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    entries.iter().filter_map(pair).collect()
}
