//! Starts a task for the user.

use std::path::PathBuf;

use meanwhile::engine::model::{
    CommandSpec, DEFAULT_SESSION, EnvVar, Io, Lifetime, Limits, RawText, ReadyWhen, parse_duration_ms,
};
use meanwhile::engine::{Clock, Started, SystemClock, TaskRequest, check_set_variables};
use meanwhile::{Error, Result};

use crate::desk::Desk;

/// What a task gets unless its order says otherwise.
#[derive(Clone, Debug)]
pub struct StartDefaults {
    /// The shell for scripts.
    pub shell: String,
    /// The working directory.
    pub cwd: PathBuf,
    /// The environment.
    pub env: Vec<EnvVar>,
    /// The file mode creation mask.
    pub umask: u32,
    /// Whether tasks end with their session.
    pub lifetime: Lifetime,
}

/// A task to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartOrder {
    /// A script for the shell.
    pub script: Option<String>,
    /// A program with its arguments, which runs without a shell.
    pub argv: Vec<String>,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// A name, unique among the live tasks of the session.
    pub name: Option<String>,
    /// A description for people.
    pub description: Option<String>,
    /// The batch.
    pub batch: Option<String>,
    /// Variables to add to the environment.
    pub env: Vec<(String, String)>,
    /// The time limit of the run, such as `10m`.
    pub timeout: Option<String>,
    /// The latest end, counted from now, such as `2h`.
    pub deadline: Option<String>,
    /// Tasks that must complete first.
    pub after: Vec<String>,
    /// Whether standard input stays open.
    pub stdin: bool,
    /// The priority in the queue.
    pub priority: i32,
    /// Ready when a line matches this regular expression.
    pub ready_when: Option<String>,
    /// Ready when the task listens on this port.
    pub ready_port: Option<u16>,
}

impl Desk {
    /// Starts a task in the session of the screen, or in that of the user's own commands.
    ///
    /// # Errors
    /// Fails if the order is not valid or the task cannot be started.
    pub fn start(&self, order: &StartOrder, defaults: &StartDefaults) -> Result<Started> {
        let session = self.access().session.as_deref().unwrap_or(DEFAULT_SESSION);
        self.with(|runtime| {
            let after =
                order.after.iter().map(|id| runtime.lookup().resolve(id, &self.scope()).map(Into::into));
            let request = TaskRequest {
                umask: defaults.umask,
                lifetime: defaults.lifetime,
                limits: limits(order, &self.access().settings.limits)?,
                io: if order.stdin { Io::Stdin } else { Io::Pipes },
                name: order.name.clone(),
                description: order.description.clone(),
                batch: order.batch.clone(),
                after: after.collect::<Result<_>>()?,
                priority: order.priority,
                ready: order
                    .ready_when
                    .clone()
                    .map(ReadyWhen::Line)
                    .or(order.ready_port.map(ReadyWhen::Port)),
                at_capacity: self.access().settings.queue.at_capacity,
                ..TaskRequest::new(
                    session,
                    command(order, defaults)?,
                    order.cwd.clone().unwrap_or_else(|| defaults.cwd.clone()),
                    environment(order, defaults)?,
                )
            };
            runtime.starts().start(&request)
        })
    }
}

fn command(order: &StartOrder, defaults: &StartDefaults) -> Result<CommandSpec> {
    let raw = |text: &str| RawText::from(text);
    match (&order.script, &order.argv[..]) {
        (Some(script), []) => Ok(CommandSpec::Shell { program: raw(&defaults.shell), script: raw(script) }),
        (None, [_, ..]) => Ok(CommandSpec::Argv(order.argv.iter().map(|word| raw(word)).collect())),
        (Some(_), [_, ..]) => {
            Err(Error::invalid("both a script and a program were given", "give either command or argv"))
        }
        (None, []) => Err(Error::invalid("no command was given", "give command, a script, or argv")),
    }
}

fn limits(order: &StartOrder, usual: &Limits) -> Result<Limits> {
    let parsed = |text: &Option<String>| {
        text.as_deref()
            .map(parse_duration_ms)
            .transpose()
            .map_err(|error| Error::invalid(error.to_string(), "write a duration such as 90s, 10m or 2h"))
    };
    let mut limits = usual.clone();
    limits.run_timeout_ms = parsed(&order.timeout)?.or(limits.run_timeout_ms).filter(|ms| *ms > 0);
    limits.deadline = parsed(&order.deadline)?.map(|ms| SystemClock.now().plus_ms(ms)).or(limits.deadline);
    Ok(limits)
}

fn environment(order: &StartOrder, defaults: &StartDefaults) -> Result<Vec<EnvVar>> {
    check_set_variables(order.env.iter().map(|(name, _)| name.as_bytes()))?;
    let mut all = defaults.env.clone();
    for (name, value) in &order.env {
        let var = EnvVar { name: RawText::from(name.as_str()), value: RawText::from(value.as_str()) };
        all.retain(|other| other.name != var.name);
        all.push(var);
    }
    Ok(all)
}
