//! The executables: `mw`, and whether the supervisor exists and has the same version.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Check;
use super::measure::{LIMIT, run};
use crate::programs::{self, INSTALL};

/// The supervisor's report.
pub(super) struct Examined {
    pub(super) checks: Vec<Check>,
    /// The features that it finds on this system.
    pub(super) features: Option<Value>,
}

/// Shows which `mw` is used and the C library it is linked with.
pub(super) fn examine_mw() -> Check {
    let path = match programs::mw() {
        Ok(path) => path,
        Err(error) => return Check::problem("mw", error.to_string(), INSTALL),
    };
    match run(Command::new(&path).arg("--version"), LIMIT) {
        Ok(version) => Check::ok("mw", format!("{}, {}", path.display(), version.trim())),
        Err(why) => Check::problem("mw", format!("{}: {why}", path.display()), INSTALL),
    }
}

pub(super) fn examine(path: &Path) -> Examined {
    let shown = path.display();
    let alone = |check| Examined { checks: vec![check], features: None };
    let output = match run(Command::new(path).arg("check"), LIMIT) {
        Ok(output) => output,
        Err(why) => return alone(Check::problem("supervisor", format!("{shown}: {why}"), INSTALL)),
    };
    let Ok(features) = serde_json::from_str::<Value>(&output) else {
        return alone(Check::problem(
            "supervisor",
            format!("{shown} is not an mw-supervisor of this version"),
            INSTALL,
        ));
    };
    let version = features["version"].as_str().unwrap_or("unknown");
    if version != env!("CARGO_PKG_VERSION") {
        let detail = format!("{shown} is version {version}, mw is {}", env!("CARGO_PKG_VERSION"));
        return alone(Check::problem("supervisor", detail, INSTALL));
    }
    let build = features["build"].as_str().unwrap_or(version);
    let check = Check::ok("supervisor", format!("{shown}, version {build}, same as mw"));
    Examined { checks: vec![check], features: Some(features) }
}
