//! `ssh` processes.

use std::fs::{self, DirBuilder};
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mw_model::SshPlace;

use crate::error::{PlaceError, Result};
use crate::far::{Connection, Transport};

/// How much of `ssh`'s messages is kept.
const MAX_MESSAGES: usize = 4096;

/// How long to wait for its last message.
const MESSAGES_TIMEOUT: Duration = Duration::from_millis(300);

/// Starts `ssh` processes for one destination.
pub(crate) struct SshClient {
    words: Vec<String>,
    /// The directory with the socket over which the connections of one driver share one login.
    own_directory: Option<PathBuf>,
}

impl SshClient {
    /// Prepares the command line. Connections with the same `owner` share one login.
    pub(crate) fn new(place: &SshPlace, owner: Option<&str>) -> Self {
        let mut words = vec!["-T".to_owned()];
        words.extend(place.options.iter().cloned());
        let has_master = has_own_master(&words, &place.host);
        let own_directory = owner.filter(|_| !has_master).and_then(private_directory);
        let mut set = |option: &str| words.extend(["-o".to_owned(), option.to_owned()]);
        // Nobody can answer questions, and a lost connection must be noticed.
        set("BatchMode=yes");
        set("ConnectTimeout=15");
        set("ServerAliveInterval=10");
        set("ServerAliveCountMax=3");
        // Our connections use the user's master, but never become one: it would end with the task.
        set("ControlPersist=no");
        match &own_directory {
            Some(directory) => {
                set("ControlMaster=auto");
                set(&format!("ControlPath={}/s", directory.display()));
            }
            None => set("ControlMaster=no"),
        }
        words.extend(["--", &place.host, "exec", "/bin/sh", "-s"].map(str::to_owned));
        Self { words, own_directory }
    }
}

/// Makes a directory that only this user can enter. In a directory for all users, another user could make the socket first,
/// and would then receive the scripts. The path of a socket must be short.
fn private_directory(owner: &str) -> Option<PathBuf> {
    const ATTEMPTS: u32 = 100;
    let path =
        |attempt| std::env::temp_dir().join(format!("mw-ssh-{}-{owner}-{attempt}", std::process::id()));
    (0..ATTEMPTS).map(path).find(|path| DirBuilder::new().mode(0o700).create(path).is_ok())
}

/// Returns whether the user's configuration has a path for the sockets of shared connections.
fn has_own_master(words: &[String], host: &str) -> bool {
    let output = Command::new("ssh").arg("-G").args(words).args(["--", host]).stderr(Stdio::null()).output();
    let printed =
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    printed.lines().any(|line| line.strip_prefix("controlpath ").is_some_and(|path| path != "none"))
}

impl Drop for SshClient {
    fn drop(&mut self) {
        if let Some(directory) = &self.own_directory {
            let _ = fs::remove_dir_all(directory);
        }
    }
}

impl Transport for SshClient {
    fn open(&self) -> Result<Connection> {
        let spawned = Command::new("ssh")
            .args(&self.words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child =
            spawned.map_err(|error| PlaceError::Unreachable(format!("cannot run ssh: {error}")))?;
        let messages = Arc::new(Mutex::new(String::new()));
        let (Some(input), Some(output), Some(mut errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(PlaceError::Unreachable("ssh has no streams".to_owned()));
        };
        let child = SshGuard(child);
        let kept = Arc::clone(&messages);
        let read = move || {
            let mut bytes = [0; 1024];
            while let Ok(count) = errors.read(&mut bytes)
                && count > 0
            {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() < MAX_MESSAGES {
                    kept.push_str(&String::from_utf8_lossy(&bytes[..count]));
                }
            }
        };
        let reader = thread::Builder::new().spawn(read).map_err(|error| PlaceError::no_thread(&error))?;
        let diagnosis = move || {
            // If the process has ended, the rest of its messages comes at once.
            let deadline = Instant::now() + MESSAGES_TIMEOUT;
            while !reader.is_finished() && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(5));
            }
            let kept = messages.lock().unwrap_or_else(PoisonError::into_inner);
            let line = kept.lines().map(str::trim).rfind(|line| !line.is_empty())?;
            Some(format!("ssh: {}", line.trim_start_matches("ssh: ")))
        };
        Ok(Connection {
            input: Box::new(input) as Box<dyn Write + Send>,
            output: Box::new(output),
            diagnosis: Box::new(diagnosis),
            _guard: Box::new(child),
        })
    }
}

/// A process that ends when this is dropped.
struct SshGuard(Child);

impl Drop for SshGuard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
