//! The directories, the environment and the settings of a round.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::Failure;

/// How many tasks a session may run at once.
pub(super) const MAX_RUNNING: usize = 6;
/// How many tasks all sessions together may run at once.
pub(super) const MAX_RUNNING_TOTAL: usize = 16;
/// How long the tasks of a session live after its host was killed.
pub(super) const HOST_GRACE: Duration = Duration::from_millis(1500);
/// The grace period of a task that has exceeded its time limit.
pub(super) const LIMIT_GRACE: Duration = Duration::from_secs(1);
/// The token of the web server.
pub(super) const TOKEN: &str = "lab-token-0123456789abcdef0123456789";
/// The size of the small disk.
const DISK: &str = "size=48m";

/// What a round runs in. Dropping it unmounts its disk; the directory is removed by [`World::remove`].
pub(super) struct World {
    root: PathBuf,
    tag: String,
    programs: PathBuf,
    has_disk: bool,
}

impl World {
    /// Makes the directories of a round. `programs` is the folder with `mw`.
    pub(super) fn new(root: &Path, programs: &Path, with_disk: bool) -> Result<Self, Failure> {
        let failed = |source| Failure::File { path: root.to_path_buf(), source };
        if root.exists() {
            fs::remove_dir_all(root).map_err(failed)?;
        }
        for name in ["home", "user", "work", "bin"] {
            fs::create_dir_all(root.join(name)).map_err(failed)?;
        }
        fs::write(root.join("facts"), "").map_err(failed)?;
        let witness = std::env::current_exe().map_err(failed)?;
        fs::copy(witness, root.join("bin/witness")).map_err(failed)?;
        let has_disk = with_disk && mount(&root.join("home"));
        private(&root.join("home")).map_err(failed)?;
        fs::write(root.join("clock"), "0").map_err(failed)?;
        far_side(root).map_err(failed)?;
        Ok(Self {
            root: root.to_path_buf(),
            tag: format!("MW_LAB={}", root.display()),
            programs: programs.to_path_buf(),
            has_disk,
        })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The file to which the witnesses append.
    pub(super) fn facts(&self) -> PathBuf {
        self.root.join("facts")
    }

    pub(super) fn witness(&self) -> PathBuf {
        self.root.join("bin/witness")
    }

    /// The variable that marks every process of this round.
    pub(super) fn tag(&self) -> &str {
        &self.tag
    }

    pub(super) fn mw(&self) -> PathBuf {
        self.programs.join("mw")
    }

    /// Whether the home is on a disk of its own, which may be filled.
    pub(super) fn has_disk(&self) -> bool {
        self.has_disk
    }

    /// Prepares a command that belongs to this round. `session` is set if it is called by the owner of a session.
    pub(super) fn command(&self, program: &Path, session: Option<&str>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.root.join("work")).stdin(Stdio::null());
        let (name, value) = self.tag.split_once('=').unwrap_or_default();
        let path =
            format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", self.root.join("bin").display());
        command
            .env(name, value)
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("HOME", self.root.join("user"))
            .env("MEANWHILE_HOME", self.home())
            .env("MEANWHILE_MODE", "dangerous")
            .env("MEANWHILE_TOKEN", TOKEN)
            .env("MEANWHILE_CONFIG", self.root.join("user/config.toml"))
            .env("MEANWHILE_CLOCK", self.root.join("clock"))
            .env("MEANWHILE_QUEUE_MAX_RUNNING", MAX_RUNNING.to_string())
            .env("MEANWHILE_QUEUE_MAX_RUNNING_TOTAL", MAX_RUNNING_TOTAL.to_string())
            .env("MEANWHILE_SESSION_GRACE_MS", HOST_GRACE.as_millis().to_string())
            .env("MEANWHILE_KILL_TIMEOUT_GRACE_MS", LIMIT_GRACE.as_millis().to_string())
            .env("MEANWHILE_CONFINE_MODELS", "false")
            .env("MEANWHILE_RETENTION_AUTOMATIC", "false");
        if let Some(session) = session {
            command.env("MEANWHILE_SESSION", session);
        }
        command
    }

    /// Removes the directory of a round that has held.
    pub(super) fn remove(&self) {
        self.unmount();
        let _ = fs::remove_dir_all(&self.root);
    }

    /// Copies the home from its disk, so that it can be read after the run.
    pub(super) fn keep(&self) {
        if self.has_disk {
            let kept = self.root.join("kept-home");
            let _ = Command::new("cp").arg("-a").arg(self.home()).arg(kept).stderr(Stdio::null()).status();
            self.unmount();
        }
    }

    fn unmount(&self) {
        if self.has_disk {
            let _ = Command::new("umount").arg("--lazy").arg(self.home()).stderr(Stdio::null()).status();
        }
    }
}

/// A program in place of `ssh`: the other machine is this one, so that drivers of back-ends can be killed without a network.
const SSH: &str = r#"#!/bin/sh
[ "$1" = -G ] && exit 0
while [ "$1" != -- ]; do shift; done
shift 2
exec /bin/sh -c "$*"
"#;

fn far_side(root: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let ssh = root.join("bin/ssh");
    fs::write(&ssh, SSH)?;
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755))?;
    let state = root.join("far");
    let settings =
        format!("[backends.far]\nkind = \"ssh\"\nhost = \"far\"\nstate = \"{}\"\n", state.display());
    fs::write(root.join("user/config.toml"), settings)
}

/// Mounts a small file system. Returns whether this user may.
fn mount(at: &Path) -> bool {
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", DISK, "tmpfs"]).arg(at).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}
