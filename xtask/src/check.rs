//! Runs the same steps as CI. Cheap steps run first, because they find simple mistakes before the tests run.

use std::path::Path;
use std::time::Instant;

use crate::command::{cargo, cargo_with, finish};
use crate::error::Failure;
use crate::skipped::{self, Skipped};
use crate::tools::{DENY, NEXTEST};
use crate::{clients, dist, generate, install, lab, size, tidy};

/// A named step of the check.
struct Step {
    name: &'static str,
    run: fn(&Path) -> Result<(), Failure>,
}

/// The step that is skipped if its tool is not available.
const DEPENDENCIES: &str = "dependencies";

/// The step that runs tests with executables that are linked with musl.
const MUSL: &str = "musl";
const NEEDS_OF_MUSL: &str = "musl-gcc and the Rust target for musl";
/// The tests of this step: everything that starts, ends, kills and survives.
const MUSL_TESTS: &str =
    "binary(crash) | (binary(engine) & test(/^(input|kill|output|queue|restart|run|spawn|start|wait)/))";

/// The step that makes and installs the packages of a release.
const PACKAGES: &str = "packages";
const NEEDS_OF_PACKAGES: &str = "musl-gcc, python3 with venv, dpkg and npm";

const STEPS: [Step; 13] = [
    Step { name: "format", run: format },
    Step { name: "tidy", run: tidy::run },
    Step { name: DEPENDENCIES, run: dependencies_if_possible },
    Step { name: "clippy", run: clippy },
    Step { name: "rustdoc", run: rustdoc },
    Step { name: "clients", run: clients::fetch_if_possible },
    Step { name: "tests", run: all_tests },
    Step { name: MUSL, run: musl_if_possible },
    Step { name: PACKAGES, run: packages_if_possible },
    Step { name: "fault lab", run: lab::check },
    Step { name: "doc tests", run: doc_tests },
    Step { name: "generated files", run: generate::check },
    Step { name: "sizes", run: size::check },
];

/// The steps of `check --fast`: a verdict in minutes. It compiles what most changes touch and runs the tests that fail first.
const FAST_STEPS: [Step; 4] =
    [step("format", format), step("tidy", tidy::run), step("clippy", fast_clippy), step("tests", fast_tests)];

const fn step(name: &'static str, run: fn(&Path) -> Result<(), Failure>) -> Step {
    Step { name, run }
}

/// The tests of `check --fast`: all tests inside the crates that decide (model, policy, supervisor, library) and of these tools, and
/// the life of a task from its start to its end, with kills at durable steps.
const FAST_TESTS: &str = "(kind(lib) & (package(mw-model) | package(mw-policy) | package(mw-supervisor) | package(meanwhile))) | \
     package(xtask) | \
     (binary(engine) & test(/^(start|spawn|kill|output|queue|restart_clear|survivors|notices|wait)::/)) | \
     (binary(crash) & test(/^(adoption|notices|truth|guarded|slots)::/))";

/// Runs all steps and stops at the first failure. Steps and tests that this machine cannot run are listed at the end.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    run_steps(root, &STEPS)
}

/// Runs the steps that find most mistakes in the least time.
pub(crate) fn run_fast(root: &Path) -> Result<(), Failure> {
    run_steps(root, &FAST_STEPS)
}

fn run_steps(root: &Path, steps: &[Step]) -> Result<(), Failure> {
    let whole = Instant::now();
    skipped::begin(&skipped::file(root))?;
    for (index, step) in steps.iter().enumerate() {
        eprintln!("── {}/{} {}", index + 1, steps.len(), step.name);
        let begun = Instant::now();
        let outcome = (step.run)(root);
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        eprintln!("── {} {word} in {:.1}s", step.name, begun.elapsed().as_secs_f64());
        outcome?;
    }
    report_skipped(&skipped::read(&skipped::file(root))?, root);
    eprintln!("── all checks passed in {:.1}s", whole.elapsed().as_secs_f64());
    Ok(())
}

/// Runs the steps and tests that the last check has skipped. It fails if any of them is skipped again.
pub(crate) fn run_skipped(root: &Path) -> Result<(), Failure> {
    let list = skipped::file(root);
    if !list.exists() {
        return Err(Failure::NoCheck);
    }
    let before = skipped::read(&list)?;
    eprintln!("── {} skipped by the last check", before.count());
    if before.steps().any(|step| step == DEPENDENCIES) {
        dependencies(root)?;
    }
    // The second run writes a separate list. The first list stays valid, so this command can be repeated after the
    // machine was fixed.
    let list = skipped::file_of_second_run(root);
    skipped::begin(&list)?;
    if before.steps().any(|step| step == MUSL) && !musl(root, &list)? {
        skipped::note_step(&list, MUSL, NEEDS_OF_MUSL)?;
    }
    if before.steps().any(|step| step == PACKAGES) && !dist::check(root)? {
        skipped::note_step(&list, PACKAGES, NEEDS_OF_PACKAGES)?;
    }
    if let Some(filter) = before.filter() {
        clients::fetch_if_possible(root)?;
        tests(root, &list, &["-E", &filter])?;
    }
    let still = skipped::read(&list)?;
    if still.count() == 0 {
        return Ok(());
    }
    eprintln!("── skipped again; missing:{still}");
    Err(Failure::Skipped(still.count()))
}

