//! `mw mcp --http`: sessions, older revisions, and aborted replies.

use std::collections::BTreeSet;
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use mw_testkit::host::notified_tasks;
use mw_testkit::http::Response;
use mw_testkit::{SOON, alive, children, wait_until};
use rustix::net::sockopt::set_socket_recv_buffer_size;
use rustix::net::{AddressFamily, SocketType, connect, socket};
use serde_json::{Value, json};

use crate::home;
use crate::http::{Web, call};
use crate::notices::undelivered;

fn delivered(web: &Web) -> BTreeSet<String> {
    notified_tasks(&web.call(&[], "task_list", &json!({"status": "pending"}))["result"]).into_iter().collect()
}

/// Receives notifications until there are some.
fn until_delivered(web: &Web) -> BTreeSet<String> {
    wait_until(SOON, "there are notifications", || Some(delivered(web)).filter(|ids| !ids.is_empty()))
}

#[test]
fn the_next_reply_begins_with_the_notification_once() {
    let home = home();
    let web = Web::new(&home);
    let ids = undelivered(&home, 3);
    assert_eq!(delivered(&web), ids);
    assert_eq!(delivered(&web), BTreeSet::new());
}

/// Connects with a small receive buffer, so that a large reply stays with the server.
fn narrow(address: &str) -> TcpStream {
    let address: SocketAddr = address.parse().unwrap();
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    set_socket_recv_buffer_size(&socket, 4096).unwrap();
    connect(&socket, &address).unwrap();
    TcpStream::from(socket)
}

#[test]
fn an_aborted_reply_delivers_no_notification() {
    let home = home().with_env("MEANWHILE_TOOLS_REPLY_BYTES", "1MiB");
    let web = Web::new(&home);
    let ids = undelivered(&home, 2);
    // Four megabytes in the reply, as text and as data.
    let script = "head -c 1000000 /dev/zero | tr '\\0' '\\\\'";
    let (headers, body) = call("shell", &json!({"command": script}));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut stream = web.send_over(narrow(&web.address), "POST", &headers, body.to_string().as_bytes());
    let mut begun = [0; 1000];
    stream.read_exact(&mut begun).unwrap();
    assert!(begun.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&begun));
    // The reply is complete; most of it is still with the server.
    wait_until(SOON, "the reply is on its way", || {
        stream.read_exact(&mut begun).ok().filter(|()| begun.contains(&b'\\'))
    });
    drop(stream);
    let mut all = BTreeSet::new();
    wait_until(SOON, "both ends and the end of the command are notified", || {
        all.extend(delivered(&web));
        (all.is_superset(&ids) && all.len() == 3).then_some(())
    });
}

#[test]
fn a_disconnect_during_a_wait_ends_no_task_and_loses_no_notification() {
    let home = home();
    let web = Web::new(&home);
    let arguments = json!({"command": children::gated("go", 3), "run_in_background": true});
    let started = web.call(&[], "shell", &arguments);
    let id = started["result"]["structuredContent"]["task_id"].as_str().unwrap().to_owned();
    let (headers, body) = call("task_wait", &json!({"task_ids": [id]}));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    drop(web.send("POST", &headers, body.to_string().as_bytes()));
    assert_eq!(home.status(&id)["status"], "running");
    home.open("go");
    home.ended(&id);
    assert_eq!(until_delivered(&web), BTreeSet::from([id]));
}

#[test]
fn a_disconnect_during_a_foreground_command_ends_the_command() {
    let home = home();
    let web = Web::new(&home);
    let (headers, body) = call("shell", &json!({"command": "echo $$ > pid; exec sleep 600"}));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let stream = web.send("POST", &headers, body.to_string().as_bytes());
    let pid = home.pid_in("pid");
    drop(stream);
    wait_until(SOON, "it has ended", || (!alive(pid)).then_some(()));
}

