//! `mw watch`: prints events, one per line.

use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use meanwhile::Scope;
use meanwhile::engine::model::{Event, parse_duration_ms, signal_name};
use meanwhile::engine::{Runtime, TaskEvent};
use mw_tools::Dialect;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;

const PAGE: u32 = 500;
/// How many earlier events are shown first, as `tail -f` does.
const BACKLOG: i64 = 10;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Start after this event [default: the last ten events]
    #[arg(long, value_name = "SEQ")]
    from: Option<i64>,
    /// Print the existing events and exit
    #[arg(long)]
    no_follow: bool,
    /// Only events of this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Exit when nothing has happened for this long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_ms, allow_hyphen_values = true)]
    idle_exit: Option<u64>,
    /// Output format
    #[arg(long, value_enum, default_value = "json")]
    format: WatchFormat,
}

#[derive(Clone, Copy, ValueEnum)]
enum WatchFormat {
    /// Every event, as JSON
    Json,
    /// Only `bg[k3f9x2ab] started: …` and `bg[k3f9x2ab] exited: …`
    Debug,
}

impl WatchFormat {
    fn line(
        self,
        event: &TaskEvent,
        runtime: &Runtime,
        scope: &Scope,
    ) -> Result<Option<String>, CommandError> {
        match self {
            Self::Json => Ok(Some(serde_json::to_string(event).map_err(std::io::Error::from)?)),
            Self::Debug => Ok(debug_line(event, runtime, scope)),
        }
    }
}

/// Returns an event in the format of opta's log.
fn debug_line(row: &TaskEvent, runtime: &Runtime, scope: &Scope) -> Option<String> {
    let id = row.task.suffix();
    match &row.event {
        Event::Started { process, .. } => {
            // The task may have been removed meanwhile.
            let command =
                runtime.tasks().task(row.task.as_str(), scope).map(|task| task.command).unwrap_or_default();
            Some(format!("bg[{id}] started: pid={} cmd={command:?}", process.pid))
        }
        Event::Ended { cause, .. } => {
            let state = Dialect::Opta.word(cause.status(), Some(cause));
            let code = cause.exit_code().map_or_else(|| "null".to_owned(), |code| code.to_string());
            let signal = cause.signal().map_or_else(|| "null".to_owned(), signal_name);
            Some(format!("bg[{id}] exited: {state} (code={code}, signal={signal})"))
        }
        _ => None,
    }
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        let task = self
            .task
            .as_ref()
            .map(|handle| runtime.lookup().resolve(handle, &context.scope()))
            .transpose()?;
        let listener = runtime.listen()?;
        let mut seq = match self.from {
            Some(seq) => seq,
            None if self.no_follow => 0,
            None => (runtime.tasks().last_event()? - BACKLOG).max(0),
        };
        let fallback = context.config.settings.wait_fallback;
        let mut last = Instant::now();
        loop {
            let events = runtime.tasks().events_after(seq, &context.scope(), task.as_ref(), PAGE)?;
            let page_full = events.len() == PAGE as usize;
            let mut text = String::new();
            for event in &events {
                seq = event.seq;
                if let Some(line) = self.format.line(event, &runtime, &context.scope())? {
                    text.push_str(&line);
                    text.push('\n');
                }
            }
            if !events.is_empty() {
                render::out(&text)?;
                last = Instant::now();
            }
            if page_full {
                continue;
            }
            let idle = self.idle_exit.is_some_and(|ms| last.elapsed() >= Duration::from_millis(ms));
            if self.no_follow || idle {
                return Ok(0);
            }
            let left = self.idle_exit.map_or(fallback, |ms| {
                Duration::from_millis(ms).saturating_sub(last.elapsed()).min(fallback)
            });
            listener.wait(left.max(Duration::from_millis(1)));
        }
    }
}
