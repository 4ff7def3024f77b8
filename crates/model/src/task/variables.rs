//! Environment variables that every task gets.

/// Holds the id of the task. It also marks all processes of the task.
pub const TASK_VARIABLE: &str = "MEANWHILE_TASK_ID";
/// Holds the session of the task.
pub const SESSION_VARIABLE: &str = "MEANWHILE_TASK_SESSION";
/// Holds the path of the socket on which a confined task may call the tools of its session.
pub const CALLS_VARIABLE: &str = "MEANWHILE_CALLS";
/// Holds the descriptor on which the task may report progress, if it has one.
pub const PROGRESS_VARIABLE: &str = "MEANWHILE_PROGRESS_FD";
