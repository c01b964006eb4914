//! The command line of cyclictest, as it stands in guides.

use super::out;
use support::{json, root_or_skip, run, series, stderr};

/// Words of the VMware ESXi real-time guide, and other forms of the same.
#[test]
fn a_command_line_of_cyclictest_is_taken_as_it_stands() {
    if !root_or_skip("interop: a command line of cyclictest") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let directory = directory.path();
    for (number, words) in [
        "-m -p 99 -i 100 -t 1 -a 1 -h 120 -D 1 --mainaffinity=0 -q",
        "-qm -p99 -i100 -t1 -a1 -h120 --duration=1",
        "--mlockall --priority=99 --interval=100 --threads=1 --affinity=1 --histogram=120 --loops=10000 --quiet",
    ]
    .into_iter()
    .enumerate()
    {
        let file = out(directory, &format!("run{number}.triptime"));
        let all: Vec<&str> = ["cyclictest"]
            .into_iter()
            .chain(words.split(' '))
            .chain(["--out", &file])
            .collect();
        let output = run(&all);
        assert_eq!(output.status.code(), Some(0), "{words}: {}", stderr(&output));
        let text = String::from_utf8(output.stdout).expect("text");
        let rows = text
            .lines()
            .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
        assert_eq!(
            (text.lines().next(), rows.count()),
            (Some("# Histogram"), 120),
            "{text}"
        );
        // The output in the words of cyclictest is read as such, and has every sample of the run.
        let histogram = out(directory, &format!("histogram{number}.txt"));
        std::fs::write(&histogram, &text).expect("written");
        let again = out(directory, &format!("again{number}.triptime"));
        let imported = run(&["import", &histogram, "--interval", "100us", "--json", "--out", &again]);
        assert_eq!(imported.status.code(), Some(0), "{}", stderr(&imported));
        let report = run(&["report", &file, "--json"]);
        let (imported, measured) = (json(&imported), json(&report));
        let ours = series(&measured, "wakeup/cpu1");
        let theirs = &imported["series"][0];
        assert_eq!(theirs["received"], ours["received"], "{text}");
        assert_eq!(
            (&ours["settings"]["policy"], &ours["settings"]["interval"]),
            (&"fifo:99".into(), &"100 µs".into())
        );
        assert!(ours["received"].as_u64() > Some(5_000), "{ours}");
        // Latencies beyond the histogram are counted as the ones over the threshold.
        let overflows = text
            .lines()
            .find_map(|line| line.strip_prefix("# Histogram Overflows: "));
        let overflows: u64 = overflows.expect("a line").trim().parse().expect("one thread");
        assert!(
            ours["overflow"].as_u64().expect("a count").abs_diff(overflows) <= 1,
            "{text} {ours}"
        );
    }
    let file = out(directory, "lines.triptime");
    let output = run(&[
        "cyclictest",
        "-p",
        "80",
        "-i",
        "1000",
        "-a",
        "0",
        "-l",
        "100",
        "--out",
        &file,
    ]);
    let text = String::from_utf8(output.stdout).expect("text");
    // A stall takes loops away: the time of the requested ones is measured.
    let loops = text
        .split_once(") P:80 I:1000 C:")
        .and_then(|(_, rest)| rest.split_once(" Min:"));
    let loops: Option<u32> = loops.and_then(|(loops, _)| loops.trim().parse().ok());
    assert!(
        text.starts_with("T: 0 (") && loops.is_some_and(|loops| (1..=100).contains(&loops)),
        "{text}"
    );
    for (words, says) in [
        (
            &["-t", "2", "-a", "1"][..],
            "-t 2: triptime measures each CPU with one thread",
        ),
        (&["-x"][..], "unexpected argument '-x'"),
    ] {
        let all: Vec<&str> = ["cyclictest"].iter().chain(words).copied().collect();
        let output = run(&all);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
}
