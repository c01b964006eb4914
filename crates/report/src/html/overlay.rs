//! Histograms of several runs, drawn one over the other as outlines.

use super::svg::{Scale, axis_count, axis_ns, escape};
use stats::{Bucket, Histogram};
use std::fmt::Write;

/// Bars in a factor of ten.
const PER_DECADE: u32 = 20;

const WIDTH: f64 = 700.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = HEIGHT - 30.0;

/// Outlines are told apart by these classes, in turn.
pub(crate) const CLASSES: usize = 6;

/// Latency along, count up, both logarithmic; one outline for each run, named in its title.
pub(crate) fn histograms(name: &str, runs: &[(&str, &Histogram)]) -> String {
    let bars: Vec<Vec<Bucket>> = runs
        .iter()
        .map(|(_, histogram)| histogram.log_buckets(PER_DECADE))
        .collect();
    let edges = bars
        .iter()
        .flatten()
        .flat_map(|bar| [bar.low_ns as f64, bar.high_ns as f64 + 1.0]);
    let x = Scale::log(edges.collect::<Vec<_>>(), LEFT, RIGHT);
    let most = bars.iter().flatten().map(|bar| bar.count).max().unwrap_or(1).max(10) as f64;
    let y = Scale::log_between(0.7, 10f64.powf(most.log10().ceil()), BOTTOM, TOP);
    let title = escape(&format!("{name}: histograms of the runs"));
    let mut out =
        format!("<svg class=\"overlay\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">");
    axes(&mut out, &x, &y);
    for (index, ((run, _), bars)) in runs.iter().zip(&bars).enumerate() {
        let _ = write!(
            out,
            "<path class=\"outline run{}\" d=\"{}\"><title>{}</title></path>",
            index % CLASSES,
            outline(bars, &x, &y),
            escape(run)
        );
    }
    out + "</svg>"
}

fn axes(out: &mut String, x: &Scale, y: &Scale) {
    for tick in y.ticks() {
        let at = y.at(tick);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{RIGHT}\"/><text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LEFT - 6.0,
            at + 3.5,
            axis_count(tick)
        );
    }
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{BOTTOM}\"/><text class=\"tick mid\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
            BOTTOM + 15.0,
            axis_ns(tick)
        );
    }
}

/// A staircase over the bars, down to the axis at both ends and in gaps.
fn outline(bars: &[Bucket], x: &Scale, y: &Scale) -> String {
    let mut path = String::new();
    for bar in bars {
        let (left, right) = (x.at(bar.low_ns as f64), x.at(bar.high_ns as f64 + 1.0));
        let top = match bar.count {
            0 => BOTTOM,
            count => y.at(count as f64),
        };
        let start = if path.is_empty() {
            format!("M{left:.1} {BOTTOM}")
        } else {
            String::new()
        };
        let _ = write!(path, "{start}V{top:.1}H{right:.1}");
    }
    let _ = write!(path, "V{BOTTOM}");
    path
}

#[cfg(test)]
mod tests {
    use super::histograms;
    use stats::Histogram;

    #[test]
    fn every_run_has_its_outline() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::new();
            for value in values {
                histogram.record(*value);
            }
            histogram
        };
        let (a, b) = (of(&[1_000, 2_000, 90_000]), of(&[1_500, 400_000]));
        let drawn = histograms("wakeup/cpu1", &[("a", &a), ("<b>", &b)]);
        assert!(drawn.contains("outline run0") && drawn.contains("outline run1"));
        assert!(drawn.contains("&lt;b&gt;") && !drawn.contains("<b>"));
    }
}
