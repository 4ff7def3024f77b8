//! Inputs of a decision, and how long an approval request stays open.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::task::ASK_MARK;
use mw_model::{CommandSpec, Grant, RawText, TaskGrant};
use mw_policy::{
    CommandText, ConfinementLevel, Decision, Dialect, Mode, Reason, Request, Rules, Tool, Verdict, decide,
};

use super::local_files::{LocalFiles, project_of};
use super::temporary::widens;

/// How long an approval request stays open.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalTimeouts {
    /// How long a call waits for an answer if it is unknown whether a person is there.
    pub wait: Duration,
    /// How long a request can still be answered, and an approval be used, after the call has returned.
    pub keep: Duration,
}

impl Default for ApprovalTimeouts {
    fn default() -> Self {
        Self { wait: Duration::from_secs(20), keep: Duration::from_secs(600) }
    }
}

/// Inputs of a decision.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The approval mode.
    pub mode: Mode,
    /// The dialect whose conventions apply.
    pub dialect: Dialect,
    /// Whether tools that only read are allowed in mode ci.
    pub ci_reads: bool,
    /// Writable directories besides the project.
    pub writable: Vec<PathBuf>,
    /// Rules of the user and the project.
    pub rules: Arc<Rules>,
    /// The project, without links. If `None`, the project of the directory that a call names.
    pub project: Option<PathBuf>,
    /// The user's home directory.
    pub user_home: Option<PathBuf>,
    /// How long an approval request stays open.
    pub timeouts: ApprovalTimeouts,
    /// How far the tasks that are started through this gate are confined to their grants.
    pub confined: ConfinementLevel,
    /// The grant of the confined task that makes the call, if it is one. What needs more needs approval.
    pub at_most: Option<TaskGrant>,
}

/// Returns what a command needs beyond its confinement, as its caller says in the first line.
fn needs_more(command: &CommandSpec) -> Option<String> {
    let CommandSpec::Shell { script, .. } = command else { return None };
    let script = script.to_lossy();
    Some(script.trim_start().strip_prefix(ASK_MARK)?.lines().next().unwrap_or_default().trim().to_owned())
}

/// Turns the verdict about a confined command into a question whether it may run without a confinement.
fn ask_for_everything(verdict: &mut Verdict, need: &str, mode: Mode) {
    let least = match mode {
        Mode::Ci | Mode::Plan => Decision::Deny,
        Mode::Safe | Mode::Auto => Decision::Ask,
        Mode::Dangerous => Decision::Allow,
    };
    verdict.decision = verdict.decision.max(least);
    verdict.grant = Grant::everything();
    let why = format!("the agent asks to run it without a confinement: {need}");
    verdict.effects.insert(0, why.clone());
    verdict.reasons.insert(0, Reason { part: String::new(), why });
}

/// Turns the verdict about a confined command into a question if the call names another directory for temporary files, which the
/// command may then change.
fn ask_about_temporary(verdict: &mut Verdict, added: &[(String, String)], home: Option<&Path>, mode: Mode) {
    let named = added.iter().rev().find(|(name, _)| name == "TMPDIR");
    let Some((_, value)) = named.filter(|(_, value)| widens(Path::new(value), home)) else { return };
    let least = match mode {
        Mode::Ci | Mode::Plan => Decision::Deny,
        Mode::Safe | Mode::Auto => Decision::Ask,
        Mode::Dangerous => Decision::Allow,
    };
    verdict.decision = verdict.decision.max(least);
    verdict.effects.push(format!("may change files in {value}, because TMPDIR names it"));
    let why = format!("with TMPDIR={value} it may change the files there");
    verdict.reasons.push(Reason { part: String::new(), why });
}

/// Turns the verdict about a start that a confined task asks for into a question, if the start would get more than that task has.
/// Otherwise code that cannot send or change something itself could have it done.
fn ask_beyond(verdict: &mut Verdict, now: Option<&TaskGrant>, asking: &TaskGrant, mode: Mode) {
    let is_within = now.is_some_and(|now| asking.grant.includes(&now.grant) && asking.project == now.project);
    if is_within {
        return;
    }
    let least = match mode {
        Mode::Ci | Mode::Plan => Decision::Deny,
        Mode::Safe | Mode::Auto | Mode::Dangerous => Decision::Ask,
    };
    verdict.decision = verdict.decision.max(least);
    let why = "a confined task asks for it, and it needs more than that task may do".to_owned();
    verdict.reasons.insert(0, Reason { part: String::new(), why });
}

