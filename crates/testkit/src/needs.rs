//! Requirements of some tests that not every machine meets. A test whose requirement is missing is skipped by name and
//! counted.
//!
//! `cargo xtask check` sets `MW_TEST_SKIPPED` to a file. A test that cannot run appends a line there and ends its
//! process; nextest runs each test in a separate process. Without that file, as in a run by hand, the test fails and
//! says what is missing.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use rustix::process::geteuid;

/// The variable with the file in which skipped tests are counted.
const SKIPPED: &str = "MW_TEST_SKIPPED";

/// A requirement of a test besides Rust, a C compiler, git and the standard Linux tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A program of this name.
    Program(&'static str),
    /// The user root.
    Root,
    /// A small file system that the test can fill.
    SmallDisk,
    /// The clients that `cargo xtask clients` installs.
    Clients,
    /// A place in the unified hierarchy where a group can be created.
    ControlGroup,
    /// A separate network namespace.
    OwnNetwork,
    /// IPv6.
    Ipv6,
    /// Exit codes of processes that are not children (`PIDFD_GET_INFO`).
    ForeignExitCodes,
    /// A separate mount namespace.
    OwnMounts,
    /// Everything that confines commands.
    Confinement,
    /// A directory for tests that is not among those for temporary files.
    Outside,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Program(name) => name,
            Self::Root => "root",
            Self::SmallDisk => "a small disk (root may mount one)",
            Self::Clients => "third-party clients (`cargo xtask clients` installs them, with python3)",
            Self::ControlGroup => "a separate control group (cgroup v2, root)",
            Self::OwnNetwork => "a separate network namespace (`unshare --user --net`)",
            Self::Ipv6 => "IPv6",
            Self::ForeignExitCodes => "exit codes of processes that are not children (Linux 6.15)",
            Self::Confinement => "Landlock, user namespaces and seccomp",
            Self::Outside => "a directory outside of /tmp, /var/tmp, /dev/shm and TMPDIR",
            Self::OwnMounts => "a separate mount namespace (`unshare --user --mount`)",
        })
    }
}

/// Continues if a program exists, and otherwise skips the test, see [`skip`].
///
/// # Panics
/// When it does not exist and skipped tests are not counted.
pub fn need_program(name: &'static str) {
    if !has_program(name) {
        skip(Need::Program(name), "no such program is on PATH");
    }
}

/// Continues if the test runs as root, and otherwise skips it, see [`skip`].
///
/// # Panics
/// When it does not and skipped tests are not counted.
pub fn need_root() {
    if !is_root() {
        skip(Need::Root, "another user runs the tests");
    }
}

/// Ends this test as skipped. Nothing that the test created is removed, so this must come first.
///
/// # Panics
/// When skipped tests are not counted.
pub fn skip(need: Need, reason: &str) -> ! {
    let name = |variable| std::env::var(variable).ok();
    let counted = (name(SKIPPED), name("NEXTEST_BINARY_ID"), name("NEXTEST_TEST_NAME"));
    let (Some(file), Some(binary), Some(test)) = counted else {
        panic!("this test needs {need}: {reason}; `cargo xtask check` skips it by name")
    };
    // One write at the end of the file: other tests write there at the same time.
    let line = format!("{need}\t{binary}\t{test}\n");
    let mut file =
        OpenOptions::new().append(true).create(true).open(file).expect("skipped tests are counted");
    file.write_all(line.as_bytes()).expect("skipped tests are counted");
    eprintln!("skipped: needs {need}: {reason}");
    std::process::exit(0);
}

/// Returns whether this test runs as root.
pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// Returns whether a program exists on `PATH`.
pub(crate) fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| {
        let meta = folder.join(name).metadata();
        meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    })
}
