//! `docs/reliability.md`, written by a run of the lab.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::check::Promise;
use super::faults::Profile;
use super::round::Verdict;

/// The circumstances of a run.
pub(super) struct Circumstances {
    pub(super) command: String,
    pub(super) build: String,
    pub(super) kernel: String,
    pub(super) cores: usize,
    pub(super) minutes: f64,
    pub(super) skipped: Vec<(&'static str, &'static str)>,
}

/// Returns the sum of all faults.
pub(super) fn faults(verdicts: &[Verdict]) -> u64 {
    verdicts.iter().flat_map(|verdict| verdict.faults.values()).sum()
}

/// Returns the page.
pub(super) fn page(verdicts: &[Verdict], around: &Circumstances) -> String {
    let sum = |count: fn(&Verdict) -> u64| verdicts.iter().map(count).sum::<u64>();
    let violations = sum(|verdict| verdict.violations.len() as u64);
    let mut page = String::new();
    let _ = write!(
        page,
        "# Reliability\n\n<!-- Written by `cargo xtask lab --report`. -->\n\n\
         **{faults} faults, {violations} violations**, in {rounds} rounds of {minutes:.0} minutes together, with {build} on {cores} cores \
         and Linux {kernel}.\n\n    {command}\n\n{how}\n\n",
        faults = faults(verdicts),
        rounds = verdicts.len(),
        minutes = around.minutes,
        build = around.build,
        cores = around.cores,
        kernel = around.kernel,
        command = around.command,
        how = HOW,
    );
    let _ = write!(page, "## What is checked\n\n{CHECKED}\n\n| Promise | Violations |\n|---|---|\n");
    for promise in Promise::ALL {
        let of_promise =
            verdicts.iter().flat_map(|verdict| &verdict.violations).filter(|it| it.promise == promise);
        let _ = writeln!(page, "| {} | {} |", promise.in_words(), of_promise.count());
    }
    let _ = write!(
        page,
        "\nThe rounds ran {} commands, which printed {:.1} MiB, and {} notifications were received. {} tasks ended as \
         `lost`.\n\n## The faults\n\n{FAULTS}\n\n| Fault | Number |\n|---|---|\n",
        sum(|verdict| verdict.runs),
        sum(|verdict| verdict.bytes) as f64 / 1_048_576.0,
        sum(|verdict| verdict.notifications),
        sum(|verdict| verdict.lost),
    );
    let mut classes: BTreeMap<&str, u64> = BTreeMap::new();
    for (class, number) in verdicts.iter().flat_map(|verdict| &verdict.faults) {
        *classes.entry(class).or_default() += number;
    }
    for (class, number) in classes {
        let _ = writeln!(page, "| {class} | {number} |");
    }
    let races = sum(|verdict| verdict.races);
    let _ = writeln!(
        page,
        "\nIn addition, {races} pairs of restart, clear, kill and wait ran at once for one task; they are not counted above."
    );
    if around.skipped.is_empty() {
        page += "No class of faults was skipped.\n";
    }
    for (class, reason) in &around.skipped {
        let _ = writeln!(page, "\nSkipped: {class}, because {reason}.");
    }
    page += "\n## The rounds\n\n| Mix | Rounds | Faults | Runs | Violations |\n|---|---|---|---|---|\n";
    for profile in Profile::ALL {
        let of_profile: Vec<Verdict> =
            verdicts.iter().filter(|verdict| verdict.profile == profile).cloned().collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} |",
            profile.name(),
            of_profile.len(),
            faults(&of_profile),
            of_profile.iter().map(|verdict| verdict.runs).sum::<u64>(),
            of_profile.iter().map(|verdict| verdict.violations.len()).sum::<usize>(),
        );
    }
    page
}

const HOW: &str = "\
A round starts tasks from six clients in three sessions, a host, an MCP server and a web server, while faults hit the processes, the
disk, the database and the clock. After 15 to 25 seconds the faults stop. Every task must then end, and a checker compares what
meanwhile says with what really happened. Each task is a *witness*: a program that writes its start, every byte that it prints, and
its exit code to a file outside the home. The checker uses no code of meanwhile.

The seed decides every command and every fault, but not how the kernel schedules them. If a round fails, its directory is kept, and the
run prints the violations and the command that repeats the round.";

const CHECKED: &str = "\
`lost` is accepted only if two supervisor processes of the task were hit. Output may be missing only if it was counted, or if it is
marked as incomplete after both were killed. A notification may be received again only if its receiver was killed before its
acknowledgment was on disk. A number of running tasks is counted from the first and the last line of the witnesses.";

const FAULTS: &str = "\
Tasks on a back-end (through a stand-in for `ssh`) are not part of the mixes with a full disk or few resources, and the database is not
removed or cut in those mixes: [known limits](limits.md). In the mix `database` a notification may be received again if the database was
replaced while its receiver worked; so it may if the disk was full while an MCP server acknowledged it. A task that a jump of the clock ends as `lost` before it ran is accepted. \
A signal counts if the process was alive. Everything else counts once for each time it was done.";
