//! Names of the files in a home and in a task's directory.

/// In the home: a directory for each task.
pub const TASKS_DIR: &str = "tasks";
/// In the home: a directory for each session.
pub const SESSIONS_DIR: &str = "sessions";
/// In the home: the ids of tasks that are not in the database yet, a line each.
pub const ARRIVALS_FILE: &str = "arrivals";
/// In the home: there while tasks wait for a slot.
pub const WAITING_FILE: &str = "waiting";
/// In the home: locked by the one who takes many arrivals in.
pub const SETTLING_FILE: &str = "settling";
/// In a session's directory: what the names of files begin with that hosts hold locked; their pid is inside.
pub const HOST_PREFIX: &str = "host-";
/// The same for the servers of a session's tools.
pub const SERVER_PREFIX: &str = "server-";
/// In a session's directory: since when it has had no host, in microseconds since 1970, once one has gone.
pub const NO_HOST_FILE: &str = "no-host";
/// The same for hosts and servers together.
pub const NO_SERVER_FILE: &str = "no-server";
/// In the home: a socket for everybody who wants to hear of changes.
pub const BELLS_DIR: &str = "bells";

/// What to run; written once.
pub const SPEC_FILE: &str = "spec.json";
/// The record as co-cli lays it out: a view, rewritten atomically.
pub const METADATA_FILE: &str = "metadata.json";
/// The span of the present or last run, for tools that look for it there.
pub const SPAN_FILE: &str = "span_id.txt";
/// The name of every supervisor in the process table, whatever its executable is called. At most 15 bytes.
pub const SUPERVISOR_NAME: &str = "mw-supervisor";
/// Everything the task printed.
pub const LOG_FILE: &str = "output.log";
/// Which stream printed which part of the log, and when.
pub const INDEX_FILE: &str = "output.idx";
/// What the supervisor saw, one JSON line each; locked by it for as long as it lives.
pub const JOURNAL_FILE: &str = "journal.jsonl";
/// The exit record.
pub const RESULT_FILE: &str = "result.json";
/// The last run whose end the owner was told of.
pub const TOLD_FILE: &str = "told";
/// What else the owner was told of: a line per stall and readiness.
pub const TOLD_NEWS_FILE: &str = "told.news";
/// The supervisor's control socket.
pub const CONTROL_SOCKET: &str = "control";
/// The pipe that is the task's standard input, where it has one.
pub const STDIN_FIFO: &str = "stdin";
/// The pipe on which the task tells its progress, where it has one.
pub const PROGRESS_FIFO: &str = "progress";
/// What an agent was asked and has answered, turn by turn.
pub const AGENT_FILE: &str = "agent.json";
/// What an agent is doing.
pub const ACTIVITY_FILE: &str = "activity.json";
/// Everything an agent sent, one JSON line each.
pub const TRANSCRIPT_FILE: &str = "transcript.jsonl";
/// What an agent changed in a worktree of its own.
pub const DIFF_FILE: &str = "changes.diff";
/// Where an agent that cannot reload its session is reached while it lingers.
pub const AGENT_SOCKET: &str = "agent.sock";
/// Messages that follow a finished agent's answer: a file for each run, named by its number.
pub const FOLLOW_UPS_DIR: &str = "follow-ups";
/// Files of earlier runs, a directory each.
pub const RUNS_DIR: &str = "runs";
