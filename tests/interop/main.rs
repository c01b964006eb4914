//! Files of other programs: imports of the installed cyclictest's files, and exports for programs that read such files.

mod command_line;
mod latency_test;

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use support::{json, root_or_skip, run, series, stderr};

/// Runs cyclictest on CPU 1 for two seconds; both of its files of the one run.
fn cyclictest(directory: &Path) -> (String, String) {
    let file = |name: &str| directory.join(name).to_str().expect("UTF-8").to_owned();
    let (json, text) = (file("cyclictest.json"), file("cyclictest.txt"));
    let output = Command::new("cyclictest")
        .args(["-q", "-m", "-p80", "-i1000", "-t1", "-a1", "-D2", "-h100000"])
        .args([format!("--json={json}"), format!("--histfile={text}")])
        .output()
        .expect("cyclictest is installed: apt-get install rt-tests");
    assert!(output.status.success(), "{}", stderr(&output));
    (json, text)
}

fn out(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("UTF-8").to_owned()
}

/// Export of a run file in this format.
fn exported(run_file: &str, format: &str) -> String {
    let output = run(&["export", run_file, "--format", format]);
    assert_eq!(output.status.code(), Some(0), "{format}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// Output of a shell script for this input.
fn piped(script: &str, text: &str, directory: &Path) -> String {
    let file = directory.join("piped.txt");
    std::fs::write(&file, text).expect("written");
    let input = std::fs::File::open(&file).expect("there");
    let output = Command::new("sh")
        .args(["-c", script])
        .stdin(input)
        .output()
        .expect("a shell");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

#[test]
fn a_real_cyclictest_comes_in_and_goes_out_as_it_was() {
    if !root_or_skip("interop: cyclictest") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let directory = directory.path();
    let (original, text) = cyclictest(directory);
    let (from_json, from_text) = (out(directory, "json.triptime"), out(directory, "text.triptime"));
    let imported = run(&["import", &original, "--json", "--out", &from_json]);
    assert_eq!(imported.status.code(), Some(0), "{}", stderr(&imported));
    let again = run(&["import", &text, "--interval", "1ms", "--json", "--out", &from_text]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));

    let theirs: Value = serde_json::from_str(&std::fs::read_to_string(&original).expect("there")).expect("JSON");
    let thread = &theirs["thread"]["0"];
    let (imported, again) = (json(&imported), json(&again));
    assert_eq!(imported["run"]["command"], "import");
    let (ours, same) = (series(&imported, "wakeup/cpu1"), series(&again, "wakeup/thread0"));
    assert_eq!(ours["received"], thread["cycles"]);
    // It ran for 2 s at 1 ms, so this number of activations was due, including missed ones; the last one may end later.
    let (expected, late_ms) = (ours["expected"].as_u64(), thread["max"].as_u64().map(|us| us / 1_000));
    assert!(
        expected >= Some(2_000) && expected <= late_ms.map(|ms| 2_000 + ms),
        "{ours}"
    );
    assert_eq!(ours["max"].as_u64(), thread["max"].as_u64().map(|us| us * 1_000 + 999));
    for figure in ["received", "missed", "clipped", "min", "max", "p50", "p99"] {
        assert_eq!(ours[figure], same[figure], "{figure}");
    }

    let back: Value = serde_json::from_str(&exported(&from_json, "cyclictest-json")).expect("JSON");
    for key in ["histogram", "cycles", "min", "max", "avg", "cpu"] {
        assert_eq!(back["thread"]["0"][key], *thread.get(key).expect(key), "{key}");
    }
    assert_eq!(
        exported(&from_text, "cyclictest"),
        std::fs::read_to_string(&text).expect("there")
    );
}

#[test]
fn scripts_written_for_cyclictest_read_what_we_measured() {
    if !root_or_skip("interop: wakeup") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let directory = directory.path();
    let measured = out(directory, "wakeup.triptime");
    let arguments = [
        "wakeup",
        "--cpus",
        "0-1",
        "--interval",
        "500us",
        "--duration",
        "2s",
        "--quiet",
        "--json",
    ];
    let output = run(&[&arguments[..], &["--out", &measured]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = json(&output);
    let of = |key: &str| ["wakeup/cpu0", "wakeup/cpu1"].map(|name| series(&report, name)[key].as_u64().expect(key));
    let (received, max) = (of("received"), of("max"));
    let largest = max.iter().max().expect("two") / 1_000;
    for format in ["cyclictest", "cyclictest-2.7"] {
        let text = exported(&measured, format);
        // SEAPATH and OSADL: the largest number of the line, and as many cores as there are `# Thread` lines.
        let seapath = "grep 'Max Latencies' | tr ' ' '\\n' | grep '^[0-9]' | sort -n | tail -1 | sed 's/^0*//'";
        assert_eq!(piped(seapath, &text, directory), largest.to_string());
        assert_eq!(piped("grep -c '^# Thread '", &text, directory), "2");
        // bench-cyclictest: the last value of the line. OpenShift: every value of it.
        let last = "awk '/^# Max Latencies:/ {print $NF + 0}'";
        assert_eq!(piped(last, &text, directory), largest.to_string());
        let all = "awk '/^# Max Latencies:/ {print $4 + 0, $5 + 0}'";
        assert_eq!(
            piped(all, &text, directory),
            format!("{} {}", max[0] / 1_000, max[1] / 1_000)
        );
        // rteval: the rows, one column for each thread.
        let rows = "awk '!/^#/ && NF {a += $2; b += $3} END {print a, b}'";
        let overflows = "awk '/^# Histogram Overflows:/ {print $4 + 0, $5 + 0}'";
        assert_eq!(
            piped(rows, &text, directory),
            format!("{} {}", received[0], received[1])
        );
        assert_eq!(piped(overflows, &text, directory), "0 0");
    }

    let file = out(directory, "own.json");
    std::fs::write(&file, exported(&measured, "cyclictest-json")).expect("written");
    let again = run(&[
        "import",
        &file,
        "--interval",
        "500us",
        "--json",
        "--out",
        &out(directory, "own.triptime"),
    ]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let again = json(&again);
    let back = ["wakeup/cpu0", "wakeup/cpu1"].map(|name| series(&again, name)["received"].as_u64().expect("a count"));
    assert_eq!(back, received);
}

#[test]
fn tables_and_metrics_of_a_run() {
    let directory = tempfile::tempdir().expect("tempdir");
    let directory = directory.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/interop/tests/data/stall24.json");
    let imported = out(directory, "stall.triptime");
    let output = run(&[
        "import",
        data.to_str().expect("UTF-8"),
        "--limits",
        "substation",
        "--out",
        &imported,
    ]);
    assert_eq!(
        output.status.code(),
        Some(1),
        "35 ms are over the limit: {}",
        stderr(&output)
    );

    let metrics = exported(&imported, "openmetrics");
    let labels = "{command=\"import\",series=\"wakeup/cpu1\"}";
    assert!(
        metrics.contains(&format!("triptime_missed_total{labels} 86\n")),
        "{metrics}"
    );
    assert!(metrics.ends_with("# EOF\n"));
    assert!(
        exported(&imported, "hlog")
            .lines()
            .any(|line| line.starts_with("Tag=wakeup/cpu1,0.000,3.000,34.959,"))
    );

    let refused = run(&["export", &imported, "--format", "parquet"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--out"), "{}", stderr(&refused));
    let tables = format!("{}/", directory.join("tables").display());
    let written = run(&["export", &imported, "--format", "parquet", "--out", &tables]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    let named = out(directory, "week.parquet");
    assert_eq!(
        run(&["export", &imported, "--format", "parquet", "--out", &named])
            .status
            .code(),
        Some(0)
    );
    assert!(directory.join("week.windows.parquet").exists() && directory.join("week.spikes.parquet").exists());
    let Some(python) = testing::python("interop: parquet") else {
        return;
    };
    let query = format!(
        "import duckdb; print(duckdb.sql(\"select series, expected, missed from '{tables}windows.parquet'\").fetchall())"
    );
    let answer = Command::new(python).args(["-c", &query]).output().expect("Python");
    assert_eq!(
        String::from_utf8_lossy(&answer.stdout),
        "[('wakeup/cpu1', 3000, 86)]\n",
        "{}",
        stderr(&answer)
    );
}

/// Exit status and JUnit file say the same, and an earlier file is replaced even if a command has no result.
#[test]
fn a_junit_file_says_what_became_of_its_command() {
    let directory = tempfile::tempdir().expect("tempdir");
    let directory = directory.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/interop/tests/data/stall24.json");
    let (data, junit) = (data.to_str().expect("UTF-8"), out(directory, "junit.xml"));
    let file = || std::fs::read_to_string(&junit).expect("a file");
    let run_file = out(directory, "x.triptime");
    let limits = ["--limits", "substation", "--junit", &junit];
    let failed = run(&[&["import", data, "--out", &run_file], &limits[..]].concat());
    assert_eq!(failed.status.code(), Some(1), "{}", stderr(&failed));
    assert!(
        file().contains("<failure type=\"limit\" message=\"measured "),
        "{}",
        file()
    );
    // The run file already exists.
    let refused = run(&[&["import", data, "--out", &run_file], &limits[..]].concat());
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(
        file().contains("exists already") && file().contains("<error "),
        "{}",
        file()
    );
    assert!(!file().contains("<failure"), "{}", file());
    let shown = run(&["report", &run_file, "--junit", &junit, "--json"]);
    assert_eq!(shown.status.code(), Some(1), "{}", stderr(&shown));
    assert!(file().contains("<failure type=\"limit\""), "{}", file());
    let foreign = out(directory, "theirs.xml");
    std::fs::write(&foreign, "<testsuites/>").expect("written");
    for (option, other) in [("--junit", &foreign), ("--junit", &run_file)] {
        let refused = run(&["report", &run_file, option, other]);
        assert_eq!(refused.status.code(), Some(2), "{other}: {}", stderr(&refused));
    }
    let same = run(&["report", &run_file, "--junit", &foreign, "--html", &foreign]);
    assert!(stderr(&same).contains("name the same file"), "{}", stderr(&same));
}

#[test]
fn a_failed_export_leaves_the_file_that_was_there() {
    let directory = tempfile::tempdir().expect("tempdir");
    let directory = directory.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/interop/tests/data/plain24.json");
    let good = out(directory, "good.triptime");
    assert_eq!(
        run(&["import", data.to_str().expect("UTF-8"), "--out", &good])
            .status
            .code(),
        Some(0)
    );
    let target = out(directory, "run.prom");
    assert_eq!(
        run(&["export", &good, "--format", "openmetrics", "--out", &target])
            .status
            .code(),
        Some(0)
    );
    let before = std::fs::read(&target).expect("there");
    // The histogram of a window is damaged: the export fails while it is read.
    let damage = Command::new("sqlite3")
        .args([&good, "UPDATE histogram SET hdr = x'00'"])
        .status();
    assert!(damage.expect("sqlite3 is installed: apt-get install sqlite3").success());
    let failed = run(&["export", &good, "--format", "openmetrics", "--out", &target]);
    assert_eq!(failed.status.code(), Some(2), "{}", stderr(&failed));
    assert_eq!(std::fs::read(&target).expect("still there"), before);
    let missing = run(&[
        "export",
        &good,
        "--format",
        "csv",
        "--out",
        &out(directory, "none/run.csv"),
    ]);
    assert_eq!(missing.status.code(), Some(2), "{}", stderr(&missing));
}

#[test]
fn what_cannot_be_imported_says_why_and_leaves_no_run() {
    let directory = tempfile::tempdir().expect("tempdir");
    let directory = directory.path();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/interop/tests/data");
    let data = |name: &str| data.join(name).to_str().expect("UTF-8").to_owned();
    let file = out(directory, "none.triptime");
    let cases: [(&[&str], &str); 5] = [
        (&[&data("plain24.txt")], "give it (--interval 200us)"),
        (
            &[&data("plain24.json"), "--interval", "200us"],
            "leave the interval out",
        ),
        (&[&data("ns24.json"), "--bucket", "1us"], "leave the bucket's width out"),
        (&[&data("README.md")], "neither a histogram of cyclictest"),
        (&["/no/such/file"], "No such file"),
    ];
    for (arguments, why) in cases {
        let output = run(&[&["import"], arguments, &["--out", &file]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(why), "{arguments:?}: {}", stderr(&output));
        assert!(!Path::new(&file).exists(), "{arguments:?}");
    }
}

/// The log of an application that reports its own maxima every 20 s, judged beside ours.
#[test]
fn maxima_of_an_application_are_judged_and_what_they_do_not_show_is_not() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("maxima.csv");
    let imported = |lines: &str, name: &str| {
        let head = "time,task/VPC count,task/VPC max_us,age/MU01 count,age/MU01 max_us\n";
        std::fs::write(&log, format!("{head}{lines}")).expect("written");
        let (log, out) = (log.to_str().expect("text"), out(directory.path(), name));
        json(&run(&[
            "import",
            log,
            "--limits",
            "substation",
            "--out",
            &out,
            "--json",
        ]))
    };
    let verdict = |document: &Value, limit: &str| {
        let checks = document["checks"].as_array().expect("checks");
        let check = checks.iter().find(|check| check["limit"] == limit);
        check.unwrap_or_else(|| panic!("{limit} in {document}"))["verdict"].clone()
    };
    let good: String = (1..=9)
        .map(|n| format!("{},20000,43{n},96000,400\n", 1000 + 20 * n))
        .collect();
    let document = imported(&good, "good.triptime");
    let task = series(&document, "task/VPC");
    assert_eq!((&task["received"], &task["max"]), (&180_000.into(), &439_999.into()));
    assert!(
        task["p99"].is_null() && task["mean"].is_null(),
        "unknown, not 0: {task}"
    );
    assert_eq!(verdict(&document, "task.max"), "pass");
    assert_eq!(
        verdict(&document, "task.missed"),
        "inconclusive",
        "the log does not count them"
    );
    assert_eq!(verdict(&document, "age.mean"), "inconclusive");

    let gap: String = good
        .lines()
        .filter(|line| !line.starts_with("1100,"))
        .map(|line| format!("{line}\n"))
        .collect();
    let gap = imported(&gap, "gap.triptime");
    assert_eq!(verdict(&gap, "task.max"), "inconclusive", "a report is missing: {gap}");
    let over = imported(&good.replace("20000,435", "20000,1000"), "over.triptime");
    assert_eq!(verdict(&over, "task.max"), "fail");

    let file = |name: &str| out(directory.path(), name);
    let drawn = run(&[
        "report",
        "--figure",
        "course",
        &format!("abb={}", file("good.triptime")),
        &format!("ours={}", file("over.triptime")),
    ]);
    let svg = String::from_utf8_lossy(&drawn.stdout).into_owned();
    assert!(svg.contains(">abb<") && svg.contains("line run1"), "{svg}");
}
