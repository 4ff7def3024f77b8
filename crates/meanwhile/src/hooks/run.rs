//! Running one hook.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mw_model::DEFAULT_SHELL;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;

use super::Hooks;
use super::events::UserHookCall;
use crate::disk::names::{HOOKS_LOG_FILE, OLD_HOOKS_LOG_FILE};
use crate::disk::platform;
use crate::settings::HookSettings;
use crate::variables::HOOK_RUN_VARIABLE;

/// The log of hooks is restarted beyond this size.
const LONGEST_LOG: u64 = 1 << 20;

impl Hooks<'_> {
    pub(super) fn run_hooks(&self, call: &UserHookCall) {
        let hooks = &self.base.settings.hooks;
        let own = call.hook.command(hooks).cloned();
        // The order is part of the documentation: desktop, webhook, command.
        let shown = hooks.desktop && call.hook.is_shown();
        let desktop = shown.then(|| "notify-send -- meanwhile \"$MEANWHILE_SUMMARY\"".to_owned());
        let webhook = hooks.webhook.as_ref().map(|_| {
            "curl --silent --show-error --fail --header 'content-type: application/json' --data-binary @- -- \"$MEANWHILE_WEBHOOK\""
                .to_owned()
        });
        for command in [desktop, webhook, own].into_iter().flatten() {
            if let Err(error) = self.run_hook(&command, call) {
                self.log_failure(call, &command, &error.to_string());
            }
        }
    }

    fn run_hook(&self, command: &str, call: &UserHookCall) -> io::Result<()> {
        let hooks: &HookSettings = &self.base.settings.hooks;
        let number = u64::from_le_bytes(platform::random_bytes()?);
        let mark = format!("{number:016x}");
        let mut child = Command::new(DEFAULT_SHELL)
            .args(["-c", command])
            .env("MEANWHILE_HOOK", call.hook.word())
            .env(HOOK_RUN_VARIABLE, &mark)
            .env("MEANWHILE_SUMMARY", &call.summary)
            .env("MEANWHILE_WEBHOOK", hooks.webhook.as_deref().unwrap_or_default())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            let payload = format!("{}\n", call.payload);
            // A hook that does not read its input is not a failure, and must not block this process.
            thread::spawn(move || stdin.write_all(payload.as_bytes()));
        }
        let status = wait_at_most(child, &mark, hooks.timeout)?;
        match status.code() {
            Some(0) => Ok(()),
            Some(126) => Err(io::Error::other(format!("cannot execute it ({status})"))),
            Some(127) => Err(io::Error::other(format!("program not found ({status})"))),
            _ => Err(io::Error::other(status.to_string())),
        }
    }

    fn log_failure(&self, call: &UserHookCall, command: &str, error: &str) {
        let path = self.base.home.root().join(HOOKS_LOG_FILE);
        if std::fs::metadata(&path).is_ok_and(|found| found.len() > LONGEST_LOG) {
            let _ = std::fs::rename(&path, path.with_file_name(OLD_HOOKS_LOG_FILE));
        }
        let line = json!({"at": self.base.clock.now(), "hook": call.hook.word(), "task": call.payload["taskId"], "command": command, "error": error});
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let _ = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    }
}

/// Waits for a hook. On timeout, kills it and all processes it started, whatever their process group.
fn wait_at_most(mut child: Child, mark: &str, longest: Duration) -> io::Result<ExitStatus> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (sender, ended) = mpsc::channel();
    let waiting = thread::spawn(move || sender.send(child.wait()));
    let outcome = ended.recv_timeout(longest).unwrap_or_else(|_| {
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        platform::kill_marked(&format!("{HOOK_RUN_VARIABLE}={mark}"));
        Err(io::Error::new(io::ErrorKind::TimedOut, format!("it took longer than {longest:?}")))
    });
    // The hook is dead by now.
    let _ = waiting.join();
    outcome
}
