//! The hosts that we live in, one file each: where its files are and what is put into them, how its hooks ask, and how it
//! says which session is asking.
//!
//! `host` is what a host is made of, `list` has all of them. `setup` plans and writes a host's files, `hook` answers its
//! hooks, and `session` decides which session its server and its hooks belong to. To add a host, write its file and put
//! it into the list.

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
mod zed;

pub use hook::{HookCall, HookMoment, Hooks};
pub use host::{Host, Scope, Surroundings};
pub use list::HOSTS;
pub use session::{Clues, HostSession, session_of};
pub use setup::{FileChange, Installed, SetupError, Wish, lasting_path};
