//! The samples of a run.

use std::collections::BTreeMap;

use super::metric::Metric;

/// All samples by metric and peer.
#[derive(Debug, Default)]
pub(super) struct Samples {
    /// The names of peers in the order of the report. Variants with a suffix after a comma follow the peer of the same
    /// name.
    order: Vec<&'static str>,
    taken: BTreeMap<Metric, Vec<(String, Vec<f64>)>>,
}

impl Samples {
    pub(super) fn new(order: Vec<&'static str>) -> Self {
        Self { order, taken: BTreeMap::new() }
    }

    /// Adds a sample.
    pub(super) fn add(&mut self, metric: Metric, peer: &str, value: f64) {
        let peers = self.taken.entry(metric).or_default();
        match peers.iter_mut().find(|(name, _)| name == peer) {
            Some((_, values)) => values.push(value),
            None => {
                peers.push((peer.to_owned(), vec![value]));
                let place =
                    |name: &str| self.order.iter().position(|known| name.split(',').next() == Some(known));
                peers.sort_by_key(|(name, _)| (place(name), name.len()));
            }
        }
    }

    /// Returns the samples of one peer.
    pub(super) fn of(&self, metric: Metric, peer: &str) -> Option<&[f64]> {
        let (_, values) = self.taken.get(&metric)?.iter().find(|(name, _)| name == peer)?;
        Some(values)
    }

    /// Iterates over all samples in the order of the report.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Metric, &[(String, Vec<f64>)])> {
        self.taken.iter().map(|(metric, peers)| (*metric, peers.as_slice()))
    }
}

/// Returns the median.
pub(super) fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Returns the value that 95 % of the samples reach or surpass.
pub(super) fn p95(values: &[f64], more_is_better: bool) -> f64 {
    let mut sorted = sorted(values);
    if more_is_better {
        sorted.reverse();
    }
    let rank = (sorted.len() as f64 * 0.95).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_95th_percentile_are_computed() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((median(&values), p95(&values, false), p95(&values, true)), (50.5, 95.0, 6.0));
        assert_eq!((median(&[3.0, 1.0, 2.0]), p95(&[3.0], false)), (2.0, 3.0));
        assert!(median(&[]).is_nan() && p95(&[], false).is_nan());
    }

    #[test]
    fn peers_are_listed_in_the_given_order() {
        let mut samples = Samples::new(vec!["bare", "mw"]);
        for (peer, value) in [("mw", 2.0), ("bare, otherwise", 9.0), ("bare", 1.0), ("mw", 3.0)] {
            samples.add(Metric::StartReturns, peer, value);
        }
        assert_eq!(samples.of(Metric::StartReturns, "mw"), Some([2.0, 3.0].as_slice()));
        let (_, peers) = samples.iter().next().unwrap();
        assert_eq!(
            peers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["bare", "bare, otherwise", "mw"]
        );
    }
}
