//! What some tests need and not every machine has: a test that lacks it is skipped by name and counted, never passed
//! over in silence.
//!
//! `cargo xtask check` names a file in `MW_TEST_SKIPPED`. A test that cannot run writes one line there and ends its
//! process, which is its own under nextest. Without that file, when somebody runs the test by hand, it fails and says
//! what it lacks.

use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use rustix::process::geteuid;

/// Names the file in which skipped tests are counted.
const SKIPPED: &str = "MW_TEST_SKIPPED";

/// Something that a test needs beyond Rust, a C compiler, git and the tools that every Linux has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A program by this name.
    Program(&'static str),
    /// Rights over everything, to give files and rights away.
    Root,
    /// A file system small enough to fill.
    SmallDisk,
    /// The clients that `cargo xtask clients` fetches.
    Clients,
    /// A place in the unified hierarchy where a group can be made.
    ControlGroup,
    /// A network apart from that of the machine.
    OwnNetwork,
    /// Addresses of the sixth version of the protocol.
    Ipv6,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Program(name) => name,
            Self::Root => "root",
            Self::SmallDisk => "a small disk (root may mount one)",
            Self::Clients => "foreign clients (`cargo xtask clients` fetches them, with python3)",
            Self::ControlGroup => "a control group of its own (cgroup v2, root)",
            Self::OwnNetwork => "a network of its own (`unshare --user --net`)",
            Self::Ipv6 => "IPv6",
        })
    }
}

/// Goes on where there is a program by this name, and otherwise ends the test, see [`skip`].
///
/// # Panics
/// When there is none and skipped tests are not counted.
pub fn need_program(name: &'static str) {
    if !has_program(name) {
        skip(Need::Program(name), "no such program is on PATH");
    }
}

/// Goes on where the test runs as root, and otherwise ends it, see [`skip`].
///
/// # Panics
/// When it does not and skipped tests are not counted.
pub fn need_root() {
    if !is_root() {
        skip(Need::Root, "another user runs the tests");
    }
}

/// Ends this test as skipped, for want of something. Nothing that the test made is tidied up, so this comes first.
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

/// Says whether this test runs as root.
pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// Says whether there is a program by this name.
pub(crate) fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| {
        let meta = folder.join(name).metadata();
        meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    })
}