#[test]
fn clients_can_have_separate_sessions() {
    let home = home();
    let web = Web::new(&home);
    let start = |session: &str| {
        let arguments = json!({"command": "exit 3", "run_in_background": true});
        let started = web.call(&[("X-Meanwhile-Session", session)], "shell", &arguments);
        let id = started["result"]["structuredContent"]["task_id"].as_str().unwrap().to_owned();
        (id, notified_tasks(&started["result"]))
    };
    let ((one, mut notified_one), (other, _)) = (start("one"), start("other"));
    home.ended(&one);
    home.ended(&other);
    let listed = web.call(&[("X-Meanwhile-Session", "one")], "task_list", &json!({}))["result"].clone();
    assert_eq!(listed["structuredContent"]["total"], 1, "{listed}");
    notified_one.extend(notified_tasks(&listed));
    assert_eq!(notified_one, [one]);
}

/// A client of an older revision.
fn greet(web: &Web) -> (String, Value) {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"experimental": {"meanwhile/structured": {}}},
        "clientInfo": {"name": "old", "version": "1"}}});
    let answer = web.post(&[], &hello);
    let line = answer.head.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:"));
    let session = line.unwrap().split_once(':').unwrap().1.trim().to_owned();
    (session, answer.message())
}

#[test]
fn a_client_of_an_older_revision_is_served_and_notified_once() {
    let home = home();
    let web = Web::new(&home);
    let (session, greeted) = greet(&web);
    assert_eq!(greeted["result"]["protocolVersion"], "2025-11-25", "{greeted}");
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(web.post(&headers, &done).status, 202);
    let ids = undelivered(&home, 2);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "task_list", "arguments": {"status": "pending"}}});
    let first = web.post(&headers, &list).message();
    assert_eq!(notified_tasks(&first["result"]).into_iter().collect::<BTreeSet<_>>(), ids, "{first}");
    let second = web.post(&headers, &list).message();
    assert_eq!(notified_tasks(&second["result"]), Vec::<String>::new(), "{second}");
}

/// Opens the stream for server messages.
fn events(web: &Web, session: &str) -> TcpStream {
    let headers = [
        ("Mcp-Session-Id", session),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Accept", "text/event-stream"),
    ];
    web.send("GET", &headers, b"")
}

/// Waits for the next update of a resource.
fn until_updated(stream: &mut TcpStream, uri: &str) {
    let mut heard = String::new();
    let mut part = [0; 4096];
    let begun = Instant::now();
    let is_update = |line: &str| line.contains("notifications/resources/updated") && line.contains(uri);
    while !heard.lines().any(is_update) {
        let count = stream.read(&mut part).unwrap_or(0);
        assert!(count > 0 && begun.elapsed() < SOON, "no update of {uri}: {heard}");
        heard.push_str(&String::from_utf8_lossy(&part[..count]));
    }
}

#[test]
fn clients_of_two_sessions_get_updates_of_their_tasks() {
    let home = home();
    let web = Web::new(&home);
    let mut clients = Vec::new();
    for name in ["one", "two"] {
        let script = children::gated(name, 3);
        let started = home.command(["start", "--json", &script]).session(name).run().json();
        let uri = format!("meanwhile://tasks/{}\"", started["id"].as_str().unwrap());
        let (session, _) = greet(&web);
        let headers = [
            ("Mcp-Session-Id", session.as_str()),
            ("MCP-Protocol-Version", "2025-11-25"),
            ("X-Meanwhile-Session", name),
        ];
        let _ = web.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let mut stream = events(&web, &session);
        let subscribe = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe",
            "params": {"uri": uri.trim_end_matches('"')}});
        assert!(web.post(&headers, &subscribe).message().get("result").is_some());
        // The first subscription of a server is followed by an update, because changes before it were not noticed.
        if name == "one" {
            until_updated(&mut stream, &uri);
        }
        clients.push((name, uri, stream));
    }
    for (gate, uri, mut stream) in clients {
        home.open(gate);
        until_updated(&mut stream, &uri);
    }
}

#[test]
fn many_concurrent_clients_are_served() {
    let home = home();
    let web = Web::new(&home);
    let calls: Vec<_> = (0..100)
        .map(|number| {
            let (headers, body) = call("shell", &json!({"command": format!("echo {number}")}));
            let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            web.send("POST", &headers, body.to_string().as_bytes())
        })
        .collect();
    for (number, stream) in calls.into_iter().enumerate() {
        let answer = Response::read(stream).message();
        assert_eq!(answer["result"]["structuredContent"]["output"], format!("{number}\n"), "{answer}");
    }
}

