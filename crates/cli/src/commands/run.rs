//! `mw run`: runs a command and streams its output.

use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use meanwhile::engine::{KillRequest, ReadFrom, ReadRequest, Runtime, StreamChoice};
use meanwhile::model::signal::SIGKILL;
use meanwhile::model::{Io, TaskId, parse_duration_ms};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::arguments::task::{RUN, TaskArguments};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, answer};
use crate::exit_code;
use crate::foreground::feed::{self, Feed};
use crate::foreground::queued::explain_queue;
use crate::foreground::streams::Streams;
use crate::foreground::terminal::{Keys, ProgressLine, RawMode};
use crate::render;
use crate::render::status_page;

/// Silence after which a progress line is shown.
const SILENCE: Duration = Duration::from_secs(1);
/// How soon a key or Ctrl-C is noticed while the task is silent.
const NOTICE: Duration = Duration::from_millis(100);
const CTRL_B: u8 = 2;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Leave the task running in the background after this long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    detach_after: Option<u64>,
    #[command(flatten)]
    task: TaskArguments,
}

impl Arguments {
    pub(crate) fn run(mut self, context: &Context) -> CommandResult {
        let interrupts = count_interrupts()?;
        let runtime = context.runtime()?;
        let detach_at = self.detach_after.map(|ms| Instant::now() + Duration::from_millis(ms));
        let has_terminal = matches!(self.task.io(), Io::Pty { .. });
        // Without input the terminal must get an end of file, or the command waits forever.
        let feeds = feed::has_input() || (has_terminal && !std::io::stdin().is_terminal());
        let stays_open = self.task.io() == Io::Stdin || has_terminal;
        if feeds && !has_terminal {
            self.task.open_stdin();
        }
        let io = self.task.io();
        let task = self.task.start(context, &runtime, RUN)?.task;
        if !context.json {
            explain_queue(context, &runtime, &task);
        }
        let id = task.id;
        let feed =
            feeds.then(|| Feed::begin(context, &id, has_terminal)).transpose().map_err(CommandError::from);
        let feed = feed.map_err(|error| error.with_task(&id))?;
        if io != Io::Pipes && std::io::stdin().is_terminal() {
            render::note(&format!(
                "input typed here is not passed to {id}; use mw attach {id} in another terminal, or mw input {id} TEXT"
            ));
        }
        let attached = || {
            let keyboard = watch_keyboard();
            let streams = Streams::of(&io);
            let detached = stream(context, &runtime, &id, streams, detach_at, &keyboard, &interrupts)?;
            drop(keyboard);
            if detached {
                // It is a background task from now on, and has hooks.
                runtime.live().go_on_in_background(&id)?;
            }
            if detached && feed.as_ref().is_some_and(|feed| !feed.is_all_sent()) {
                leave(context, &runtime, &id, stays_open);
            }
            conclude(context, &runtime, &id, detached)
        };
        // The task exists, whatever fails from now on.
        attached().map_err(|error| error.with_task(&id))
    }
}

/// Closes the input of a task that is left running, unless it stays open for `mw input`, and says so.
fn leave(context: &Context, runtime: &Runtime, id: &TaskId, stays_open: bool) {
    if stays_open {
        return render::note(&format!("the rest of the input was not passed on; use mw input {id}"));
    }
    let _ = runtime.live().input(id.as_str(), &context.scope(), &[], true);
    render::note(&format!("the rest of the input was not passed on: standard input of {id} is closed"));
}

/// Prints how the task ended, or that it continues.
fn conclude(context: &Context, runtime: &Runtime, id: &TaskId, detached: bool) -> CommandResult {
    if detached && !context.json {
        render::note(&format!("{id} keeps running in the background; see mw status {id}"));
        return Ok(0);
    }
    let task = runtime.tasks().task(id.as_str(), &context.scope())?;
    let code = if detached { 0 } else { exit_code::of_task(&task) };
    if context.json {
        return answer(status_page::show(context, runtime, &task, status_page::LINES).map(|_| ()), code);
    }
    if task.exit_code.is_none() {
        render::note(&format!("{} {}", task.short_name(), mw_desk::rows::state_words(&task)));
    }
    Ok(code)
}

/// Counts the signals that ask this command to end.
fn count_interrupts() -> Result<Arc<AtomicUsize>, CommandError> {
    let interrupts = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&interrupts);
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    Ok(interrupts)
}

/// The keyboard while a task is attached.
struct Keyboard {
    _mode: RawMode,
    detach: Arc<AtomicBool>,
}

fn watch_keyboard() -> Keyboard {
    let detach = Arc::new(AtomicBool::new(false));
    // When the terminal is closed, this command detaches and the task continues.
    let _ = signal_hook::flag::register(SIGHUP, Arc::clone(&detach));
    let mode = RawMode::enter(Keys::Single);
    if std::io::stdin().is_terminal() {
        let pressed = Arc::clone(&detach);
        std::thread::spawn(move || {
            let mut key = [0];
            while let Ok(1) = std::io::stdin().read(&mut key) {
                if key[0] == CTRL_B {
                    pressed.store(true, Ordering::Relaxed);
                }
            }
        });
    }
    Keyboard { _mode: mode, detach }
}

/// Streams the output until the task ends. Returns whether it was left running instead.
fn stream(
    context: &Context,
    runtime: &Runtime,
    id: &TaskId,
    mut streams: Streams,
    detach_at: Option<Instant>,
    keyboard: &Keyboard,
    interrupts: &AtomicUsize,
) -> Result<bool, CommandError> {
    let mut request = ReadRequest {
        stream: StreamChoice::Apart,
        from: ReadFrom::Offset(0),
        max_bytes: 1 << 20,
        ..ReadRequest::default()
    };
    let mut progress = ProgressLine::new(context.json);
    let begun = Instant::now();
    let mut last_output = begun;
    let mut handled = 0;
    std::thread::scope(|scope| {
        loop {
            // Checked before the read, so that the read is complete.
            let task = runtime.tasks().task(id.as_str(), &context.scope())?;
            let ended = task.status.is_terminal();
            if last_output.elapsed() >= SILENCE && !ended {
                progress.show(runtime, &[task], begun);
            }
            let reply = runtime.reader().read(id.as_str(), &context.scope(), &request)?;
            if !reply.pieces.is_empty() && !context.json && streams.is_read() {
                progress.clear();
                streams.write(&reply.pieces)?;
                last_output = Instant::now();
            }
            request.from = ReadFrom::Offset(reply.next_offset);
            if reply.eof || (ended && reply.left == 0) {
                progress.clear();
                return Ok(false);
            }
            if keyboard.detach.load(Ordering::Relaxed) || detach_at.is_some_and(|at| Instant::now() >= at) {
                progress.clear();
                return Ok(true);
            }
            let asked = interrupts.load(Ordering::Relaxed);
            if asked > handled {
                let signal = if handled == 0 { SIGINT } else { SIGKILL };
                handled = asked;
                // The kill waits for the whole tree; output continues meanwhile.
                scope.spawn(move || {
                    if let Ok(runtime) = context.runtime() {
                        let request = KillRequest { by: context.requester(), signal, grace_ms: None };
                        let _ = runtime.live().kill(id.as_str(), &context.scope(), &request);
                    }
                });
            }
            if reply.left == 0 {
                let left =
                    detach_at.map_or(NOTICE, |at| at.saturating_duration_since(Instant::now()).min(NOTICE));
                runtime.reader().wait_for_output(id, reply.end, left.max(Duration::from_millis(1)))?;
            }
        }
    })
}
