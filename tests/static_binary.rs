//! One file is the whole installation.

use std::process::Command;
use support::{binary, root_or_skip};

#[test]
fn it_asks_for_no_interpreter_and_no_library() {
    let output = Command::new("readelf")
        .arg("--program-headers")
        .arg("--dynamic")
        .arg(binary())
        .output()
        .expect("readelf");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("DYN"), "position independent");
    assert!(!text.contains("INTERP") && !text.contains("NEEDED"), "{text}");
}

#[test]
fn it_runs_in_an_empty_root_directory() {
    if !root_or_skip("it_runs_in_an_empty_root_directory") {
        return;
    }
    let root = tempfile::tempdir().expect("tempdir");
    for name in ["proc", "sys", "dev"] {
        std::fs::create_dir(root.path().join(name)).expect("created");
    }
    std::fs::copy(binary(), root.path().join("triptime")).expect("copied");
    // In a separate mount namespace, so that the mounts disappear with it.
    let script = "set -e; cd \"$1\"; mount -t proc p proc; mount --rbind /sys sys; mount --rbind /dev dev; \
                  exec chroot . /triptime wakeup --cpus 0 --duration 500ms --json --out /run.triptime";
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .arg(root.path())
        .output()
        .expect("unshare is installed");
    assert_eq!(output.status.code(), Some(0), "{}", support::stderr(&output));
    let document = support::json(&output);
    assert!(
        support::series(&document, "wakeup/cpu0")["received"]
            .as_u64()
            .is_some_and(|n| n > 0)
    );
    assert!(root.path().join("run.triptime").exists());
}
