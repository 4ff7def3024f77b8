//! Tests of the library as a host uses it.
//!
//! The tests run real processes with the executables of `mw-cli`. A build of the whole workspace puts them next to the
//! tests.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod aio;
mod draft;
mod durations;
mod face;
mod fork_server;
mod handle;
mod killed_host;
mod lazy;
mod limits;
mod log_names;
mod notices;
mod paging;
mod queue;
mod reassign;
mod requests;
mod retention;
mod subscription;
mod threads;
mod waiting;
mod world;
