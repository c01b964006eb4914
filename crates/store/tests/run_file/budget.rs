//! Long runs stay within their file budget, and lose no count and no extreme.

use crate::support::{WINDOW_NS, assert_holds, batch, create, integrity, samples};
use model::{RunState, SeriesId};
use stats::Histogram;
use store::{HistogramSpan, RunFile};

/// Asserts that `spans` cover the windows 0 to `windows` - 1 without a gap, each with exactly the samples of its
/// windows.
fn assert_spans_are_whole(spans: &[HistogramSpan], series: u32, windows: u64) {
    let mut next = 0;
    for span in spans {
        assert_eq!(span.start_ns, next * WINDOW_NS, "no gap");
        let mut expected = Histogram::new();
        while next * WINDOW_NS < span.end_ns {
            for ns in samples(series, next) {
                expected.record(ns);
            }
            next += 1;
        }
        assert_eq!(span.histogram, expected);
        assert_eq!(
            (span.histogram.min(), span.histogram.max()),
            (expected.min(), expected.max()),
            "exact extremes"
        );
    }
    assert_eq!(next, windows);
}

#[test]
fn twenty_series_stay_within_the_budget() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("long.triptime");
    let (series, windows, budget) = (20, 400, 1 << 20);
    let mut writer = create(&path, series, Some(budget));
    for number in 0..windows {
        writer.write(&batch(series, number)).expect("written");
    }
    writer
        .finish(RunState::Complete, windows * WINDOW_NS)
        .expect("finished");
    let run = RunFile::open(&path).expect("a run");
    assert_holds(&run, series, windows);
    for index in 0..series {
        let spans = run.histograms(SeriesId(index)).expect("histograms");
        assert_spans_are_whole(&spans, index, windows);
        assert!(spans.len() >= 10, "the budget is used: {} spans", spans.len());
        let longest = spans
            .iter()
            .map(|span| span.end_ns - span.start_ns)
            .max()
            .expect("spans");
        assert!(longest < windows / 5 * WINDOW_NS, "no span swallows the run");
    }
    let db = rusqlite::Connection::open(&path).expect("a database");
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number") as u64;
    assert_eq!(
        number("SELECT sum(windows) FROM histogram"),
        u64::from(series) * windows
    );
    assert!(
        number("SELECT sum(length(hdr)) FROM histogram") > budget / 5,
        "the budget is used"
    );
    // 250 bytes are enough for a window's row, and for an event and 20 spikes as well.
    let rows = u64::from(series) * windows * (250 + 60) + 100_000;
    let file = std::fs::metadata(&path).expect("the file").len();
    assert!(file < budget + rows, "{file} bytes in the file, {rows} of them in rows");
    assert_eq!(integrity(&path), "ok");
}

#[test]
fn with_no_budget_at_all_a_single_histogram_is_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("tight.triptime");
    let mut writer = create(&path, 2, Some(0));
    for number in 0..40 {
        writer.write(&batch(2, number)).expect("written");
    }
    writer.finish(RunState::Complete, 40 * WINDOW_NS).expect("finished");
    let run = RunFile::open(&path).expect("a run");
    assert_holds(&run, 2, 40);
    for index in [0, 1] {
        let spans = run.histograms(SeriesId(index)).expect("histograms");
        assert_eq!(spans.len(), 1);
        assert_spans_are_whole(&spans, index, 40);
    }
}
