//! `triptime sentinel` live, between a publisher with faults and a relay process: what it tells, what it keeps, and what it tells of itself
//! when it was killed, held up, or its disk was full.

mod bay;

use bay::{Bay, FULL, kinds};
use rustix::process::Signal;
use std::fs;
use std::time::Duration;
use support::{json, root_or_skip, run, series, stderr};

#[test]
fn trips_are_timed_a_dead_relay_is_told_and_a_kill_becomes_a_gap() {
    if !root_or_skip("trips_are_timed_a_dead_relay_is_told_and_a_kill_becomes_a_gap") {
        return;
    }
    let bay = Bay::new();
    let publisher = bay.publisher();
    let relay = bay.relay();
    let sentinel = bay.sentinel(&bay.folder);
    bay.until_trips(&bay.folder, 3);
    // The relay dies with no word; its GOOSE expires, and the next faults find nobody.
    drop(relay);
    bay.until_told("silent");
    bay.until_told_any(&["missing", "unknown"]);
    let told = bay.told();
    assert!(!kinds(&told).contains(&"false"), "{told:?}");
    bay.every_announced_capture_is_there();
    support::signal(&sentinel, Signal::KILL);
    drop(sentinel);
    std::thread::sleep(Duration::from_millis(1_500));

    let relay = bay.relay();
    let sentinel = bay.sentinel(&bay.folder);
    let gap = bay.until_told("own");
    assert!(gap.contains("nothing was watched for"), "{gap}");
    bay.until_trips(&bay.folder, 2);
    let output = support::end(sentinel, &["sentinel"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    drop((publisher, relay));

    let runs = bay.runs(&bay.folder);
    assert_eq!(runs.len(), 2, "{runs:?}");
    let ledger = fs::read_to_string(bay.folder.join("months.tsv")).expect("a ledger");
    let lines = |word: &str| ledger.lines().filter(|line| line.contains(word)).count();
    assert!(
        lines("\tinterrupted\ttrip/main\t") == 1 && lines("\tcomplete\ttrip/main\t") == 1,
        "{ledger}"
    );
    let report = run(&["report", runs[0].to_str().expect("UTF-8"), "--json"]);
    let document = json(&report);
    assert!(
        series(&document, "trip/main")["received"].as_u64() >= Some(3),
        "{document}"
    );
    assert_eq!(document["run"]["state"], "interrupted");
    // A limit does not pass over time that nobody watched.
    let report = run(&["report", runs[1].to_str().expect("UTF-8"), "--json"]);
    let document = json(&report);
    assert_ne!(document["verdict"], "pass", "{document}");
    let metrics = fs::read_to_string(bay.folder.join("bay.prom")).expect("metrics");
    assert!(
        metrics.contains("triptime_received_total{sentinel=\"bay\",command=\"sentinel\",series=\"trip/main\"}"),
        "{metrics}"
    );
    assert!(
        metrics.contains("triptime_sentinel_alarms_total{sentinel=\"bay\",kind=\"own\",subject=\"watch\"} 1"),
        "{metrics}"
    );
}

#[test]
fn a_sentinel_that_was_held_up_tells_of_itself_and_blames_nobody() {
    if !root_or_skip("a_sentinel_that_was_held_up_tells_of_itself_and_blames_nobody") {
        return;
    }
    let bay = Bay::new();
    let _publisher = bay.publisher();
    let _relay = bay.relay();
    let sentinel = bay.sentinel(&bay.folder);
    bay.until_trips(&bay.folder, 1);
    // Longer than its ring holds of 4000 frames a second.
    support::signal(&sentinel, Signal::STOP);
    std::thread::sleep(Duration::from_secs(9));
    support::signal(&sentinel, Signal::CONT);
    let own = bay.until_told("own");
    assert!(own.contains("the watch itself lost") && own.contains("frames"), "{own}");
    std::thread::sleep(Duration::from_secs(3));
    let output = support::end(sentinel, &["sentinel"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = bay.told();
    for kind in ["missing", "false", "late"] {
        assert!(!kinds(&told).contains(&kind), "{kind}: {told:?}");
    }
    // On a busy machine the relay itself may be some milliseconds late; a silence of seconds would be the watch's own.
    let of_seconds = |line: &&String| line.starts_with("silent|") && !line.contains(" ms, and");
    assert_eq!(told.iter().find(of_seconds), None, "{told:?}");
    bay.every_announced_capture_is_there();
}

#[test]
fn a_full_disk_loses_no_frame_that_was_announced() {
    if !root_or_skip("a_full_disk_loses_no_frame_that_was_announced") {
        return;
    }
    let bay = Bay::new();
    let _publisher = bay.publisher();
    let relay = bay.relay();
    let output = bay.on_a_small_disk(|| {
        std::thread::sleep(Duration::from_secs(6));
        // Each fault that follows is a problem with frames of its own.
        drop(relay);
        std::thread::sleep(Duration::from_secs(14));
    });
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let alarms: Vec<&str> = told.lines().filter(|line| line.contains(": alarm ")).collect();
    assert!(alarms.iter().any(|line| line.contains(": silent: ")), "{told}");
    assert!(
        alarms.iter().any(|line| line.contains(FULL)),
        "the disk was full: {told}"
    );
    // The program that is told looked for the capture when it was told.
    let looked = fs::read_to_string(bay.told_file()).expect("told");
    assert!(!looked.contains("gone"), "{looked}");
}

#[test]
fn a_file_is_described_and_becomes_a_unit_and_its_mistakes_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bay.toml");
    let path_text = path.to_str().expect("UTF-8");
    let text = "name = \"bay\"\ninterface = \"eth9\"\nfolder = \"/nonexistent\"\n[[relay]]\nname = \"main\"\n\
                goose = \"IED1LD0/LLN0$GO$gcb\"\nfault = \"above:2000A\"\nstream = \"MU01\"\nwithin = \"30ms\"\n";
    fs::write(&path, text).expect("a file");
    let check = run(&["sentinel", path_text, "--check"]);
    let said = String::from_utf8_lossy(&check.stdout).into_owned();
    assert_eq!(check.status.code(), Some(0), "{}", stderr(&check));
    assert!(
        said.contains("relay main: fault where a value of member 0, 1, 2 is above 2000000 counts"),
        "{said}"
    );
    assert!(
        said.contains("samples MU01: rate learned") && said.contains("trip is member 0 of IED1LD0/LLN0$GO$gcb"),
        "{said}"
    );
    let unit = run(&["sentinel", path_text, "--unit"]);
    let unit = String::from_utf8_lossy(&unit.stdout).into_owned();
    assert!(
        unit.contains("Restart=always\n") && unit.contains("WatchdogSec=60\n") && unit.contains("KillMode=process\n"),
        "{unit}"
    );
    assert!(unit.contains(&format!("\"sentinel\" \"{path_text}\"")), "{unit}");
    // An interface or a file that is not there may come: the unit tries again, as it does not after a mistake.
    let scl = format!("scl = \"{path_text}.scd\"\n{text}");
    for (absent, words) in [(text.to_owned(), "eth9"), (scl, "bay.toml.scd")] {
        fs::write(&path, absent).expect("a file");
        let refused = run(&["sentinel", path_text]);
        assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
        assert!(stderr(&refused).contains(words), "{}", stderr(&refused));
    }
    for (wrong, words) in [
        (text.replace("above:2000A", "over:2000A"), "[[relay]] main: fault"),
        (text.replace("within = \"30ms\"", "within = \"30\""), "line 9"),
        (text.replace("[[relay]]", "[[relays]]"), "relays"),
    ] {
        fs::write(&path, wrong).expect("a file");
        let refused = run(&["sentinel", path_text]);
        assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
        assert!(
            stderr(&refused).contains(words) && stderr(&refused).contains(path_text),
            "{}",
            stderr(&refused)
        );
    }
}
