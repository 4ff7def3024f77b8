//! The cargo subcommands that the check needs, each in a fixed version. Missing ones are installed into the target
//! folder. The user's cargo home is not changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{cargo_command, finish, target};
use crate::error::Failure;

/// A subcommand of cargo.
pub(crate) struct Tool {
    /// The name after `cargo`.
    name: &'static str,
    version: &'static str,
    /// The additional options of `cargo install`.
    features: &'static [&'static str],
}

/// Runs each test in a separate process.
pub(crate) const NEXTEST: Tool = Tool {
    name: "nextest",
    version: "0.9.143",
    // The self-update feature would double the build time.
    features: &["--no-default-features", "--features", "default-no-update"],
};
/// Checks the licences and sources of dependencies.
pub(crate) const DENY: Tool = Tool { name: "deny", version: "0.20.2", features: &[] };

impl Tool {
    /// Returns a command that runs the tool in `root`. A missing tool is installed first.
    pub(crate) fn command(&self, root: &Path, arguments: &[&str]) -> Result<Command, Failure> {
        let program = self.program(root)?;
        let mut command = Command::new(program);
        command.arg(self.name).args(arguments).current_dir(root);
        Ok(command)
    }

    fn program(&self, root: &Path) -> Result<PathBuf, Failure> {
        let file = format!("cargo-{}{}", self.name, std::env::consts::EXE_SUFFIX);
        let fetched = folder(root).join("bin").join(&file);
        let on_path = PathBuf::from(file);
        if let Some(found) = [on_path, fetched.clone()].into_iter().find(|program| self.is(program)) {
            return Ok(found);
        }
        self.fetch(root)?;
        Ok(fetched)
    }

    /// Returns whether a program is this tool in the required version.
    fn is(&self, program: &Path) -> bool {
        let mut command = Command::new(program);
        command.args([self.name, "--version"]).stdin(Stdio::null()).stderr(Stdio::null());
        let said = command.output().map(|output| output.stdout).unwrap_or_default();
        String::from_utf8_lossy(&said).split_whitespace().nth(1) == Some(self.version)
    }

    /// Compiles the tool without optimisation, which takes a third of the time. The tool mostly waits for other
    /// processes.
    fn fetch(&self, root: &Path) -> Result<(), Failure> {
        let Self { name, version, .. } = self;
        eprintln!("cargo-{name} {version} is not on this machine; cargo fetches it into the target folder");
        let folder = folder(root);
        let build = folder.join("build");
        let mut command = cargo_command(root, &["install", "--locked", "--debug", "--version", version]);
        command.args(self.features).arg(format!("cargo-{name}"));
        command.arg("--root").arg(&folder).arg("--target-dir").arg(&build);
        command.env("CARGO_PROFILE_DEV_DEBUG", "0");
        finish(command, &format!("cargo install cargo-{name} --version {version}")).map_err(|failure| {
            Failure::NoTool { name, version, folder: folder.clone(), failure: Box::new(failure) }
        })?;
        // The build directory is a hundred times larger than the tool and no longer needed.
        fs::remove_dir_all(&build).ok();
        Ok(())
    }
}

fn folder(root: &Path) -> PathBuf {
    target(root).join("tools")
}
