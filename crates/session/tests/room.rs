//! Compares the disk space that a plan claims to need with the size of a run file written as its steps write it.

use model::{Counters, RunInfo, RunState, SeriesClock, SeriesId, SeriesSpec, Spike, Window};
use session::room::RoomNeed;
use stats::Histogram;
use store::{Batch, RunWriter};
use units::Realtime;

const WINDOW_NS: u64 = 20_000_000_000;
/// Number of series of twenty traced streams, and of a relay of twenty bays.
const SERIES: u32 = 210;
/// Windows of one hour and forty minutes: enough that the histograms do not fit into the budget.
const WINDOWS: u64 = 300;
const BUDGET: u64 = 8 << 20;

/// 20 s of a stream of 4 800 samples a second, with the spread of delays on a busy host: most about 30 µs, a tail up to
/// milliseconds.
fn histogram(seed: u64) -> Histogram {
    let mut histogram = Histogram::new();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for _ in 0..2_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let tail = 1 << (state % 64).leading_zeros().saturating_sub(57);
        histogram.record_n(20_000 + state % 20_000 * tail, 48);
    }
    histogram
}

fn window(series: u32, number: u64, histogram: &Histogram) -> Window {
    let samples = histogram.count();
    let whole = |ns: Option<u64>| ns.and_then(|ns| i64::try_from(ns).ok());
    Window {
        series: SeriesId(series),
        start_ns: number * WINDOW_NS,
        end_ns: (number + 1) * WINDOW_NS,
        counters: Counters {
            expected: samples,
            received: samples,
            ..Counters::default()
        },
        sum_ns: 30_000 * i128::from(samples),
        min_ns: whole(histogram.min()),
        max_ns: whole(histogram.max()),
        histogram: histogram.clone(),
    }
}

#[test]
fn a_run_file_takes_what_was_expected_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.triptime");
    let info = RunInfo {
        id: "room".into(),
        command: "qualify".into(),
        arguments: Vec::new(),
        tool_version: "0".into(),
        started: Realtime::from_ns(1_780_000_000_000_000_000),
        window_ns: WINDOW_NS,
    };
    let histograms: Vec<Histogram> = (1..41).map(histogram).collect();
    let mut writer = RunWriter::create(&path, &info, Some(BUDGET)).expect("a run file");
    for series in 0..SERIES {
        let spec = SeriesSpec {
            clock: SeriesClock::Monotonic,
            ..SeriesSpec::named(&format!("hop/nic-to-port/MU{series:02}"))
        };
        writer.add_series(&spec).expect("a series");
    }
    for number in 0..WINDOWS {
        let mut batch = Batch::default();
        for series in 0..SERIES {
            let at = usize::try_from(number + u64::from(series)).expect("small") % histograms.len();
            let window = window(series, number, &histograms[at]);
            batch.spikes.push(Spike {
                series: window.series,
                at_ns: window.end_ns,
                value_ns: window.max_ns.expect("samples"),
                cpu: Some(1),
                sequence: Some(number),
                explanation: None,
            });
            batch.windows.push(window);
        }
        writer.write(&batch).expect("written");
    }
    writer
        .finish(RunState::Complete, WINDOWS * WINDOW_NS)
        .expect("finished");
    let size = std::fs::metadata(&path).expect("the file").len();
    let need = RoomNeed {
        budget: BUDGET,
        ..RoomNeed::of(u64::from(SERIES), WINDOWS * WINDOW_NS, WINDOW_NS)
    };
    assert!(need.least() < size, "{size} octets, and {} at least", need.least());
    // Events of the kernel around the worst samples are not in this file, but are most of the expected size with so few windows.
    assert!(
        size < need.expected(),
        "{size} octets, and {} are expected",
        need.expected()
    );
    let without_worst = need.expected() - RoomNeed { series: 0, ..need }.expected();
    let rest = need.expected() - without_worst;
    assert!(
        (rest / 2..rest * 3 / 2).contains(&size),
        "{size} octets, and {rest} are expected without explanations"
    );
}
