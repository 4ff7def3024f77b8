//! Names of the files in a home and in a task's directory.

use std::time::Duration;

/// In the home: a directory for each task.
pub const TASKS_DIR: &str = "tasks";
/// In the home: a directory for each session.
pub const SESSIONS_DIR: &str = "sessions";
/// In the home: the ids of tasks that are not in the database yet, one per line.
pub const ARRIVALS_FILE: &str = "arrivals";
/// In the home: exists while tasks are queued.
pub const WAITING_FILE: &str = "waiting";
/// In the home: locked by the one process that settles.
pub const SETTLING_FILE: &str = "settling";
/// In the home: more has ended since the process that settles has looked.
pub const UNSETTLED_FILE: &str = "unsettled";
/// How long the process that settles may take. After that, others no longer leave their work to it: it may be stopped.
pub const SETTLE_TIMEOUT: Duration = Duration::from_secs(5);
/// In a session's directory: prefix of the files that hosts keep locked, followed by their pid.
pub const HOST_PREFIX: &str = "host-";
/// In a session's directory: prefix of the files that servers of the session's tools keep locked.
pub const SERVER_PREFIX: &str = "server-";
/// In a session's directory: since when it has had no host, in microseconds since the epoch. Absent before a host has
/// exited.
pub const NO_HOST_FILE: &str = "no-host";
/// In a session's directory: since when it has had neither host nor server, in microseconds since the epoch.
pub const NO_SERVER_FILE: &str = "no-server";
/// In the home: a socket for each process that waits for events.
pub const BELLS_DIR: &str = "bells";

/// In the home: what the engines of back-ends have said about all their tasks.
pub const BACKENDS_DIR: &str = "backends";

/// The spec of a task; written once.
pub const SPEC_FILE: &str = "spec.json";
/// A view in co-cli's layout, replaced atomically; only for tasks of that dialect.
pub const METADATA_FILE: &str = "metadata.json";
/// The span of the current or last run; only for tasks of the dialect co-cli.
pub const SPAN_FILE: &str = "span_id.txt";
/// The name of every supervisor in the process table, whatever its executable is called. At most 15 bytes.
pub const SUPERVISOR_NAME: &str = "mw-supervisor";
/// Everything the task printed.
pub const LOG_FILE: &str = "output.log";
/// The log while a shorter one replaces it.
pub const NEW_LOG: &str = "output.log.new";
/// Which stream printed which part of the log, and when.
pub const INDEX_FILE: &str = "output.idx";
/// The journal, one JSON line per event; locked by the supervisors.
pub const JOURNAL_FILE: &str = "journal.jsonl";
/// The exit record.
pub const RESULT_FILE: &str = "result.json";
/// The last run whose end was delivered to the owner.
pub const TOLD_FILE: &str = "told";
/// Other events that were delivered to the owner: a line per stall and readiness.
pub const TOLD_NEWS_FILE: &str = "told.news";
/// The supervisor's control socket.
pub const CONTROL_SOCKET: &str = "control";
/// The pipe of the task's standard input, if it has one.
pub const STDIN_FIFO: &str = "stdin";
/// The pipe on which the task reports progress, if it has one.
pub const PROGRESS_FIFO: &str = "progress";
/// Where a task of a configured back-end runs, and how it ended there.
pub const PLACE_FILE: &str = "place.json";
/// Signals for a task of a configured back-end: a line with run and number for each.
pub const PLACE_SIGNALS_FILE: &str = "place.signals";
/// Locked by the one driver that works for a task of a configured back-end.
pub const PLACE_LOCK_FILE: &str = "place.lock";
/// An agent's prompts and answers, turn by turn.
pub const AGENT_FILE: &str = "agent.json";
/// An agent's current activity.
pub const ACTIVITY_FILE: &str = "activity.json";
/// Everything an agent sent, one JSON line each.
pub const TRANSCRIPT_FILE: &str = "transcript.jsonl";
/// The changes that an agent made in its own worktree.
pub const DIFF_FILE: &str = "changes.diff";
/// The socket of an agent that cannot reload its session and is kept alive.
pub const AGENT_SOCKET: &str = "agent.sock";
/// Follow-up messages to an agent: one file per run, named by its number.
pub const FOLLOW_UPS_DIR: &str = "follow-ups";
/// Files of earlier runs, one directory per run.
pub const RUNS_DIR: &str = "runs";
