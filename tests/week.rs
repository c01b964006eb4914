//! A week of wake-ups on two CPUs in windows of 20 s: the memory for writing it, the size of the file, and the time of the report. The windows are
//! those of a real minute (`data/minute.triptime`), repeated. Also the cost of a report for a week on a host with stalls.

use model::{Counters, Event, EventKind, RunInfo, RunState, SeriesClock, SeriesId, SeriesSpec, Spike, Window};
use stats::Histogram;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use store::{Batch, RunFile, RunWriter};
use support::memory::{MOST_KIB, run_with_peak};
use support::{json, run, series};
use testing::synthetic;
use units::Realtime;

const SECOND_NS: u64 = 1_000_000_000;
const WINDOW_NS: u64 = 20 * SECOND_NS;
/// Number of windows of 20 s in seven days.
const WINDOWS: u64 = 7 * 24 * 3600 / 20;
const SERIES: u32 = 2;

/// Environment variable with the path to which the child process writes.
const FILE: &str = "TRIPTIME_WEEK_FILE";

fn minute() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/minute.triptime")
}

/// The sixty windows of 20 s that begin at each second of the minute, per series.
fn windows_of_20_s() -> Vec<Vec<Window>> {
    let run = RunFile::open(&minute()).expect("the recorded minute");
    let of_series = |id| {
        let seconds = run.histograms(SeriesId(id)).expect("histograms");
        let from = |begin: usize| {
            let mut sum = Histogram::new();
            (0..20).for_each(|second| sum.merge(&seconds[(begin + second) % 60].histogram));
            window(id, sum)
        };
        (0..60).map(from).collect()
    };
    (0..SERIES).map(of_series).collect()
}

/// The first window of a series, with these samples.
fn window(series: u32, histogram: Histogram) -> Window {
    let samples = histogram.count();
    let whole = |ns: Option<u64>| ns.map(|ns| i64::try_from(ns).expect("small"));
    Window {
        series: SeriesId(series),
        start_ns: 0,
        end_ns: WINDOW_NS,
        counters: Counters {
            expected: samples,
            received: samples,
            ..Counters::default()
        },
        sum_ns: (histogram.mean().expect("samples") * samples as f64) as i128,
        min_ns: whole(histogram.min()),
        max_ns: whole(histogram.max()),
        histogram,
    }
}

fn spec(cpu: u32) -> SeriesSpec {
    SeriesSpec {
        what: "timer due -> thread running".into(),
        clock: SeriesClock::Monotonic,
        interval_ns: Some(200_000.0),
        threshold_ns: Some(120_000),
        settings: Vec::new(),
        ..SeriesSpec::named(&format!("wakeup/cpu{cpu}"))
    }
}

/// A run file without windows, of one series for each CPU.
fn begun(path: &Path, cpus: u32) -> RunWriter {
    let info = RunInfo {
        id: "week".into(),
        command: "wakeup".into(),
        arguments: Vec::new(),
        tool_version: "0".into(),
        started: Realtime::from_ns(1_780_000_000_000_000_000),
        window_ns: WINDOW_NS,
    };
    let mut writer = RunWriter::create(path, &info, None).expect("a run file");
    for cpu in 0..cpus {
        writer.add_series(&spec(cpu)).expect("a series");
    }
    writer
}

fn write_week(path: &Path) {
    let stored = windows_of_20_s();
    let mut writer = begun(path, SERIES);
    for first in (0..WINDOWS).step_by(20) {
        let mut batch = Batch::default();
        for number in first..(first + 20).min(WINDOWS) {
            for (cpu, windows) in (0..).zip(&stored) {
                let samples = &windows[usize::try_from(number % 60).expect("small")];
                let window = Window {
                    start_ns: number * WINDOW_NS,
                    end_ns: (number + 1) * WINDOW_NS,
                    ..samples.clone()
                };
                batch.spikes.push(Spike {
                    series: window.series,
                    at_ns: window.end_ns,
                    value_ns: window.max_ns.expect("samples"),
                    cpu: Some(cpu),
                    sequence: Some(number),
                    explanation: None,
                });
                batch.windows.push(window);
            }
        }
        writer.write(&batch).expect("written");
    }
    writer
        .finish(RunState::Complete, WINDOWS * WINDOW_NS)
        .expect("finished");
}

/// Largest memory of this process so far, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("VmHWM");
    line.split_whitespace()
        .nth(1)
        .expect("a figure")
        .parse()
        .expect("a number")
}

