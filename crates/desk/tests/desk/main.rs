//! Tests of the desk on a real home with real processes.
//!
//! Tasks run under the executables of `mw-cli`; a build of the whole workspace puts them next to the tests.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod actions;
mod changes;
mod logs;
mod place;
mod use_of_tasks;
mod windows;
