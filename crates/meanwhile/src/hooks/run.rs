//! Running one hook.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

use serde_json::json;

use super::Hooks;
use super::events::UserHookCall;
use crate::disk::names::{HOOKS_LOG_FILE, OLD_HOOKS_LOG_FILE};
use crate::launch::before::{HOOK_VARIABLE, SUMMARY_VARIABLE};
use crate::launch::user_command::UserCommand;
use crate::settings::HookSettings;

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
        let hook = UserCommand {
            script: command,
            variables: &[
                (HOOK_VARIABLE, call.hook.word()),
                (SUMMARY_VARIABLE, &call.summary),
                ("MEANWHILE_WEBHOOK", hooks.webhook.as_deref().unwrap_or_default()),
            ],
            input: format!("{}\n", call.payload),
            timeout: hooks.timeout,
        };
        let status = hook.run()?;
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