/// CPU time of the children of this process that have ended: the CPU time of other programs is not included.
fn children_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("stat");
    let behind = stat.rsplit_once(") ").expect("a name").1;
    // cutime and cstime (proc(5)), in ticks of 10 ms.
    let ticks = behind.split(' ').skip(13).take(2);
    10 * ticks.map(|word| word.parse::<u64>().expect("ticks")).sum::<u64>()
}

/// Not a separate test: the process whose memory is measured.
#[test]
fn child_writes_the_week() {
    if let Some(path) = std::env::var_os(FILE) {
        write_week(Path::new(&path));
        let _ = writeln!(std::io::stdout(), "peak {} KiB", peak_kib());
    }
}

#[test]
fn a_week_fits_into_little_memory_and_a_small_file_and_is_reported_at_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("week.triptime");
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "child_writes_the_week", "--nocapture"])
        .env(FILE, &path)
        .output()
        .expect("the child runs");
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{said}");
    let peak: u64 = said
        .lines()
        .find_map(|line| line.strip_prefix("peak ")?.strip_suffix(" KiB")?.parse().ok())
        .expect("the child's peak");
    let size = std::fs::metadata(&path).expect("the file").len();
    assert!(peak < 64 << 10, "{peak} KiB of memory");
    assert!(size < 50 << 20, "{size} octets of run file");

    let file = path.to_str().expect("text");
    let html = directory.path().join("week.html");
    let before_ms = children_ms();
    let output = run(&["report", file, "--json", "--html", html.to_str().expect("text")]);
    let took_ms = children_ms() - before_ms;
    let document = json(&output);
    let samples = series(&document, "wakeup/cpu1")["received"].as_u64().expect("a count");
    // 5000 a second, minus the missed ones of the recorded minute.
    assert!((2_900_000_000..=3_024_000_000).contains(&samples), "{samples}");
    assert!(took_ms < 2_000, "reported in {took_ms} ms of a CPU's time");
    let page = std::fs::metadata(&html).expect("the page").len();
    assert!(page < 4 << 20, "{page} octets of HTML");
    let figures =
        format!("{peak} KiB of memory, {size} octets of run file, reported in {took_ms} ms, {page} octets of HTML");
    let _ = writeln!(std::io::stdout(), "{figures}");
}

/// A report of forty series, each with the largest number of late samples that a run file stores, all explained, and of a relay's decisions.
fn write_bad_week(path: &Path) {
    const CPUS: u32 = 40;
    const SAMPLES: u64 = store::MOST_SPIKES;
    let mut writer = begun(path, CPUS);
    for cpu in 0..CPUS {
        let of_series = |number: u64| Spike {
            series: SeriesId(cpu),
            at_ns: number * SECOND_NS,
            value_ns: 200_000 + i64::try_from(number).expect("small"),
            cpu: Some(cpu),
            sequence: Some(number),
            explanation: Some(synthetic::explanation()),
        };
        let decision = |number: u64| Event {
            at_ns: number * SECOND_NS,
            since_ns: None,
            kind: EventKind::Relay,
            series: Some(SeriesId(cpu)),
            text: "bays20: bay01, LSVS: samples: good".into(),
        };
        let mut all = Histogram::new();
        (0..SAMPLES).for_each(|number| assert!(all.record(200_000 + number)));
        let mut whole = window(cpu, all);
        whole.counters.overflow = SAMPLES;
        let batch = Batch {
            windows: vec![whole],
            spikes: (0..SAMPLES).map(of_series).collect(),
            events: (0..SAMPLES / 2).map(decision).collect(),
            ..Batch::default()
        };
        writer.write(&batch).expect("written");
    }
    let end = writer.finish(RunState::Complete, SAMPLES * SECOND_NS);
    end.expect("finished");
}

#[test]
fn the_report_of_a_bad_week_takes_what_is_promised() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("bad.triptime");
    write_bad_week(&path);
    let html = directory.path().join("bad.html").display().to_string();
    let file = path.to_str().expect("text");
    for face in ["--json", "--full"] {
        let (output, most) = run_with_peak(&["report", file, face, "--html", &html]);
        assert!(output.status.success(), "{}", support::stderr(&output));
        assert!((30 << 10..=MOST_KIB).contains(&most), "{face}: {most} KiB");
        let _ = writeln!(std::io::stdout(), "{face}: {most} KiB");
    }
    let page = std::fs::read_to_string(&html).expect("the page");
    assert!(
        page.contains("399 992 more in the run file"),
        "what is not shown is told"
    );
}
