//! The web server, which reads requests from anybody.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use mw_testkit::{SOON, wait_until};

use crate::{engine, home};

const TOKEN: &str = "a-token-for-the-fuzz-target";

#[test]
fn http() {
    let home = home();
    let serve = home.command(["serve", "--port", "0", "--json"]).env("MEANWHILE_TOKEN", TOKEN);
    let running = serve.limit(Duration::from_secs(400)).spawn();
    let said = wait_until(SOON, "the server listens", || running.json_lines().into_iter().next());
    let address = said["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned();
    let send = |bytes: &[u8], is_complete: bool| {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        // A server that refuses need not read everything.
        let _ = stream.write_all(bytes);
        if !is_complete {
            // Otherwise the server waits for the rest.
            let _ = stream.shutdown(Shutdown::Write);
        }
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8_lossy(&reply).into_owned()
    };
    let good = format!(
        "GET /api/v1/summary HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
    );
    engine::run("http", |input| {
        let text = String::from_utf8_lossy(input).replace("ADDRESS", &address).replace("TOKEN", TOKEN);
        let reply = send(text.as_bytes(), false);
        assert!(!reply.starts_with("HTTP/1.1 5"), "{reply}");
        let reply = send(good.as_bytes(), true);
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    });
    assert!(running.runs(), "the server has ended");
    let _ = running.kill();
}
