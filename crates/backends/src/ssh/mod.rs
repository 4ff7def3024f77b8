//! Tasks on another machine, reached with OpenSSH's own client: its configuration, keys, agent and jump hosts apply.

mod backend;
mod client;

pub(crate) use backend::{SshBackend, probe};
