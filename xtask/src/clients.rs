//! Fetches third-party clients of our protocols for the tests that run our servers with them.
//!
//! The versions are in `tools/clients/`. The registries are a setting of the machine. Fetched clients are kept until a
//! version changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{finish, target};
use crate::error::Failure;

/// The version files: for Python packages (one of which is Node.js), and for Node.js packages.
const FILES: [&str; 3] = ["requirements.txt", "package.json", "package-lock.json"];

/// Returns the folder of the fetched clients.
pub(crate) fn place(root: &Path) -> PathBuf {
    target(root).join("clients")
}

/// Fetches missing clients if possible. Otherwise the tests that need them are skipped.
pub(crate) fn fetch_if_possible(root: &Path) -> Result<(), Failure> {
    if let Err(failure) = fetch(root) {
        eprintln!("no third-party clients: {failure}");
    }
    Ok(())
}

/// Fetches missing clients.
pub(crate) fn fetch(root: &Path) -> Result<(), Failure> {
    let (place, wanted) = (place(root), wanted(root)?);
    let ready = place.join("ready");
    if fs::read_to_string(&ready).is_ok_and(|fetched| fetched == wanted) {
        return Ok(());
    }
    if !has_python() {
        return Err(Failure::NoPython);
    }
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Failure::File { path, source }
    };
    if place.exists() {
        fs::remove_dir_all(&place).map_err(failed(&place))?;
    }
    fs::create_dir_all(&place).map_err(failed(&place))?;
    for name in FILES {
        fs::copy(root.join("tools/clients").join(name), place.join(name))
            .map_err(failed(&place.join(name)))?;
    }
    let venv = place.join("venv");
    run(&place, Path::new("python3"), &["-m", "venv", "venv"])?;
    run(
        &place,
        &venv.join("bin/python3"),
        &["-m", "pip", "install", "--quiet", "--no-deps", "-r", FILES[0]],
    )?;
    // `npm ci` is not used, because it refuses a lock file without the variants of other platforms, and not every
    // registry has them.
    run(&place, &venv.join("bin/npm"), &["install", "--ignore-scripts", "--no-audit", "--no-fund"])?;
    fs::write(&ready, wanted).map_err(failed(&ready))
}

/// Returns the contents of all version files.
fn wanted(root: &Path) -> Result<String, Failure> {
    let folder = root.join("tools/clients");
    FILES.iter().map(|name| crate::workspace::read(&folder.join(name))).collect()
}

fn has_python() -> bool {
    let mut command = Command::new("python3");
    command.args(["-c", "import ensurepip, venv"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn run(place: &Path, program: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new(program);
    // npm is a script that finds node by name.
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", place.join("venv/bin").display());
    command.args(arguments).current_dir(place).env("PATH", path);
    finish(command, &format!("{} {}", program.display(), arguments.join(" ")))
}
