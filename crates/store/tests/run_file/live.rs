//! Another process can read a run while it is written.

use crate::support::{SAMPLES, as_child, assert_holds, batch, child_path, create};
use model::{RunState, SeriesId};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use store::RunFile;

const SERIES: u32 = 2;

/// Limit for the median duration of a write while a reader is active: far above an fsync, far below a reader's timeout.
/// A single write may meet a stalled disk.
const SLOW: Duration = Duration::from_secs(1);

/// Number of windows that the reader waits for, and the longest wait.
const WINDOWS: usize = 10;
const PATIENCE: Duration = Duration::from_secs(120);

/// The writing process: writes until its standard input is closed.
fn write_until_told(path: &Path) {
    let mut writer = create(path, SERIES, Some(100_000));
    let mut out = std::io::stdout();
    let told = std::thread::spawn(|| std::io::stdin().lines().count());
    let mut number = 0;
    let mut took = Vec::new();
    while !told.is_finished() {
        let begin = Instant::now();
        writer.write(&batch(SERIES, number)).expect("written");
        took.push(begin.elapsed());
        number += 1;
        writeln!(out, "\nsafe {number}").expect("a reader");
    }
    took.sort_unstable();
    let median = took[took.len() / 2];
    assert!(median < SLOW, "half of the writes took {median:?} or more");
    writer.finish(RunState::Complete, 1).expect("finished");
    writeln!(out, "\nmedian {} us", median.as_micros()).expect("a reader");
}

/// Ends the writer even if an assertion fails.
struct Writer(Child);

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(mut command: Command) -> Writer {
    Writer(
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test binary once more"),
    )
}

/// All calls see the same windows, at most so many as were seen later, and the run as long as they are.
fn of_one_moment(run: &RunFile, most: usize) {
    let windows = run.windows(SeriesId(0)).expect("windows");
    let totals = run.totals(SeriesId(1)).expect("totals");
    assert!(windows.len() <= most && totals.windows == windows.len() as u64);
    assert_eq!(run.histogram(SeriesId(1)).expect("histogram").count(), totals.samples);
    assert_eq!(Some(run.duration_ns()), windows.last().map(|window| window.end_ns));
    assert!(run.is_unended());
}

#[test]
fn a_run_is_read_while_it_is_written() {
    if let Some(path) = child_path() {
        return write_until_told(&path);
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("live.triptime");
    let mut writer = start(as_child("live::a_run_is_read_while_it_is_written", &path));
    let mut lines = BufReader::new(writer.0.stdout.take().expect("piped")).lines();
    assert!(
        lines.by_ref().any(|line| line.expect("text") == "safe 1"),
        "the writer did not start"
    );
    let lines = std::thread::spawn(move || lines.map_while(Result::ok).last());
    let kept_open = RunFile::open(&path).expect("a live run");
    let (mut last, mut reads) = (0, 0);
    let begin = Instant::now();
    while reads < 60 || (last <= WINDOWS && begin.elapsed() < PATIENCE) {
        let moment = RunFile::open_as_it_is(&path).expect("a live run");
        let run = RunFile::open(&path).expect("a live run");
        assert_eq!(run.state(), RunState::Interrupted, "not closed yet");
        let windows = run.windows(SeriesId(0)).expect("windows").len();
        let later = kept_open.windows(SeriesId(0)).expect("windows").len();
        assert!(windows >= last && later >= windows, "windows only become more");
        let totals = run.totals(SeriesId(1)).expect("totals");
        assert!(totals.windows as usize >= later && totals.samples == totals.windows * SAMPLES);
        assert!(run.histogram(SeriesId(1)).expect("histogram").count() >= totals.samples);
        of_one_moment(&moment, later);
        last = later;
        reads += 1;
    }
    assert!(last > WINDOWS, "the writer was held up: {last} windows");
    drop(writer.0.stdin.take());
    assert!(writer.0.wait().expect("waited for").success(), "the writer failed");
    assert!(lines.join().expect("read").is_some());
    // A reader that stayed open keeps the log next to the file; the next reader reads both.
    let run = RunFile::open(&path).expect("a closed run");
    assert_eq!(run.state(), RunState::Complete);
    let windows = run.windows(SeriesId(0)).expect("windows").len() as u64;
    assert_holds(&run, SERIES, windows);
}
