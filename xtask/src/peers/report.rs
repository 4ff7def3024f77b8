//! Formats the results as a Markdown table.

use std::fmt::Write as _;

use super::bench::Bench;
use super::metric::Metric;
use super::probe;
use super::samples::{Samples, median, p95};

const LIMIT: &str = "bare";

/// Facts about the run that precede the table.
pub(super) struct Circumstances {
    /// The day, as `2026-11-15`.
    pub(super) day: String,
    /// The number of processors.
    pub(super) cores: usize,
    /// The version of the kernel, without the suffix of the distribution.
    pub(super) kernel: String,
    /// The duration of the run in seconds.
    pub(super) seconds: u64,
    /// The time to create an empty file in the state directory in microseconds, before and after the run.
    pub(super) file_cost: [f64; 2],
    /// The version that each peer reports.
    pub(super) versions: Vec<String>,
}

/// Returns the whole report.
pub(super) fn write(bench: &Bench, around: &Circumstances) -> String {
    let mut text = format!(
        "{}, {} cores, Linux {}; {} s; {} of {} rounds began on a busy machine.\n",
        around.day, around.cores, around.kernel, around.seconds, bench.quiet.disturbed, bench.quiet.rounds
    );
    let [before, after] = around.file_cost;
    let _ =
        writeln!(text, "Making an empty file took {before:.0} µs before the run and {after:.0} µs after it.");
    if before.max(after) > probe::TOO_SLOW {
        let _ = writeln!(text, "**That is too slow for figures to mean much here: {}.**", probe::REMEDY);
    }
    if !around.versions.is_empty() {
        let _ = writeln!(text, "Versions: {}.", around.versions.join(", "));
    }
    text.push_str("\n| | peer | median | p95 | × bare | samples |\n|---|---|---:|---:|---:|---:|\n");
    for (metric, peers) in bench.samples.iter() {
        for (index, (peer, values)) in peers.iter().enumerate() {
            let title = if index == 0 { metric.title() } else { String::new() };
            text.push_str(&row(&bench.samples, metric, &title, peer, values));
        }
    }
    if !bench.troubles.is_empty() {
        text.push_str("\nSteps that failed:\n\n");
        for trouble in &bench.troubles {
            let _ = writeln!(text, "- {trouble}");
        }
    }
    text
}

fn row(samples: &Samples, metric: Metric, title: &str, peer: &str, values: &[f64]) -> String {
    let unit = metric.unit();
    let (middle, tail) = if metric.is_share() {
        (unit.show(values.iter().sum::<f64>() / values.len() as f64), "–".to_owned())
    } else {
        (unit.show(median(values)), unit.show(p95(values, unit.more_is_better())))
    };
    let ratio = ratio(samples, metric, values).map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
    format!("| {title} | {peer} | {middle} | {tail} | {ratio} | {} |\n", values.len())
}

/// Returns how many times worse than the limit the median is, if the limit has this metric.
pub(super) fn ratio(samples: &Samples, metric: Metric, values: &[f64]) -> Option<f64> {
    if metric.is_share() {
        return None;
    }
    let limit = median(samples.of(metric.reference(), LIMIT)?);
    let own = median(values);
    let ratio = if metric.unit().more_is_better() { limit / own } else { own / limit };
    ratio.is_finite().then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_how_many_times_worse_a_result_is_than_the_limit() {
        let mut samples = Samples::default();
        for (metric, limit) in
            [(Metric::StartReturns, 2.0), (Metric::Many(200), 600.0), (Metric::StartAmong(0), 1.0)]
        {
            samples.add(metric, LIMIT, limit);
        }
        assert_eq!(ratio(&samples, Metric::StartReturns, &[5.0]), Some(2.5));
        assert_eq!(ratio(&samples, Metric::Many(200), &[300.0]), Some(2.0));
        assert_eq!(ratio(&samples, Metric::StartAmong(1000), &[3.0]), Some(3.0));
        assert_eq!(ratio(&samples, Metric::List(1000), &[3.0]), None);
        let row = row(&samples, Metric::StartReturns, "start", "mw", &[5.0, 5.0]);
        assert_eq!(row, "| start | mw | 5.00 ms | 5.00 ms | 2.50 | 2 |\n");
    }
}
