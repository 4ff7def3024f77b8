//! Tests with the ports of real listeners.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mw_testkit::{Need, need_program, skip};

use super::*;

/// A child that is killed at the end of the test.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn own_pid() -> u32 {
    std::process::id()
}

fn listener(address: &str) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Starts a process that holds a socket as its standard input and does nothing.
fn holder(socket: impl Into<OwnedFd>) -> KilledOnDrop {
    KilledOnDrop(Command::new("sleep").arg("600").stdin(Stdio::from(socket.into())).spawn().unwrap())
}

/// Waits until exactly these processes hold a port. A child that another test starts has our descriptors for a
/// moment.
fn assert_holders(port: u16, expected: &[u32]) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while holders_of_port(port) != expected {
        assert!(Instant::now() < deadline, "{:?} hold port {port}", holders_of_port(port));
        std::thread::yield_now();
    }
}

#[test]
fn listeners_are_reported_with_their_addresses() {
    let (_one, narrow) = listener("127.0.0.1:0");
    let (_two, wide) = listener("0.0.0.0:0");
    let found = listening_ports(&[own_pid()]);
    assert!(found.contains(&narrow) && found.contains(&wide), "{found:?}");
    assert!(found.is_sorted());
}

#[test]
fn ipv6_listeners_are_reported() {
    let listener = TcpListener::bind("[::1]:0").unwrap_or_else(|error| skip(Need::Ipv6, &error.to_string()));
    let address = listener.local_addr().unwrap();
    assert!(listening_ports(&[own_pid()]).contains(&address));
    assert_holders(address.port(), &[own_pid()]);
}

#[test]
fn connections_and_udp_sockets_are_not_reported_as_listeners() {
    let (listener, address) = listener("127.0.0.1:0");
    let client = TcpStream::connect(address).unwrap();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (_accepted, _) = listener.accept().unwrap();
    drop(listener);
    let found = listening_ports(&[own_pid()]);
    assert!(!found.contains(&address), "{found:?}");
    assert!(!found.contains(&client.local_addr().unwrap()), "{found:?}");
    assert!(!found.contains(&datagrams.local_addr().unwrap()), "{found:?}");
}

#[test]
fn a_shared_socket_belongs_to_every_process_that_holds_it() {
    let (listener, address) = listener("127.0.0.1:0");
    let first = holder(listener.try_clone().unwrap());
    let second = holder(listener);
    let mut both = [first.0.id(), second.0.id()];
    both.sort_unstable();
    assert_eq!(listening_ports(&[first.0.id()]), [address]);
    assert_eq!(listening_ports(&both), [address]);
    assert_holders(address.port(), &both);
    assert!(!listening_ports(&[own_pid()]).contains(&address));
    drop((first, second));
    assert_holders(address.port(), &[]);
}

#[test]
fn exited_and_unknown_processes_are_skipped() {
    let (listener, address) = listener("127.0.0.1:0");
    let held = holder(listener);
    let mut ended = KilledOnDrop(Command::new("true").stdout(Stdio::piped()).spawn().unwrap());
    // The pipe closes when the process exits. It is a zombie until it is waited for.
    let mut out = BufReader::new(ended.0.stdout.take().unwrap());
    assert_eq!(out.read_line(&mut String::new()).unwrap(), 0);
    assert_eq!(listening_ports(&[u32::MAX, ended.0.id(), held.0.id()]), [address]);
    assert_eq!(listening_ports(&[ended.0.id(), u32::MAX, 0]), []);
    assert_eq!(listening_ports(&[]), []);
}

#[test]
#[ignore = "a helper of the next test, which runs it in a separate network namespace"]
fn listens_until_it_is_killed() {
    let Ok(wanted) = std::env::var("MW_TEST_PORT") else {
        return;
    };
    let (_listener, address) = listener(&format!("0.0.0.0:{wanted}"));
    println!("\nlistening {}", address.port());
    _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn ports_are_looked_up_in_the_network_namespace_of_each_process() {
    need_program("unshare");
    let (_ours, address) = listener("127.0.0.1:0");
    let port = address.port();
    let (_crate, here) = module_path!().split_once("::").unwrap();
    let helper = format!("{here}::listens_until_it_is_killed");
    let child = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &helper, "--ignored", "--nocapture"])
        .env("MW_TEST_PORT", port.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = KilledOnDrop(child.unwrap());
    let mut out = BufReader::new(child.0.stdout.take().unwrap()).lines();
    if !out.by_ref().map_while(Result::ok).any(|line| line == format!("listening {port}")) {
        drop(child);
        skip(Need::OwnNetwork, "a network namespace cannot be created");
    }
    let theirs = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    assert_eq!(listening_ports(&[child.0.id()]), [theirs]);
    let both = listening_ports(&[own_pid(), child.0.id()]);
    assert!(both.contains(&theirs) && both.contains(&address), "{both:?}");
    assert_holders(port, &[own_pid()]);
}

#[test]
fn rows_of_proc_net_tcp_are_parsed_and_invalid_rows_are_rejected() {
    let rest = "00000000:00000000 00:00000000 00000000     0        0 4242 1 0000000000000000 100 0 0 10 0";
    let four = u32::from_ne_bytes([127, 0, 0, 1]);
    let line = format!("   0: {four:08X}:1F90 00000000:0000 0A {rest}");
    assert_eq!(row(&line), Some(Row::Listener(4242, "127.0.0.1:8080".parse().unwrap())));
    let mapped = u32::from_ne_bytes([0, 0, 0xff, 0xff]);
    let line = format!("1: 0000000000000000{mapped:08X}{four:08X}:1F90 {:032X}:0000 0A {rest}", 0);
    assert_eq!(row(&line), Some(Row::Listener(4242, "127.0.0.1:8080".parse().unwrap())));
    assert_eq!(row(&line.replace(" 0A ", " 01 ")), Some(Row::Connection));
    assert_eq!(row(&line.replace(" 0A ", " 07 ")), Some(Row::Closed));
    for bad in ["", "0: x:y z 0A", "0: 7F:1F90 0:0 0A 0 0 0 0 0 1", "0: éééé:1F90 0:0 0A 0 0 0 0 0 1"] {
        assert_eq!(row(bad), None, "{bad}");
    }
}
