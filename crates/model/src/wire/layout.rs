//! Names of the files in a task's directory.

/// What to run; written once.
pub const SPEC_FILE: &str = "spec.json";
/// The record as co-cli lays it out: a view, rewritten atomically.
pub const METADATA_FILE: &str = "metadata.json";
/// Everything the task printed.
pub const LOG_FILE: &str = "output.log";
/// Which stream printed which part of the log, and when.
pub const INDEX_FILE: &str = "output.idx";
/// What the supervisor saw, one JSON line each; locked by it for as long as it lives.
pub const JOURNAL_FILE: &str = "journal.jsonl";
/// The exit record.
pub const RESULT_FILE: &str = "result.json";
/// The supervisor's control socket.
pub const CONTROL_SOCKET: &str = "control";
/// The pipe that is the task's standard input, where it has one.
pub const STDIN_FIFO: &str = "stdin";
/// Files of earlier runs, a directory each.
pub const RUNS_DIR: &str = "runs";
