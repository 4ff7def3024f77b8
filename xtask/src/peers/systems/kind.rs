//! The list of measured systems, and which of them are installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::spawner::{Language, Spawner};
use super::{bare, mw, nq, pm2, pueue, tsp};
use crate::peers::outcome::Outcome;
use crate::peers::peer::Peer;
use crate::peers::tools::Tools;

/// A system and the path of its program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::peers) enum Kind {
    Bare,
    Mw,
    Tsp(PathBuf),
    Nq(PathBuf),
    Pueue(PathBuf),
    Pm2(PathBuf),
    Spawner(Language, PathBuf),
}

impl Kind {
    /// Returns the installed systems among the given names.
    pub(in crate::peers) fn installed(wanted: Option<&[String]>) -> Vec<Self> {
        let found = [
            Some(Self::Bare),
            Some(Self::Mw),
            on_path(&["tsp", "task-spooler"]).map(Self::Tsp),
            on_path(&["nq"]).map(Self::Nq),
            on_path(&["pueue"]).map(Self::Pueue),
            on_path(&["pm2"]).map(Self::Pm2),
            on_path(&["node"]).map(|program| Self::Spawner(Language::Node, program)),
            on_path(&["python3"]).map(|program| Self::Spawner(Language::Python, program)),
        ];
        let is_wanted = |kind: &Self| wanted.is_none_or(|names| names.iter().any(|name| name == kind.name()));
        found.into_iter().flatten().filter(is_wanted).collect()
    }

    /// Returns the name in the report.
    pub(in crate::peers) fn name(&self) -> &'static str {
        match self {
            Self::Bare => bare::NAME,
            Self::Mw => "mw",
            Self::Tsp(_) => "tsp",
            Self::Nq(_) => "nq",
            Self::Pueue(_) => "pueue",
            Self::Pm2(_) => "pm2",
            Self::Spawner(language, _) => language.name(),
        }
    }

    /// Sets up the system in a new directory under `root`.
    pub(in crate::peers) fn open(&self, root: &Path, tools: &Tools) -> Outcome<Box<dyn Peer>> {
        Ok(match self {
            Self::Bare => Box::new(bare::Bare::open(root, tools)?),
            Self::Mw => Box::new(mw::Mw::open(root, tools)?),
            Self::Tsp(program) => Box::new(tsp::Tsp::open(program, root, tools)?),
            Self::Nq(program) => Box::new(nq::Nq::open(program, root, tools)?),
            Self::Pueue(program) => Box::new(pueue::Pueue::open(program, root, tools)?),
            Self::Pm2(program) => Box::new(pm2::Pm2::open(program, root, tools)?),
            Self::Spawner(language, program) => Box::new(Spawner::open(*language, program, root, tools)?),
        })
    }

    /// Returns the version that the system reports. nq and the bare limit report none.
    pub(in crate::peers) fn version(&self, tools: &Tools) -> Option<String> {
        let (program, flag) = match self {
            Self::Bare | Self::Nq(_) => return None,
            Self::Mw => (tools.mw.join("mw"), "--version"),
            Self::Tsp(program) => (program.clone(), "-V"),
            Self::Pueue(program) | Self::Pm2(program) | Self::Spawner(_, program) => {
                (program.clone(), "--version")
            }
        };
        let output = Command::new(program).arg(flag).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().next()?;
        Some(line.split(" - ").next().unwrap_or(line).trim().to_owned())
    }
}

fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}
