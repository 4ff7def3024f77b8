//! Tasks in containers of Docker or Podman, over the API that both offer (version 1.41).
//!
//! `new_container` makes a container for each task. `existing` executes tasks in a running container, through a shell
//! in it, like `ssh`. `engine` is the client of the API, and `http` is its connection.

mod choose;
mod engine;
mod existing;
mod http;
mod new_container;
mod shared_files;
mod stream;

pub(crate) use choose::{backend, probe};
