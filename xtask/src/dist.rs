//! Makes the packages of a release and tries each of them in a clean place.
//!
//! `tools/dist/packages.py` makes them from one folder of executables and one of manual pages: a tar archive, a Debian package, a Python wheel, an
//! npm package, a list of the linked crates, and checksums. `tools/dist/trial.py` installs each of them and runs a first
//! task there.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{finish, target};
use crate::error::Failure;
use crate::{clients, generate, install};

const USAGE: &str = "usage: cargo xtask dist [--out DIR] [--arch x86_64|aarch64]

  --out DIR    make the packages there; otherwise in target/dist. Files in it are removed
  --arch ARCH  build for this processor; for another one than this machine's, cargo-zigbuild is needed";

/// The status of a trial that skipped a package because its installer is missing.
const SKIPPED: i32 = 3;

/// Builds the executables and makes all packages.
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<(), Failure> {
    let (mut out, mut arch) = (target(root).join("dist"), env::consts::ARCH);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match (*option, options.next()) {
            ("--out", Some(folder)) => out = PathBuf::from(folder),
            ("--arch", Some(name @ (&"x86_64" | &"aarch64"))) => arch = name,
            _ => return Err(Failure::Usage(USAGE)),
        }
    }
    let programs = install::for_release(root, arch)?;
    make(root, &programs, &out, arch, &[])?;
    if arch == env::consts::ARCH {
        try_all(root, &out)?;
    }
    Ok(())
}

/// Makes and tries the packages with executables that were built for tests. Returns whether every package could be tried.
pub(crate) fn check(root: &Path) -> Result<bool, Failure> {
    let built = match install::for_tests(root)? {
        Some(programs) if has_python() => programs,
        _ => return Ok(false),
    };
    let programs = target(root).join("dist-programs");
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Failure::File { path, source }
    };
    fs::create_dir_all(&programs).map_err(failed(&programs))?;
    for name in install::names() {
        // Debug information makes executables many times larger.
        let mut strip = Command::new("strip");
        strip.arg("-o").arg(programs.join(name)).arg(built.join(name));
        finish(strip, "strip")?;
    }
    let out = target(root).join("dist-check");
    make(root, &programs, &out, env::consts::ARCH, &["--quick"])?;
    try_all(root, &out)
}

fn make(root: &Path, programs: &Path, out: &Path, arch: &str, options: &[&str]) -> Result<(), Failure> {
    let manual = target(root).join("man");
    generate::manual(root, &manual)?;
    let mut command = Command::new("python3");
    command.arg(root.join("tools/dist/packages.py")).arg("--programs").arg(programs);
    command.arg("--man").arg(manual);
    command.arg("--out").arg(out).args(["--arch", arch]).args(options);
    finish(command, "packages.py")
}

/// Tries the packages. Returns whether none was skipped.
fn try_all(root: &Path, out: &Path) -> Result<bool, Failure> {
    let mut command = Command::new("python3");
    command.arg(root.join("tools/dist/trial.py")).arg(out);
    // A machine without npm has that of the third-party clients.
    let path = env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:{}", clients::place(root).join("venv/bin").display()));
    match finish(command, "trial.py") {
        Ok(()) => Ok(true),
        Err(Failure::Exit { status, .. }) if status.code() == Some(SKIPPED) => Ok(false),
        Err(failure) => Err(failure),
    }
}

fn has_python() -> bool {
    let mut command = Command::new("python3");
    command.args(["-c", "import tomllib"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
