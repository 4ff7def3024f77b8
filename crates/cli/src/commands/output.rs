//! `mw output`: reads a task's output.

use std::io::IsTerminal;
use std::time::Duration;

use clap::Args;
use meanwhile::Task;
use meanwhile::engine::model::{Status, parse_size};
use meanwhile::engine::{GrepRequest, ReadFrom, ReadReply, ReadRequest, Runtime, StreamChoice, clean_text};
use mw_tools::task_calls::TaskCall;
use serde_json::json;

use super::output_of_several::Source;
use crate::arguments::values::{one_of, parse_number};
use crate::context::{Context, Latest};
use crate::error::{CommandError, CommandResult};
use crate::render;
use crate::render::screen;

/// Maximum output without options.
const GLANCE: u64 = 8 << 10;
/// Maximum output with options that choose a part.
const CHOSEN: u64 = 1 << 20;
/// How many lines `mw tail` shows before it follows.
const LAST_LINES: u64 = 10;
/// Maximum time between two checks for new output; usually the supervisor wakes us earlier.
const LONGEST: Duration = Duration::from_secs(2);

static STREAMS: [(&str, StreamChoice); 3] =
    [("both", StreamChoice::Both), ("stdout", StreamChoice::Stdout), ("stderr", StreamChoice::Stderr)];

#[derive(Args)]
pub(crate) struct Arguments {
    /// The tasks [default: the latest of this directory]; the lines of several begin with their names
    id: Vec<String>,
    /// Without a task, show the services of the project, if any was started; `mw logs` has this option
    #[arg(long)]
    services: bool,
    /// Show the last lines of every task of this batch
    #[arg(long, conflicts_with_all = ["id", "offset", "new", "grep", "follow", "screen", "run"])]
    batch: Option<String>,
    /// Show the last N lines
    #[arg(long, short = 'n', visible_alias = "lines", value_name = "N", conflicts_with_all = ["offset", "new"], value_parser = parse_number::<u64>, allow_hyphen_values = true)]
    tail: Option<u64>,
    /// Start at this byte offset
    #[arg(long, value_name = "N", conflicts_with = "new", value_parser = parse_number::<u64>, allow_hyphen_values = true)]
    offset: Option<u64>,
    /// Show output that this reader has not seen yet
    #[arg(long)]
    new: bool,
    /// Name of the reader whose position is used and advanced
    #[arg(long, default_value = "cli", requires = "new")]
    reader: String,
    /// The stream to show
    #[arg(long, value_parser = one_of(&STREAMS), default_value = "both")]
    stream: StreamChoice,
    /// Maximum number of bytes to print; 0 = no limit
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_hyphen_values = true)]
    max_bytes: Option<u64>,
    /// Maximum number of lines to print
    #[arg(long, value_name = "N", value_parser = parse_number::<u64>, allow_hyphen_values = true)]
    max_lines: Option<u64>,
    /// Show only lines that match this regular expression
    #[arg(long, value_name = "RE", conflicts_with_all = ["follow", "tail", "new", "screen"])]
    grep: Option<String>,
    /// Lines of context around each match
    #[arg(long, value_name = "N", default_value_t = 0, requires = "grep", value_parser = parse_number::<usize>, allow_hyphen_values = true)]
    context: usize,
    /// Follow the output until the task ends
    #[arg(long, short, conflicts_with = "screen")]
    follow: bool,
    /// Print the bytes unchanged, including secrets
    #[arg(long)]
    raw: bool,
    /// Show what a terminal would show now
    #[arg(long)]
    screen: bool,
    /// Show an earlier run
    #[arg(long, value_name = "N", value_parser = parse_number::<u32>, allow_hyphen_values = true)]
    run: Option<u32>,
}

impl Arguments {
    /// Follows the last lines.
    pub(super) fn following(self) -> Self {
        let is_placed = self.offset.is_some() || self.new || self.batch.is_some();
        Self { follow: self.batch.is_none(), tail: self.tail.or((!is_placed).then_some(LAST_LINES)), ..self }
    }

