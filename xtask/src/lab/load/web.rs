//! A web server, and a program that asks it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::{Stage, plan};
use crate::lab::actions::{Answer, Start};
use crate::lab::json::{Json, quoted};
use crate::lab::random::Random;
use crate::lab::world::TOKEN;

/// How long a reply may take. A server that is stopped answers later.
const REPLY: Duration = Duration::from_secs(20);

/// Runs a server until the round is over; a killed one is replaced.
pub(in crate::lab) fn serve(stage: &Stage<'_>, mut random: Random) {
    while !stage.is_over() {
        let mut command = stage.world.command(&stage.world.mw(), None);
        command.args(["serve", "--port", "0", "--json"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else { return };
        let mut line = String::new();
        if let Some(output) = child.stdout.as_mut() {
            let _ = BufReader::new(output).read_line(&mut line);
        }
        let reply = Json::parse(&line);
        if let Some(address) = reply["url"].text().and_then(|url| url.strip_prefix("http://")) {
            while !stage.is_over() && ask(stage, address, &mut random).is_some() {
                thread::sleep(Duration::from_millis(random.below(300)));
            }
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Sends a request. Returns nothing if the server does not answer.
fn ask(stage: &Stage<'_>, address: &str, random: &mut Random) -> Option<()> {
    if random.chance(60) {
        return get(address, "GET", "/api/v1/tasks?limit=20", "").map(|_| ());
    }
    let key = stage.key();
    let start = Start {
        session: "default".to_owned(),
        answer: Answer::Unknown,
        timeout: None,
        has_cap: false,
        is_attached: false,
    };
    stage.note_start(&key, start);
    let words = plan(key.clone(), random).words(&stage.world.witness(), &stage.world.facts());
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let cwd = quoted(&stage.world.root().join("work").to_string_lossy());
    let body = format!("{{\"argv\":[{}],\"cwd\":{cwd}}}", words.join(","));
    let reply = get(address, "POST", "/api/v1/tasks", &body)?;
    let json = Json::parse(reply.split("\r\n\r\n").nth(1)?);
    let id = json["id"].text().or_else(|| json["task"]["id"].text());
    stage.book.log(&format!("web start {key} → {}", reply.lines().next().unwrap_or_default()));
    stage.note_answer(&key, id.map_or(Answer::Unknown, |id| Answer::Started(id.to_owned())));
    Some(())
}

fn get(address: &str, method: &str, path: &str, body: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(REPLY)).ok()?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).ok()?;
    (!reply.is_empty()).then_some(reply)
}
