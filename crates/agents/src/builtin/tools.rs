//! Runs tool calls: tools of the engine, file tools, and tools of MCP servers.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::v1::schema::{Diff, ToolCallContent};
use meanwhile::engine::{OwnSpan, Policy, Runtime, Teller};
use mw_model::{TaskId, TraceParent};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::conversation::{Block, Call};
use super::files;
use super::files::{FileTool, GrepCall, Occurrences, OwnFile};
use super::gate;
use super::gate::Wanted;
use super::session::Session;
use super::sessions::Agent;
use super::talk::Talk;
use super::waiting::Waiting;
use crate::delivery::receipts::Receipt;
use crate::delivery::teller::{Drained, Told};
use mw_tools::ToolSpec;
use mw_tools::call::{CallContext, CallTrace, Over, Premises, Reply, StartedTask, next_step, put_below};

/// Maximum size of a file whose change is shown as a diff of the whole file.
const MOST_DIFF: usize = 128 << 10;

/// How long the end of a turn waits for a cancelled command to die.
const UNTIL_DEAD: Duration = Duration::from_secs(2);

/// The result of a call that was run or refused.
pub(super) struct Carried {
    /// For the model.
    pub(super) text: String,
    pub(super) failed: bool,
    /// For the client, if it gets more than the text.
    pub(super) shown: Vec<ToolCallContent>,
    /// What is acknowledged after this was recorded.
    pub(super) receipt: Option<Receipt>,
    /// The structured reply of the engine, if there is one.
    pub(super) data: Value,
    /// The trace span of the run that it started in the background.
    pub(super) started: Option<TraceParent>,
    /// The task that was started according to the text.
    pub(super) starts: Option<StartedTask>,
}

/// Notifications that were not delivered yet.
#[derive(Default)]
pub(super) struct News {
    pub(super) blocks: Vec<Block>,
    /// The alternative reply, if the task that it just started has already ended.
    pub(super) over: Option<Over>,
}

impl Carried {
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            failed: true,
            shown: Vec::new(),
            receipt: None,
            data: Value::Null,
            started: None,
            starts: None,
        }
    }

    fn done(text: String) -> Self {
        Self { text, failed: false, ..Self::refused("") }
    }
}

/// Returns the current settings for calls. The client may have changed the mode.
fn premises(session: &Session) -> Premises {
    let policy = Policy { mode: session.mode(), ..session.premises.policy.clone() };
    Premises { policy, ..session.premises.clone() }
}

/// Checks a call of a tool that is not the engine's; an error says why it is refused. It may wait for a person.
pub(super) fn pass(
    session: &Session,
    wanted: &Wanted<'_>,
    text: &str,
    caller: &Waiting,
) -> Result<(), String> {
    tokio::task::block_in_place(|| {
        let premises = premises(session);
        let settings = session.settings.as_ref().clone();
        let passed = Runtime::open(settings).and_then(|runtime| {
            gate::pass(&runtime, &premises.session, &premises.policy, wanted, text, caller)
        });
        passed.map_err(|error| format!("{error}. {}", next_step(&error)))
    })
}

/// Records that the model knows the end of a task. If this fails, the notification is delivered later.
fn note_told(runtime: &Runtime, task: &TaskId, teller: Option<&Teller>) {
    let kept =
        teller.is_some_and(|teller| runtime.notifications().keep_promise(task, teller).unwrap_or(false));
    if !kept {
        let _ = runtime.notifications().note_told(task);
    }
}

impl Agent {
    /// Returns the tools that the model gets.
    pub(super) async fn specs(&self, session: &Session) -> Vec<ToolSpec> {
        let mut specs = self.toolset.specs(session.premises.background);
        specs.extend(FileTool::ALL.map(FileTool::spec));
        specs.extend(session.servers.read().await.specs().cloned());
        specs
    }