#[test]
fn a_client_that_closes_right_after_a_reply_is_not_notified_again() {
    let home = home();
    let web = Web::new(&home);
    for round in 0..40 {
        let (headers, body) = call("shell", &json!({"command": "true"}));
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut stream = web.send("POST", &headers, body.to_string().as_bytes());
        let mut got = Vec::new();
        let mut part = [0; 4096];
        while !String::from_utf8_lossy(&got).contains("\"result\"") {
            let count = stream.read(&mut part).unwrap();
            assert!(count > 0, "{}", String::from_utf8_lossy(&got));
            got.extend_from_slice(&part[..count]);
        }
        drop(stream);
        assert_eq!(delivered(&web), BTreeSet::new(), "round {round}");
    }
}

#[test]
fn an_end_reported_by_a_wait_is_not_notified_again() {
    let home = home();
    let web = Web::new(&home);
    for round in 0..20 {
        let started = web.call(&[], "shell", &json!({"command": "true", "run_in_background": true}));
        let id = started["result"]["structuredContent"]["task_id"].clone();
        let waited = web.call(&[], "task_wait", &json!({"task_ids": [id]}));
        assert_eq!(waited["result"]["structuredContent"]["timed_out"], false, "{waited}");
        assert_eq!(delivered(&web), BTreeSet::new(), "round {round}");
    }
}

/// Clients call in parallel: in any order, only the wait reports the end.
#[test]
fn a_wait_and_a_parallel_call_report_an_end_once() {
    let home = home();
    let web = Web::new(&home);
    for round in 0..40 {
        let id = undelivered(&home, 1).into_iter().next().unwrap();
        let send = |tool: &str, arguments: &Value| {
            let (headers, body) = call(tool, arguments);
            let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            web.send("POST", &headers, body.to_string().as_bytes())
        };
        let wait = send("task_wait", &json!({"task_ids": [id]}));
        let list = send("task_list", &json!({"status": "running"}));
        let (waited, listed) = (Response::read(wait).message(), Response::read(list).message());
        assert!(waited["result"].to_string().contains("exit 3"), "{waited}");
        assert_eq!(notified_tasks(&listed["result"]), Vec::<String>::new(), "round {round}: {listed}");
        assert_eq!(delivered(&web).len(), 0, "round {round}");
    }
}

#[test]
fn a_header_cannot_select_another_session_inside_a_task() {
    let home = home();
    let other = undelivered(&home, 1).into_iter().next().unwrap();
    let serve = format!("exec {} mcp --http 0 --json", env!("CARGO_BIN_EXE_mw"));
    let web = Web::of(home.command(["run", &serve]).session("inner"));
    let listed = web.call(&[("X-Meanwhile-Session", "host")], "task_list", &json!({}))["result"].clone();
    assert!(!listed.to_string().contains(&other), "{listed}");
    assert!(listed.to_string().contains("mcp --http 0"), "the task that runs the server is listed: {listed}");
}

#[test]
fn a_session_delete_request_is_confirmed() {
    let home = home();
    let web = Web::new(&home);
    let (session, _) = greet(&web);
    let ended = Response::read(web.send("DELETE", &[("Mcp-Session-Id", session.as_str())], b""));
    assert_eq!(ended.status, 200, "{}", ended.head);
}

/// One of several clients of a server that name no session.
struct Guest<'a> {
    web: &'a Web,
    id: String,
}

impl<'a> Guest<'a> {
    fn new(web: &'a Web) -> Self {
        let (id, _) = greet(web);
        let guest = Self { web, id };
        let _ = web.post(&guest.headers(), &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        guest
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [("Mcp-Session-Id", self.id.as_str()), ("MCP-Protocol-Version", "2025-11-25")]
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}});
        self.web.post(&self.headers(), &body).message()["result"].clone()
    }

    fn start(&self, script: &str) -> String {
        let started = self.call("shell", &json!({"command": script, "run_in_background": true}));
        started["structuredContent"]["task_id"].as_str().unwrap().to_owned()
    }

    fn notifications(&self) -> Vec<String> {
        notified_tasks(&self.call("task_list", &json!({"status": "pending"})))
    }
}

