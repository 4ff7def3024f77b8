//! A running `mw serve`, and requests to it.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::time::Duration;

use mw_testkit::http::{Header, Request, Response};
use mw_testkit::{Home, Invocation, Running, SOON, wait_until};
use serde_json::Value;

pub(crate) const TOKEN: &str = "a-token-for-tests";

/// A listening server.
pub(crate) struct Served {
    pub(crate) running: Running,
    pub(crate) address: String,
    pub(crate) link: String,
}

impl Served {
    pub(crate) fn new(home: &Home) -> Self {
        Self::on(home, "0")
    }

    pub(crate) fn on(home: &Home, port: &str) -> Self {
        Self::with(home, &["--port", port], &[])
    }

    /// Starts a server with these arguments and variables.
    pub(crate) fn with(home: &Home, words: &[&str], variables: &[(&str, &str)]) -> Self {
        let serve = words
            .iter()
            .fold(home.command(["serve", "--json"]), Invocation::arg)
            .env("MEANWHILE_TOKEN", TOKEN);
        let serve = variables.iter().fold(serve, |serve, (name, value)| serve.env(name, value));
        let running = serve.limit(Duration::from_secs(240)).spawn();
        let said = wait_until(SOON, "the server listens", || running.json_lines().into_iter().next());
        let address = said["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
        Self { running, address, link: said["link"].as_str().unwrap().to_owned() }
    }

    pub(crate) fn port(&self) -> &str {
        self.address.rsplit(':').next().unwrap()
    }

    /// Sends a request and leaves the answer in the stream. A header with an empty value is left out.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[Header<'_>], body: &str) -> TcpStream {
        let usual = [
            ("Host", self.address.as_str()),
            ("Authorization", "Bearer a-token-for-tests"),
            ("Connection", "close"),
        ];
        let stream = TcpStream::connect(&self.address).unwrap();
        Request { method, path, usual: &usual, headers, body: body.as_bytes() }.send(stream)
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[Header<'_>], body: &str) -> Response {
        Response::read(self.send(method, path, headers, body))
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        let response = self.ask("GET", &format!("/api/v1{path}"), &[], "");
        assert_eq!(response.status, 200, "{path}: {}", response.body);
        response.json()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Response {
        self.ask(
            "POST",
            &format!("/api/v1{path}"),
            &[("Content-Type", "application/json")],
            &body.to_string(),
        )
    }

    #[track_caller]
    pub(crate) fn done(&self, path: &str, body: &Value) -> Value {
        let response = self.post(path, body);
        assert!((200..300).contains(&response.status), "{path}: {} {}", response.status, response.body);
        response.json()
    }

    /// Follows server-sent events.
    pub(crate) fn follow(&self, path: &str, headers: &[Header<'_>]) -> Events {
        let stream = self.send("GET", &format!("/api/v1{path}"), headers, "");
        Events(BufReader::new(stream))
    }

    /// Uses the link; returns the cookie and the page key.
    pub(crate) fn sign_in(&self) -> (String, String) {
        let path = self.link.strip_prefix(&format!("http://{}", self.address)).unwrap();
        let signed_in = self.ask("GET", path, &[("Authorization", "")], "");
        assert_eq!(signed_in.status, 200, "{}", signed_in.head);
        let cookie = signed_in.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let (_, key) = signed_in.body.split_once("name=\"page-key\" content=\"").unwrap();
        (cookie, key.split('"').next().unwrap().to_owned())
    }
}

/// Server-sent events.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    /// Reads the next event with its name, id and data.
    pub(crate) fn next(&mut self) -> Option<(String, Option<String>, Value)> {
        let (mut name, mut id) = (None, None);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            // The chunks of the transfer are whole lines, except for their sizes, which have no colon.
            match line.trim_end().split_once(": ") {
                Some(("event", value)) => name = Some(value.to_owned()),
                Some(("id", value)) => id = Some(value.to_owned()),
                Some(("data", value)) => return Some((name?, id, serde_json::from_str(value).unwrap())),
                Some(_) | None => {}
            }
        }
    }

    /// Reads events until one has this name.
    #[track_caller]
    pub(crate) fn until(&mut self, wanted: &str) -> (Option<String>, Value) {
        while let Some((name, id, data)) = self.next() {
            if name == wanted {
                return (id, data);
            }
        }
        panic!("the stream ended before {wanted}");
    }
}
