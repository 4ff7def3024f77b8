//! Writes every sample as JSON.

use super::report::Circumstances;
use super::samples::Samples;

/// Returns an object with the circumstances, and with the samples by metric and peer under `samples`.
pub(super) fn write(samples: &Samples, around: &Circumstances) -> String {
    let metrics: Vec<String> = samples
        .iter()
        .map(|(metric, peers)| {
            let lists: Vec<String> = peers
                .iter()
                .map(|(peer, values)| {
                    let numbers: Vec<String> = values.iter().map(|value| format!("{value:.4}")).collect();
                    format!("{}: [{}]", quoted(peer), numbers.join(", "))
                })
                .collect();
            format!("    {}: {{\n      {}\n    }}", quoted(&metric.key()), lists.join(",\n      "))
        })
        .collect();
    let versions: Vec<String> = around.versions.iter().map(|version| quoted(version)).collect();
    format!(
        "{{\n  \"day\": {},\n  \"cores\": {},\n  \"kernel\": {},\n  \"seconds\": {},\n  \"file_cost_us\": [{:.1}, {:.1}],\n  \"versions\": [{}],\n  \
         \"samples\": {{\n{}\n  }}\n}}\n",
        quoted(&around.day),
        around.cores,
        quoted(&around.kernel),
        around.seconds,
        around.file_cost[0],
        around.file_cost[1],
        versions.join(", "),
        metrics.join(",\n")
    )
}

fn quoted(text: &str) -> String {
    let inside: String = text
        .chars()
        .filter(|c| !c.is_control())
        .flat_map(|c| if matches!(c, '"' | '\\') { vec!['\\', c] } else { vec![c] })
        .collect();
    format!("\"{inside}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::metric::Metric;

    #[test]
    fn samples_are_listed_by_metric_and_peer() {
        let mut samples = Samples::default();
        samples.add(Metric::List(1000), "mw", 1.5);
        samples.add(Metric::List(1000), "mw", 2.0);
        let circumstances = Circumstances {
            day: "2026-01-02".to_owned(),
            cores: 2,
            kernel: "6.18".to_owned(),
            seconds: 3,
            file_cost: [1.0, 2.0],
            versions: vec!["a \"b\"".to_owned()],
        };
        let text = write(&samples, &circumstances);
        assert!(text.contains("\"list_1000_ms\": {\n      \"mw\": [1.5000, 2.0000]\n    }"), "{text}");
        assert!(text.contains("\"versions\": [\"a \\\"b\\\"\"]"), "{text}");
    }
}
