//! The largest sample of each span of time. For series that are compared, all spans have the same length: a longer span
//! has a larger maximum, regardless of what is measured.

use crate::html::boxes;
use crate::insight::{usual_length_ns, whole_windows, with_largest};
use model::{SeriesView, WindowRow};
use units::Ns;

/// Lengths that differ by less than this share are treated as equal.
const SAME: f64 = 0.01;

/// Usual length of the windows of a series, in ns; `None` if it has none.
pub(crate) fn window_ns(series: &SeriesView) -> Option<u64> {
    Some(usual_length_ns(&series.windows)).filter(|ns| *ns > 0)
}

/// Length of the longest windows of these series, in ns; 0 if there are none. Shorter spans are not possible for all of
/// them.
pub(crate) fn longest_ns<'a>(all: impl IntoIterator<Item = &'a SeriesView>) -> u64 {
    all.into_iter().filter_map(window_ns).max().unwrap_or(0)
}

/// A span of time in a run, and its largest sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    /// In ns; `None` without samples.
    pub(crate) max_ns: Option<i64>,
}

impl Span {
    /// A window on its own.
    pub(crate) fn of_window(row: &WindowRow) -> Self {
        Self::of(&[row])
    }

    /// Windows one after the other, at least one.
    fn of(rows: &[&WindowRow]) -> Self {
        Self {
            start_ns: rows[0].start_ns,
            end_ns: rows[rows.len() - 1].end_ns,
            max_ns: rows.iter().filter_map(|row| row.max_ns).max(),
        }
    }
}

/// Length of the spans in ns for which the application of ABB and the University of Torino reports maxima.
const PUBLISHED_NS: u64 = 20_000_000_000;

/// The length of the spans of all these series: 20 s if every box then has enough spans, otherwise the length of the
/// longest windows.
pub(crate) fn common_ns(series: &[&SeriesView]) -> u64 {
    let longest_ns = longest_ns(series.iter().copied());
    let has_box = |series: &SeriesView, span_ns: u64| {
        let maxima = maxima(series, span_ns);
        maxima.is_some_and(|maxima| maxima.len() >= boxes::LEAST)
    };
    let boxes: Vec<_> = series.iter().filter(|series| has_box(series, longest_ns)).collect();
    let is_enough = !boxes.is_empty() && boxes.iter().all(|series| has_box(series, PUBLISHED_NS));
    match longest_ns < PUBLISHED_NS && is_enough {
        true => PUBLISHED_NS,
        false => longest_ns,
    }
}

/// Largest sample of each span of this length, in ns; `None` if the series' windows do not fit into such spans.
pub(crate) fn maxima(series: &SeriesView, span_ns: u64) -> Option<Vec<f64>> {
    let spans = largest(series, span_ns)?;
    Some(
        spans
            .into_iter()
            .filter_map(|span| span.max_ns)
            .map(|ns| ns as f64)
            .collect(),
    )
}

/// The spans of this length of a series; `None` if its windows do not fit into such spans.
pub(crate) fn largest(series: &SeriesView, span_ns: u64) -> Option<Vec<Span>> {
    let Some(window_ns) = window_ns(series) else {
        return Some(Vec::new());
    };
    let times = (span_ns as f64 / window_ns as f64).round();
    if times < 1.0 || (span_ns as f64 - times * window_ns as f64).abs() > SAME * span_ns as f64 {
        return None;
    }
    let rows: Vec<&WindowRow> = whole_windows(series).collect();
    let spans: Vec<&[&WindowRow]> = match times as usize {
        // There may be gaps between single windows.
        1 => rows.chunks(1).collect(),
        several => rows
            .chunk_by(|one, next| one.end_ns == next.start_ns)
            .flat_map(|rows| rows.chunks_exact(several))
            .collect(),
    };
    Some(spans.into_iter().map(Span::of).collect())
}

/// Box plots of these series, all over spans of the same length, and their caption; the caption is empty without boxes.
pub(crate) fn boxes_of(all: &[(String, &SeriesView)]) -> (String, String) {
    let span_ns = longest_ns(all.iter().map(|(_, series)| *series));
    let mut caption = format!(
        "Largest sample of each {}: quartiles, median, whiskers to 1.5 box lengths, outliers",
        Ns(span_ns)
    );
    let mut rows = Vec::new();
    for (name, series) in all {
        match maxima(series, span_ns) {
            Some(maxima) => rows.push((name.clone(), with_largest(maxima, series))),
            None => {
                caption += &format!("; {name} is not shown: its windows cannot be merged into spans of this length");
            }
        }
    }
    (boxes::plot(&rows), caption)
}

#[cfg(test)]
mod tests {
    use super::{boxes_of, longest_ns, maxima, window_ns};
    use model::{SeriesView, WindowRow};
    use testing::synthetic;

    const S: u64 = 1_000_000_000;

    /// Consecutive windows of this length; the largest sample of each window is its number.
    fn series(windows: u64, length_ns: u64) -> SeriesView {
        let mut series = synthetic::series("wakeup/cpu1", 1_000, 9_000, 1);
        let row = series.windows[0].clone();
        series.windows = (0..windows)
            .map(|number| WindowRow {
                start_ns: number * length_ns,
                end_ns: (number + 1) * length_ns,
                max_ns: i64::try_from(number).ok(),
                ..row.clone()
            })
            .collect();
        series
    }

    #[test]
    fn windows_are_taken_together_to_spans_of_one_length_or_not_at_all() {
        let (short, long) = (series(10, S / 2), series(3, 2 * S));
        assert_eq!(longest_ns([&short, &long]), 2 * S);
        assert_eq!(maxima(&short, 2 * S), Some(vec![3.0, 7.0]), "the rest is no whole span");
        assert_eq!(maxima(&long, 2 * S), Some(vec![0.0, 1.0, 2.0]));
        assert_eq!(maxima(&long, S / 2), None, "nothing is known of parts of a window");
        assert_eq!(maxima(&series(10, 3 * S / 10), 2 * S), None);
        let empty = series(0, S);
        assert_eq!((window_ns(&empty), maxima(&empty, S)), (None, Some(Vec::new())));
    }

    #[test]
    fn boxes_beside_each_other_are_of_one_length_and_what_has_another_is_named() {
        let (short, long, odd) = (series(60, S / 10), series(6, S), series(60, 3 * S / 10));
        let named = |all: &[(&str, &SeriesView)]| {
            let all: Vec<_> = all.iter().map(|(name, series)| ((*name).to_owned(), *series)).collect();
            boxes_of(&all)
        };
        let (svg, caption) = named(&[("short", &short), ("long", &long), ("odd", &odd)]);
        assert!(caption.starts_with("Largest sample of each 1.00 s: "), "{caption}");
        assert!(
            caption.ends_with("; odd is not shown: its windows cannot be merged into spans of this length"),
            "{caption}"
        );
        assert!(
            svg.contains(">short<") && svg.contains(">long<") && !svg.contains(">odd<"),
            "{svg}"
        );
        assert_eq!(named(&[]).0, "");
    }

    #[test]
    fn no_span_reaches_over_a_gap() {
        let mut gap = series(8, S);
        gap.windows.remove(3);
        assert_eq!(maxima(&gap, 2 * S), Some(vec![1.0, 5.0, 7.0]));
        assert_eq!(maxima(&gap, S).map(|all| all.len()), Some(7));
    }
}
