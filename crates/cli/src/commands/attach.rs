//! `mw attach`: connects the terminal to a task.

use std::io::{IsTerminal, Read, Write};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

use clap::Args;
use meanwhile::engine::model::{Io, TaskId};
use meanwhile::engine::{ReadFrom, ReadRequest, Runtime};

use crate::context::{Context, Latest};
use crate::error::{About, CommandError, CommandResult, named};
use crate::foreground::terminal;
use crate::foreground::terminal::{Keys, RawMode};
use crate::render;

/// How much of the earlier output is shown.
const BACKLOG: u64 = 16 << 10;
const NOTICE: Duration = Duration::from_millis(100);
/// Ctrl-]: leaves the task running.
const LEAVE: u8 = 0x1d;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The task [default: the latest of this directory]
    id: Option<String>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        // Input goes to the task, so its handle must be as exact as for a kill.
        let handle = context.given_or_latest(&runtime, self.id, Latest::Live)?;
        let id = runtime.lookup().resolve_to_act(&handle, &context.scope())?;
        let task = runtime.tasks().task(id.as_str(), &context.scope()).about(&handle)?;
        let name = named(&handle, &id);
        let io = runtime.home().task(&task.id).spec()?.io;
        if matches!(io, Io::Pipes | Io::Direct) {
            let hint = format!("mw output {} --follow shows its output", task.id);
            return Err(CommandError::conflict(format!("{name} has no input to attach to"), hint));
        }
        if task.status.is_terminal() {
            let hint = format!("mw output {} shows what it printed", task.id);
            return Err(CommandError::conflict(format!("{name} has ended ({})", task.status.word()), hint));
        }
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Err(CommandError::usage(
                "attach needs a terminal",
                "use mw input and mw output --follow in scripts",
            ));
        }
        context.pass_action(&runtime, "attach", &format!("type into {id} in a terminal"))?;
        render::note(&format!("attached to {}; press Ctrl-] to detach", task.id));
        let left = {
            let _mode = RawMode::enter(if io.terminal().is_some() { Keys::All } else { Keys::Single });
            join(context, &runtime, &task.id, io.terminal().is_some())?
        };
        std::io::stdout().write_all(b"\n")?;
        render::note(if left { "detached; the task keeps running" } else { "the task has ended" });
        Ok(0)
    }
}

/// Copies keys and output until the task ends or the user detaches. Returns whether the user detached.
fn join(context: &Context, runtime: &Runtime, id: &TaskId, is_terminal: bool) -> Result<bool, CommandError> {
    let detached = pass_keys(context, id);
    let mut request =
        ReadRequest { from: ReadFrom::TailBytes(BACKLOG), max_bytes: 1 << 20, ..ReadRequest::default() };
    let mut shown_size = None;
    loop {
        if is_terminal && shown_size != terminal::size() {
            shown_size = terminal::size();
            if let Some((cols, rows)) = shown_size {
                let _ = runtime.live().resize(id.as_str(), &context.scope(), rows, cols);
            }
        }
        let reply = runtime.reader().read(id.as_str(), &context.scope(), &request)?;
        render::out_bytes(&reply.bytes())?;
        request.from = ReadFrom::Offset(reply.next_offset);
        if reply.eof {
            return Ok(false);
        }
        match detached.try_recv() {
            Ok(passed) => return passed.map(|()| true).map_err(CommandError::from),
            // Without a keyboard, the output goes on.
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
        }
        if reply.left == 0 {
            runtime.reader().wait_for_output(id, reply.end, NOTICE)?;
        }
    }
}

/// Passes keys on in a thread. It reports when the user detaches, or why no more keys can be passed on.
fn pass_keys(context: &Context, id: &TaskId) -> Receiver<meanwhile::Result<()>> {
    let (sender, detached) = mpsc::channel();
    let (settings, scope, id) = (context.config.settings.clone(), context.scope(), id.clone());
    thread::spawn(move || {
        let pass = || {
            let runtime = Runtime::open(settings)?;
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = std::io::stdin().read(&mut buffer) {
                let mut typed = buffer[..read].splitn(2, |key| *key == LEAVE);
                let keys = typed.next().unwrap_or_default();
                if !keys.is_empty() {
                    runtime.live().input(id.as_str(), &scope, keys, false)?;
                }
                if typed.next().is_some() {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        match pass() {
            Ok(true) => drop(sender.send(Ok(()))),
            // The terminal is gone. Its signal ends this process.
            Ok(false) => {}
            Err(error) => drop(sender.send(Err(error))),
        }
    });
    detached
}
