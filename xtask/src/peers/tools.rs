//! The executables of a run: the compiled bare limit, and `mw` with its supervisor.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::options::Options;
use super::watchdog::Watchdog;
use crate::command::{built_program, cargo};
use crate::error::Failure;

/// The programs that every measurement uses.
pub(super) struct Tools {
    /// The executable compiled from `benches/bare.c`.
    pub(super) bare: PathBuf,
    /// The directory with `mw` and the executables next to it.
    pub(super) mw: PathBuf,
    /// The directory with the scripts of [`super::systems`].
    pub(super) scripts: PathBuf,
    /// The watchdog of commands.
    pub(super) watchdog: Watchdog,
}

impl Tools {
    /// Compiles and copies everything into `scratch`.
    ///
    /// `mw` is copied, so that a concurrent build cannot change the measured program.
    pub(super) fn prepare(root: &Path, scratch: &Path, options: &Options) -> Result<Self, Failure> {
        let folder = scratch.join("bin");
        fs::create_dir_all(&folder).map_err(|source| Failure::File { path: folder.clone(), source })?;
        let bare = folder.join("bare");
        compile(&root.join("benches/bare.c"), &bare)?;
        for name in ["mw", "mw-engine", "mw-supervisor"] {
            let from = match &options.mw {
                Some(given) => given.join(name),
                None => built(root, name)?,
            };
            fs::copy(&from, folder.join(name)).map_err(|source| Failure::File { path: from, source })?;
        }
        Ok(Self { bare, mw: folder, scripts: root.join("benches"), watchdog: Watchdog::new() })
    }
}

fn built(root: &Path, name: &str) -> Result<PathBuf, Failure> {
    cargo(root, &["build", "--release", "--locked", "--package", "mw-cli", "--bin", name])?;
    Ok(built_program(root, "release", name))
}

fn compile(source: &Path, program: &Path) -> Result<(), Failure> {
    let mut command = Command::new("cc");
    command.args(["-O2", "-static", "-Wall", "-Wextra", "-o"]).arg(program).arg(source);
    let shown = || format!("cc {}", source.display());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::Exit { command: shown(), status }),
        Err(source) => Err(Failure::Spawn { command: shown(), source }),
    }
}
