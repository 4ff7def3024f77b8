//! The settings of tool calls, for the crate `mw-tools`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use meanwhile::engine::model::{context_stamp, is_context_stamp};
use meanwhile::engine::{Clock, SessionPolicy, SystemClock};
use meanwhile::policy::Mode;
use mw_tools::call::{Background, CallSettings};

use super::Config;
use crate::approval::bound;
use crate::arguments::environment::environment;
use crate::error::CommandError;

/// The minimum size of a reply, even if the setting is smaller.
const LEAST_REPLY: u64 = 256;

/// Returns the settings of tool calls in a directory, in the given mode or else that of the settings. `enclosing` is the
/// policy of the session in whose task this process runs, if any. The caller sets the session and reads the umask while
/// there is one thread.
///
/// # Errors
/// When the settings, the policy or the environment cannot be used.
pub(crate) fn call_settings(
    config: &Config,
    cwd: PathBuf,
    mode: Option<Mode>,
    umask: u32,
    enclosing: Option<&SessionPolicy>,
) -> Result<CallSettings, CommandError> {
    let mut policy = config.decides_by()?;
    policy.mode = mode.unwrap_or(policy.mode);
    policy.stay_in_project_of(&cwd);
    if let Some(session_policy) = enclosing {
        policy = bound(session_policy, &policy)?;
    }
    Ok(CallSettings {
        session: String::new(),
        cwd,
        env: environment(&[])?,
        umask,
        shell: config.shell.as_str().into(),
        limits: config.settings.limits.clone(),
        at_capacity: config.settings.queue.at_capacity,
        lifetime: config.lifetime(),
        session_end: config.session_end,
        context_stamp: given_context().unwrap_or_else(|| context_stamp(SystemClock.now())),
        reply_bytes: config.tools.reply_bytes.max(LEAST_REPLY),
        stream_bytes: config.tools.stream_bytes,
        longest_call: Duration::from_millis(config.tools.longest_call_ms),
        background: if config.tools.no_background { Background::Off } else { Background::On },
        policy,
        agents: Some(Arc::new(config.agent_settings()?)),
    })
}

/// Returns the context in which a host numbers the tasks of its conversation, if given.
fn given_context() -> Option<String> {
    std::env::var("MEANWHILE_CONTEXT").ok().filter(|context| is_context_stamp(context))
}
