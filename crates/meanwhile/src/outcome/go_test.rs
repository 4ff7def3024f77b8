//! `go test`.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;
use super::go_events::{End, Event, read};
use super::report::{Report, plural};

#[derive(Default)]
struct GoRun {
    /// Package, name and end of each test; the package is `None` while it is not known.
    tests: Vec<(Option<String>, String, End)>,
    packages: BTreeMap<String, End>,
    reasons: Vec<String>,
    /// Whether tests ended after the last line that closes a binary or package.
    owes: bool,
}

/// Adds up tests if they are named, or else packages.
pub(super) fn recognise(lines: &[&str]) -> Option<Finding> {
    let mut run = GoRun::default();
    let mut last = None;
    for (index, event) in lines.iter().enumerate().filter_map(|(index, line)| Some((index, read(line)?))) {
        run.take(event);
        last = Some(index);
    }
    if run.tests.is_empty() && run.packages.is_empty() {
        return None;
    }
    let failed =
        run.owes || run.packages_that(&[End::Failed, End::Broken]) > 0 || run.leaves(End::Failed).count() > 0;
    Some(Finding::of_tests(last?, failed, &run.report()))
}

impl GoRun {
    fn take(&mut self, event: Event) {
        match event {
            Event::Test { package, name, end } => {
                self.owes = true;
                self.tests.push((package, name, end));
            }
            Event::Package { name, end } => {
                self.owes = false;
                for (package, ..) in self.tests.iter_mut().filter(|(package, ..)| package.is_none()) {
                    *package = Some(name.clone());
                }
                // With -json a package ends twice: in a line of text with more detail, and in an event.
                self.packages.entry(name).or_insert(end);
            }
            Event::Reason(reason) => self.reasons.push(reason),
            Event::Closing => self.owes = false,
            Event::Own => {}
        }
    }

    fn packages_that(&self, ends: &[End]) -> u64 {
        self.packages.values().filter(|end| ends.contains(end)).count() as u64
    }

    /// Returns the short names of the tests with this end and without subtests.
    fn leaves(&self, end: End) -> impl Iterator<Item = String> {
        let parents: BTreeSet<(Option<&str>, &str)> = self
            .tests
            .iter()
            .flat_map(|(package, name, _)| {
                name.match_indices('/').map(|(at, _)| (package.as_deref(), &name[..at]))
            })
            .collect();
        let is_leaf = move |package: Option<&str>, name: &str| !parents.contains(&(package, name));
        self.tests
            .iter()
            .filter(move |(package, name, found)| *found == end && is_leaf(package.as_deref(), name))
            .map(|(package, name, _)| {
                match package.as_deref().and_then(|package| package.rsplit('/').next()) {
                    Some(package) => format!("{package}.{name}"),
                    None => name.clone(),
                }
            })
    }

    fn report(&self) -> Report {
        let mut report = Report::new("go test");
        let failures: Vec<String> = self.leaves(End::Failed).collect();
        let passed = self.leaves(End::Passed).count() as u64;
        let skipped = self.leaves(End::Skipped).count() as u64;
        let broken = self.packages_that(&[End::Broken]);
        let bad = broken + self.packages_that(&[End::Failed]);
        let ran = bad + self.packages_that(&[End::Passed]);
        if passed + skipped > 0 {
            report.count(failures.len() as u64, "failed");
            report.count(passed, "passed");
            report.count(skipped, "skipped");
        }
        if bad > 0 {
            let how = if broken == bad { "failed to build" } else { "failed" };
            report.say(format!("{bad} of {ran} {} {how}", plural(ran, "package")));
        } else if ran > 0 && passed + skipped == 0 {
            report.count(ran, &format!("{} passed", plural(ran, "package")));
        } else if ran == 0 && self.tests.is_empty() {
            report.say("no tests ran");
        }
        if self.owes {
            report.say("unfinished");
        }
        report.names(&failures);
        report.names(self.reasons.iter().filter(|_| bad > 0));
        if failures.is_empty() && self.reasons.is_empty() {
            let is_bad = |end: &End| [End::Failed, End::Broken].contains(end);
            report.names(self.packages.iter().filter(|(_, end)| is_bad(end)).map(|(name, _)| name));
        }
        report
    }
}
