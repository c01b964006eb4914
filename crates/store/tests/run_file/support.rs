//! Runs with known contents, and the test binary started again as another process.

use model::{
    Cause, Counters, Event, EventKind, Explanation, Extent, Part, RunInfo, SeriesClock, SeriesId, SeriesSpec, Spike,
    Window,
};
use stats::Histogram;
use std::path::Path;
use std::process::Command;
use store::{Batch, RunFile, RunWriter};
use units::Realtime;

/// Length of a window of the test runs.
pub(crate) const WINDOW_NS: u64 = 20_000_000_000;

/// Samples above this are spikes in the test runs.
pub(crate) const THRESHOLD_NS: u64 = 100_000;

/// Pseudo-random numbers, the same each time for the same seed.
#[derive(Debug, Clone)]
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// A different sequence each time; the seed is printed, so that a failure can be investigated.
    pub(crate) fn unforeseen() -> Self {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("after 1970");
        let seed = now.as_nanos() as u64;
        say(&format!("seed {seed}"));
        Self(seed)
    }

    /// SplitMix64 (Steele, Lea, Flood, 2014).
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}

/// Writes a line to standard error immediately, not captured by the test harness.
pub(crate) fn say(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The facts of the test runs.
pub(crate) fn info() -> RunInfo {
    RunInfo {
        id: "20261121T020000-4f2a".into(),
        command: "wakeup".into(),
        arguments: vec!["wakeup".into(), "--duration".into(), "10s".into()],
        tool_version: "0.1.0".into(),
        started: Realtime::from_ns(1_795_226_400_000_000_000),
        window_ns: WINDOW_NS,
    }
}

/// Series number `index` of the test runs.
pub(crate) fn spec(index: u32) -> SeriesSpec {
    SeriesSpec {
        what: "timer due to thread running".into(),
        clock: SeriesClock::Monotonic,
        interval_ns: Some(250_000.0),
        threshold_ns: Some(THRESHOLD_NS),
        settings: vec![("policy".into(), "fifo:80".into()), ("cpu".into(), index.to_string())],
        ..SeriesSpec::named(&format!("wakeup/cpu{index}"))
    }
}

/// A new run with `series` series.
pub(crate) fn create(path: &Path, series: u32, file_budget: Option<u64>) -> RunWriter {
    let mut writer = RunWriter::create(path, &info(), file_budget).expect("a new run file");
    for index in 0..series {
        assert_eq!(writer.add_series(&spec(index)).expect("a new series"), SeriesId(index));
    }
    writer
}

/// The samples of a window, the same ones each time: 200 around 5 µs, and one spike.
pub(crate) fn samples(series: u32, window: u64) -> Vec<u64> {
    let mut numbers = Numbers::seeded(u64::from(series) << 40 | window);
    let mut samples: Vec<u64> = (1..SAMPLES).map(|_| 3_000 + numbers.below(4_000)).collect();
    samples.push(THRESHOLD_NS + 1 + numbers.below(10_000_000));
    samples
}

/// Number of [`samples`] in a window.
pub(crate) const SAMPLES: u64 = 201;

/// The counters of window number `window` of any series.
fn counters(window: u64) -> Counters {
    Counters {
        expected: SAMPLES + 3,
        received: SAMPLES,
        lost: 1,
        missed: 2,
        overflow: 1,
        late: window % 2,
        ..Counters::default()
    }
}

/// Window number `window` of a series, made of [`samples`].
pub(crate) fn window(series: u32, window: u64) -> Window {
    let samples = samples(series, window);
    let mut histogram = Histogram::new();
    for ns in &samples {
        histogram.record(*ns);
    }
    let ns = |value: Option<&u64>| value.and_then(|ns| i64::try_from(*ns).ok());
    Window {
        series: SeriesId(series),
        start_ns: window * WINDOW_NS,
        end_ns: (window + 1) * WINDOW_NS,
        counters: counters(window),
        sum_ns: samples.iter().map(|ns| i128::from(*ns)).sum(),
        min_ns: ns(samples.iter().min()),
        max_ns: ns(samples.iter().max()),
        histogram,
    }
}

/// A batch with window number `number` of all series, its spikes and an event.
pub(crate) fn batch(series: u32, number: u64) -> Batch {
    let windows: Vec<Window> = (0..series).map(|index| window(index, number)).collect();
    let spikes = windows
        .iter()
        .map(|window| Spike {
            series: window.series,
            at_ns: window.start_ns + 7,
            value_ns: window.max_ns.expect("a window has samples"),
            cpu: Some(1),
            sequence: Some(number),
            explanation: None,
        })
        .collect();
    let event = Event {
        at_ns: number * WINDOW_NS,
        since_ns: None,
        kind: EventKind::Note,
        series: None,
        text: format!("window {number}"),
    };
    Batch {
        windows,
        spikes,
        events: vec![event],
        ..Batch::default()
    }
}

/// Asserts that `run` holds exactly the windows 0 to `windows` - 1 of `series` series, complete and correct.
pub(crate) fn assert_holds(run: &RunFile, series: u32, windows: u64) {
    assert_eq!(run.series().expect("series").len(), series as usize);
    let events = run.events().expect("events");
    assert_eq!(events.len() as u64, windows, "one event for each window");
    for index in 0..series {
        let id = SeriesId(index);
        let mut all = Histogram::new();
        let mut summed = Counters::default();
        let mut sum_ns = 0;
        for (number, row) in (0..).zip(run.windows(id).expect("windows")) {
            assert_eq!(
                (row.start_ns, row.end_ns),
                (number * WINDOW_NS, (number + 1) * WINDOW_NS)
            );
            assert_eq!(row.counters, counters(number));
            let samples = samples(index, number);
            let extremes = (samples.iter().min().copied(), samples.iter().max().copied());
            assert_eq!(
                (row.min_ns.map(|ns| ns as u64), row.max_ns.map(|ns| ns as u64)),
                extremes
            );
            for ns in &samples {
                all.record(*ns);
            }
            summed.add(&row.counters);
            sum_ns += samples.iter().map(|ns| i128::from(*ns)).sum::<i128>();
        }
        let totals = run.totals(id).expect("totals");
        assert_eq!(
            (totals.windows, totals.counters, totals.sum_ns),
            (windows, summed, sum_ns)
        );
        assert_eq!(totals.samples, totals.counters.received);
        let read = run.histogram(id).expect("histogram");
        assert_eq!((&read, read.min(), read.max()), (&all, all.min(), all.max()));
        assert_eq!(
            run.spikes(id).expect("spikes").len() as u64,
            windows.min(store::MOST_SPIKES)
        );
    }
}

/// SQLite's own check of a file.
pub(crate) fn integrity(path: &Path) -> String {
    let db = rusqlite::Connection::open(path).expect("a database");
    db.query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("an answer")
}

/// Environment variable that makes a test act as the other process, and holds its path.
pub(crate) const CHILD: &str = "TRIPTIME_STORE_TEST_CHILD";

/// Command that starts this test binary again as the other process, with only the test `name`, on `path`.
pub(crate) fn as_child(name: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the test binary"));
    command
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, path);
    command
}

/// The path, if this process is the other one.
pub(crate) fn child_path() -> Option<std::path::PathBuf> {
    std::env::var_os(CHILD).map(std::path::PathBuf::from)
}

/// An explanation with every field set.
pub(crate) fn explanation() -> Explanation {
    let part = |what: &str, ns| Part { what: what.into(), ns };
    Explanation {
        cause: Cause::Interrupt,
        text: "irq/24-eth0 ran for 700 us".into(),
        extent: Extent::OneCpu,
        stages: vec![part("timer interrupt", 880_000), part("switch-in", 20_000)],
        occupants: vec![part("interrupt 24 eth0", 700_000)],
        unexplained_ns: 200_000,
        around: vec!["no steal".into()],
    }
}
