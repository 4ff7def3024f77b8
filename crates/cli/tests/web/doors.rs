//! Who gets in: the token, the link, the cookie, `Host` and `Origin`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use mw_testkit::{SOON, children, wait_until};
use serde_json::json;

use crate::home;
use crate::serve::{Served, TOKEN};

const HTML: (&str, &str) = ("Accept", "text/html");

#[test]
fn nothing_is_served_without_a_token_or_a_cookie() {
    let home = home();
    let served = Served::new(&home);
    for path in [
        "/",
        "/api",
        "/assets/app.js",
        "/api/v1/tasks",
        "/api/v1/openapi.json",
        "/api/v1/events",
        "/mcp",
        "/none",
    ] {
        for authorization in ["", "Bearer wrong", "Bearer "] {
            let refused = served.ask("GET", path, &[("Authorization", authorization), HTML], "");
            assert_eq!(refused.status, 401, "{path} {authorization:?}");
            assert!(!refused.body.contains("<script"), "{path}");
        }
    }
    assert_eq!(served.ask("GET", "/", &[], "").status, 200);
}

#[test]
fn the_link_signs_a_browser_in_once_and_the_next_link_is_printed() {
    let home = home();
    let served = Served::new(&home);
    let (cookie, _) = served.sign_in();
    let page = served.ask("GET", "/", &[("Authorization", ""), ("Cookie", &cookie)], "");
    assert!(page.status == 200 && page.body.contains("<title>meanwhile</title>"), "{}", page.head);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let path = served.link.split_once(&served.address).unwrap().1;
    assert_eq!(served.ask("GET", path, &[("Authorization", "")], "").status, 401, "the link works once");
    let next =
        wait_until(SOON, "the next link is printed", || served.running.json_lines().into_iter().nth(1));
    let next = next["link"].as_str().unwrap().split_once(&served.address).unwrap().1.to_owned();
    assert_eq!(served.ask("GET", &next, &[("Authorization", "")], "").status, 200);
    for wrong in ["/login", "/login?token=", "/login?token=wrong", "/login?other=1"] {
        assert_eq!(served.ask("GET", wrong, &[("Authorization", "")], "").status, 401, "{wrong}");
    }
    let foreign = served.ask("GET", "/login?token=x", &[("Authorization", ""), ("Host", "evil.example")], "");
    assert_eq!(foreign.status, 403);
}

