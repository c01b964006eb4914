//! The largest samples of several runs over time, each run from its own beginning.

use super::{Drawn, Group, look};
use crate::html::charts::{self, STATIC_POINTS};
use crate::html::lines::Curve;
use crate::spans::{self, Span};
use model::SeriesView;
use units::Ns;

/// The drawing of one series in its runs; `names` are the names of the runs.
pub(crate) fn of(title: &str, names: &[String], group: &Group<'_>) -> Drawn {
    let span_ns = spans::longest_ns(group.series.iter().map(|(_, one)| *one));
    let mut left_out = Vec::new();
    let mut curves = Vec::new();
    for (run, series) in &group.series {
        let found = spans::largest(series, span_ns);
        match found.map(|found| with_hidden(found, series)) {
            None => left_out.push(format!(
                "{} of {}: its windows do not add up to spans of {}",
                group.name,
                names[*run],
                Ns(span_ns)
            )),
            Some(found) if found.iter().all(|span| span.max_ns.is_none()) => {
                left_out.push(format!("{} of {}: no samples", group.name, names[*run]));
            }
            Some(found) => curves.push(Curve {
                name: names[*run].clone(),
                look: look(*run),
                points: points(&found, STATIC_POINTS),
            }),
        }
    }
    let ends = curves.iter().flat_map(|curve| curve.points.last());
    let end_s = ends.map(|(at, _)| *at).fold(0.0, f64::max);
    let svg = match curves.is_empty() {
        true => String::new(),
        // The first run is drawn last, on top.
        false => {
            curves.reverse();
            charts::timeline(title, &curves, &[], group.limit_ns, (0.0, end_s))
        }
    };
    Drawn {
        svg,
        size: charts::SIZE,
        caption: format!(
            "Largest sample of each {} over time, each run from its own beginning; latency logarithmic",
            Ns(span_ns)
        ),
        left_out,
    }
}

/// The spans with the window that has the largest sample of all, if none of them includes it.
fn with_hidden(mut spans: Vec<Span>, series: &SeriesView) -> Vec<Span> {
    let most = spans.iter().filter_map(|span| span.max_ns).max();
    let windows = series.windows.iter().filter(|row| row.max_ns > most);
    if let Some(row) = windows.max_by_key(|row| row.max_ns) {
        let at = spans.partition_point(|span| span.start_ns <= row.start_ns);
        spans.insert(at, Span::of_window(row));
    }
    spans
}

/// Each span as a level from its beginning to its end, at most about `most` of them; a gap interrupts the line.
fn points(spans: &[Span], most: usize) -> Vec<(f64, Option<f64>)> {
    let first_ns = spans.first().map_or(0, |span| span.start_ns);
    let seconds = |ns: u64| ns.saturating_sub(first_ns) as f64 / 1e9;
    let per_level = spans.len().div_ceil(most.max(1)).max(1);
    let mut points = Vec::new();
    // A pause between windows shorter than half of one is no gap.
    let joins = |one: &Span, next: &Span| next.start_ns.saturating_sub(one.end_ns) <= (next.end_ns - next.start_ns) / 2;
    for stretch in spans.chunk_by(joins) {
        if !points.is_empty() {
            points.push((seconds(stretch[0].start_ns), None));
        }
        for level in stretch.chunks(per_level) {
            let largest = level.iter().filter_map(|span| span.max_ns).max().map(|ns| ns as f64);
            points.push((seconds(level[0].start_ns), largest));
            points.push((seconds(level[level.len() - 1].end_ns), largest));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::{Group, of, points};
    use crate::spans::{Span, largest};
    use testing::synthetic;

    const S: u64 = 1_000_000_000;

    #[test]
    fn runs_lie_over_each_other_from_their_own_beginning() {
        let a = synthetic::series("task/F1", 6_000, 700_000, 60);
        let mut b = synthetic::series("task/F1", 6_000, 900_000, 60);
        b.windows.drain(..30);
        let names = ["gold", "silver"].map(str::to_owned);
        let group = Group {
            name: "F1".to_owned(),
            series: vec![(0, &a), (1, &b)],
            limit_ns: Some(1_000_000),
        };
        let drawn = of("Protection task, F1", &names, &group);
        assert!(
            drawn.svg.contains("line run0") && drawn.svg.contains("line run1"),
            "{}",
            drawn.svg
        );
        assert!(drawn.svg.contains("limit 1 ms") && drawn.left_out.is_empty());
        for run in ["run0", "run1"] {
            let begin = format!("class=\"line {run}\" d=\"M56.0 ");
            assert!(drawn.svg.contains(&begin), "{run} begins at the left: {}", drawn.svg);
        }
    }

    #[test]
    fn a_gap_interrupts_the_line_and_no_maximum_is_lost() {
        let mut series = synthetic::series("task/F1", 40_000, 700_000, 4_001);
        series.windows.drain(1_000..2_000);
        let spans = largest(&series, S).expect("whole windows");
        let line = points(&spans, 300);
        assert!(line.iter().any(|(_, ns)| ns.is_none()), "a gap");
        let most = line.iter().filter_map(|(_, ns)| *ns).fold(0.0, f64::max);
        assert_eq!(Some(most as i64), spans.iter().filter_map(|span| span.max_ns).max());
        let one = [Span {
            start_ns: 5,
            end_ns: 5 + S,
            max_ns: Some(7),
        }];
        assert_eq!(
            points(&one, 300),
            [(0.0, Some(7.0)), (1.0, Some(7.0))],
            "a level, not an invisible dot"
        );
    }

    #[test]
    fn the_largest_sample_is_drawn_even_if_its_window_is_shorter() {
        let mut series = synthetic::series("task/F1", 6_000, 700_000, 60);
        let mut last = series.windows[59].clone();
        (last.start_ns, last.end_ns, last.max_ns) = (60 * S, 60 * S + S / 4, Some(5_000_000));
        series.windows.push(last);
        let group = Group {
            name: "F1".to_owned(),
            series: vec![(0, &series)],
            limit_ns: None,
        };
        let found = super::with_hidden(largest(&series, S).expect("whole"), &series);
        assert_eq!(found.last().and_then(|span| span.max_ns), Some(5_000_000));
        assert!(!of("x", &["a".to_owned()], &group).svg.is_empty());
    }
}
