//! A matrix end to end: killed halfway, and finished by the same command.

mod management;
mod partition;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};
use support::left::Before;
use support::{json, root_or_skip, run, signal, start, stderr, wait};

const PLAN: &str = r#"
name = "short"
what = "Two networks beside two sets of loads in a few seconds, for tests"
limits = "substation"
window = "100ms"

[cpus]
housekeeping = "first"
measured = "rest"

[matrix]
networks = ["veth", "bridge"]
isolation = ["none", "isolcpus"]
repetitions = 2

[matrix.loads]
none = []
pairs = [{ kind = "hackbench", groups = 1, fds = 1 }]

[[step]]
probe = "wakeup"
duration = "500ms"
interval = "1ms"

[[step]]
probe = "reflect"
duration = "500ms"
interval = "1ms"
policy = "fifo:60"
receive = "block"
"#;

/// The cells that every machine can measure; test machines have no isolated CPUs.
const CELLS: [&str; 4] = [
    "native-veth-none-none",
    "native-veth-pairs-none",
    "native-bridge-none-none",
    "native-bridge-pairs-none",
];

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().expect("UTF-8").to_owned()
}

fn plan(directory: &Path, text: &str) -> String {
    let plan = path(directory, "short.toml");
    std::fs::write(&plan, text).expect("writable");
    plan
}

/// The identity of each finished run in the folder, by the name of its file.
fn complete(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "triptime"));
    let identity = |path: PathBuf| {
        let run = store::RunFile::open(&path).ok()?;
        let name = path.file_name()?.to_str()?.to_owned();
        (run.state() == model::RunState::Complete).then(|| (name, run.info().id.clone()))
    };
    runs.filter_map(identity).collect()
}

