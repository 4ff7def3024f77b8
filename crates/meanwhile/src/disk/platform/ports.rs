//! The TCP ports that processes listen on, and the processes that listen on a port.
//!
//! The kernel has no call for this. It lists the listeners of a network namespace with the inode of each socket
//! (`/proc/<pid>/net/tcp` and `tcp6`), and the descriptors of a process as links that name inodes (`/proc/<pid>/fd`).
//! The lists are read once for each namespace of the processes, up to the first connection. Descriptors are read only
//! if there is a listener, and only until every listener has its holder.
//!
//! Anything that cannot be read is skipped: a process that has ended, a process of another user, a socket that only a
//! thread with its own descriptor table holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::fs::{Dir, Mode, OFlags, open, readlinkat};

use super::tree::pids;

/// The state of a listening socket in the kernel's list.
const LISTEN: &str = "0A";
/// The state of a socket that stopped listening while the list was read. It may still be among the listeners.
const CLOSE: &str = "07";

/// Returns the addresses that these processes listen on, sorted, each once.
///
/// Each process is inspected in its own network namespace. A socket that several processes hold is listed once.
pub(crate) fn listening_ports(pids: &[u32]) -> Vec<SocketAddr> {
    let mut listeners = BTreeMap::new();
    let mut namespaces = BTreeSet::new();
    for pid in pids {
        // If the link cannot be read, neither can the rest of the process.
        let Ok(namespace) = fs::read_link(format!("/proc/{pid}/ns/net")) else {
            continue;
        };
        if !namespaces.contains(&namespace) && collect_listeners(&pid.to_string(), &mut listeners) {
            namespaces.insert(namespace);
        }
    }
    let mut found = BTreeSet::new();
    for pid in pids {
        if listeners.is_empty() {
            break;
        }
        each_socket(*pid, |inode| found.extend(listeners.remove(&inode)));
    }
    found.into_iter().collect()
}

/// Returns the processes that hold a listener on a port in our network namespace, by process id.
///
/// There are several if a server passed its socket to workers.
pub(crate) fn holders_of_port(port: u16) -> Vec<u32> {
    let mut listeners = BTreeMap::new();
    collect_listeners("self", &mut listeners);
    listeners.retain(|_, address| address.port() == port);
    if listeners.is_empty() {
        return Vec::new();
    }
    let holds = |pid: &u32| {
        let mut held = false;
        each_socket(*pid, |inode| held |= listeners.contains_key(&inode));
        held
    };
    let mut found: Vec<u32> = pids().into_iter().flatten().filter(holds).collect();
    found.sort_unstable();
    found
}

/// Adds the listeners of a process's network namespace, by inode. Returns whether they could be read.
fn collect_listeners(process: &str, listeners: &mut BTreeMap<u64, SocketAddr>) -> bool {
    let mut complete = false;
    for name in ["tcp", "tcp6"] {
        // A system without IPv6 has only one of the two files.
        let Ok(file) = File::open(format!("/proc/{process}/net/{name}")) else {
            continue;
        };
        complete = true;
        for line in BufReader::new(file).lines().map_while(Result::ok).skip(1) {
            match row(&line) {
                Some(Row::Listener(inode, address)) => _ = listeners.insert(inode, address),
                Some(Row::Closed) | None => {}
                // Listeners come first; many thousands of connections may follow.
                Some(Row::Connection) => break,
            }
        }
    }
    complete
}

/// A row of the kernel's list.
#[derive(Debug, PartialEq, Eq)]
enum Row {
    Listener(u64, SocketAddr),
    Closed,
    Connection,
}

/// Reads `0: 0100007F:1F90 00000000:0000 0A … inode …`.
fn row(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split_whitespace().take(10).collect();
    let [_, local, _, state, .., inode] = fields.as_slice() else {
        return None;
    };
    match *state {
        LISTEN if fields.len() == 10 => Some(Row::Listener(inode.parse().ok()?, address(local)?)),
        LISTEN => None,
        CLOSE => Some(Row::Closed),
        _ => Some(Row::Connection),
    }
}

/// Reads `0100007F:1F90`: words of 32 bits in the machine's own byte order, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = [0; 16];
    if !host.is_ascii() || host.len() > 32 {
        return None;
    }
    for (at, word) in (0..host.len()).step_by(8).enumerate() {
        let word = u32::from_str_radix(host.get(word..word + 8)?, 16).ok()?;
        bytes[at * 4..][..4].copy_from_slice(&word.to_ne_bytes());
    }
    let host: IpAddr = match host.len() {
        8 => Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into(),
        // An IPv4-mapped IPv6 address is shown as IPv4.
        32 => Ipv6Addr::from(bytes).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(host, port))
}

/// Calls `take` with the inode of each socket that a process holds.
fn each_socket(pid: u32, mut take: impl FnMut(u64)) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(mut directory) = open(format!("/proc/{pid}/fd"), flags, Mode::empty()).and_then(Dir::new) else {
        return;
    };
    let mut buffer = Vec::new();
    while let Some(Ok(entry)) = directory.read() {
        let Ok(at) = directory.fd() else {
            return;
        };
        // A descriptor may be closed between the two calls.
        let Ok(link) = readlinkat(at, entry.file_name(), std::mem::take(&mut buffer)) else {
            continue;
        };
        if let Some(inode) = socket_inode(link.as_bytes()) {
            take(inode);
        }
        buffer = link.into_bytes();
    }
}

/// Reads `socket:[12345]`.
fn socket_inode(link: &[u8]) -> Option<u64> {
    let number = link.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
#[path = "ports_tests.rs"]
mod tests;