fn report_skipped(skipped: &Skipped, root: &Path) {
    if skipped.count() == 0 {
        eprintln!("── nothing was skipped");
        return;
    }
    let list = skipped::file(root);
    eprintln!("── {} skipped on this machine; missing:{skipped}", skipped.count());
    eprintln!(
        "   full list: {}; install the missing requirements and run `cargo xtask skipped`",
        list.display()
    );
}

fn format(root: &Path) -> Result<(), Failure> {
    cargo(root, &["fmt", "--all", "--check"])
}

fn clippy(root: &Path) -> Result<(), Failure> {
    cargo(root, &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
}

/// The library and the supervisor with their tests; the front ends are checked as libraries.
fn fast_clippy(root: &Path) -> Result<(), Failure> {
    cargo(root, &["clippy", "--workspace", "--lib", "--bins", "--locked", "--", "-D", "warnings"])
}

fn fast_tests(root: &Path) -> Result<(), Failure> {
    let packages = ["mw-model", "mw-policy", "mw-supervisor", "meanwhile", "mw-cli", "xtask"];
    let mut arguments = vec!["run", "--locked", "-E", FAST_TESTS];
    arguments.extend(packages.iter().flat_map(|package| ["--package", package]));
    arguments.extend(["--lib", "--bins", "--test", "engine", "--test", "crash"]);
    let mut command = NEXTEST.command(root, &arguments)?;
    command.env("MW_TEST_SKIPPED", skipped::file(root));
    finish(command, "cargo nextest run (the fast tests)")
}

fn all_tests(root: &Path) -> Result<(), Failure> {
    tests(root, &skipped::file(root), &[])
}

/// Runs the tests that the options select. Skipped tests write their names to `list`.
fn tests(root: &Path, list: &Path, options: &[&str]) -> Result<(), Failure> {
    let arguments = [&["run", "--workspace", "--locked"], options].concat();
    let mut command = NEXTEST.command(root, &arguments)?;
    command.env("MW_TEST_CLIENTS", clients::place(root)).env("MW_TEST_SKIPPED", list);
    finish(command, "cargo nextest run --workspace --locked")
}

fn musl_if_possible(root: &Path) -> Result<(), Failure> {
    match musl(root, &skipped::file(root))? {
        true => Ok(()),
        false => skipped::note_step(&skipped::file(root), MUSL, NEEDS_OF_MUSL),
    }
}

/// Runs tests with executables that are linked with musl. Returns whether this machine can link them.
fn musl(root: &Path, list: &Path) -> Result<bool, Failure> {
    let Some(programs) = install::for_tests(root)? else { return Ok(false) };
    let mut command = NEXTEST.command(root, &["run", "--package", "mw-cli", "--locked", "-E", MUSL_TESTS])?;
    command.env("MW_TEST_PROGRAMS", programs).env("MW_TEST_SKIPPED", list);
    finish(command, "cargo nextest run with musl")?;
    Ok(true)
}

fn packages_if_possible(root: &Path) -> Result<(), Failure> {
    match dist::check(root)? {
        true => Ok(()),
        false => skipped::note_step(&skipped::file(root), PACKAGES, NEEDS_OF_PACKAGES),
    }
}

fn doc_tests(root: &Path) -> Result<(), Failure> {
    cargo(root, &["test", "--doc", "--workspace", "--locked"])
}

/// Builds the documentation of libraries, but not of executables. The supervisor's library and executable have the same
/// name, and one page would replace the other. The documentation of `mw-cli` includes private items, because it has no
/// other readers.
fn rustdoc(root: &Path) -> Result<(), Failure> {
    let deny = ("RUSTDOCFLAGS", "-D warnings");
    let all =
        ["doc", "--workspace", "--exclude", "mw-cli", "--lib", "--bin", "xtask", "--no-deps", "--locked"];
    cargo_with(root, deny, &all)?;
    let command =
        ["doc", "--package", "mw-cli", "--lib", "--no-deps", "--locked", "--document-private-items"];
    cargo_with(root, deny, &command)
}

fn dependencies_if_possible(root: &Path) -> Result<(), Failure> {
    match dependencies(root) {
        Err(failure @ Failure::NoTool { .. }) => {
            eprintln!("{failure}");
            skipped::note_step(&skipped::file(root), DEPENDENCIES, "cargo-deny")
        }
        outcome => outcome,
    }
}

fn dependencies(root: &Path) -> Result<(), Failure> {
    let arguments = ["--offline", "--locked", "check", "licenses", "bans", "sources"];
    let command = DENY.command(root, &arguments)?;
    // The dependency graph covers several platforms, but a build fetches only the crates of its own platform.
    cargo(root, &["fetch", "--locked"])?;
    finish(command, &format!("cargo deny {}", arguments.join(" ")))
}
