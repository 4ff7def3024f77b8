//! `mw run`: runs a command and streams its output.

use std::io::{IsTerminal, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};

use clap::Args;
use meanwhile::engine::model::{Io, Schedule, TaskId, parse_duration_ms};
use meanwhile::engine::{KillRequest, ReadFrom, ReadRequest, Runtime, StreamChoice};
use meanwhile::model::signal::SIGKILL;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::arguments::task::{RUN, TaskArguments};
use crate::context::Context;
use crate::error::{CommandError, CommandResult, answer};
use crate::exit_code;
use crate::foreground::feed::{self, Feed};
use crate::foreground::queued::explain_queue;
use crate::foreground::streams::Streams;
use crate::foreground::terminal::{self, Keys, ProgressLine, RawMode};
use crate::foreground::typing::{Typing, UserRequests, has_terminals};
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
        let asked = Arc::new(UserRequests::default());
        count_interrupts(&asked)?;
        let runtime = context.runtime()?;
        let detach_at = self.detach_after.map(|ms| Instant::now() + Duration::from_millis(ms));
        let input = self.input(context);
        let io = self.task.io();
        let stays_open = matches!(io, Io::Pty { .. }) || (io == Io::Stdin && input != Input::Pipe);
        let task = self.task.start(context, &runtime, RUN, Schedule::default())?.task;
        if !context.json {
            explain_queue(context, &runtime, &task);
        }
        let id = task.id;
        let feed = matches!(input, Input::Pipe | Input::Typed)
            .then(|| Feed::begin(context, &id, input == Input::Typed))
            .transpose()
            .map_err(CommandError::from);
        let feed = feed.map_err(|error| error.with_task(&id))?;
        if input == Input::None && io != Io::Pipes && std::io::stdin().is_terminal() {
            render::note(&format!(
                "input typed here is not passed to {id}; use mw attach {id} in another terminal, or mw input {id} TEXT"
            ));
        }
        let attached = || {
            let keyboard = Keyboard::watch(context, &id, input, &asked);
            let streams = Streams::of(&io);
            let attached = Attached {
                context,
                runtime: &runtime,
                id: &id,
                detach_at,
                keyboard: &keyboard,
                asked: &asked,
            };
            let detached = attached.stream(streams)?;
            let had_keys = keyboard.typing.is_some();
            drop(keyboard);
            if detached {
                // It is a background task from now on, and has hooks.
                runtime.live().continue_in_background(&id)?;
            }
            if detached && feed.as_ref().is_some_and(|feed| !feed.is_all_sent()) {
                leave(context, &runtime, &id, stays_open);
            }
            conclude(context, &runtime, &id, detached, had_keys)
        };
        // The task exists, whatever fails from now on.
        attached().map_err(|error| error.with_task(&id))
    }

    /// Decides where the input of the command comes from, and changes the options accordingly.
    fn input(&mut self, context: &Context) -> Input {
        let asks_for_terminal = self.task.io().terminal().is_some();
        if !context.json && has_terminals() {
            let size = terminal::size().unwrap_or((80, 24));
            if self.task.take_terminal(size, !std::io::stderr().is_terminal()) {
                return Input::Keys;
            }
        }
        // Without input a terminal must get an end of file, or the command waits forever.
        if asks_for_terminal && !std::io::stdin().is_terminal() {
            return Input::Typed;
        }
        if !asks_for_terminal && feed::has_input() {
            self.task.open_stdin();
            return Input::Pipe;
        }
        Input::None
    }
}

/// Where the input of the command comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    /// It has none, or gets it from `mw input`.
    None,
    /// A pipe or a file.
    Pipe,
    /// A pipe or a file, typed on the terminal of the command.
    Typed,
    /// The user's keyboard, typed on the terminal of the command.
    Keys,
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
fn conclude(
    context: &Context,
    runtime: &Runtime,
    id: &TaskId,
    detached: bool,
    had_keys: bool,
) -> CommandResult {
    if detached && !context.json {
        let task = runtime.tasks().task(id.as_str(), &context.scope())?;
        render::note(&format!(
            "{} keeps running in the background; see mw status {}",
            render::named(&task),
            task.short_name()
        ));
        return Ok(0);
    }
    let task = runtime.tasks().task(id.as_str(), &context.scope())?;
    let code = if detached { 0 } else { exit_code::of_task(&task) };
    if context.json {
        return answer(status_page::show(context, runtime, &task, status_page::LINES).map(|_| ()), code);
    }
    // After Ctrl-C or Ctrl-\ the user knows why the task ended.
    let was_interrupted = had_keys && matches!(task.signal.as_deref(), Some("SIGINT" | "SIGQUIT"));
    if task.exit_code.is_none() && !was_interrupted {
        render::note(&format!("{} {}", task.short_name(), mw_desk::rows::state_words(&task)));
    }
    Ok(code)
}

/// Counts the signals that ask this command to end.
fn count_interrupts(asked: &Arc<UserRequests>) -> Result<(), CommandError> {
    let asked = Arc::clone(asked);
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().spawn(move || {
        for _ in signals.forever() {
            asked.interrupts.fetch_add(1, Ordering::Relaxed);
        }
    })?;
    Ok(())
}

