//! Confined tasks: what they cannot do, observed from outside, and what they still can.

mod files;
mod grants;
mod identity;
mod kernel;
mod reach;
mod work;

use std::path::{Path, PathBuf};
use std::process::Command;

use mw_testkit::{Home, Need, directory_outside, skip};
use serde_json::Value;
use tempfile::TempDir;

use crate::home;

const MW: &str = env!("CARGO_BIN_EXE_mw");

/// Returns the features that confine commands here.
fn features() -> Vec<String> {
    let supervisor = Path::new(MW).with_file_name("mw-supervisor");
    let report = Command::new(supervisor).arg("check").output().unwrap().stdout;
    let report: Value = serde_json::from_slice(&report).unwrap();
    let words = report["confines_with"].as_array().unwrap();
    words.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Creates a home with a project, on a system that can confine completely.
fn confining() -> Home {
    if !["landlock", "namespaces", "seccomp"]
        .iter()
        .all(|needed| features().iter().any(|word| word == needed))
    {
        skip(Need::Confinement, "the kernel offers only a part of it");
    }
    let home = home();
    let git = home.program("git").arg("init").arg("-q").run();
    git.ok();
    home
}

/// A directory outside of the project and of temporary files.
struct Outside(TempDir);

impl Outside {
    fn new() -> Self {
        Self(directory_outside(env!("CARGO_TARGET_TMPDIR")))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn show(&self) -> String {
        self.0.path().display().to_string()
    }
}

/// Runs a script with these options, and returns its output and the task.
#[track_caller]
fn confined(home: &Home, options: &[&str], script: &str) -> (String, Value) {
    let id = home.start_with(options, script);
    let task = home.ended(&id);
    (String::from_utf8(home.log(&id)).unwrap(), task)
}

const PROJECT: [&str; 2] = ["--confine", "project"];