    /// Returns the same as a call of a tool; `None` if an option has no counterpart there.
    pub(crate) fn as_call(&self) -> Option<TaskCall> {
        let Self {
            id: ids,
            services: _,
            batch: None,
            tail,
            offset,
            new: false,
            reader: _,
            stream,
            max_bytes: None,
            max_lines: None,
            grep,
            context: 0,
            follow: false,
            raw: false,
            screen: false,
            run: None,
        } = self
        else {
            return None;
        };
        let [id] = &ids[..] else { return None };
        let stream = STREAMS.iter().find(|(_, choice)| choice == stream)?.0;
        let lines = tail.or((offset.is_none() && grep.is_none()).then_some(u64::from(u32::MAX)));
        Some(TaskCall::new(
            "task_output",
            json!({"task_id": id, "lines": lines, "offset": offset, "pattern": grep, "stream": stream}),
        ))
    }

    pub(crate) fn run(mut self, context: &Context) -> CommandResult {
        let runtime = self.open(context)?;
        if let Some(batch) = &self.batch {
            return self.show_batch(context, &runtime, batch);
        }
        let sources = self.several(context, &runtime)?;
        if !sources.is_empty() {
            return self.show_several(context, &runtime, &sources);
        }
        self.id = vec![context.given_or_latest(&runtime, self.id.into_iter().next(), Latest::Any)?];
        if let Some(pattern) = &self.grep {
            return self.grep(context, &runtime, pattern);
        }
        if self.screen {
            return screen::show(context, &runtime, self.id(), self.run);
        }
        if self.follow {
            let show = &mut |reply: &ReadReply| match context.json {
                true => Ok(render::json(&self.json(reply))?),
                false => Ok(self.print_text(reply)?),
            };
            return self.follow(context, &runtime, self.id(), show).map(|()| 0);
        }
        let reply = self.read_last(context, &runtime, self.id())?;
        if context.json {
            render::json(&self.json(&reply))?;
        } else {
            self.print(&reply)?;
            if reply.end == 0 {
                explain_silence(&runtime.tasks().task(self.id(), &context.scope())?);
            }
        }
        Ok(0)
    }

    pub(super) fn open(&self, context: &Context) -> Result<Runtime, CommandError> {
        if self.raw { context.open_runtime() } else { context.runtime() }
    }

    /// Returns the tasks to show, if they are several or services.
    fn several(&self, context: &Context, runtime: &Runtime) -> Result<Vec<Source>, CommandError> {
        let is_for_one =
            self.offset.is_some() || self.new || self.grep.is_some() || self.screen || self.run.is_some();
        match &self.id[..] {
            [] if self.services && !is_for_one => Source::services(context, runtime),
            [] | [_] => Ok(Vec::new()),
            [_, _, ..] if is_for_one => {
                let message = "--offset, --new, --grep, --screen and --run are for one task";
                Err(CommandError::usage(message, "name one task"))
            }
            handles => Source::named(context, runtime, handles),
        }
    }

    pub(super) const fn is_followed(&self) -> bool {
        self.follow
    }

    /// Returns how many last lines are wanted.
    pub(super) const fn lines(&self) -> Option<u64> {
        self.tail
    }

    /// Reads the chosen part of the output, of the last run that has any.
    pub(super) fn read_last(
        &self,
        context: &Context,
        runtime: &Runtime,
        id: &str,
    ) -> Result<ReadReply, CommandError> {
        let reply = self.read(context, runtime, id, &self.request())?;
        if reply.end > 0 {
            return Ok(reply);
        }
        let last = self.last_run(&runtime.tasks().task(id, &context.scope())?);
        let request = ReadRequest { run: last, ..self.request() };
        last.map_or(Ok(reply), |_| Ok(self.read(context, runtime, id, &request)?))
    }

    /// Returns the last run of a task that waits for its next one, or was ended while it did.
    fn last_run(&self, task: &Task) -> Option<u32> {
        let is_between = task.runs > 1 && task.may_run_again() && task.started_at.is_none();
        (is_between && self.run.is_none() && !self.new && self.offset.is_none()).then(|| task.runs - 1)
    }

