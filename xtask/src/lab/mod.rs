//! The fault lab: random faults while tasks run, and a checker that knows the truth.
//!
//! ```text
//! options ─▶ round ─┬▶ world (directories, environment)      ─▶ claims (what the product says) ─┐
//!                   ├▶ load/* (clients, hosts, servers)       ─▶ actions (what was asked for)     ─┼▶ check/* ─▶ report
//!                   └▶ faults/* (signals, disk, database, …)     witness ─▶ facts (what happened) ┘
//! ```
//!
//! No code of the product is linked: the lab runs `mw` and reads files.

mod actions;
mod check;
mod claims;
mod client;
mod facts;
mod faults;
mod json;
mod load;
mod options;
mod processes;
mod random;
mod report;
mod round;
mod signals;
mod witness;
mod world;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

pub(crate) use witness::run as witness;

use crate::command::{cargo, target};
use crate::error::Failure;
use options::Options;
use report::Circumstances;
use round::Verdict;

/// The first seed of the check.
const CHECK_SEED: &str = "7";

/// The page that a run can write.
const PAGE: &str = "docs/reliability.md";

/// Runs rounds until the wanted number of faults or the time is reached.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), Failure> {
    let options = Options::parse(words)?;
    let programs = match &options.programs {
        Some(folder) => {
            folder.canonicalize().map_err(|source| Failure::File { path: folder.clone(), source })?
        }
        None => build(root)?,
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let first = options.seed.unwrap_or(now.as_secs());
    let folder = options
        .root
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("mw-lab-{}", std::process::id())));
    let skipped = faults::skipped(&programs);
    for (class, reason) in &skipped {
        eprintln!("── skipped here: {class}: {reason}");
    }
    let begun = Instant::now();
    let mut verdicts = Vec::new();
    for seed in first.. {
        let verdict = round::run(seed, &folder.join(seed.to_string()), &programs)?;
        print(&verdict, &folder, &options);
        verdicts.push(verdict);
        let is_enough = options.faults.is_some_and(|wanted| report::faults(&verdicts) >= wanted);
        if is_enough || options.longest.is_some_and(|longest| begun.elapsed() >= longest) {
            break;
        }
    }
    let violations: usize = verdicts.iter().map(|verdict| verdict.violations.len()).sum();
    eprintln!(
        "── {} faults, {violations} violations in {} rounds, {:.0}s",
        report::faults(&verdicts),
        verdicts.len(),
        begun.elapsed().as_secs_f64()
    );
    if options.has_report {
        let around = Circumstances {
            command: format!("cargo xtask lab --seed {first} --faults {}", report::faults(&verdicts)),
            build: if programs.ends_with("debug") {
                "a debug build".to_owned()
            } else {
                "a release build".to_owned()
            },
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            minutes: begun.elapsed().as_secs_f64() / 60.0,
            skipped,
        };
        let path = root.join(PAGE);
        fs::write(&path, report::page(&verdicts, &around))
            .map_err(|source| Failure::File { path, source })?;
    }
    if violations == 0 {
        let _ = fs::remove_dir(&folder);
        return Ok(());
    }
    Err(Failure::Violations(violations))
}

/// Runs a round with a fixed seed, as a step of the check. Its mix is that of signals to processes; see `docs/reliability.md` for others.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    run(root, &["--seed", CHECK_SEED, "--faults", "200"])
}

fn build(root: &Path) -> Result<PathBuf, Failure> {
    let supervisor =
        ["build", "--locked", "--package", "mw-supervisor", "--features", "executable", "--bins"];
    cargo(root, &supervisor)?;
    cargo(root, &["build", "--locked", "--package", "mw-cli", "--bins"])?;
    Ok(target(root).join("debug"))
}

fn print(verdict: &Verdict, folder: &Path, options: &Options) {
    let faults: u64 = verdict.faults.values().sum();
    eprintln!(
        "── seed {}, {}: {faults} faults, {} runs, {} notifications, {} lost, {} violations",
        verdict.seed,
        verdict.profile.name(),
        verdict.runs,
        verdict.notifications,
        verdict.lost,
        verdict.violations.len()
    );
    for violation in &verdict.violations {
        eprintln!("   violated: {}: {}", violation.promise.in_words(), violation.text);
    }
    if !verdict.violations.is_empty() {
        let programs = options.programs.as_ref();
        let programs = programs.map(|folder| format!(" --mw {}", folder.display())).unwrap_or_default();
        eprintln!("   kept: {}", folder.join(verdict.seed.to_string()).display());
        eprintln!("   repeat: cargo xtask lab --seed {} --faults 1{programs}", verdict.seed);
    }
}
