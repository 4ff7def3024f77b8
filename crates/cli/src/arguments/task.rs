//! The options of `start` and `run` that describe a task.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::Args;
use meanwhile::engine::{Clock, IfRunning, Runtime, Started, SystemClock, TaskRequest};
use meanwhile::model::{
    CommandSpec, Io, Lifetime, Place, RawText, ReadyWhen, TaskKind, parse_duration_ms, parse_size,
};
use meanwhile::settings::AtCapacity;

use super::command_line::COMMAND_WORDS;
use super::environment::{current_umask, environment};
use super::resources::ResourceArguments;
use super::values::{one_of, parse_port};
use crate::context::Context;
use crate::error::CommandError;

// No doc comment: it would become the help of both commands.
#[derive(Args)]
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
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Where to run the task: `process` is this machine; `mock` runs no command and is controlled with `mw input`
    #[arg(long, value_name = "NAME", default_value_t = Place::Process)]
    on: Place,
    /// Add a variable to the environment
    #[arg(long, value_name = "KEY=VALUE")]
    env: Vec<OsString>,
    /// Time limit of the run
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    timeout: Option<u64>,
    /// Time limit counted from now, including time in the queue
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    deadline: Option<u64>,
    #[command(flatten)]
    resources: ResourceArguments,
    /// Whether the task ends with its session [default: session, unless session.kill_tasks is false]
    #[arg(long, value_parser = one_of(&[("session", Lifetime::Session), ("detached", Lifetime::Detached)]))]
    lifetime: Option<Lifetime>,
    /// Keep standard input open for `mw input`
    #[arg(long, conflicts_with = "pty")]
    stdin: bool,
    /// Run the task in a terminal
    #[arg(long)]
    pty: bool,
    /// Size of the terminal
    #[arg(long, value_name = "COLSxROWS", default_value = "80x24", value_parser = parse_terminal_size, requires = "pty")]
    size: (u16, u16),
    /// Maximum size of the log; 0 = no cap
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    cap: Option<u64>,
    /// Start after this task has completed; skip the new task if it does not complete
    #[arg(long, value_name = "ID")]
    after: Vec<String>,
    /// Priority in the queue; higher starts earlier
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,
    /// What to do when no slot is free
    #[arg(long, value_parser = crate::config::at_capacity, value_name = "queue|reject")]
    at_capacity: Option<AtCapacity>,
    /// Ready when the task prints a line that matches this regular expression
    #[arg(long, value_name = "REGEX", conflicts_with = "ready_port")]
    ready_when: Option<String>,
    /// Ready when the task listens on this port, or on any
    #[arg(long, value_name = "PORT|any", value_parser = parse_ready_port)]
    ready_port: Option<ReadyWhen>,
    /// Open a file descriptor for progress reports as JSON lines; MEANWHILE_PROGRESS_FD names it
    #[arg(long)]
    progress_fd: bool,
    /// The parent session of the task's owner
    #[arg(long, value_name = "SESSION")]
    parent_session: Option<String>,
    /// Id of the message that led to the task
    #[arg(long, value_name = "ID")]
    parent_message: Option<String>,
    /// The batch of the task
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

impl TaskArguments {
    /// Makes a request of the options and starts the task.
    pub(crate) fn start(
        self,
        context: &Context,
        runtime: &Runtime,
        tool: &str,
    ) -> Result<Started, CommandError> {
        let added = added_variables(&self.env);
        let mut request = self.request(context, runtime)?;
        request.foreground = tool == RUN;
        request.approval = context.pass_start(runtime, &request, &added, tool)?;
        Ok(runtime.starts().start(&request)?)
    }

    fn request(self, context: &Context, runtime: &Runtime) -> Result<TaskRequest, CommandError> {
        let command = self.command(context);
        let mut limits = context.config.settings.limits.clone();
        limits.run_timeout_ms = self.timeout.or(limits.run_timeout_ms).filter(|ms| *ms > 0);
        limits.deadline = self.deadline.map(|ms| SystemClock.now().plus_ms(ms));
        limits.resources = self.resources.over(&limits.resources);
        limits.output_cap = self.cap.unwrap_or(limits.output_cap);
        let after = self
            .after
            .iter()
            .map(|handle| runtime.lookup().resolve(handle, &context.scope()))
            .collect::<Result<_, _>>()?;
        let io = self.io();
        let cwd = match (self.cwd, &context.config.directory) {
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
        Ok(TaskRequest {
            kind: self.kind,
            place: self.on,
            umask: current_umask(),
            name: self.name,
            if_running: self.if_running,
            description: self.description,
            io,
            limits,
            lifetime: self.lifetime.unwrap_or_else(|| context.config.lifetime()),
            batch: self.batch,
            after,
            priority: self.priority,
            ready: self.ready_when.map(ReadyWhen::Line).or(self.ready_port),
            progress_fd: self.progress_fd,
            parent_session: self.parent_session,
            parent_message: self.parent_message,
            at_capacity: self.at_capacity.unwrap_or(context.config.settings.queue.at_capacity),
            ..TaskRequest::new(&context.owner(), command, cwd, env)
        })
    }

    /// Keeps standard input open, as `--stdin` does.
    pub(crate) const fn open_stdin(&mut self) {
        self.stdin = true;
    }

    pub(crate) const fn io(&self) -> Io {
        match (self.pty, self.on) {
            (true, _) => Io::Pty { cols: self.size.0, rows: self.size.1 },
            // Its input tells it how to end.
            (false, Place::Mock) => Io::Stdin,
            (false, Place::Process) if self.stdin => Io::Stdin,
            (false, Place::Process) => Io::Pipes,
        }
    }

    fn command(&self, context: &Context) -> CommandSpec {
        let raw = |text: &OsString| RawText::from(text.as_bytes());
        match &self.words[..] {
            [script] if !self.no_shell => CommandSpec::Shell {
                program: self
                    .shell
                    .as_ref()
                    .map_or_else(|| RawText::from(context.config.shell.as_str()), raw),
                script: raw(script),
            },
            words => CommandSpec::Argv(words.iter().map(raw).collect()),
        }
    }
}

/// Returns the variables of `--env`. Others than text are refused later.
fn added_variables(entries: &[OsString]) -> Vec<(String, String)> {
    let pair = |entry: &OsString| {
        let text = entry.to_string_lossy();
        let (name, value) = text.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    entries.iter().filter_map(pair).collect()
}
