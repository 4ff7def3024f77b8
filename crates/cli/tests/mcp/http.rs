//! `mw mcp --http`: authentication, origins and malformed requests.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mw_testkit::http::{Header, Request, Response};
use mw_testkit::{Home, Invocation, Running, SOON, wait_until};
use serde_json::{Value, json};

use crate::home;
use crate::tolerance::modern;

pub(crate) const TOKEN: &str = "a-token-for-tests";

/// A listening server.
pub(crate) struct Web {
    pub(crate) running: Running,
    pub(crate) address: String,
}

impl Web {
    pub(crate) fn new(home: &Home) -> Self {
        Self::of(home.command(["mcp", "--http", "0", "--json"]).session("host"))
    }

    /// Starts a server whose clients name no session.
    pub(crate) fn unnamed(home: &Home) -> Self {
        Self::of(home.command(["mcp", "--http", "0", "--json"]))
    }

    pub(crate) fn of(invocation: Invocation) -> Self {
        let running = invocation.env("MEANWHILE_TOKEN", TOKEN).limit(Duration::from_secs(120)).spawn();
        let said = wait_until(SOON, "the server listens", || running.json_lines().into_iter().next());
        assert_eq!(said["token"], TOKEN, "{said}");
        let url = said["url"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        Self { running, address }
    }

    /// Sends a request and leaves the answer in the stream.
    pub(crate) fn send(&self, method: &str, headers: &[Header<'_>], body: &[u8]) -> TcpStream {
        self.send_over(TcpStream::connect(&self.address).unwrap(), method, headers, body)
    }

    pub(crate) fn send_over(
        &self,
        stream: TcpStream,
        method: &str,
        headers: &[Header<'_>],
        body: &[u8],
    ) -> TcpStream {
        let usual = [
            ("Host", self.address.as_str()),
            ("Connection", "close"),
            ("Authorization", "Bearer a-token-for-tests"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        Request { method, path: "/mcp", usual: &usual, headers, body }.send(stream)
    }

    pub(crate) fn post(&self, headers: &[Header<'_>], body: &Value) -> Response {
        Response::read(self.send("POST", headers, body.to_string().as_bytes()))
    }

    /// Calls a tool in the current revision; returns the whole response.
    pub(crate) fn call(&self, headers: &[Header<'_>], tool: &str, arguments: &Value) -> Value {
        let (extra, body) = call(tool, arguments);
        let extra: Vec<_> = extra.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.post(&[headers, &extra].concat(), &body).message()
    }
}

/// Returns the headers and the body of a call in the current revision.
pub(crate) fn call(tool: &str, arguments: &Value) -> (Vec<(&'static str, String)>, Value) {
    let headers = vec![
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("Mcp-Method", "tools/call".to_owned()),
        ("Mcp-Name", tool.to_owned()),
    ];
    let params = json!({"name": tool, "arguments": arguments, "_meta": modern(&json!({}))});
    (headers, json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
}

#[test]
fn requests_without_the_token_are_refused() {
    let home = home();
    let web = Web::new(&home);
    let (_, body) = call("task_list", &json!({}));
    let long = format!("Bearer {TOKEN}x");
    for authorization in ["", "Bearer ", "Bearer wrong", "Basic YTpi", TOKEN, "bearer", long.as_str()] {
        let refused = web.post(&[("Authorization", authorization)], &body);
        assert_eq!(refused.status, 401, "{authorization:?}: {}", refused.head);
        assert!(refused.head.to_lowercase().contains("www-authenticate: bearer"), "{}", refused.head);
    }
    for method in ["GET", "DELETE", "OPTIONS", "PUT"] {
        let refused = Response::read(web.send(method, &[("Authorization", "")], b""));
        assert_eq!(refused.status, 401, "{method}: {}", refused.head);
    }
    assert_eq!(web.call(&[], "task_list", &json!({}))["result"]["isError"], false);
}

#[test]
fn requests_of_foreign_origins_are_refused() {
    let home = home();
    let web = Web::new(&home);
    let (_, body) = call("task_list", &json!({}));
    for foreign in [
        [("Host", "evil.example")],
        [("Host", "evil.example:80")],
        [("Origin", "https://evil.example")],
        [("Origin", "null")],
        [("Origin", "http://localhost:1")],
        [("Origin", "http://127.0.0.1")],
        [("Host", "127.0.0.1.evil.example")],
    ] {
        let refused = web.post(&foreign, &body);
        assert_eq!(refused.status, 403, "{foreign:?}: {}\n{}", refused.head, refused.body);
    }
    let own = format!("http://{}", web.address);
    assert_eq!(web.call(&[("Origin", &own)], "task_list", &json!({}))["result"]["isError"], false);
    assert_eq!(web.call(&[], "task_list", &json!({}))["result"]["isError"], false);
}

#[test]
fn the_server_listens_on_loopback_only() {
    let home = home();
    let web = Web::new(&home);
    assert!(web.address.starts_with("127.0.0.1:"), "{}", web.address);
    let port = web.address.rsplit(':').next().unwrap();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X} ", port.parse::<u16>().unwrap());
    let listening = table.lines().filter(|line| line.contains(" 0A ") && line.contains(&port));
    let places: Vec<_> = listening.map(|line| line.split_whitespace().nth(1).unwrap().to_owned()).collect();
    assert!(places.len() == 1 && places[0].starts_with("0100007F"), "{places:?}");
    let sixth = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    assert!(!sixth.lines().any(|line| line.contains(" 0A ") && line.contains(&port)), "{sixth}");
}

#[test]
fn an_empty_token_and_a_port_in_use_are_refused() {
    let home = home();
    let refused = home.command(["mcp", "--http", "0", "--token", " "]).run();
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr_text().contains("token is empty"), "{refused}");
    let web = Web::new(&home);
    let port = web.address.rsplit(':').next().unwrap();
    let refused = home.command(["mcp", "--http", port]).run();
    assert_ne!(refused.code, Some(0), "{refused}");
}

#[test]
fn a_too_large_body_is_refused_and_the_next_request_is_served() {
    let home = home();
    let web = Web::new(&home);
    let (headers, body) = call("shell", &json!({"command": "x".repeat(5 << 20)}));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let refused = web.post(&headers, &body);
    assert_eq!(refused.status, 413, "{}", refused.head);
    let refused = web.call(&[], "shell", &json!({"command": "x".repeat(3 << 20)}));
    assert_eq!(refused["result"]["isError"], true);
    assert!(refused.to_string().contains("put the text into a file"));
    assert_eq!(web.call(&[], "task_list", &json!({}))["result"]["isError"], false);
}

#[test]
fn malformed_http_requests_are_refused_and_the_next_request_is_served() {
    let home = home();
    let web = Web::new(&home);
    for body in ["", "{", "null", "[]", "{\"jsonrpc\":\"2.0\"}", "\u{0}", "{\"id\":1,\"method\":7}"] {
        let refused = Response::read(web.send("POST", &[], body.as_bytes()));
        assert!((400..500).contains(&refused.status), "{body:?}: {}", refused.head);
    }
    let mut stream = TcpStream::connect(&web.address).unwrap();
    stream.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 no HTTP at all\r\n\r\n").unwrap();
    drop(Response::read(stream));
    assert_eq!(web.call(&[], "task_list", &json!({}))["result"]["isError"], false);
}

#[test]
fn a_signal_ends_the_server_after_its_replies_but_no_task() {
    let home = home();
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT, rustix::process::Signal::HUP]
    {
        let web = Web::new(&home);
        let known = home.list().len();
        let (headers, body) = call("shell", &json!({"command": mw_testkit::children::SLEEPER}));
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut waiting = web.send("POST", &headers, body.to_string().as_bytes());
        wait_until(SOON, "the call has started its task", || (home.list().len() > known).then_some(()));
        let id = home.list()[0]["id"].as_str().unwrap().to_owned();
        home.until_status(&id, "running");
        web.running.signal(signal);
        let ended = web.running.wait();
        assert_eq!(ended.code, Some(0), "{ended}");
        // The call of the client has ended with a reply, and nothing listens.
        let mut rest = Vec::new();
        let read = waiting.read_to_end(&mut rest);
        assert!(!read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "the connection is open");
        let rest = String::from_utf8_lossy(&rest);
        assert!(rest.contains(&id) && rest.contains("\"result\""), "{rest}");
        assert!(TcpStream::connect(&web.address).is_err());
        assert_eq!(home.status(&id)["status"], "running");
    }
}
