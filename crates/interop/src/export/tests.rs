use super::csv::quoted;
use super::hlog::{base64, tag};
use super::{csv, hlog};
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use model::{Counters, RunInfo, RunState, SeriesClock, SeriesSpec, Window};
use stats::Histogram;
use std::time::Duration;
use store::{Batch, RunFile, RunWriter};
use units::Realtime;

const SECOND_NS: u64 = 1_000_000_000;

/// A run of two series with three windows of a second each; the middle one is empty. The name of the second series needs quoting.
pub(super) fn a_run(directory: &tempfile::TempDir) -> RunFile {
    let path = directory.path().join("run.triptime");
    let info = RunInfo {
        id: "test".into(),
        command: "wakeup".into(),
        arguments: vec!["triptime".into(), "wakeup".into()],
        tool_version: "0.1.0".into(),
        started: Realtime::from_ns(1_795_226_400_500_000_000),
        window_ns: SECOND_NS,
    };
    let mut writer = RunWriter::create(&path, &info, None).expect("created");
    for name in ["wakeup/cpu1", "age/\"MU, one\""] {
        let id = writer.add_series(&spec(name)).expect("added");
        let windows = [500u64, 0, 90_000]
            .into_iter()
            .zip(0..)
            .map(|(ns, second)| window(id, ns, second))
            .collect();
        writer
            .write(&Batch {
                windows,
                ..Batch::default()
            })
            .expect("written");
    }
    writer.finish(RunState::Complete, 3 * SECOND_NS).expect("finished");
    RunFile::open(&path).expect("opened")
}

fn spec(name: &str) -> SeriesSpec {
    SeriesSpec {
        what: "test".into(),
        clock: SeriesClock::Monotonic,
        interval_ns: None,
        threshold_ns: None,
        settings: Vec::new(),
        ..SeriesSpec::named(name)
    }
}

/// Forty samples of `ns`, or none when it is 0.
fn window(series: model::SeriesId, ns: u64, second: u64) -> Window {
    let n = if ns == 0 { 0 } else { 40 };
    let mut histogram = Histogram::new();
    histogram.record_n(ns, n);
    let value = (n > 0).then_some(ns as i64);
    Window {
        series,
        start_ns: second * SECOND_NS,
        end_ns: (second + 1) * SECOND_NS,
        counters: Counters {
            expected: n,
            received: n,
            ..Counters::default()
        },
        sum_ns: i128::from(ns * n),
        min_ns: value,
        max_ns: value,
        histogram,
    }
}

#[test]
fn csv_has_a_row_for_each_window_and_empty_cells_for_what_is_unknown() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut out = Vec::new();
    csv(&a_run(&directory), &mut out).expect("written");
    let text = String::from_utf8(out).expect("text");
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert_eq!(lines.len(), 8, "a header, six windows, and the end of the last line");
    assert_eq!(lines[0].split(',').count(), 23);
    assert_eq!(
        lines[1],
        "wakeup/cpu1,0,1000000000,40,40,0,0,0,0,0,0,0,0,500,500,500,,,500,0,0,0,0"
    );
    assert_eq!(
        lines[2],
        "wakeup/cpu1,1000000000,2000000000,0,0,0,0,0,0,0,0,0,0,,,,,,,0,0,0,0"
    );
    assert!(lines[4].starts_with("\"age/\"\"MU, one\"\"\",0,"), "{}", lines[4]);
}

#[test]
fn fields_are_quoted_only_where_they_must_be() {
    assert_eq!(quoted("age/MU01"), "age/MU01");
    assert_eq!(quoted("a,b"), "\"a,b\"");
    assert_eq!(quoted("a\"b\n"), "\"a\"\"b\\u{a}\"");
}

#[test]
fn the_interval_log_is_read_by_hdrhistograms_own_reader() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = a_run(&directory);
    let mut out = Vec::new();
    hlog(&file, &mut out).expect("written");
    let entries: Vec<LogEntry<'_>> = IntervalLogIterator::new(&out)
        .collect::<Result<_, _>>()
        .expect("HdrHistogram reads every line");
    assert_eq!(
        entries[0],
        LogEntry::StartTime(Duration::from_millis(1_795_226_400_500))
    );
    assert_eq!(entries[1], LogEntry::BaseTime(Duration::from_millis(1_795_226_400_500)));
    let intervals: Vec<_> = entries
        .iter()
        .filter_map(|entry| match entry {
            LogEntry::Interval(interval) => Some(interval),
            _ => None,
        })
        .collect();
    let spans: Vec<_> = file
        .series()
        .expect("series")
        .iter()
        .flat_map(|(id, _)| file.histograms(*id).expect("spans"))
        .collect();
    assert_eq!(intervals.len(), spans.len());
    assert!(
        intervals.len() >= 4,
        "two series, each with two windows that have samples"
    );
    for (interval, span) in intervals.iter().zip(&spans) {
        assert_eq!(interval.start_timestamp(), Duration::from_nanos(span.start_ns));
        assert_eq!(interval.duration(), Duration::from_nanos(span.end_ns - span.start_ns));
        assert_eq!(decoded(interval.encoded_histogram()).len(), span.histogram.count());
    }
    let last = intervals.last().expect("some");
    assert_eq!(
        last.tag().map(|tag| tag.as_str().to_owned()),
        Some("age/\"MU%2C%20one\"".to_owned())
    );
    assert!((last.max() - 0.09).abs() < 1e-9, "milliseconds: {}", last.max());
    let histogram = decoded(last.encoded_histogram());
    assert!(histogram.equivalent(histogram.max(), 90_000));
}

/// The histogram behind the base64 text, as HdrHistogram reads it.
fn decoded(text: &str) -> hdrhistogram::Histogram<u64> {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut bytes) = (0usize, 0, Vec::new());
    for c in text.chars().filter(|c| *c != '=') {
        bits = bits << 6 | alphabet.find(c).expect("base64");
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    hdrhistogram::serialization::Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .expect("V2 compressed")
}

#[test]
fn base64_of_the_standards_own_examples() {
    let examples = [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
        ("foobar", "Zm9vYmFy"),
    ];
    for (plain, encoded) in examples {
        assert_eq!(base64(plain.as_bytes()), encoded);
    }
}

#[test]
fn tags_hold_no_comma_and_no_white_space() {
    assert_eq!(tag("age/MU 1,\n%ä"), "age/MU%201%2C%0A%25ä");
}