fn until_complete(folder: &Path, runs: usize) {
    let until = Instant::now() + Duration::from_secs(90);
    while complete(folder).len() < runs {
        assert!(Instant::now() < until, "{:?}", complete(folder));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until so many runs have begun, and all but the last are complete.
fn until_begun(folder: &Path, runs: usize) {
    until_complete(folder, runs - 1);
    let until = Instant::now() + Duration::from_secs(90);
    let files = || std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_run = |path: PathBuf| path.extension().is_some_and(|end| end == "triptime");
    while files().filter(|entry| is_run(entry.path())).count() < runs {
        assert!(Instant::now() < until, "{runs} runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Processes that measure into this folder.
fn processes(folder: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("proc").flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines
        .filter(|line| line.contains("qualify") && line.contains(folder))
        .collect()
}

/// Tests that need all CPUs share this lock; the partition, which takes a CPU away from them, holds it alone.
static CPUS: RwLock<()> = RwLock::new(());

#[test]
fn a_matrix_that_was_killed_goes_on_with_what_is_missing() {
    let _all = CPUS.read().unwrap_or_else(PoisonError::into_inner);
    let test = "a_matrix_that_was_killed_goes_on_with_what_is_missing";
    if !root_or_skip(test) {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, out) = (plan(directory.path(), PLAN), path(directory.path(), "out"));
    let folder = directory.path().join("out");
    let before = Before::look();
    let words = ["qualify", &plan, "--out", &out, "--seed", "7", "--no-flight-recorder"];

    let mut child = start(&words);
    until_complete(&folder, 2);
    child.kill().expect("SIGKILL");
    child.wait().expect("ended");
    let until = Instant::now() + Duration::from_secs(20);
    while !processes(&out).is_empty() {
        assert!(Instant::now() < until, "left behind: {:?}", processes(&out));
        std::thread::sleep(Duration::from_millis(20));
    }
    let first = complete(&folder);
    assert!((2..8).contains(&first.len()), "{first:?}");

    let words = [&words[..], &["--json"]].concat();
    let output = wait(start(&words), &words);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    let all = complete(&folder);
    for cell in CELLS {
        for round in 1..=2 {
            let name = format!("{cell}.{round}.triptime");
            assert!(all.contains_key(&name), "{name} in {all:?}: {}", stderr(&output));
        }
    }
    for (name, identity) in &first {
        assert_eq!(all.get(name), Some(identity), "{name} was measured again");
    }
    before.nothing_is_left();
    every_cell_is_in_the_table(&json(&output), &out);
    // Nothing is missing any more.
    let again = run(&words);
    assert_eq!(again.status.code(), output.status.code());
    let rounds = |all: BTreeMap<String, String>| {
        all.into_iter()
            .filter(|(name, _)| !name.contains(".causes."))
            .collect::<Vec<_>>()
    };
    assert_eq!(rounds(complete(&folder)), rounds(all));
}

fn every_cell_is_in_the_table(document: &Value, out: &str) {
    assert_eq!(document["schema"], "triptime.matrix/1");
    let cells = document["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 8, "four measured and four left out");
    for cell in cells {
        let is_isolated = cell["isolation"] == "isolcpus";
        let why = cell["left_out"].as_str().unwrap_or_default();
        assert_eq!(why.contains("was not booted with isolcpus"), is_isolated, "{cell}");
        assert_eq!(cell["runs"], if is_isolated { 0 } else { 2 }, "{cell}");
        let kinds = cell["measured"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["kind"].as_str());
        let kinds: Vec<&str> = kinds.flatten().collect();
        assert_eq!(kinds, if is_isolated { vec![] } else { vec!["wakeup", "rtt"] });
    }
    let conclusions = document["conclusions"].as_array().expect("a list");
    let networks = conclusions.iter().filter(|one| one["differs_in"] == "network").count();
    assert_eq!(
        (networks, conclusions.len()),
        (4, 4),
        "bridge against veth, two kinds beside two loads"
    );

    let html = std::fs::read_to_string(Path::new(out).join("matrix.html")).expect("a page");
    assert!(
        html.contains("<title>triptime: matrix short")
            && html.contains("native over bridge, load pairs, isolation none")
    );
    let shown = run(&["report", "--table", "matrix", out]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    for part in [
        "| native | bridge ",
        "left out",
        "Wake-up latency, bridge against veth",
        "largest sample of each",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert_eq!(json(&run(&["report", "--table", "matrix", out, "--json"])), *document);
    let file = format!("{out}/native-veth-none-none.1.triptime");
    let csv = run(&["report", "--table", "matrix", &file, "--csv"]);
    let csv = String::from_utf8_lossy(&csv.stdout).into_owned();
    assert!(csv.contains("native,veth,none,none,1,"), "{csv}");
}

#[test]
fn an_interrupt_ends_it_with_what_is_measured_and_says_how_to_go_on() {
    let _all = CPUS.read().unwrap_or_else(PoisonError::into_inner);
    let test = "an_interrupt_ends_it_with_what_is_measured_and_says_how_to_go_on";
    if !root_or_skip(test) {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, out) = (plan(directory.path(), PLAN), path(directory.path(), "out"));
    let words = ["qualify", &plan, "--out", &out];
    let child = start(&words);
    let folder = directory.path().join("out");
    until_complete(&folder, 1);
    let busy = run(&words);
    assert_eq!(busy.status.code(), Some(2));
    assert!(
        stderr(&busy).contains("is under way in another process"),
        "{}",
        stderr(&busy)
    );
    signal(&child, rustix::process::Signal::INT);
    let output = wait(child, &words);
    assert!(matches!(output.status.code(), Some(1 | 3)), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("measures the missing runs"),
        "{}",
        stderr(&output)
    );
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("not measured"),
        "the others are in the table"
    );
    assert!(processes(&out).is_empty());
    let left = std::fs::read_dir(&folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name());
    let left: Vec<_> = left
        .filter(|name| name.to_string_lossy().ends_with(".triptime"))
        .collect();
    assert_eq!(left.len(), complete(&folder).len(), "no half of a run: {left:?}");
}

/// One cell, without an interface, twice.
const ONE: &str = r#"
name = "one"
what = "One cell, for tests"
limits = "substation"
window = "100ms"

[cpus]
housekeeping = "first"
measured = "rest"

[matrix]
isolation = ["none"]
repetitions = 2

[matrix.loads]
none = []

[[step]]
probe = "wakeup"
duration = "2s"
interval = "1ms"
"#;

#[test]
fn two_of_one_second_have_a_folder_each() {
    let _all = CPUS.read().unwrap_or_else(PoisonError::into_inner);
    if !root_or_skip("two_of_one_second_have_a_folder_each") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let plan = plan(directory.path(), ONE);
    let begin = || {
        let mut command = std::process::Command::new(support::binary());
        command
            .current_dir(directory.path())
            .args(["qualify", &plan, "--disturb"]);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        testing::Running::start(&mut command)
    };
    let ends = [begin(), begin(), begin()].map(|running| running.output().expect("its end"));
    for end in &ends {
        assert!(matches!(end.status.code(), Some(0 | 1 | 3)), "{}", stderr(end));
    }
    let folders: Vec<PathBuf> = std::fs::read_dir(directory.path().join("runs"))
        .expect("runs")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert_eq!(folders.len(), 3, "{folders:?}");
    for folder in &folders {
        assert_eq!(complete(folder).len(), 2, "{folder:?}");
        assert!(folder.join("matrix.html").exists());
    }
}

#[test]
fn a_folder_that_is_renamed_while_it_is_measured_keeps_all_and_has_its_verdict() {
    let _all = CPUS.read().unwrap_or_else(PoisonError::into_inner);
    if !root_or_skip("a_folder_that_is_renamed_while_it_is_measured_keeps_all_and_has_its_verdict") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let (plan, out) = (plan(directory.path(), ONE), path(directory.path(), "out"));
    let words = ["qualify", &plan, "--disturb", "--json", "--out", &out];
    let child = start(&words);
    // If the folder is renamed before a run has its file, the run makes it again.
    until_begun(Path::new(&out), 2);
    let moved = directory.path().join("moved");
    std::fs::rename(&out, &moved).expect("renamed");
    let end = wait(child, &words);
    assert!(
        stderr(&end).contains("out was moved while it was measured, and is now "),
        "{}",
        stderr(&end)
    );
    assert_eq!(complete(&moved).len(), 2, "{}", stderr(&end));
    assert!(!Path::new(&out).exists());
    assert!(moved.join("matrix.html").exists());
    let document = json(&end);
    let shown = run(&["report", "--table", "matrix", "--json", moved.to_str().expect("UTF-8")]);
    assert_eq!(json(&shown), document);

    let gone = path(directory.path(), "gone");
    let words = ["qualify", &plan, "--disturb", "--out", &gone];
    let child = start(&words);
    until_begun(Path::new(&gone), 2);
    // A file that is made in the meantime keeps its folder.
    while std::fs::remove_dir_all(&gone).is_err_and(|error| error.kind() == std::io::ErrorKind::DirectoryNotEmpty) {}
    let end = wait(child, &words);
    assert_eq!(end.status.code(), Some(3), "{}", stderr(&end));
    assert!(
        stderr(&end).contains("gone: was removed while the matrix was measured"),
        "{}",
        stderr(&end)
    );
}

#[test]
fn foreign_folders_other_plans_and_options_that_mean_nothing_are_refused() {
    let _all = CPUS.read().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().expect("tempdir");
    let plan = plan(directory.path(), PLAN);
    let (notes, junit) = (path(directory.path(), "notes"), path(directory.path(), "refused.xml"));
    std::fs::create_dir(&notes).expect("a folder");
    std::fs::write(Path::new(&notes).join("mine.txt"), "mine").expect("written");
    let refused = |words: &[&str], says: &str| {
        let output = run(&[&["qualify", &plan], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{words:?}: {}", stderr(&output));
    };
    for (words, says) in [
        (&["--nic", "a,b"][..], "matrix.networks"),
        (&["--place", "native"][..], "matrix.places"),
        (&["--load", "memory"][..], "matrix.loads"),
        (&["--junit", &junit][..], "triptime report --junit"),
        (&["--summary"][..], "one form"),
    ] {
        refused(words, says);
    }
    let quick = run(&["qualify", "quick", "--budget", "1m"]);
    assert_eq!(quick.status.code(), Some(2));
    assert!(stderr(&quick).contains("has no [matrix]"), "{}", stderr(&quick));
    if !root_or_skip("foreign_folders_other_plans_and_options_that_mean_nothing_are_refused") {
        return;
    }
    refused(&["--out", &notes], "is not empty, and not the folder of a matrix");
    assert_eq!(std::fs::read_dir(&notes).expect("still there").count(), 1);
}

#[test]
fn what_it_will_do_is_shown_with_what_is_left_out() {
    let _all = CPUS.read().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().expect("tempdir");
    let plan = plan(directory.path(), PLAN);
    let show = |words: &[&str]| {
        let output = run(&[&["qualify", &plan, "--show"], words].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let all = show(&[]);
    assert!(all.contains("4 cells, each measured 2 times of at most 2"), "{all}");
    let left_out = all.lines().find(|line| line.contains("was not booted with isolcpus"));
    assert!(
        left_out.is_some_and(|line| line.contains("native over bridge, load pairs, isolation isolcpus")),
        "{all}"
    );
    let some = show(&["--budget", "20s"]);
    assert!(
        some.contains("the budget of 20.0 s holds one measurement of 2 of 4 cells"),
        "{some}"
    );
    // A runtime that cannot run the device leaves out its containers, and nothing else.
    let both = PLAN.replace("networks = ", "places = [\"native\", \"container\"]\nnetworks = ");
    std::fs::write(&plan, both).expect("written");
    let docker = show(&["--runtime", "docker"]);
    assert!(docker.contains("4 cells, each"), "{docker}");
    let left_out = docker
        .lines()
        .find(|line| line.contains("use runc, which docker itself uses"));
    assert!(
        left_out.is_some_and(|line| line.contains("container over veth, load none") && !line.contains("native over")),
        "{docker}"
    );
    assert!(!directory.path().join("runs").exists());
}
