//! Many connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use mw_testkit::{SOON, wait_until};

use crate::home;
use crate::serve::Served;

/// The number of open descriptors of a process.
fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// Returns the process that listens, which may not be the one that was started.
fn server(served: &Served) -> u32 {
    served.running.pid()
}

#[test]
fn idle_connections_without_a_token_keep_nobody_out() {
    let home = home();
    let served = Served::new(&home);
    // The test has a limit of its own.
    let mut idle: Vec<TcpStream> = Vec::new();
    let begin = Instant::now();
    for number in 0..1100 {
        if let Ok(mut stream) = TcpStream::connect(&served.address) {
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n");
            idle.push(stream);
        }
        if idle.len() > 400 {
            idle.remove(0);
        }
        if number % 100 == 0 {
            assert_eq!(served.get("/tasks")["total"], 0, "after {number} connections");
        }
    }
    assert_eq!(served.get("/tasks")["total"], 0);
    let open = descriptors(server(&served));
    assert!(open < 400, "{open} descriptors during the attack");
    wait_until(SOON, "the idle connections are closed", || {
        (descriptors(server(&served)) < 100).then_some(())
    });
    // The oldest were closed.
    let mut first = idle.remove(0);
    first.set_read_timeout(Some(SOON)).unwrap();
    let closed = matches!(first.read(&mut [0; 16]), Ok(0) | Err(_));
    assert!(closed, "after {:?}", begin.elapsed());
}

#[test]
fn an_idle_connection_without_a_token_is_closed_and_one_with_it_is_not() {
    let home = home();
    let served = Served::new(&home);
    let mut known = TcpStream::connect(&served.address).unwrap();
    known.set_read_timeout(Some(SOON)).unwrap();
    let request = format!(
        "GET /api/v1/tasks HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer a-token-for-tests\r\n\r\n",
        served.address
    );
    let mut answer = [0; 4096];
    known.write_all(request.as_bytes()).unwrap();
    assert!(known.read(&mut answer).unwrap() > 0);
    let mut unknown = TcpStream::connect(&served.address).unwrap();
    unknown.set_read_timeout(Some(SOON)).unwrap();
    wait_until(SOON, "the connection is closed", || {
        matches!(unknown.read(&mut [0; 1]), Ok(0) | Err(_)).then_some(())
    });
    known.write_all(request.as_bytes()).unwrap();
    let count = known.read(&mut answer).unwrap();
    assert!(answer[..count].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer[..count]));
}

/// Returns the status of a response whose body may not end.
fn status(mut response: TcpStream) -> String {
    let mut line = [0; 12];
    let _ = response.read_exact(&mut line);
    String::from_utf8_lossy(&line[9..]).into_owned()
}

#[test]
fn streams_that_nobody_reads_keep_nobody_out() {
    let home = home();
    let served = Served::new(&home);
    let id = home.start("yes a line of a chatty task | head -c 64000000; exec sleep 600");
    let open = |number: usize| match number % 2 {
        0 => served.send("GET", "/api/v1/events", &[], ""),
        _ => served.send("GET", &format!("/api/v1/tasks/{id}/output/stream"), &[], ""),
    };
    let streams: Vec<_> = (0..520).map(open).collect();
    wait_until(SOON, "another stream is refused", || (status(open(0)) == "503").then_some(()));
    assert_eq!(served.get("/tasks")["total"], 1);
    drop(streams);
    wait_until(SOON, "there is room for a stream again", || (status(open(0)) == "200").then_some(()));
}
