//! Runs the whole comparison, from the command line to the report.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::bench::Bench;
use super::options::Options;
use super::report::Circumstances;
use super::systems::Kind;
use super::tools::Tools;
use super::{axes, json, plot, probe, report};
use crate::error::Failure;

/// Measures all peers, and prints a Markdown table.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<(), Failure> {
    let options = Options::parse(words)?;
    let state = Scratch::new(&options.root)?;
    let big = Scratch::new(&options.big)?;
    let before = probe::file_cost(&state.path);
    let tools = Tools::prepare(root, &state.path, &options)?;
    let kinds = Kind::installed(options.peers.as_deref());
    let versions = kinds.iter().filter_map(|kind| kind.version(&tools)).collect();
    let begun = Instant::now();
    let mut bench = Bench::new(options, tools, kinds, &state.path, &big.path);
    measure(&mut bench);
    let around = Circumstances {
        day: day(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        kernel: kernel(),
        seconds: begun.elapsed().as_secs(),
        file_cost: [before, probe::file_cost(&state.path)],
        versions,
    };
    print!("{}", report::write(&bench, &around));
    if let Some(path) = &bench.options.json {
        let text = json::write(&bench.samples, &around);
        fs::write(path, text).map_err(|source| Failure::File { path: path.clone(), source })?;
    }
    if let Some(path) = &bench.options.plot {
        let text = plot::draw(&bench.samples);
        fs::write(path, text).map_err(|source| Failure::File { path: path.clone(), source })?;
    }
    Ok(())
}

fn measure(bench: &mut Bench) {
    for axis in bench.options.axes.clone() {
        let begun = Instant::now();
        match axis.as_str() {
            "start" => axes::start(bench),
            "wait" => axes::wait(bench),
            "kill" => axes::kill(bench),
            "many" => axes::many(bench),
            "output" => axes::output(bench),
            "memory" => axes::idle(bench),
            _ => axes::store(bench),
        }
        eprintln!("── {axis} in {:.1}s", begun.elapsed().as_secs_f64());
    }
}

/// A directory that is removed after the run.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new(parent: &Path) -> Result<Self, Failure> {
        let path = parent.join(format!("mwb{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|source| Failure::File { path: path.clone(), source })?;
        Ok(Self { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn day() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output();
    output.map_or_else(|_| String::new(), |found| String::from_utf8_lossy(&found.stdout).trim().to_owned())
}

fn kernel() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    text.trim().split('.').take(2).collect::<Vec<_>>().join(".")
}
