//! Draws the ratios as bars.

use std::fmt::Write as _;

use super::report::ratio;
use super::samples::Samples;

const BAR: f64 = 12.0;
const LINE: f64 = 15.0;
const GAP: f64 = 12.0;
const LEFT: f64 = 330.0;
const WIDTH: f64 = 860.0;
/// Ratios above this are cut off, and their bars end with the number alone.
const MOST: f64 = 6.0;

/// Returns a drawing of how many times worse than the limit each peer is.
pub(super) fn draw(samples: &Samples) -> String {
    let mut body = String::new();
    let mut y = 24.0;
    for (metric, peers) in samples.iter() {
        let bars: Vec<_> = peers
            .iter()
            .filter(|(peer, _)| !peer.starts_with("bare"))
            .filter_map(|(peer, values)| Some((peer, ratio(samples, metric, values)?)))
            .collect();
        if bars.is_empty() {
            continue;
        }
        let title = metric.title();
        let _ = writeln!(
            body,
            r##"<text x="{:.0}" y="{:.0}" text-anchor="end" fill="#57606a">{title}</text>"##,
            LEFT - 60.0,
            y + 10.0
        );
        for (peer, ratio) in bars {
            body.push_str(&bar(y, peer, ratio));
            y += LINE;
        }
        y += GAP;
    }
    let limit = x_of(1.0);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y:.0}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
<line x1="{limit:.0}" y1="18" x2="{limit:.0}" y2="{y:.0}" stroke="#8c959f" stroke-dasharray="3 3"/>
<text x="{limit:.0}" y="14" text-anchor="middle" fill="#57606a">bare limit</text>
{body}</svg>
"##
    )
}

fn bar(y: f64, peer: &str, ratio: f64) -> String {
    let colour = if peer.starts_with("mw") { "#0969da" } else { "#afb8c1" };
    let end = x_of(ratio.min(MOST));
    format!(
        r##"<text x="{:.0}" y="{:.0}" text-anchor="end" fill="#24292f">{peer}</text><rect x="{LEFT}" y="{y:.0}" width="{:.0}" height="{BAR}" fill="{colour}"/><text x="{:.0}" y="{:.0}" fill="#24292f">{ratio:.2}×</text>
"##,
        LEFT - 6.0,
        y + 10.0,
        end - LEFT,
        end + 5.0,
        y + 10.0
    )
}

fn x_of(ratio: f64) -> f64 {
    LEFT + (WIDTH - LEFT - 60.0) * ratio / MOST
}

#[cfg(test)]
mod tests {
    use super::super::metric::Metric;
    use super::*;

    #[test]
    fn a_bar_for_each_peer_is_as_long_as_its_ratio() {
        let mut samples = Samples::new(vec!["bare", "mw", "nq"]);
        for (peer, value) in [("bare", 1.0), ("mw", 2.0), ("nq", 60.0)] {
            samples.add(Metric::StartReturns, peer, value);
        }
        // The limit has no list, so there is no ratio.
        samples.add(Metric::List(1000), "mw", 3.0);
        let drawing = draw(&samples);
        let width = |ratio: f64| format!("width=\"{:.0}\" height=\"{BAR}\"", x_of(ratio) - LEFT);
        assert!(drawing.contains(&width(2.0)) && drawing.contains("2.00×"), "{drawing}");
        assert!(drawing.contains(&width(MOST)) && drawing.contains("60.00×"), "{drawing}");
        assert_eq!(drawing.matches("fill=\"#0969da\"").count(), 1, "{drawing}");
        assert!(!drawing.contains("list among"), "{drawing}");
    }
}
