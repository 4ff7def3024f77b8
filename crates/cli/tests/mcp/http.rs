//! `mw mcp --http`: authentication, origins and malformed requests.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

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

/// A response.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
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
    pub(crate) fn send(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        self.send_over(TcpStream::connect(&self.address).unwrap(), method, headers, body)
    }

    pub(crate) fn send_over(
        &self,
        mut stream: TcpStream,
        method: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> TcpStream {
        stream.set_read_timeout(Some(SOON)).unwrap();
        let mut head =
            format!("{method} /mcp HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
        let usual = [
            ("Host", self.address.as_str()),
            ("Authorization", "Bearer a-token-for-tests"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let given = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        for (name, value) in usual.iter().filter(|(name, _)| !given(name)).chain(headers) {
            if !value.is_empty() {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses need not read the whole body.
        let _ = stream.write_all(body);
        stream
    }

    pub(crate) fn post(&self, headers: &[(&str, &str)], body: &Value) -> Response {
        read(self.send("POST", headers, body.to_string().as_bytes()))
    }

    /// Calls a tool in the current revision; returns the whole response.
    pub(crate) fn call(&self, headers: &[(&str, &str)], tool: &str, arguments: &Value) -> Value {
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

/// Reads an answer to its end.
pub(crate) fn read(mut stream: TcpStream) -> Response {
    let mut bytes = Vec::new();
    let mut part = [0; 65536];
    // After it refused a body, the server may reset the connection.
    while let Ok(count @ 1..) = stream.read(&mut part) {
        bytes.extend_from_slice(&part[..count]);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunked(body) } else { body.to_owned() };
    Response { status, head: head.to_owned(), body }
}

fn unchunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, tail)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || tail.len() < size {
            break;
        }
        whole.push_str(&tail[..size]);
        rest = tail[size..].trim_start_matches("\r\n");
    }
    whole
}

impl Response {
    /// Returns the last message in it.
    #[track_caller]
    pub(crate) fn message(&self) -> Value {
        let last = self.body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        let text = last.unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|_| panic!("no message: {}\n{}", self.head, self.body))
    }
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
        let refused = read(web.send(method, &[("Authorization", "")], b""));
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
        let refused = read(web.send("POST", &[], body.as_bytes()));
        assert!((400..500).contains(&refused.status), "{body:?}: {}", refused.head);
    }
    let mut stream = TcpStream::connect(&web.address).unwrap();
    stream.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 no HTTP at all\r\n\r\n").unwrap();
    drop(read(stream));
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
