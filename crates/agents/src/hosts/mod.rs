//! The hosts in which `mw` runs, one file each: its configuration files and entries, its hooks, and how it identifies its
//! session.
//!
//! `host` defines the description of a host, and `list` has all of them. `setup` plans and writes a host's files, `hook`
//! answers its hooks, `wake` wakes its idle agent, and `session` decides to which session its server and its hooks belong.
//! To add a host, write its file and add it to the list.

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod goose;
mod hook;
mod host;
mod list;
mod opencode;
mod session;
mod setup;
mod vscode;
mod wake;
mod zed;

pub use hook::{HookCall, HookMoment, Hooks};
pub use host::{AgentHost, SetupScope, Surroundings};
pub use list::{HOSTS, hosts_with_setup};
pub use session::{HostSession, SessionEvidence, session_of};
pub use setup::{FileChange, Installed, RequestedChange, SetupError, lasting_path};
pub use wake::{DeliverError, WakeSignal, deliver};