#[test]
fn clients_without_a_session_get_notifications_of_their_own_starts() {
    let home = home().with_env("MEANWHILE_MODE", "dangerous");
    let web = Web::unnamed(&home);
    let (one, other) = (Guest::new(&web), Guest::new(&web));
    let id = one.start(&children::gated("go", 3));
    home.open("go");
    let _ = home.ended(&id);
    assert_eq!(other.notifications(), Vec::<String>::new(), "another client started it");
    let cleared = other.call("task_clear", &json!({}));
    assert!(home.mw(["status", &id]).code == Some(0), "{cleared}");
    let waited = other.call("task_wait", &json!({"timeout": 1000}));
    assert!(!waited.to_string().contains(&id), "{waited}");
    assert_eq!(one.notifications(), [id]);
    assert_eq!(one.notifications(), Vec::<String>::new());
}

#[test]
fn undelivered_notifications_of_a_disconnected_client_pass_to_others() {
    let home = home().with_env("MEANWHILE_MODE", "dangerous");
    let web = Web::unnamed(&home);
    let (one, other) = (Guest::new(&web), Guest::new(&web));
    let id = one.start(&children::gated("go", 3));
    home.open("go");
    let _ = home.ended(&id);
    assert_eq!(other.notifications(), Vec::<String>::new());
    let ended = Response::read(web.send("DELETE", &one.headers(), b""));
    assert_eq!(ended.status, 200, "{}", ended.head);
    let all = wait_until(SOON, "the other is notified", || {
        Some(other.notifications()).filter(|all| !all.is_empty())
    });
    assert_eq!(all, [id]);
}

#[test]
fn tasks_end_with_the_last_client_of_their_session_if_so_configured() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "300").with_env("MEANWHILE_SESSION_END", "kill");
    let web = Web::new(&home);
    let start = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params":
        {"name": "shell", "arguments": {"command": "exec sleep 600", "run_in_background": true}}});
    let mut clients = Vec::new();
    // The first two share a session.
    for name in ["one", "one", "two"] {
        let (client, _) = greet(&web);
        let headers = [
            ("Mcp-Session-Id", client.as_str()),
            ("MCP-Protocol-Version", "2025-11-25"),
            ("X-Meanwhile-Session", name),
        ];
        let _ = web.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let started = web.post(&headers, &start).message()["result"]["structuredContent"].clone();
        clients.push((client.clone(), started["task_id"].as_str().unwrap().to_owned()));
    }
    let leave = |client: &str| {
        let ended = Response::read(web.send("DELETE", &[("Mcp-Session-Id", client)], b""));
        assert_eq!(ended.status, 200, "{}", ended.head);
    };
    leave(&clients[0].0);
    leave(&clients[2].0);
    assert_eq!(home.ended(&clients[2].1)["status"], "cancelled");
    for (_, id) in &clients[..2] {
        assert_eq!(home.status(id)["status"], "running", "another client of the session is connected");
    }
    leave(&clients[1].0);
    for (_, id) in &clients[..2] {
        let task = home.ended(id);
        assert!(task["cause"].as_str().unwrap().contains("the end of its session"), "{task}");
    }
}

#[test]
fn pending_replies_are_written_when_the_server_is_terminated() {
    let home = home();
    let web = Web::new(&home);
    let (headers, body) = call("task_wait", &json!({"port": 1, "task_ids": [start(&web)]}));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let stream = web.send("POST", &headers, body.to_string().as_bytes());
    wait_until(SOON, "the call is under way", || {
        web.call(&[], "task_list", &json!({})).get("result").is_some().then_some(())
    });
    web.running.signal(rustix::process::Signal::TERM);
    let answer = Response::read(stream);
    assert!(answer.body.contains("wait timed out"), "{}\n{}", answer.head, answer.body);
}

fn start(web: &Web) -> Value {
    let arguments = json!({"command": children::SLEEPER, "run_in_background": true});
    web.call(&[], "shell", &arguments)["result"]["structuredContent"]["task_id"].clone()
}
