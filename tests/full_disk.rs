//! A full disk ends the run with an error, and the earlier data are kept.

use std::process::Command;
use support::{binary, root_or_skip};

#[test]
fn the_run_stops_says_so_and_can_be_reported() {
    if !root_or_skip("the_run_stops_says_so_and_can_be_reported") {
        return;
    }
    let disk = tempfile::tempdir().expect("tempdir");
    let keep = tempfile::tempdir().expect("tempdir");
    // In a separate mount namespace, so that the small disk disappears with it. Windows of 100 ms fill 640 KB in a few seconds; inventory and log
    // alone take most of 500 KB.
    let script = "mount -t tmpfs -o size=640k small \"$2\" || exit 99; \
                  \"$1\" wakeup --cpus 0 --policy other --interval 200us --window 100ms --duration 60s --quiet --force \
                  --out \"$2/run.triptime\" >/dev/null; status=$?; cp \"$2\"/run.triptime* \"$3\"; exit $status";
    let begin = std::time::Instant::now();
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .args([binary().as_path(), disk.path(), keep.path()])
        .output()
        .expect("unshare is installed");
    let message = support::stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(message.contains("disk is full"), "{message}");
    assert!(
        begin.elapsed().as_secs() < 50,
        "it must stop when the disk is full, not at its planned end"
    );
    let kept = keep.path().join("run.triptime");
    let report = support::run(&["report", kept.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(report.status.code(), Some(0), "{}", support::stderr(&report));
    let document = support::json(&report);
    assert_eq!(document["run"]["state"], "interrupted");
    assert!(
        support::series(&document, "wakeup/cpu0")["received"]
            .as_u64()
            .is_some_and(|n| n > 0)
    );
}
