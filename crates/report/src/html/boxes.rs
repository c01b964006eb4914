//! Box plots of window maxima, as used in papers of this field (Tukey's rule). The box reaches from the lower to the
//! upper quartile and shows the median. Whiskers reach to the outermost value within one and a half box lengths; values
//! beyond are dots.

use super::svg::{Scale, axis_ns, escape};
use std::fmt::Write;

/// Minimum number of windows for a box.
pub(crate) const LEAST: usize = 5;

/// Maximum number of dots; the outermost ones are drawn.
const MOST_DOTS: usize = 200;

const WIDTH: f64 = 560.0;
const ROW: f64 = 30.0;
const LEFT: f64 = 150.0;

/// Approximate width of a letter in a name.
const LETTER: f64 = 6.2;

/// The figures of a box.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoxFigures {
    pub(crate) quartiles: [f64; 3],
    pub(crate) whiskers: [f64; 2],
    pub(crate) outliers: Vec<f64>,
}

impl BoxFigures {
    /// The figures of at least [`LEAST`] values.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        if values.len() < LEAST {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let quartiles = [0.25, 0.5, 0.75].map(|q| between(&values, q));
        let reach = 1.5 * (quartiles[2] - quartiles[0]);
        let inside = |value: &&f64| **value >= quartiles[0] - reach && **value <= quartiles[2] + reach;
        let low = values.iter().find(inside).copied().unwrap_or(quartiles[0]);
        let high = values.iter().rev().find(inside).copied().unwrap_or(quartiles[2]);
        let outliers: Vec<f64> = values
            .iter()
            .copied()
            .filter(|value| *value < low || *value > high)
            .collect();
        Some(Self {
            quartiles,
            whiskers: [low, high],
            outliers,
        })
    }

    /// The outermost values.
    pub(crate) fn ends(&self) -> impl Iterator<Item = f64> {
        let outermost = [self.outliers.first(), self.outliers.last()];
        self.whiskers
            .into_iter()
            .chain(outermost.into_iter().flatten().copied())
    }
}

/// A quantile of sorted values, interpolated linearly between neighbours.
fn between(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * part
}

/// One row for each named set of window maxima, on a common logarithmic scale; sets with too few windows are left out.
pub(crate) fn plot(rows: &[(String, Vec<f64>)]) -> String {
    let boxes: Vec<(&str, BoxFigures)> = rows
        .iter()
        .filter_map(|(name, values)| Some((name.as_str(), BoxFigures::of(values.clone())?)))
        .collect();
    if boxes.is_empty() {
        return String::new();
    }
    let left = boxes.iter().map(|(name, _)| letters_width(name)).fold(LEFT, f64::max);
    let width = WIDTH - LEFT + left;
    let ends = boxes.iter().flat_map(|(_, figures)| figures.ends());
    let x = Scale::log(ends, left, width - 20.0);
    let bottom = ROW * boxes.len() as f64 + 4.0;
    let mut out = format!(
        "<svg class=\"boxes\" viewBox=\"0 0 {width:.0} {:.0}\" role=\"img\" aria-label=\"Box plot of window maxima\">",
        bottom + 20.0
    );
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{at:.1} 0V{bottom}\"/><text class=\"tick mid\" x=\"{at:.1}\" y=\"{:.1}\">{}</text>",
            bottom + 14.0,
            axis_ns(tick)
        );
    }
    for (row, (name, figures)) in boxes.iter().enumerate() {
        draw(&mut out, (name, left), figures, &x, ROW * (row as f64 + 0.5));
    }
    out + "</svg>"
}

/// Approximate width of a name.
pub(crate) fn letters_width(name: &str) -> f64 {
    name.chars().count() as f64 * LETTER
}

/// One box at height `y`, with its name at the left of `left`.
pub(crate) fn draw(out: &mut String, (name, left): (&str, f64), figures: &BoxFigures, x: &Scale, y: f64) {
    let [low, middle, high] = figures.quartiles.map(|value| x.at(value));
    let [from, to] = figures.whiskers.map(|value| x.at(value));
    let _ = write!(
        out,
        "<text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\
         <path class=\"whisker\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>\
         <rect class=\"body\" x=\"{low:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\"/>\
         <path class=\"middle\" d=\"M{middle:.1} {:.1}v14\"/>",
        left - 8.0,
        y + 3.5,
        escape(name),
        y - 7.0,
        (high - low).max(1.5),
        y - 7.0,
    );
    for value in figures.outliers.iter().rev().take(MOST_DOTS) {
        let _ = write!(
            out,
            "<circle class=\"largest\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"2.2\"/>",
            x.at(*value)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{BoxFigures, plot};

    #[test]
    fn quartiles_whiskers_and_what_lies_beyond() {
        let values = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 100.0];
        let figures = BoxFigures::of(values).expect("enough");
        assert_eq!(figures.quartiles, [3.0, 5.0, 7.0]);
        assert_eq!((figures.whiskers, figures.outliers), ([1.0, 8.0], vec![100.0]));
        assert_eq!(BoxFigures::of(vec![1.0; 4]), None);
    }

    #[test]
    fn rows_with_too_few_windows_are_left_out() {
        let many: Vec<f64> = (1..50).map(|n| f64::from(n) * 1e3).collect();
        let drawn = plot(&[("wakeup/cpu1".into(), many), ("wakeup/cpu2".into(), vec![1.0])]);
        assert!(drawn.contains("wakeup/cpu1") && !drawn.contains("wakeup/cpu2"));
        assert!(plot(&[]).is_empty());
    }
}
