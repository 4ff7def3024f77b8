//! Errors of development commands.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// A reason to stop with a non-zero exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line contains no known command.
    Usage(&'static str),
    /// No workspace encloses the current directory.
    NoWorkspace,
    /// A file could not be read or written.
    File { path: PathBuf, source: io::Error },
    /// A program could not be started.
    Spawn { command: String, source: io::Error },
    /// A program ran and reported failure.
    Exit { command: String, status: ExitStatus },
    /// Rust cannot build for a target.
    NoTarget(String),
    /// It is unknown where to install.
    NoHome,
    /// No check has run here, so it is unknown which tests were skipped.
    NoCheck,
    /// No Python is installed that can create a virtual environment.
    NoPython,
    /// A tool that the check requires is neither installed nor can it be fetched.
    NoTool { name: &'static str, version: &'static str, folder: PathBuf, failure: Box<Failure> },
    /// This many tests and steps were skipped although none may be. They were printed.
    Skipped(usize),
    /// The lab found this many violations and has printed them.
    Violations(usize),
    /// Tidy found this many violations and has printed them.
    Untidy(usize),
    /// A generated file is out of date.
    Stale(&'static str),
    /// A program exceeds its size limit.
    TooLarge { program: &'static str, bytes: u64, limit: u64 },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(usage) => f.write_str(usage),
            Self::NoWorkspace => f.write_str("no workspace here; run this inside the repository"),
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Spawn { command, source } => write!(f, "cannot start `{command}`: {source}"),
            Self::Exit { command, status } => write!(f, "`{command}` failed ({status})"),
            Self::NoTarget(name) => {
                write!(f, "the target {name} is missing; run `rustup target add {name}`")
            }
            Self::NoHome => f.write_str("HOME is not set; name a directory with --root"),
            Self::NoCheck => f.write_str("no check has run here yet; run `cargo xtask check` first"),
            Self::NoPython => f.write_str("there is no python3 with venv on this machine"),
            Self::NoTool { name, version, folder, failure } => write!(
                f,
                "{failure}: cargo-{name} {version} is needed and cannot be fetched. Run again where cargo reaches its \
                 registry, or put that version on PATH or into {}",
                folder.join("bin").display()
            ),
            Self::Skipped(count) => write!(f, "{count} skipped here, where nothing may be skipped"),
            Self::Violations(count) => {
                write!(f, "the lab found {count} broken promises; their directories are kept")
            }
            Self::Untidy(1) => f.write_str("1 violation"),
            Self::Untidy(count) => write!(f, "{count} violations"),
            Self::Stale(path) => write!(f, "{path} is out of date; run `cargo xtask generate` and commit it"),
            Self::TooLarge { program, bytes, limit } => {
                write!(
                    f,
                    "{program} is {bytes} bytes, over the limit of {limit}; find what grew with `cargo bloat`"
                )
            }
        }
    }
}