#[test]
fn a_cookie_outlives_the_server_but_not_its_port_or_key() {
    let home = home();
    let served = Served::new(&home);
    let ((cookie, _), port) = (served.sign_in(), served.port().to_owned());
    served.running.signal(rustix::process::Signal::TERM);
    assert_eq!(served.running.wait().code, Some(0));
    let with =
        |served: &Served| served.ask("GET", "/", &[("Authorization", ""), ("Cookie", &cookie)], "").status;
    let again = Served::on(&home, &port);
    assert_eq!(with(&again), 200);
    assert_eq!(with(&Served::new(&home)), 401, "another server");
    drop(again);
    let key = home.state().join("serve.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::remove_file(&key).unwrap();
    assert_eq!(with(&Served::on(&home, &port)), 401, "another key");
}

#[test]
fn requests_of_foreign_hosts_and_origins_are_refused() {
    let home = home();
    let served = Served::new(&home);
    let (cookie, key) = served.sign_in();
    let own = format!("http://{}", served.address);
    let ask = |method, headers: &[(&str, &str)], path| {
        let usual = [("Authorization", ""), ("Cookie", cookie.as_str()), ("X-Meanwhile", key.as_str())];
        let rest: Vec<_> = usual
            .iter()
            .filter(|(name, _)| !headers.iter().any(|(other, _)| other == name))
            .copied()
            .collect();
        served.ask(method, path, &[headers, &rest].concat(), "{\"ended\":true}").status
    };
    let clear = "/api/v1/tasks/clear";
    for foreign in [
        ("Host", "evil.example"),
        ("Host", "127.0.0.1.evil.example"),
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Origin", "http://localhost:1"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        assert_eq!(ask("POST", &[foreign], clear), 403, "{foreign:?}");
        assert_eq!(ask("GET", &[foreign], "/api/v1/tasks"), 403, "{foreign:?}");
    }
    // A server on another port of this machine gets the cookie, but not the key.
    for wrong in ["", "1", cookie.split_once('=').unwrap().1] {
        assert_eq!(ask("POST", &[("X-Meanwhile", wrong)], clear), 403, "{wrong}");
        assert_eq!(ask("GET", &[("X-Meanwhile", wrong)], "/api/v1/tasks"), 403, "{wrong}");
        assert_eq!(ask("POST", &[("X-Meanwhile", wrong)], "/mcp"), 403, "{wrong}");
    }
    assert_eq!(ask("POST", &[("Origin", &own), ("Sec-Fetch-Site", "same-origin")], clear), 200);
}

#[test]
fn a_socket_serves_programs_with_the_token_only() {
    let home = home();
    let path = home.work().join("mw.sock");
    let serve = home.command(["serve", "--json", "--socket"]).arg(&path).env("MEANWHILE_TOKEN", TOKEN);
    let running = serve.spawn();
    wait_until(SOON, "the server listens", || running.json_lines().into_iter().next());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let ask = |authorization: &str| {
        let mut stream = UnixStream::connect(&path).unwrap();
        let head =
            format!("GET /api/v1/tasks HTTP/1.1\r\nHost: mw\r\nConnection: close\r\n{authorization}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask("").starts_with("HTTP/1.1 401"));
    assert!(ask("Authorization: Bearer a-token-for-tests\r\n").starts_with("HTTP/1.1 200"));
    running.signal(rustix::process::Signal::TERM);
    assert_eq!(running.wait().code, Some(0));
    assert!(!path.exists());
}

#[test]
fn a_server_for_other_machines_needs_a_certificate_and_a_password() {
    let home = home();
    let refused = home.command(["serve", "--allow-remote", "0.0.0.0:0"]).run();
    assert!(refused.code == Some(2) && refused.stderr_text().contains("--tls-cert"), "{refused}");
    let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key, password) =
        (home.work().join("cert.pem"), home.work().join("key.pem"), home.work().join("password"));
    std::fs::write(&cert, certified.cert.pem()).unwrap();
    std::fs::write(&key, certified.signing_key.serialize_pem()).unwrap();
    let serve = || {
        let words = ["serve", "--json", "--allow-remote", "127.0.0.1:0", "--host", "localhost", "--tls-cert"];
        home.command(words).arg(&cert).arg("--tls-key").arg(&key).arg("--password-file").arg(&password)
    };
    std::fs::write(&password, "short\n").unwrap();
    let refused = serve().run();
    assert!(refused.text().contains("too short"), "{refused}");
    std::fs::write(&password, "a long enough password\n").unwrap();
    let unnamed = home.command(["serve", "--allow-remote", "0.0.0.0:0", "--tls-cert"]).arg(&cert);
    let refused = unnamed.arg("--tls-key").arg(&key).arg("--password-file").arg(&password).run();
    assert!(refused.code == Some(2) && refused.stderr_text().contains("--host"), "{refused}");
    let running = serve().spawn();
    let said = wait_until(SOON, "the server listens", || running.json_lines().into_iter().next());
    let url = said["url"].as_str().unwrap();
    let port = url.strip_prefix("https://localhost:").unwrap();
    // Plain HTTP gets no answer.
    let mut plain = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    plain.set_read_timeout(Some(SOON)).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/"), "{answer:?}");
}

#[test]
fn inside_a_session_nothing_is_served() {
    let home = home();
    let refused = home.command(["serve", "--port", "0"]).session("agent").run();
    assert!(refused.code == Some(2) && refused.stderr_text().contains("acts for the user"), "{refused}");
}

#[test]
fn the_end_of_the_server_ends_no_task() {
    let home = home();
    let served = Served::new(&home);
    let started = served.done("/tasks", &json!({"command": children::SLEEPER}));
    let id = started["id"].as_str().unwrap();
    served.running.signal(rustix::process::Signal::INT);
    assert_eq!(served.running.wait().code, Some(0));
    assert_eq!(home.status(id)["status"], "running");
}

#[test]
fn mcp_is_served_behind_the_same_guard() {
    let home = home();
    let served = Served::new(&home);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let answer = served.ask("POST", "/mcp", &headers, &hello.to_string());
    assert!(answer.status == 200 && answer.body.contains("serverInfo"), "{} {}", answer.head, answer.body);
    let refused = served.ask("POST", "/mcp", &[("Authorization", "Bearer x")], &hello.to_string());
    assert_eq!(refused.status, 401);
}