/// The keyboard while a task is attached.
struct Keyboard {
    /// Keys that go to the task.
    typing: Option<Typing>,
    _mode: RawMode,
    hung_up: Arc<AtomicBool>,
}

impl Keyboard {
    fn watch(context: &Context, id: &TaskId, input: Input, asked: &Arc<UserRequests>) -> Self {
        let hung_up = Arc::new(AtomicBool::new(false));
        // When the terminal is closed, this command detaches and the task continues.
        let _ = signal_hook::flag::register(SIGHUP, Arc::clone(&hung_up));
        if input == Input::Keys {
            let typing = Some(Typing::begin(context, id, asked));
            return Self { typing, _mode: RawMode::none(), hung_up };
        }
        // The program that reads the output may also read the keyboard.
        let is_shared = input != Input::None || !has_terminals();
        let mode = if is_shared { RawMode::none() } else { RawMode::enter(Keys::Single) };
        if !is_shared {
            let asked = Arc::clone(asked);
            std::thread::spawn(move || {
                let mut key = [0];
                while let Ok(1) = std::io::stdin().read(&mut key) {
                    if key[0] == CTRL_B {
                        asked.detach.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
        Self { typing: None, _mode: mode, hung_up }
    }
}

/// A running task whose output this command shows.
struct Attached<'a> {
    context: &'a Context,
    runtime: &'a Runtime,
    id: &'a TaskId,
    detach_at: Option<Instant>,
    keyboard: &'a Keyboard,
    asked: &'a UserRequests,
}

impl<'a> Attached<'a> {
    /// Streams the output until the task ends. Returns whether it was left running instead.
    fn stream(&self, mut streams: Streams) -> Result<bool, CommandError> {
        let mut request = ReadRequest {
            stream: StreamChoice::Apart,
            from: ReadFrom::Offset(0),
            max_bytes: 1 << 20,
            ..ReadRequest::default()
        };
        let typing = self.keyboard.typing.as_ref();
        // A progress line would disturb a program that draws on the terminal.
        let mut progress = ProgressLine::new(self.context.json || typing.is_some());
        let mut shown_size = terminal::size();
        let begun = Instant::now();
        let mut last_output = begun;
        let mut handled = 0;
        std::thread::scope(|scope| {
            loop {
                // Checked before the read, so that the read is complete.
                let task = self.runtime.tasks().task(self.id.as_str(), &self.context.scope())?;
                let ended = task.status.is_terminal();
                if last_output.elapsed() >= SILENCE && !ended {
                    progress.show(self.runtime, &[task], begun);
                }
                let reply = self.runtime.reader().read(self.id.as_str(), &self.context.scope(), &request)?;
                if !reply.pieces.is_empty() && !self.context.json && streams.is_read() {
                    progress.clear();
                    streams.set_raw(typing.is_some_and(Typing::is_raw));
                    streams.write(&reply.pieces)?;
                    last_output = Instant::now();
                }
                request.from = ReadFrom::Offset(reply.next_offset);
                if reply.eof || (ended && reply.left == 0) {
                    progress.clear();
                    return Ok(false);
                }
                self.pass_size(&mut shown_size);
                if self.is_left() {
                    progress.clear();
                    return Ok(true);
                }
                self.pass_interrupts(scope, &mut handled);
                if reply.left == 0 {
                    self.wait_for_output(reply.end)?;
                }
            }
        })
    }

    /// Returns whether the task is left running from now on.
    fn is_left(&self) -> bool {
        self.asked.detach.load(Ordering::Relaxed)
            || self.keyboard.hung_up.load(Ordering::Relaxed)
            || self.detach_at.is_some_and(|at| Instant::now() >= at)
    }

    /// Gives the task's terminal the size of the user's terminal, if that has changed.
    fn pass_size(&self, shown: &mut Option<(u16, u16)>) {
        let size = terminal::size();
        if self.keyboard.typing.is_none() || size == *shown {
            return;
        }
        if let Some((cols, rows)) = size
            && self.runtime.live().resize(self.id.as_str(), &self.context.scope(), rows, cols).is_ok()
        {
            *shown = size;
        }
    }

    /// Ends the task if the user has asked for that again: the first time with SIGINT, then with SIGKILL.
    fn pass_interrupts<'scope>(&self, scope: &'scope Scope<'scope, 'a>, handled: &mut usize) {
        let interrupts = self.asked.interrupts.load(Ordering::Relaxed);
        if interrupts <= *handled {
            return;
        }
        let signal = if *handled == 0 { SIGINT } else { SIGKILL };
        *handled = interrupts;
        let (context, id) = (self.context, self.id);
        // The kill waits for the whole tree; output continues meanwhile.
        scope.spawn(move || {
            if let Ok(runtime) = context.runtime() {
                let request = KillRequest { by: context.requester(), signal, grace_ms: None };
                let _ = runtime.live().kill(id.as_str(), &context.scope(), &request);
            }
        });
    }

    /// Waits for output after `end`, but no longer than a key or a signal may go unnoticed.
    fn wait_for_output(&self, end: u64) -> Result<(), CommandError> {
        let until_detached = |at: Instant| at.saturating_duration_since(Instant::now()).min(NOTICE);
        let longest = self.detach_at.map_or(NOTICE, until_detached).max(Duration::from_millis(1));
        Ok(self.runtime.reader().wait_for_output(self.id, end, longest)?)
    }
}