    /// Runs a call of a tool of an MCP server.
    pub(super) async fn call_foreign(
        &self,
        session: &Session,
        name: &str,
        arguments: &Map<String, Value>,
        cancelled: &CancellationToken,
    ) -> Carried {
        let servers = session.servers.read().await;
        let called = servers.call(name, arguments, session.premises.longest_call, most_bytes(session));
        let called = tokio::select! {
            called = called => called,
            () = cancelled.cancelled() => Err("cancelled by the user".to_owned()),
            () = self.closing.cancelled() => Err("the agent is shutting down".to_owned()),
        };
        match called {
            Ok((text, failed)) => Carried { failed, ..Carried::done(text) },
            Err(why) => Carried::refused(why),
        }
    }

    /// Runs a call of one of the engine's tools on a separate thread. Returns `None` if there is no such tool.
    pub(super) async fn call_engine(
        &self,
        session: &Session,
        wanted: &Call,
        arguments: &Map<String, Value>,
        caller: Waiting,
        (turn, span): (Option<&OwnSpan>, Option<&OwnSpan>),
    ) -> Option<Carried> {
        let call = self.calls.begin().await;
        let teller = self.tellers.name(&session.premises.session.as_str().into()).await;
        let cancelled = caller.cancelled.clone();
        let (toolset, settings) = (Arc::clone(&self.toolset), Arc::clone(&session.settings));
        let (name, arguments, mut premises) = (wanted.tool.clone(), arguments.clone(), premises(session));
        let message = wanted.id.clone();
        if let Some(span) = span {
            put_below(&mut premises.env, span.as_parent());
        }
        let turn = turn.map(OwnSpan::as_parent);
        let done = tokio::task::spawn_blocking(move || {
            let trace = turn.map(|turn| CallTrace { turn, started: Cell::new(None) });
            let mut reply = match Runtime::open(settings.as_ref().clone()) {
                Ok(runtime) => {
                    let teller = teller.as_ref();
                    let parent_message = Some(message.as_str());
                    let trace = trace.as_ref();
                    let cx = CallContext {
                        teller,
                        parent_message,
                        trace,
                        ..CallContext::new(&runtime, &premises, &caller)
                    };
                    let mut reply = toolset.call(&name, &arguments, &cx)?;
                    if caller.gave_up() {
                        // The reply says that it was cancelled, so its end needs no notification.
                        let told = std::mem::take(&mut reply.told);
                        told.iter().for_each(|task| note_told(&runtime, task, teller));
                    }
                    reply
                }
                Err(error) => Reply::failure(format!("{error}. {}", error.hint()), json!({})),
            };
            let told = std::mem::take(&mut reply.told);
            // If nobody waits any more, this is dropped, and a notification reports the end.
            let spent = reply.spent;
            let receipt =
                Receipt { notices: None, told, teller, spent, settings, _reserved: Vec::new(), _call: call };
            Some(Carried {
                text: reply.text,
                failed: reply.failed,
                shown: Vec::new(),
                receipt: Some(receipt),
                data: reply.data,
                started: trace.and_then(|trace| trace.started.get()),
                starts: reply.started,
            })
        });
        tokio::pin!(done);
        tokio::select! {
            done = &mut done => done.unwrap_or_else(|_| Some(Carried::refused("the call failed unexpectedly; it may have taken effect"))),
            () = cancelled.cancelled() => {
                // Wait until the command is dead, because the reply says so; but not forever.
                let _ = tokio::time::timeout(UNTIL_DEAD, &mut done).await;
                Some(Carried::refused("cancelled by the user"))
            }
        }
    }

