//! Listens on the sockets of the sessions that this process serves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use meanwhile::engine::{CallSocket, Runtime};
use meanwhile::{Error, Meanwhile};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};

use super::connection::{Answering, refuse};
use crate::call::CallSettings;

/// The maximum number of connections of a session at a time.
const MOST_CONNECTIONS: usize = 16;

/// The time after which accepting is tried again if it has failed, because descriptors or memory are short.
const PAUSE: Duration = Duration::from_millis(100);

/// Returns the settings of a session's calls, as they are now.
pub(super) type SettingsNow = dyn Fn(&Runtime) -> Result<CallSettings, Error> + Send + Sync;

/// The sessions whose confined tasks this process answers.
#[derive(Default)]
pub struct TaskCalls(Mutex<HashMap<String, Held>>);

/// A socket that a thread listens on, until this is dropped.
struct Held {
    socket: Arc<CallSocket>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = shutdown(self.socket.listener(), Shutdown::Both);
        // Then this is the last that holds the socket.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl TaskCalls {
    /// Answers the confined tasks of a session from now on, unless another process does. Call it again at each call of the
    /// session: it takes over from a process that has ended. If the socket cannot be made, these tasks cannot use `mw`.
    pub fn hold(
        &self,
        home: &Meanwhile,
        session: &str,
        settings: impl Fn(&Runtime) -> Result<CallSettings, Error> + Send + Sync + 'static,
    ) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.contains_key(session) {
            return;
        }
        let listen = |runtime: &Runtime| Ok(runtime.sessions().listen_for_calls(session).ok().flatten());
        let Ok(Some(socket)) = home.with(listen) else { return };
        let socket = Arc::new(socket);
        let answering = Arc::new(Answering {
            home: home.clone(),
            session: session.to_owned(),
            settings: Box::new(settings),
        });
        let listening = Arc::clone(&socket);
        if let Ok(thread) = thread::Builder::new().spawn(move || accept(&listening, &answering)) {
            held.insert(session.to_owned(), Held { socket, thread: Some(thread) });
        }
    }

    /// Stops answering the tasks of a session.
    pub fn leave(&self, session: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }
}

/// A connection that is being answered. It counts until this is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn accept(socket: &CallSocket, answering: &Arc<Answering>) {
    let connections = Arc::new(AtomicUsize::new(0));
    loop {
        match socket.listener().accept() {
            Ok((stream, _)) => {
                let before = connections.fetch_add(1, Ordering::AcqRel);
                let counted = Counted(Arc::clone(&connections));
                if before >= MOST_CONNECTIONS {
                    refuse(stream, "busy", "too many calls of tasks at a time; try again later");
                    continue;
                }
                let answering = Arc::clone(answering);
                let answer = move || {
                    answering.answer(stream);
                    drop(counted);
                };
                // Without a thread the connection is closed.
                let _ = thread::Builder::new().spawn(answer);
            }
            // It was shut down.
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => return,
            Err(_) => thread::sleep(PAUSE),
        }
    }
}
