//! An agent that works through the MCP server of its session.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::thread;
use std::time::Duration;

use super::{Stage, plan};
use crate::lab::actions::{Answer, Receipt, Start};
use crate::lab::json::{Json, quoted};
use crate::lab::random::Random;

/// Runs servers of a session until the round is over; a killed one is replaced.
pub(in crate::lab) fn serve(stage: &Stage<'_>, session: &str, mut random: Random) {
    while !stage.is_over() {
        let Some(mut server) = Server::start(stage, session) else { continue };
        while !stage.is_over() && server.work(stage, session, &mut random).is_some() {
            thread::sleep(Duration::from_millis(random.below(200)));
        }
        server.end(stage);
    }
}

/// How a client introduces itself.
const HELLO: &str =
    r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"lab","version":"1"}}"#;

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    /// Notifications of the last reply. They are acknowledged before the next reply is written.
    last: Vec<Receipt>,
    /// The faults of the database before the last reply.
    database_faults: u64,
    disk_changes: u64,
}

impl Server {
    fn start(stage: &Stage<'_>, session: &str) -> Option<Self> {
        let mut command = stage.world.command(&stage.world.mw(), Some(session));
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let (input, output) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        let mut server =
            Self { child, input, output, next: 1, last: Vec::new(), database_faults: 0, disk_changes: 0 };
        match server.call(stage, "initialize", HELLO) {
            Some(_) => {
                server.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
                Some(server)
            }
            None => {
                server.end(stage);
                None
            }
        }
    }

    fn send(&mut self, message: &str) -> Option<()> {
        self.input.write_all(format!("{message}\n").as_bytes()).ok()
    }

    fn call(&mut self, stage: &Stage<'_>, method: &str, params: &str) -> Option<Json> {
        let id = self.next;
        self.next += 1;
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).ok()? == 0 || !line.ends_with('\n') {
                return None;
            }
            let reply = Json::parse(&line);
            if reply["id"].number() == Some(id) {
                self.receive(stage, &reply);
                return Some(reply);
            }
        }
    }

    /// Notes the notifications of a reply; those of the previous one are now certain.
    fn receive(&mut self, stage: &Stage<'_>, reply: &Json) {
        let mut certain = std::mem::take(&mut self.last);
        let (faults, changes) = {
            let actions = stage.book.actions();
            (actions.database_faults, actions.disk_changes)
        };
        // A server that is killed before there is room for the acknowledgment delivers again; see docs/limits.md.
        let was_full = std::mem::replace(&mut self.disk_changes, changes) < changes || changes % 2 == 1;
        let is_in_doubt = std::mem::replace(&mut self.database_faults, faults) < faults || was_full;
        for receipt in &mut certain {
            (receipt.is_certain, receipt.is_in_doubt) = (true, is_in_doubt);
        }
        stage.book.actions().receipts.extend(certain);
        for block in reply["result"]["content"].items() {
            let text = block["text"].text().unwrap_or_default();
            if !text.starts_with("<task-notification>") {
                continue;
            }
            let field = |name: &str| {
                let (_, rest) = text.split_once(&format!("<{name}>"))?;
                Some(rest.split_once(&format!("</{name}>"))?.0.to_owned())
            };
            let id = field("task-id").unwrap_or_default();
            stage.book.log(&format!("mcp notice {id} in the reply {:?}", reply["id"].number()));
            let status = field("status").unwrap_or_default();
            self.last.push(Receipt { id, run: None, status, is_certain: false, is_in_doubt: false });
        }
    }

    /// Makes a call. Returns nothing if the server is gone.
    fn work(&mut self, stage: &Stage<'_>, session: &str, random: &mut Random) -> Option<()> {
        if random.chance(50) {
            return self.call(stage, "tools/call", r#"{"name":"task_list","arguments":{}}"#).map(|_| ());
        }
        let key = stage.key();
        let start = Start {
            session: session.to_owned(),
            answer: Answer::Unknown,
            timeout: None,
            has_cap: false,
            is_attached: false,
        };
        stage.note_start(&key, start);
        let words = plan(key.clone(), random).words(&stage.world.witness(), &stage.world.facts());
        let command = quoted(&format!("exec {}", words.join(" ")));
        let arguments = format!(r#"{{"command":{command},"run_in_background":true}}"#);
        let call = format!(r#"{{"name":"shell","arguments":{arguments}}}"#);
        let reply = self.call(stage, "tools/call", &call)?;
        // Notifications of other tasks come first.
        let blocks = reply["result"]["content"].items().iter();
        let text: String = blocks
            .filter_map(|block| block["text"].text())
            .filter(|text| !text.starts_with("<task-notification>"))
            .collect();
        let id = text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .find(|word| word.starts_with("bash-"));
        stage.book.log(&format!("mcp start {key} → {text}"));
        let answer = match id {
            Some(id) if reply["result"]["isError"].bool() != Some(true) => Answer::Started(id.to_owned()),
            _ => Answer::Unknown,
        };
        stage.note_answer(&key, answer);
        Some(())
    }

    fn end(mut self, stage: &Stage<'_>) {
        drop(self.input);
        // The server ends with its input, unless it is stopped; then the signal that continues it comes soon.
        let status = self.child.wait();
        stage.book.log(&format!("mcp server ended: {status:?}"));
        stage.book.actions().receipts.append(&mut self.last);
    }
}
