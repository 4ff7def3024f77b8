//! Development commands of this workspace, run as `cargo xtask <command>`.
//!
//! `check` runs the same steps as CI, and `skipped` the additional ones of CI. `tidy` checks rules that no lint can
//! express, and `generate` rewrites the references that are generated from the program. No product crate is linked
//! here, so the checks still build when a product crate does not.

#![forbid(unsafe_code)]

mod check;
mod clients;
mod command;
mod dist;
mod error;
mod fuzz;
mod generate;
mod install;
mod lab;
mod mask;
mod peers;
mod size;
mod skipped;
mod source;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use error::Failure;

const USAGE: &str = "usage: cargo xtask <command>

  install    build mw and the executables next to it and install them; --root DIR, --host, --profile quick
  dist       build and try the packages of a release; --out DIR, --arch ARCH
  check      everything CI checks; stops at the first failure, and names at its end what it had to skip here
             --fast: only what finds most mistakes in the least time
  skipped    what the last check skipped, on a machine that lacks nothing; fails if anything is skipped again
  clients    fetch the third-party clients that some tests drive our servers with
  tidy       the rules that no lint can express
  generate   rewrite docs/reference.md from `mw reference`
  fuzz       feed changed inputs to every reader of foreign data; --seconds N, --target NAME
  lab        random faults while tasks run, and a check of what became of them; --seed N, --faults N, --minutes M
  peers      compare mw with the bare limit and installed peers; no part of check";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        // The command of the lab's tasks: it exits with the code that it was given.
        ["lab-witness", plan @ ..] => lab::witness(plan),
        words => run(words).map(|()| ExitCode::SUCCESS),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["install", options @ ..] => install::run(&workspace::root()?, options),
        ["dist", options @ ..] => dist::run(&workspace::root()?, options),
        ["check"] => check::run(&workspace::root()?),
        ["check", "--fast"] => check::run_fast(&workspace::root()?),
        ["skipped"] => check::run_skipped(&workspace::root()?),
        ["clients"] => clients::fetch(&workspace::root()?),
        ["tidy"] => tidy::run(&workspace::root()?),
        ["generate"] => generate::write(&workspace::root()?),
        ["fuzz", options @ ..] => fuzz::run(&workspace::root()?, options),
        ["lab", options @ ..] => lab::run(&workspace::root()?, options),
        ["peers", options @ ..] => peers::run(&workspace::root()?, options),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(Failure::Usage(USAGE)),
    }
}