    fn id(&self) -> &str {
        self.id.first().map(String::as_str).unwrap_or_default()
    }

    /// Shows the last lines of each task, or its share of the bytes that a glance may take.
    fn show_batch(&self, context: &Context, runtime: &Runtime, batch: &str) -> CommandResult {
        let mut all = Vec::new();
        for task in context.batch(runtime, batch)? {
            let reply = self.read(context, runtime, task.id.as_str(), &self.request())?;
            if context.json {
                let mut one = self.json(&reply);
                one["id"] = json!(task.id);
                one["status"] = json!(task.status);
                all.push(one);
                continue;
            }
            let earlier = if reply.has_earlier { ", last part" } else { "" };
            render::out(&format!("==> {} ({}{earlier}) <==\n", task.id, task.status.word()))?;
            let text = self.text(&reply);
            let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            render::out(&format!("{text}{newline}"))?;
        }
        if context.json {
            render::json(&json!({ "outputs": all }))?;
        }
        Ok(0)
    }

    fn read(
        &self,
        context: &Context,
        runtime: &Runtime,
        id: &str,
        request: &ReadRequest,
    ) -> meanwhile::Result<ReadReply> {
        if self.raw {
            runtime.reader().read(id, &context.scope(), request)
        } else {
            runtime.reader().read_shown(id, &context.scope(), request)
        }
    }

    fn request(&self) -> ReadRequest {
        let chosen = self.tail.is_some() || self.offset.is_some() || self.new || self.follow;
        let max_bytes = self.max_bytes.unwrap_or(if chosen { CHOSEN } else { GLANCE });
        let from = match (self.tail, self.offset, self.new) {
            (Some(lines), _, _) => ReadFrom::TailLines(lines),
            (_, Some(offset), _) => ReadFrom::Offset(offset),
            (_, _, true) => ReadFrom::Cursor(self.reader.clone()),
            _ if self.max_lines.is_some() => ReadFrom::Offset(0),
            _ => ReadFrom::TailBytes(if max_bytes == 0 { u64::MAX } else { max_bytes }),
        };
        ReadRequest {
            stream: self.stream,
            from,
            max_bytes,
            max_lines: self.max_lines.unwrap_or(0),
            run: self.run,
            within: 0,
        }
    }

    fn text(&self, reply: &ReadReply) -> String {
        if self.raw { reply.text() } else { clean_text(&reply.text()) }
    }

    pub(super) fn json(&self, reply: &ReadReply) -> serde_json::Value {
        json!({
            "text": self.text(reply),
            "offset": reply.offset,
            "next_offset": reply.next_offset,
            "eof": reply.eof,
            "truncated": reply.truncated,
            "dropped_bytes": reply.dropped_bytes,
        })
    }

    /// Returns the text as it is printed: with colours if it is for a terminal.
    pub(super) fn shown_text(&self, reply: &ReadReply) -> String {
        if std::io::stdout().is_terminal() { reply.text() } else { self.text(reply) }
    }

    fn print_text(&self, reply: &ReadReply) -> std::io::Result<()> {
        if self.raw || std::io::stdout().is_terminal() {
            render::out_bytes(&reply.bytes())
        } else {
            render::out(&clean_text(&reply.text()))
        }
    }

    fn print(&self, reply: &ReadReply) -> Result<(), CommandError> {
        self.print_text(reply)?;
        if reply.has_earlier && !self.new && self.offset.is_none() && self.tail.is_none() {
            let id = self.id();
            render::note(&match reply.earlier {
                0 => format!("{} bytes before this were dropped and are not in the log", reply.offset),
                earlier => format!(
                    "{earlier} earlier bytes are not shown: mw output {id} --offset 0, or --max-bytes 0 for all"
                ),
            });
        }
        if self.tail.is_some() && self.is_cut_in_front(reply) {
            render::note(&format!(
                "showing the last {} bytes; --max-bytes 0 shows all",
                reply.next_offset - reply.offset
            ));
        }
        if reply.left > 0 {
            render::note(&format!(
                "{} more bytes: mw output {} --offset {}",
                reply.end - reply.next_offset,
                self.id(),
                reply.next_offset
            ));
        }
        Ok(())
    }

