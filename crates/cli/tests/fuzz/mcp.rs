//! The MCP server on standard input.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use mw_testkit::SOON;

use crate::{engine, home};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":"h","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}"#;

const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[test]
fn mcp() {
    let home = home().gated();
    let mut server = Command::new(env!("CARGO_BIN_EXE_mw"))
        .arg("mcp")
        .env("MEANWHILE_HOME", home.state())
        .env("MEANWHILE_SESSION", "fuzz")
        .current_dir(home.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let (lines, heard) = channel();
    thread::spawn(move || {
        for line in std::io::BufRead::lines(std::io::BufReader::new(output)) {
            let Ok(line) = line else { return };
            let _ = lines.send(line);
        }
    });
    writeln!(input, "{HELLO}\n{READY}").unwrap();
    let mut number = 0;
    engine::run("mcp", |bytes| {
        number += 1;
        let ping = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"ping-{number}\",\"method\":\"ping\"}}");
        let line: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != b'\n').collect();
        input.write_all(&[&line[..], b"\n", ping.as_bytes(), b"\n"].concat()).unwrap();
        let wanted = format!("\"ping-{number}\"");
        while !heard.recv_timeout(SOON).expect("the server answers a ping").contains(&wanted) {}
    });
    drop(input);
    assert!(server.wait().unwrap().success());
}
