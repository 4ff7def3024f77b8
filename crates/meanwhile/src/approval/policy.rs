//! Inputs of a decision, and how long an approval request stays open.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mw_model::CommandSpec;
use mw_policy::{CommandText, Dialect, Mode, Request, Rules, Tool, Verdict, decide};

use super::local_files::{LocalFiles, project_of};

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

    /// Decides about a call in a directory. `added` lists the variables that the call adds to the environment.
    #[must_use]
    pub fn verdict(
        &self,
        tool: Tool,
        command: Option<&CommandSpec>,
        cwd: &Path,
        added: &[(String, String)],
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
                words = argv.iter().map(mw_model::RawText::to_lossy).collect();
                Some(CommandText::Words(&words))
            }
        };
        let text = |path: &Path| String::from_utf8_lossy(path.as_os_str().as_bytes()).into_owned();
        let own = || project_of(cwd, self.user_home.as_deref()).unwrap_or_default();
        let project = self.project.clone().unwrap_or_else(own);
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
            rules: &self.rules,
            files: &LocalFiles,
        })
    }
}