    /// Returns whether the limit, give or take a character, has cut the tail. The offsets of one stream do not show it.
    fn is_cut_in_front(&self, reply: &ReadReply) -> bool {
        const CHARACTER: u64 = 4;
        let most = self.request().max_bytes;
        let shown = reply.next_offset - reply.offset;
        self.stream == StreamChoice::Both && most > 0 && reply.has_earlier && shown + CHARACTER > most
    }

    fn grep(&self, context: &Context, runtime: &Runtime, pattern: &str) -> CommandResult {
        let most = self.max_lines.map_or(100, |lines| usize::try_from(lines).unwrap_or(usize::MAX));
        let request = GrepRequest {
            pattern: pattern.to_owned(),
            stream: self.stream,
            from: self.offset.unwrap_or(0),
            context: self.context,
            most,
            run: self.run,
        };
        let mut reply = runtime.reader().grep(self.id(), &context.scope(), &request)?;
        if let Some(most) = self.max_bytes.filter(|most| *most > 0) {
            reply.limit(most);
        }
        if context.json {
            render::json(&reply)?;
            return Ok(0);
        }
        let mut text = String::new();
        for found in &reply.matches {
            let mark = if found.context { '-' } else { ':' };
            text.push_str(&format!("{}{mark}{}\n", found.line, found.text));
        }
        render::out(&text)?;
        let task = runtime.tasks().task(self.id(), &context.scope())?;
        if text.is_empty() && task.status == Status::Pending {
            render::note(&format!(
                "{} is {}: it has no output yet",
                render::named(&task),
                mw_desk::rows::state_words(&task)
            ));
        }
        if reply.truncated {
            render::note(&format!(
                "there may be more matches: mw output {} --grep … --offset {}",
                self.id(),
                reply.next_offset
            ));
        }
        Ok(0)
    }

    /// Shows output until the task ends.
    pub(super) fn follow(
        &self,
        context: &Context,
        runtime: &Runtime,
        handle: &str,
        show: &mut dyn FnMut(&ReadReply) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let id = runtime.lookup().resolve(handle, &context.scope())?;
        let mut request = ReadRequest { max_bytes: CHOSEN, ..self.request() };
        let task = runtime.tasks().task(id.as_str(), &context.scope())?;
        // A task that runs again is followed from run to run.
        let mut run = self.run.is_none().then(|| self.last_run(&task).unwrap_or(task.runs));
        run = run.filter(|_| task.may_run_again());
        loop {
            request.run = run.or(self.run);
            let reply = self.read(context, runtime, id.as_str(), &request)?;
            if !reply.pieces.is_empty() || reply.eof {
                show(&reply)?;
            }
            if reply.eof {
                let runs = runtime.tasks().task(id.as_str(), &context.scope())?.runs;
                run = run.map(|run| run + 1).filter(|next| *next <= runs);
                if run.is_none() {
                    return Ok(());
                }
                if !matches!(request.from, ReadFrom::Cursor(_)) {
                    request.from = ReadFrom::Offset(0);
                }
                continue;
            }
            if reply.left == 0 {
                runtime.reader().wait_for_output(&id, reply.end, LONGEST)?;
            }
            if !matches!(request.from, ReadFrom::Cursor(_)) {
                request.from = ReadFrom::Offset(reply.next_offset);
            }
        }
    }
}

/// Explains why a task that has not run has no output.
fn explain_silence(task: &Task) {
    let (name, words) = (task.short_name(), mw_desk::rows::state_words(task));
    match task.status {
        Status::Pending => render::note(&format!("{name} has not started yet: {words}")),
        _ if task.never_ran() => render::note(&format!("{name} did not run: {words}")),
        _ => {}
    }
}
