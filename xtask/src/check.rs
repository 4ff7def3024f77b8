//! Runs what CI runs, in CI's order.

use std::path::Path;
use std::time::Instant;

use crate::command::{cargo, cargo_with, has_subcommand};
use crate::error::Failure;
use crate::{clients, generate, size, tidy};

/// The version installed where cargo-deny is missing.
const DENY_VERSION: &str = "0.20.2";

/// One named part of the check.
struct Step {
    name: &'static str,
    run: fn(&Path) -> Result<(), Failure>,
}

const STEPS: [Step; 10] = [
    Step { name: "format", run: format },
    Step { name: "clippy", run: clippy },
    Step { name: "clients", run: clients::fetch },
    Step { name: "tests", run: tests },
    Step { name: "doc tests", run: doc_tests },
    Step { name: "rustdoc", run: rustdoc },
    Step { name: "dependencies", run: dependencies },
    Step { name: "tidy", run: tidy::run },
    Step { name: "generated files", run: generate::check },
    Step { name: "sizes", run: size::check },
];

/// Runs every step and stops at the first that fails.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let whole = Instant::now();
    for (index, step) in STEPS.iter().enumerate() {
        eprintln!("── {}/{} {}", index + 1, STEPS.len(), step.name);
        let begun = Instant::now();
        let outcome = (step.run)(root);
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        eprintln!("── {} {word} in {:.1}s", step.name, begun.elapsed().as_secs_f64());
        outcome?;
    }
    eprintln!("── all checks passed in {:.1}s", whole.elapsed().as_secs_f64());
    Ok(())
}

fn format(root: &Path) -> Result<(), Failure> {
    cargo(root, &["fmt", "--all", "--check"])
}

fn clippy(root: &Path) -> Result<(), Failure> {
    cargo(root, &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
}

fn tests(root: &Path) -> Result<(), Failure> {
    let clients = clients::place(root);
    let place = ("MW_TEST_CLIENTS", clients.to_str().unwrap_or_default());
    if has_subcommand(root, "nextest") {
        cargo_with(root, place, &["nextest", "run", "--workspace", "--locked"])
    } else {
        cargo_with(root, place, &["test", "--workspace", "--locked", "--lib", "--bins", "--tests"])
    }
}

fn doc_tests(root: &Path) -> Result<(), Failure> {
    cargo(root, &["test", "--doc", "--workspace", "--locked"])
}

/// Documents libraries and not executables: the supervisor's library and its executable share a name, and whichever
/// was written last would replace the other. That of the command has no readers but ourselves, so all of it is shown.
fn rustdoc(root: &Path) -> Result<(), Failure> {
    let deny = ("RUSTDOCFLAGS", "-D warnings");
    cargo_with(root, deny, &["doc", "--workspace", "--lib", "--no-deps", "--locked"])?;
    let command =
        ["doc", "--package", "mw-cli", "--lib", "--no-deps", "--locked", "--document-private-items"];
    cargo_with(root, deny, &command)?;
    cargo_with(root, deny, &["doc", "--package", "xtask", "--no-deps", "--locked"])
}

fn dependencies(root: &Path) -> Result<(), Failure> {
    if !has_subcommand(root, "deny") {
        cargo(root, &["install", "cargo-deny", "--version", DENY_VERSION, "--locked"])?;
    }
    // The graph spans several platforms, and a build fetches only what its own needs.
    cargo(root, &["fetch", "--locked"])?;
    cargo(root, &["deny", "--offline", "--locked", "check", "licenses", "bans", "sources"])
}
