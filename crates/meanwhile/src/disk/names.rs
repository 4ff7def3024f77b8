//! Names of files that only clients use. Those that supervisors know are in [`mw_model::wire`].

/// In the home: the database.
pub(crate) const DATABASE_FILE: &str = "meanwhile.db";
/// In the home: prefix of a damaged database that was set aside.
pub(crate) const SET_ASIDE_PREFIX: &str = "meanwhile.db.damaged-";
/// In the home: a copy of the database while it is checked.
pub(crate) const CHECK_DIR: &str = "checking";
/// In the home: the slots over all sessions.
pub(crate) const SLOTS_DIR: &str = "slots";
/// In the home: locked by the process that sleeps until the next task is due.
pub(crate) const ALARM_FILE: &str = "alarm";
/// In the home: the socket on which that process is woken.
pub(crate) const ALARM_BELL_FILE: &str = "alarm.bell";
/// In the home: locked by the process that exports spans.
pub(crate) const EXPORT_LOCK_FILE: &str = "exporting";
/// In the home: locked by the process that runs hooks.
pub(crate) const HOOKS_LOCK_FILE: &str = "hooks.lock";
/// In the home: failures of hooks.
pub const HOOKS_LOG_FILE: &str = "hooks.log";
/// In the home: earlier failures of hooks.
pub(crate) const OLD_HOOKS_LOG_FILE: &str = "hooks.log.old";
/// In the home: how far the kernel can confine commands.
pub(crate) const CONFINEMENT_FILE: &str = "confinement.json";
/// In the home: the secret of `mw serve`.
pub const SERVE_KEY_FILE: &str = "serve.key";
/// In the home: a directory for each chat.
pub const CHATS_DIR: &str = "chats";
/// In the home: a directory for each session of the built-in agent.
pub const AGENT_SESSIONS_DIR: &str = "agent-sessions";
/// Next to the home: the directory of the sockets on which hosts answer calls of confined tasks; appended to its name.
pub(crate) const CALLS_SUFFIX: &str = ".calls";
/// In a session's directory: its policy.
pub(crate) const POLICY_FILE: &str = "house.json";
