//! Histograms of several runs or series as outlines in the same drawing.

use super::charts::{BOTTOM, LEFT, RIGHT, TOP, grid_y, limit_label, opened, tick_x};
use super::svg::{Scale, axis_count, axis_ns, escape};
use stats::{Bucket, Histogram};
use std::fmt::Write;

/// Number of bars per factor of ten.
const PER_DECADE: u32 = 20;

/// Number of CSS classes that distinguish outlines; further outlines use them again.
pub(crate) const CLASSES: usize = 6;

/// A chart with latency along the horizontal axis and counts on the vertical axis, both logarithmic: one outline for
/// each histogram, named in its title; the limit is a red line.
pub(crate) fn histograms(name: &str, all: &[(&str, &Histogram)], limit: Option<u64>) -> String {
    let bars: Vec<Vec<Bucket>> = all
        .iter()
        .map(|(_, histogram)| histogram.log_buckets(PER_DECADE))
        .collect();
    let edges = bars
        .iter()
        .flatten()
        .flat_map(|bar| [bar.low_ns as f64, bar.high_ns as f64 + 1.0])
        .chain(limit.map(|limit| limit as f64));
    let x = Scale::log(edges.collect::<Vec<_>>(), LEFT, RIGHT);
    let most = bars.iter().flatten().map(|bar| bar.count).max().unwrap_or(1).max(10) as f64;
    let y = Scale::log_between(0.7, 10f64.powf(most.log10().ceil()), BOTTOM, TOP);
    let mut out = opened("overlay", &format!("{name}: number of samples by duration"));
    grid_y(&mut out, &y, axis_count);
    for tick in x.ticks() {
        tick_x(&mut out, x.at(tick), &axis_ns(tick));
    }
    for (at, ((label, _), bars)) in all.iter().zip(&bars).enumerate().rev() {
        let _ = write!(
            out,
            "<path class=\"outline {}\" d=\"{}\"><title>{}</title></path>",
            look(at, all.len()),
            outline(bars, &x, &y),
            escape(label)
        );
    }
    if let Some(limit) = limit {
        let at = x.at(limit as f64);
        let _ = write!(out, "<path class=\"limit\" d=\"M{at:.1} {TOP}V{BOTTOM}\"/>");
        limit_label(&mut out, at, TOP - 6.0, limit);
    }
    out + &format!("<path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/></svg>")
}

/// CSS class of the outline at index `at` of `of` outlines: a single one is filled.
pub(crate) fn look(at: usize, of: usize) -> String {
    match of {
        1 => "only".to_owned(),
        _ => format!("run{}", at % CLASSES),
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
        let drawn = histograms("wakeup/cpu1", &[("a", &a), ("<b>", &b)], Some(120_000));
        assert!(drawn.contains("limit 120 µs"));
        assert!(drawn.contains("outline run0") && drawn.contains("outline run1"));
        assert!(drawn.contains("&lt;b&gt;") && !drawn.contains("<b>"));
    }
}
