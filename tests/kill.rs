//! `kill -9` at any instant loses at most the open window.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use store::RunFile;
use support::{json, run, stderr, triptime};
use testing::Running;

const ROUNDS: u64 = 20;
const WINDOW_MS: u64 = 200;

/// Longest time from the command's start until the run file exists, on a machine that also runs other tests.
const OPENED_AFTER_MS: u64 = 2_500;

/// Longest time from the end of a window until it is written.
const WRITTEN_AFTER_MS: u64 = 800;

#[test]
fn every_closed_window_is_there_and_the_report_works() {
    let directory = tempfile::tempdir().expect("tempdir");
    // A fixed seed: the instants are spread, and the same each time.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let rounds: Vec<Round> = (0..ROUNDS)
        .map(|number| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            Round {
                number,
                killed_after: Duration::from_millis(400 + (state >> 33) % 2_800),
                file: directory.path().join(format!("{number}.triptime")),
            }
        })
        .collect();
    let (left, right) = rounds.split_at(rounds.len() / 2);
    std::thread::scope(|scope| {
        scope.spawn(|| left.iter().for_each(Round::kill));
        right.iter().for_each(Round::kill);
    });
}

/// A measurement and the instant at which it is killed.
struct Round {
    number: u64,
    killed_after: Duration,
    file: PathBuf,
}

impl Round {
    fn kill(&self) {
        let out = self.file.to_str().expect("UTF-8");
        let options = "wakeup --cpus 0 --policy other --interval 1ms --window 200ms --duration 60s --quiet --out";
        let mut command = triptime();
        command.args(options.split(' ')).arg(out);
        let mut child = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
        let started = Instant::now();
        std::thread::sleep(self.killed_after);
        let stored_before = stored(&self.file);
        let lived_ms = u64::try_from(started.elapsed().as_millis()).expect("short");
        child.kill().expect("SIGKILL");
        let killed_ns = sys::clock::realtime().as_ns();
        child.wait().expect("ended");

        let output = run(&["report", out, "--json"]);
        let round = self.number;
        let said = stderr(&output);
        if !self.file.exists() || said.contains("it is empty") {
            // Killed while it makes its file, which is reported.
            assert!(
                lived_ms < OPENED_AFTER_MS,
                "round {round}: nothing in a file after {lived_ms} ms"
            );
            assert_eq!(output.status.code(), Some(2), "round {round}: {said}");
            return;
        }
        assert_eq!(output.status.code(), Some(0), "round {round}, {lived_ms} ms: {said}");
        let document = json(&output);
        assert_eq!(document["run"]["state"], "interrupted");
        let received: u64 = document["series"]
            .as_array()
            .expect("series")
            .iter()
            .map(|series| series["expected"].as_u64().expect("a count"))
            .sum();
        assert!(
            received >= stored_before,
            "round {round}: {received} cycles, {stored_before} were there before it was killed"
        );
        // Counted from the start of the measurement, because the preparation can take longer.
        let measured_ms = u64::try_from((killed_ns - started_ns(&self.file)) / 1_000_000).unwrap_or(0);
        let due_ms = measured_ms.saturating_sub(WRITTEN_AFTER_MS) / WINDOW_MS * WINDOW_MS;
        assert!(
            received >= due_ms,
            "round {round}: {received} cycles of 1 ms stored, killed {measured_ms} ms after the start"
        );
    }
}

#[test]
fn a_file_that_a_kill_left_makes_way_where_force_is_given() {
    let directory = tempfile::tempdir().expect("tempdir");
    let out = directory.path().join("run.triptime");
    let words = |duration: &str| {
        let words =
            format!("wakeup --cpus 0 --policy other --interval 1ms --window 200ms --quiet --duration {duration} --out");
        let words = words.split(' ').map(str::to_owned);
        words.chain([out.display().to_string()]).collect::<Vec<String>>()
    };
    let again = |force: &[&str]| {
        let words = words("300ms");
        let words: Vec<&str> = words.iter().map(String::as_str).chain(force.iter().copied()).collect();
        let output = run(&words);
        (output.status.code(), stderr(&output))
    };
    let mut command = triptime();
    let mut child = Running::start(command.args(words("60s")).stdout(Stdio::null()).stderr(Stdio::null()));
    let until = Instant::now() + Duration::from_secs(60);
    while stored(&out) == 0 {
        assert!(Instant::now() < until, "no window was written");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (status, said) = again(&["--force"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("another process has it open"), "a live writer: {said}");
    let before = stored(&out);
    child.kill().expect("SIGKILL");
    child.wait().expect("ended");
    let (status, said) = again(&[]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("exists already"), "{said}");
    let (status, said) = again(&["--force"]);
    assert_eq!(status, Some(0), "{said}");
    let aside = directory.path().join("run.killed.triptime");
    assert!(said.contains(&format!("it is {} now", aside.display())), "{said}");
    assert!(stored(&aside) >= before, "the windows of the killed run are there");
    let events = RunFile::open(&out).expect("a run").events().expect("events");
    assert!(
        events
            .iter()
            .any(|event| event.text.contains("a kill or a power cut left it"))
    );
    let (status, said) = again(&["--force"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("its run has ended"), "{said}");
}

/// Number of cycles in the closed windows of a running measurement; 0 if it has no file yet.
fn stored(file: &Path) -> u64 {
    let Ok(run) = RunFile::open(file) else { return 0 };
    let series = run.series().expect("series");
    let totals = series.iter().map(|(id, _)| run.totals(*id).expect("totals"));
    totals.map(|totals| totals.counters.expected).sum()
}

fn started_ns(file: &Path) -> i64 {
    let run = RunFile::open(file).expect("a run file");
    run.info().started.as_ns()
}