impl Policy {
    /// Returns a policy that allows everything, for hosts that gate calls themselves.
    #[must_use]
    pub fn open() -> Self {
        Self { mode: Mode::Dangerous, ..Self::default() }
    }

    /// Uses the project of this directory, wherever a call goes. If it has no project, nothing counts as inside the
    /// project.
    pub fn stay_in_project_of(&mut self, directory: &Path) {
        self.project = Some(project_of(directory, self.user_home.as_deref()).unwrap_or_default());
    }

    /// Decides about the start of a task, which is confined as far as this policy says.
    pub(super) fn verdict_of_start(
        &self,
        tool: Tool,
        command: &CommandSpec,
        cwd: &Path,
        added: &[(String, String)],
    ) -> (Verdict, Option<TaskGrant>) {
        let mut verdict = self.judge(tool, Some(command), cwd, added, self.confined);
        if let Some(need) = needs_more(command).filter(|_| self.confined != ConfinementLevel::No) {
            ask_for_everything(&mut verdict, &need, self.mode);
        }
        if self.confined != ConfinementLevel::No {
            ask_about_temporary(&mut verdict, added, self.user_home.as_deref(), self.mode);
        }
        let raw = |path: &Path| RawText::from(path.as_os_str().as_bytes());
        let grant = (self.confined != ConfinementLevel::No).then(|| TaskGrant {
            grant: verdict.grant.clone(),
            project: Some(self.project_around(cwd)).filter(|path| path.is_absolute()).map(|path| raw(&path)),
            home: self.user_home.as_deref().map(raw),
            strict: self.confined == ConfinementLevel::Fully,
        });
        if let Some(asking) = &self.at_most {
            ask_beyond(&mut verdict, grant.as_ref(), asking, self.mode);
        }
        (verdict, grant)
    }

    /// Returns the project that a call in a directory belongs to; empty if there is none.
    fn project_around(&self, cwd: &Path) -> PathBuf {
        let own = || project_of(cwd, self.user_home.as_deref()).unwrap_or_default();
        self.project.clone().unwrap_or_else(own)
    }

    /// Decides about a call that is not confined, in a directory. `added` lists the variables that the call adds to the environment.
    #[must_use]
    pub fn verdict(
        &self,
        tool: Tool,
        command: Option<&CommandSpec>,
        cwd: &Path,
        added: &[(String, String)],
    ) -> Verdict {
        self.judge(tool, command, cwd, added, ConfinementLevel::No)
    }

    /// Decides about the start of a task, as for a model, without starting it.
    #[must_use]
    pub fn verdict_confined(
        &self,
        tool: Tool,
        command: Option<&CommandSpec>,
        cwd: &Path,
        added: &[(String, String)],
    ) -> Verdict {
        self.judge(tool, command, cwd, added, self.confined)
    }

    fn judge(
        &self,
        tool: Tool,
        command: Option<&CommandSpec>,
        cwd: &Path,
        added: &[(String, String)],
        confined: ConfinementLevel,
    ) -> Verdict {
        let words: Vec<String>;
        let (shell, script);
        // A command that is not text is never allowed, because the replacement characters stand for unknown bytes.
        let command = match command {
            None => None,
            Some(CommandSpec::Shell { program, script: text }) => {
                (shell, script) = (program.to_lossy(), text.to_lossy());
                Some(CommandText::Script { shell: &shell, text: &script })
            }
            Some(CommandSpec::Argv(argv)) => {
                words = argv.iter().map(RawText::to_lossy).collect();
                Some(CommandText::Words(&words))
            }
        };
        let text = |path: &Path| String::from_utf8_lossy(path.as_os_str().as_bytes()).into_owned();
        let project = self.project_around(cwd);
        let real = |path: &PathBuf| Some(text(&fs::canonicalize(path).ok()?));
        let writable: Vec<_> = self.writable.iter().filter_map(real).collect();
        decide(&Request {
            mode: self.mode,
            dialect: self.dialect,
            tool,
            command,
            cwd: &text(&fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned())),
            project: &text(&project),
            home: &self.user_home.as_deref().map(text).unwrap_or_default(),
            writable: &writable,
            env: added,
            ci_reads: self.ci_reads,
            confined,
            rules: &self.rules,
            files: &LocalFiles,
        })
    }
}
