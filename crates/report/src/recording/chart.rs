//! Bars and bands for charts, and charts for the terminal.

use ::recording::{Band, LogHistogram};

/// Number of bars per factor of ten.
const PER_DECADE: f64 = 10.0;

/// Width and height of a terminal's chart in characters.
const COLUMNS: usize = 60;
const ROWS: usize = 8;

const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar of a histogram with a logarithmic axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bar {
    pub(crate) low_ns: f64,
    pub(crate) high_ns: f64,
    pub(crate) count: u64,
}

/// The histogram as bars of equal width on a logarithmic axis, from the first to the last bar with a sample.
pub(crate) fn bars(histogram: &LogHistogram) -> Vec<Bar> {
    let index = |ns: u64| ((ns.max(1) as f64).log10() * PER_DECADE + 1e-9).floor() as i64;
    let mut counts = std::collections::BTreeMap::<i64, u64>::new();
    for (low, high, count) in histogram.buckets() {
        *counts.entry(index(low + (high - low) / 2)).or_default() += count;
    }
    let edge = |index: i64| 10f64.powf(index as f64 / PER_DECADE);
    let (Some(first), Some(last)) = (counts.keys().next(), counts.keys().next_back()) else {
        return Vec::new();
    };
    let bar = |index: i64| Bar {
        low_ns: edge(index),
        high_ns: edge(index + 1),
        count: counts.get(&index).copied().unwrap_or(0),
    };
    (*first..=*last).map(bar).collect()
}

/// Merges parts of a recording until at most `most` are left.
pub(crate) fn merged(bands: &[Option<Band>], most: usize) -> Vec<Option<Band>> {
    let each = bands.len().div_ceil(most.max(1)).max(1);
    let merge = |part: &[Option<Band>]| {
        let mut there = part.iter().flatten();
        let first = *there.next()?;
        Some(there.fold(first, |all, band| Band {
            min_ns: all.min_ns.min(band.min_ns),
            // The median of the part with the most samples represents all of them.
            median_ns: if band.samples > all.samples {
                band.median_ns
            } else {
                all.median_ns
            },
            max_ns: all.max_ns.max(band.max_ns),
            samples: all.samples.max(band.samples),
        }))
    };
    bands.chunks(each).map(merge).collect()
}

/// A chart as lines of text, with latency along the horizontal axis and counts on the vertical axis, both logarithmic.
pub(crate) fn histogram_lines(histogram: &LogHistogram) -> Vec<String> {
    let bars = bars(histogram);
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else {
        return Vec::new();
    };
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(1).max(10);
    let decades = (most as f64).log10().ceil();
    let wide = (COLUMNS / bars.len()).clamp(1, 3);
    // A single sample is drawn an eighth of a row high, to be visible.
    let eighths = |count: u64| match count {
        0 => 0,
        n => 1 + ((n as f64).log10() / decades * (ROWS * 8 - 1) as f64) as usize,
    };
    let mut lines: Vec<String> = (0..ROWS)
        .rev()
        .map(|row| {
            let label = power_label(row, decades);
            let cell = |bar: &Bar| EIGHTHS[eighths(bar.count).saturating_sub(row * 8).min(8)];
            let drawn: String = bars
                .iter()
                .flat_map(|bar| std::iter::repeat_n(cell(bar), wide))
                .collect();
            format!("  {label:>6} ┤{}", drawn.trim_end())
        })
        .collect();
    lines.push(format!("         └{}", "─".repeat(bars.len() * wide)));
    let (low, high) = (units::format_ns(first.low_ns), units::format_ns(last.high_ns));
    let width = (bars.len() * wide).max(low.chars().count() + high.chars().count() + 1);
    lines.push(format!(
        "          {low}{high:>rest$}",
        rest = width - low.chars().count()
    ));
    lines
}

/// The label `10^6` in the row where that count ends.
fn power_label(row: usize, decades: f64) -> String {
    let at = |row: usize| (row as f64 / ROWS as f64 * decades).floor();
    match (at(row), at(row + 1)) {
        (low, high) if high > low => format!("10^{high}"),
        _ => String::new(),
    }
}

/// A chart as lines of text, with time along the horizontal axis and latency on the logarithmic vertical axis:
/// smallest, largest and median of each part.
pub(crate) fn band_lines(bands: &[Option<Band>]) -> Vec<String> {
    let bands = merged(bands, COLUMNS);
    let there = || bands.iter().flatten();
    let (Some(low), Some(high)) = (
        there().map(|band| band.min_ns.max(1)).min(),
        there().map(|band| band.max_ns.max(1)).max(),
    ) else {
        return Vec::new();
    };
    let (low, high) = ((low as f64).ln(), (high as f64).ln());
    let row_of = |ns: i64| {
        let share = ((ns.max(1) as f64).ln() - low) / (high - low).max(1e-9);
        ((share * ROWS as f64) as usize).min(ROWS - 1)
    };
    let cell = |band: &Option<Band>, row: usize| match band {
        Some(band) if row_of(band.median_ns) == row => '●',
        Some(band) if (row_of(band.min_ns)..=row_of(band.max_ns)).contains(&row) => '│',
        _ => ' ',
    };
    let line = |row: usize| {
        let top = (low + (high - low) * (row + 1) as f64 / ROWS as f64).exp();
        let drawn: String = bands.iter().map(|band| cell(band, row)).collect();
        format!("  {:>9} ┤{}", units::format_ns(top), drawn.trim_end())
    };
    (0..ROWS).rev().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{band_lines, bars, histogram_lines, merged};
    use ::recording::{Band, LogHistogram};

    fn two_heaps() -> LogHistogram {
        let mut histogram = LogHistogram::default();
        for ns in 0..1_000 {
            histogram.record_n(10_000 + ns, 100);
        }
        histogram.record_n(5_000_000, 1);
        histogram
    }

    #[test]
    fn bars_hold_every_sample_and_one_sample_can_be_seen() {
        let histogram = two_heaps();
        let bars = bars(&histogram);
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), 100_001);
        assert!(
            bars.first()
                .is_some_and(|bar| bar.low_ns <= 10_000.1 && bar.high_ns > 10_000.0)
        );
        let lines = histogram_lines(&histogram);
        let lowest = &lines[lines.len() - 3];
        assert!(lowest.ends_with('▁'), "{lowest:?}");
        assert!(lines[0].contains('█') || lines[0].contains('▇'), "{lines:#?}");
        assert!(
            lines
                .last()
                .is_some_and(|line| line.contains("10.0 µs") && line.contains("5.01 ms")),
            "{lines:#?}"
        );
        assert!(histogram_lines(&LogHistogram::default()).is_empty());
    }

    #[test]
    fn merged_parts_keep_the_extremes() {
        let band = |ns: i64| {
            Some(Band {
                min_ns: ns,
                median_ns: ns + 5,
                max_ns: ns + 9,
                samples: 3,
            })
        };
        let parts = [band(10), None, band(4), band(7), None, None];
        let merged = merged(&parts, 3);
        assert_eq!(merged.len(), 3);
        assert_eq!(merged[1].map(|band| (band.min_ns, band.max_ns)), Some((4, 16)));
        assert_eq!(merged[2], None);
        assert_eq!(band_lines(&parts).len(), 8);
        assert!(band_lines(&[None]).is_empty());
    }
}