    /// Takes the notifications of the session, except those that the conversation or the reply already contains.
    pub(super) async fn news(
        &self,
        session: &Session,
        known: impl Fn(i64) -> bool,
        receipt: &mut Option<Receipt>,
        started: Option<&StartedTask>,
    ) -> News {
        let Drained { held, notices, left, .. } =
            self.tellers.drain(&session.premises.session.as_str().into(), &[]).await;
        if held.is_none() {
            return News::default();
        }
        let told = receipt.as_ref().map(|receipt| receipt.told.clone()).unwrap_or_default();
        let is_told = |one: &Told| one.notice.is_ending() && told.contains(&one.notice.task);
        let news = notices.into_iter().filter(|one| !is_told(one)).filter(|one| !known(one.notice.number));
        let mut over = None;
        let news = news.inspect(|one| {
            over = started.and_then(|started| started.over(&one.notice)).or(over.take());
        });
        let block = |one: Told| Block {
            number: one.notice.number,
            // The model should read that a task was started before it reads how the task ended.
            after: started.is_some_and(|started| started.is_of(&one.notice)),
            text: one.block,
        };
        let mut blocks: Vec<_> = news.map(block).collect();
        if left > 0 {
            let text = format!("[{left} more notifications follow with the next reply]");
            blocks.push(Block { number: 0, text, after: false });
        }
        match receipt {
            Some(receipt) => receipt.notices = held,
            None => {
                *receipt = Some(Receipt {
                    notices: held,
                    told: Vec::new(),
                    teller: None,
                    spent: Vec::new(),
                    settings: Arc::clone(&session.settings),
                    _reserved: Vec::new(),
                    _call: self.calls.begin().await,
                });
            }
        }
        News { blocks, over }
    }

    /// Reads a file of one of the session's own tasks. Returns `None` for any other path.
    pub(super) async fn read_own(
        &self,
        session: &Session,
        path: PathBuf,
        arguments: &Map<String, Value>,
    ) -> Option<Carried> {
        let call = self.calls.begin().await;
        let teller = self.tellers.name(&session.premises.session.as_str().into()).await;
        let (settings, name) = (Arc::clone(&session.settings), session.premises.session.clone());
        let (arguments, most_bytes) = (arguments.clone(), most_bytes(session));
        let done = tokio::task::spawn_blocking(move || {
            let runtime = Runtime::open(settings.as_ref().clone()).ok()?;
            let file = OwnFile::find(&runtime, &name, &path)?;
            let part = lines(&arguments).and_then(|(offset, limit)| {
                Ok(files::excerpt(&file.read(&runtime)?, offset, limit, most_bytes))
            });
            let part = match part {
                Ok(part) => part,
                Err(why) => return Some(Carried::refused(why)),
            };
            // A model that has read the log of an ended task to its end needs no notification.
            let told = if part.is_last && file.tells_the_end() { vec![file.task.id] } else { Vec::new() };
            let receipt = Receipt {
                notices: None,
                told,
                teller,
                spent: Vec::new(),
                settings,
                _reserved: Vec::new(),
                _call: call,
            };
            Some(Carried { receipt: Some(receipt), ..Carried::done(part.text) })
        });
        done.await.unwrap_or_else(|_| Some(Carried::refused("the call failed unexpectedly")))
    }

    /// Runs a call of a file tool. `path` was resolved and checked.
    pub(super) async fn call_file(
        &self,
        session: &Session,
        talk: &Talk,
        tool: FileTool,
        path: PathBuf,
        arguments: &Map<String, Value>,
        cancelled: &CancellationToken,
    ) -> Carried {
        let most_bytes = most_bytes(session);
        let carried = match tool {
            FileTool::Read => read(talk, path, arguments, most_bytes).await,
            FileTool::Write => write(session, talk, path, arguments).await,
            FileTool::Edit => edit(session, talk, path, arguments).await,
            FileTool::Glob | FileTool::Grep => {
                let (stop, arguments) = (cancelled.clone(), arguments.clone());
                let search = move || search(tool, &path, &arguments, most_bytes, &|| stop.is_cancelled());
                tokio::task::spawn_blocking(search)
                    .await
                    .unwrap_or_else(|_| Err("the search failed unexpectedly".to_owned()))
                    .map(Carried::done)
            }
        };
        carried.unwrap_or_else(Carried::refused)
    }
}

/// Returns the maximum size of a reply of a file tool or an MCP server, which is larger than that of a command.
fn most_bytes(session: &Session) -> usize {
    usize::try_from(session.premises.reply_bytes.saturating_mul(4)).unwrap_or(usize::MAX)
}

async fn read(
    talk: &Talk,
    path: PathBuf,
    arguments: &Map<String, Value>,
    most_bytes: usize,
) -> Result<Carried, String> {
    let text = whole_text(talk, &path).await?;
    let (offset, limit) = lines(arguments)?;
    Ok(Carried::done(files::excerpt(&text, offset, limit, most_bytes).text))
}

