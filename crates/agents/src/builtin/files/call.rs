//! Runs calls of the file tools. Files are read and written through the client if it supports that.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::Diff;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::FileTool;
use super::edit::{Occurrences, replaced};
use super::own_task::OwnFile;
use super::roots::{read_text, write_text};
use super::search::{GrepCall, glob, grep};
use super::view::excerpt;
use crate::builtin::agent::Agent;
use crate::builtin::calls::CallResult;
use crate::builtin::client::SessionClient;
use crate::builtin::session::AcpSession;
use crate::delivery::receipts::Receipt;

/// The maximum size of a file whose change is shown as a diff of the whole file, in bytes.
const MAX_DIFF: usize = 128 << 10;

/// A call of a file tool. The path is resolved and checked.
pub(in crate::builtin) struct FileCall<'a> {
    pub(in crate::builtin) session: &'a AcpSession,
    pub(in crate::builtin) client: &'a SessionClient,
    pub(in crate::builtin) path: PathBuf,
    pub(in crate::builtin) arguments: &'a Map<String, Value>,
}

impl FileCall<'_> {
    /// Runs the call.
    pub(in crate::builtin) async fn run(self, tool: FileTool, cancelled: &CancellationToken) -> CallResult {
        let result = match tool {
            FileTool::Read => self.read().await,
            FileTool::Write => self.write().await,
            FileTool::Edit => self.edit().await,
            FileTool::Glob | FileTool::Grep => self.search(tool, cancelled.clone()).await,
        };
        result.unwrap_or_else(CallResult::refused)
    }

    async fn read(&self) -> Result<CallResult, String> {
        let text = whole_text(self.client, &self.path).await?;
        let (offset, limit) = lines(self.arguments)?;
        Ok(CallResult::done(excerpt(&text, offset, limit, self.session.most_bytes()).text))
    }

    async fn write(self) -> Result<CallResult, String> {
        let content = text(self.arguments, "content")?;
        let old = whole_text(self.client, &self.path).await.ok();
        save(self.client, &self.path, content).await?;
        let done = if old.is_some() { "replaced" } else { "written" };
        let name = self.session.roots.shown(&self.path);
        Ok(changed(format!("{name}: {done}, {} bytes", content.len()), self.path, old, content))
    }

    async fn edit(self) -> Result<CallResult, String> {
        let (old, new) = (text(self.arguments, "old_string")?, text(self.arguments, "new_string")?);
        let wanted = if flag(self.arguments, "replace_all") { Occurrences::All } else { Occurrences::One };
        let name = self.session.roots.shown(&self.path);
        let before = whole_text(self.client, &self.path).await.map_err(|why| format!("{name}: {why}"))?;
        let (after, count) = replaced(&before, old, new, wanted).map_err(|why| format!("{name}: {why}"))?;
        save(self.client, &self.path, &after).await?;
        Ok(changed(format!("{name}: {count} replaced"), self.path, Some(before), &after))
    }

    /// Searches on a separate thread.
    async fn search(self, tool: FileTool, cancelled: CancellationToken) -> Result<CallResult, String> {
        let (arguments, most_bytes) = (self.arguments, self.session.most_bytes());
        let pattern = text(arguments, "pattern")?.to_owned();
        let context = if tool == FileTool::Grep { number(arguments, "context")? } else { None };
        let call = GrepCall {
            pattern: pattern.clone(),
            glob: arguments.get("glob").and_then(Value::as_str).map(str::to_owned),
            ignore_case: flag(arguments, "ignore_case"),
            context: context.unwrap_or(0).min(20),
            files_only: flag(arguments, "files_only"),
        };
        let stopped = move || cancelled.is_cancelled();
        let found = tokio::task::spawn_blocking(move || match tool {
            FileTool::Glob => glob(&self.path, &pattern, most_bytes, &stopped),
            _ => grep(&self.path, &call, most_bytes, &stopped),
        });
        found.await.unwrap_or_else(|_| Err("the search failed unexpectedly".to_owned())).map(CallResult::done)
    }
}

/// Reads a file of one of the session's own tasks. Returns `None` for any other path.
pub(in crate::builtin) async fn read_own(
    agent: &Agent,
    session: &AcpSession,
    path: PathBuf,
    arguments: &Map<String, Value>,
) -> Option<CallResult> {
    let call = agent.calls.begin().await;
    let holder = agent.deliveries.lease(&session.call_settings.session.as_str().into()).await;
    let (home, name) = (session.home.clone(), session.call_settings.session.clone());
    let (arguments, most_bytes) = (arguments.clone(), session.most_bytes());
    let done = tokio::task::spawn_blocking(move || {
        let read = home.with(|runtime| {
            let Some(file) = OwnFile::find(runtime, &name, &path) else { return Ok(None) };
            let part = lines(&arguments)
                .and_then(|(offset, limit)| Ok(excerpt(&file.read(runtime)?, offset, limit, most_bytes)));
            Ok(Some((file, part)))
        });
        let (file, part) = read.ok()??;
        let part = match part {
            Ok(part) => part,
            Err(why) => return Some(CallResult::refused(why)),
        };
        // A model that has read the log of an ended task to its end needs no notification about the end.
        let reported_ends =
            if part.is_last && file.tells_the_end() { vec![file.task.id] } else { Vec::new() };
        let mut receipt = Receipt::new(home, call);
        receipt.reported_ends = reported_ends;
        receipt.holder = holder;
        Some(CallResult { receipt: Some(receipt), ..CallResult::done(part.text) })
    });
    done.await.unwrap_or_else(|_| Some(CallResult::refused("the call failed unexpectedly")))
}

/// Parses the arguments for the first line and the number of lines.
fn lines(arguments: &Map<String, Value>) -> Result<(usize, usize), String> {
    Ok((number(arguments, "offset")?.unwrap_or(1), number(arguments, "limit")?.unwrap_or(usize::MAX)))
}

/// Reads a file through the client if it supports that, else from the disk.
async fn whole_text(client: &SessionClient, path: &Path) -> Result<String, String> {
    if client.files.read_text_file && path.is_file() {
        return client
            .read_file(path)
            .await
            .map_err(|error| format!("the client could not read it: {}", error.message));
    }
    tokio::task::block_in_place(|| read_text(path))
}

async fn save(client: &SessionClient, path: &Path, content: &str) -> Result<(), String> {
    if client.files.write_text_file {
        let written = client.write_file(path, content.to_owned()).await;
        return written.map_err(|error| format!("the client could not write it: {}", error.message));
    }
    tokio::task::block_in_place(|| write_text(path, content))
        .map_err(|why| format!("it could not be written: {why}"))
}

fn changed(text: String, path: PathBuf, old: Option<String>, new: &str) -> CallResult {
    let size = old.as_ref().map_or(0, String::len) + new.len();
    let shown = if size <= MAX_DIFF { vec![Diff::new(path, new).old_text(old).into()] } else { Vec::new() };
    CallResult { shown, ..CallResult::done(text) }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    arguments.get(name).and_then(Value::as_str).ok_or_else(|| format!("{name} is missing or not a string"))
}

fn flag(arguments: &Map<String, Value>, name: &str) -> bool {
    arguments.get(name).and_then(Value::as_bool).unwrap_or(false)
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
