//! Pairs of files with losses, duplicates and different starts.

use super::{Imported, LoggerError, LoggerFile, LoggerOptions, Relation, import, import_pair};
use model::{RunInfo, RunState};
use recording::{SegmentReader, Survey};
use run::Thresholds;
use std::path::Path;
use store::{RunFile, RunWriter};
use units::Realtime;

const START_US: i64 = 1_790_000_000_000_000;

fn options(clock: Relation) -> LoggerOptions {
    LoggerOptions {
        rate: Some(4_000),
        clock,
        within_ns: 100_000_000,
        started_ns: START_US * 1_000,
        window_ns: 1_000_000_000,
        thresholds: Thresholds::default(),
    }
}

/// Lines of samples `from..to` of two streams, delayed by `delay_us`, without those that `is_lost` names.
fn text(from: i64, to: i64, delay_us: impl Fn(i64) -> i64, is_lost: impl Fn(i64) -> bool) -> String {
    let mut text = String::new();
    for sample in (from..to).filter(|sample| !is_lost(*sample)) {
        for stream in 0..2 {
            let at = START_US + sample * 250 + delay_us(sample) + stream;
            text.push_str(&format!(
                "{}:svID000{stream}:{}:{at}\n",
                (sample - from) / 4_000,
                sample.rem_euclid(4_000)
            ));
        }
    }
    text
}

fn file(text: &str) -> LoggerFile<&[u8]> {
    LoggerFile {
        name: "log.txt".into(),
        source: text.as_bytes(),
    }
}

fn writer(path: &Path) -> RunWriter {
    let info = RunInfo {
        id: "1".into(),
        command: "import".into(),
        arguments: Vec::new(),
        tool_version: "0.1.0".into(),
        started: Realtime::from_ns(START_US * 1_000),
        window_ns: 1_000_000_000,
    };
    RunWriter::create(path, &info, None).unwrap()
}

fn survey(path: &Path) -> Survey {
    let run = RunFile::open(path).unwrap();
    let totals = run.segment_totals().unwrap().unwrap();
    let mut survey = Survey::new((totals.first_ns, totals.last_ns));
    let mut reader = SegmentReader::new();
    run.each_segment(|octets| survey.take(reader.read(octets.unwrap()).unwrap()))
        .unwrap();
    survey
}

fn paired(publisher: &str, subscriber: &str, clock: Relation) -> Result<(Imported, Survey, RunFile), LoggerError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.triptime");
    let mut run = writer(&path);
    let imported = import_pair(file(publisher), file(subscriber), &options(clock), &mut run)?;
    run.finish(RunState::Complete, imported.duration_ns).unwrap();
    Ok((imported, survey(&path), RunFile::open(&path).unwrap()))
}

/// A case in which matching by position would be wrong: one lost and one duplicate sample in the same window.
#[test]
fn a_loss_and_a_double_move_no_other_sample() {
    let publisher = text(0, 12_000, |_| 0, |_| false);
    let mut subscriber = text(0, 12_000, |_| 80, |sample| sample == 2_000);
    let double = text(2_500, 2_501, |_| 90, |_| false);
    let at = subscriber
        .find(&format!(":svID0000:2501:{}", START_US + 2_501 * 250 + 80))
        .unwrap();
    let line = subscriber[..at].rfind('\n').unwrap() + 1;
    subscriber.insert_str(line, &double);
    let (imported, survey, run) = paired(&publisher, &subscriber, Relation::SameHost).unwrap();
    assert_eq!((imported.duplicates, imported.unpaired), (2, 0));
    assert_eq!((survey.lost(), survey.received()), (2, 23_998));
    let histogram = survey.histogram(0);
    let figures = histogram.figures();
    assert_eq!(
        (figures.min, figures.max, histogram.count()),
        (Some(80_000), Some(80_000), 23_998)
    );
    let series = run.series().unwrap();
    assert_eq!(series[0].1.name, "latency/svID0000");
    let totals = run.totals(series[0].0).unwrap();
    assert_eq!((totals.counters.lost, totals.max_ns), (1, Some(90_000)));
}

#[test]
fn files_that_start_in_different_turns_and_lose_the_wrap_are_paired_by_time() {
    let publisher = text(-6_000, 12_000, |_| 0, |sample| sample == 8_000);
    let subscriber = text(
        100,
        12_000,
        |sample| 50 + sample % 7,
        |sample| sample == 4_000 || sample == 3_999,
    );
    let (imported, survey, _) = paired(&publisher, &subscriber, Relation::Synchronised(1_000)).unwrap();
    assert_eq!(
        imported.unpaired, 2,
        "one sample of each stream is not in the publisher's file"
    );
    let figures = survey.histogram(0).figures();
    assert_eq!((figures.min, figures.max), (Some(50_000), Some(56_000)));
    assert_eq!(
        survey.lost(),
        2 * 3,
        "two at the wrap, and the one that the publisher did not log"
    );
}

#[test]
fn without_a_stated_relation_there_is_no_series_to_judge() {
    let text = text(0, 100, |_| 0, |_| false);
    let (_, survey, run) = paired(&text, &text, Relation::Unknown).unwrap();
    assert!(run.series().unwrap().is_empty());
    assert_eq!(survey.received(), 200);
    let said = run.events().unwrap();
    assert!(said.iter().any(|event| event.text.contains("not stated (--clock)")));
}

#[test]
fn clocks_that_are_37_seconds_apart_are_named() {
    let publisher = text(0, 400, |_| 37_000_000, |_| false);
    let subscriber = text(0, 400, |_| 0, |_| false);
    let error = paired(&publisher, &subscriber, Relation::SameHost)
        .unwrap_err()
        .to_string();
    assert!(error.contains("37.0 s") && error.contains("TAI"), "{error}");
}

#[test]
fn one_file_gives_pacing_and_loss_and_names_its_bad_lines() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.triptime");
    let mut run = writer(&path);
    let text = text(0, 9_000, |_| 0, |sample| (5_000..5_010).contains(&sample)) + "half a li\n\nSV drop: 10\n";
    let imported = import(file(&text), &options(Relation::Unknown), &mut run).unwrap();
    run.finish(RunState::Complete, imported.duration_ns).unwrap();
    let survey = survey(&path);
    assert_eq!((survey.lost(), survey.received()), (20, 2 * 8_990));
    let pacing = survey.streams[0].pacing[0].spacing.figures();
    assert_eq!((pacing.min, pacing.max), (Some(250_000), Some(2_750_000)));
    let events = RunFile::open(&path).unwrap().events().unwrap();
    assert!(
        events
            .iter()
            .any(|event| event.text.contains("1 lines") && event.text.contains("line 17981")),
        "{events:?}"
    );
}

#[test]
fn a_file_of_something_else_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut run = writer(&directory.path().join("run.triptime"));
    let error = import(file("{\"a\": 1}\n"), &options(Relation::Unknown), &mut run).unwrap_err();
    assert!(matches!(error, LoggerError::Empty(_, 1)), "{error}");
}
