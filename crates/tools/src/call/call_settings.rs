//! The settings of a session's calls.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use meanwhile::engine::{Clock as _, Policy, Runtime, SystemClock};
use meanwhile::settings::AtCapacity;
use mw_model::{DEFAULT_SHELL, EnvVar, Lifetime, Limits, RawText, context_stamp};

use crate::delegation::AgentSettings;

/// The default of [`CallSettings::reply_bytes`].
pub const REPLY_BYTES: u64 = 8 << 10;
/// The default of [`CallSettings::stream_bytes`].
pub const STREAM_BYTES: u64 = 1 << 20;
/// The default of [`CallSettings::longest_call`], and its maximum.
pub const LONGEST_CALL_MS: u64 = 240_000;

/// The settings for all calls of a session.
#[derive(Clone)]
pub struct CallSettings {
    /// The session that owns the tasks.
    pub session: String,
    /// The default working directory of commands.
    pub cwd: PathBuf,
    /// The environment of commands.
    pub env: Vec<EnvVar>,
    /// The file mode creation mask of commands.
    pub umask: u32,
    /// The shell that runs scripts.
    pub shell: RawText,
    /// The default limits of tasks.
    pub limits: Limits,
    /// Whether tasks end with their session.
    pub lifetime: Lifetime,
    /// Whether the session ends with its client.
    pub session_end: SessionEnd,
    /// What a start does when no slot is free.
    pub at_capacity: AtCapacity,
    /// The start time of this context in the format of zidane's log names: `20260523-024147-123`.
    pub context_stamp: String,
    /// The maximum size of the output in one reply, in bytes.
    pub reply_bytes: u64,
    /// How many of the last bytes of a stream `bg_output` reads. 0 means all.
    pub stream_bytes: u64,
    /// The maximum time that a call may block.
    pub longest_call: Duration,
    /// Whether background tasks are offered.
    pub background: Background,
    /// The other agents that are available, if any.
    pub agents: Option<Arc<AgentSettings>>,
    /// The policy that decides about calls.
    pub policy: Policy,
}

impl CallSettings {
    /// Creates the default settings for a directory and an environment, as `mw mcp` uses them.
    #[must_use]
    pub fn new(session: impl Into<String>, cwd: PathBuf, env: Vec<EnvVar>) -> Self {
        Self {
            session: session.into(),
            cwd,
            env,
            umask: 0o022,
            shell: DEFAULT_SHELL.into(),
            limits: Limits::default(),
            lifetime: Lifetime::Session,
            session_end: SessionEnd::Keep,
            at_capacity: AtCapacity::Queue,
            context_stamp: context_stamp(SystemClock.now()),
            reply_bytes: REPLY_BYTES,
            stream_bytes: STREAM_BYTES,
            longest_call: Duration::from_millis(LONGEST_CALL_MS),
            background: Background::On,
            agents: None,
            policy: Policy::default(),
        }
    }

    /// Returns the settings of a call that begins now. The host of the session may have set the approval mode, and may change it.
    ///
    /// # Errors
    /// When the policy of the session cannot be read.
    pub fn in_mode_of_session(mut self, runtime: &Runtime) -> Result<Self, meanwhile::Error> {
        if let Some(session_policy) = runtime.approvals().session_policy(&self.session)? {
            self.policy.mode = session_policy.mode_beside(self.policy.mode);
        }
        Ok(self)
    }

    /// Returns the lifetime of tasks that are started with these settings.
    #[must_use]
    pub fn lifetime_of_starts(&self, runtime: &Runtime) -> Lifetime {
        match self.lifetime {
            Lifetime::Session => match self.session_end.lifetime() {
                Lifetime::Session if !runtime.sessions().is_hosted(&self.session) => Lifetime::Kept,
                lifetime => lifetime,
            },
            lifetime => lifetime,
        }
    }
}

/// What happens to a session when its client disconnects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The session and its tasks continue.
    Keep,
    /// The session and its tasks end after a grace period, unless a client reconnects.
    Kill,
}

impl SessionEnd {
    /// Returns the lifetime of a task that ends with its session.
    #[must_use]
    pub const fn lifetime(self) -> Lifetime {
        match self {
            Self::Keep => Lifetime::Session,
            Self::Kill => Lifetime::Client,
        }
    }
}

/// Whether background tasks are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Background {
    /// Background tasks are offered.
    On,
    /// Background tasks are not offered. Neither schemas nor descriptions mention them.
    Off,
}