/// Reads the arguments for the first line and the number of lines.
fn lines(arguments: &Map<String, Value>) -> Result<(usize, usize), String> {
    Ok((number(arguments, "offset")?.unwrap_or(1), number(arguments, "limit")?.unwrap_or(usize::MAX)))
}

async fn write(
    session: &Session,
    talk: &Talk,
    path: PathBuf,
    arguments: &Map<String, Value>,
) -> Result<Carried, String> {
    let content = text(arguments, "content")?;
    let old = whole_text(talk, &path).await.ok();
    save(talk, &path, content).await?;
    let done = if old.is_some() { "replaced" } else { "written" };
    let name = session.place.shown(&path);
    Ok(changed(format!("{name}: {done}, {} bytes", content.len()), path, old, content))
}

async fn edit(
    session: &Session,
    talk: &Talk,
    path: PathBuf,
    arguments: &Map<String, Value>,
) -> Result<Carried, String> {
    let (old, new) = (text(arguments, "old_string")?, text(arguments, "new_string")?);
    let all = arguments.get("replace_all").and_then(Value::as_bool).unwrap_or(false);
    let wanted = if all { Occurrences::All } else { Occurrences::One };
    let name = session.place.shown(&path);
    let before = whole_text(talk, &path).await.map_err(|why| format!("{name}: {why}"))?;
    let (after, count) =
        files::replaced(&before, old, new, wanted).map_err(|why| format!("{name}: {why}"))?;
    save(talk, &path, &after).await?;
    Ok(changed(format!("{name}: {count} replaced"), path, Some(before), &after))
}

fn search(
    tool: FileTool,
    base: &std::path::Path,
    arguments: &Map<String, Value>,
    most_bytes: usize,
    stopped: &dyn Fn() -> bool,
) -> Result<String, String> {
    let pattern = text(arguments, "pattern")?;
    if tool == FileTool::Glob {
        return files::glob(base, pattern, most_bytes, stopped);
    }
    let flag = |name: &str| arguments.get(name).and_then(Value::as_bool).unwrap_or(false);
    let call = GrepCall {
        pattern: pattern.to_owned(),
        glob: arguments.get("glob").and_then(Value::as_str).map(str::to_owned),
        ignore_case: flag("ignore_case"),
        context: number(arguments, "context")?.unwrap_or(0).min(20),
        files_only: flag("files_only"),
    };
    files::grep(base, &call, most_bytes, stopped)
}

/// Reads a file through the client, if it offers that, else from the disk.
async fn whole_text(talk: &Talk, path: &std::path::Path) -> Result<String, String> {
    if talk.reads_files && path.is_file() {
        return talk
            .read_file(path)
            .await
            .map_err(|error| format!("the client could not read it: {}", error.message));
    }
    tokio::task::block_in_place(|| files::read_text(path))
}

async fn save(talk: &Talk, path: &std::path::Path, content: &str) -> Result<(), String> {
    if talk.writes_files {
        let written = talk.write_file(path, content.to_owned()).await;
        return written.map_err(|error| format!("the client could not write it: {}", error.message));
    }
    tokio::task::block_in_place(|| files::write_text(path, content))
        .map_err(|why| format!("it could not be written: {why}"))
}

fn changed(text: String, path: PathBuf, old: Option<String>, new: &str) -> Carried {
    let size = old.as_ref().map_or(0, String::len) + new.len();
    let shown = if size <= MOST_DIFF { vec![Diff::new(path, new).old_text(old).into()] } else { Vec::new() };
    Carried { shown, ..Carried::done(text) }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    arguments.get(name).and_then(Value::as_str).ok_or_else(|| format!("{name} is missing or not a string"))
}

fn number(arguments: &Map<String, Value>, name: &str) -> Result<Option<usize>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
            let number = number.and_then(|number| usize::try_from(number).ok());
            number.map(Some).ok_or_else(|| format!("{name} is not an integer"))
        }
    }
}
