//! Cache and memory bandwidth during a run, on a machine whose kernel counts them: the kernel's files are imitated in a mount namespace.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use support::{binary, root_or_skip, run, stderr};

/// Mounts the files of resctrl, changes them while a run measures CPU 1, and measures.
const SCRIPT: &str = r#"
mount -t tmpfs none /sys/fs && mkdir -p /sys/fs/resctrl/rt/mon_data/mon_L3_00 /sys/fs/resctrl/mon_data/mon_L3_00 || exit 9
echo 0 > /sys/fs/resctrl/cpus_list
echo 1 > /sys/fs/resctrl/rt/cpus_list
echo 5242880 > /sys/fs/resctrl/mon_data/mon_L3_00/llc_occupancy
echo Unavailable > /sys/fs/resctrl/rt/mon_data/mon_L3_00/mbm_local_bytes
echo 1048576 > /sys/fs/resctrl/rt/mon_data/mon_L3_00/llc_occupancy
total=1000000
echo $total > /sys/fs/resctrl/rt/mon_data/mon_L3_00/mbm_total_bytes
(while sleep 0.2; do
  total=$((total + 2000000)); echo $total > /sys/fs/resctrl/new; mv /sys/fs/resctrl/new /sys/fs/resctrl/rt/mon_data/mon_L3_00/mbm_total_bytes
done) & changes=$!
"$1" wakeup --cpus 1 --duration 4s --window 2s --out "$2"; status=$?
kill $changes
exit $status
"#;

/// True if the machine can have the files: root, and CPUs 0 and 1 with the same cache, so that CPU 0 would read it.
fn can_have(test: &str) -> bool {
    if !root_or_skip(test) {
        return false;
    }
    let cache = "/sys/devices/system/cpu/cpu1/cache/index3";
    let of = |file: &str| fs::read_to_string(format!("{cache}/{file}")).unwrap_or_default();
    if of("id").trim() != "0" || !of("shared_cpu_list").starts_with('0') {
        testing::skip(test, "needs CPU 0 and CPU 1 on one third-level cache");
        return false;
    }
    true
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_the_kernel_counts_of_the_cache_is_beside_the_run_in_every_form() {
    if !can_have("what_the_kernel_counts_of_the_cache_is_beside_the_run_in_every_form") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("x.triptime");
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", SCRIPT, "sh"])
        .args([&binary(), &file])
        .output()
        .expect("unshare is installed");
    assert!(file.exists(), "{}{}", said(&output), stderr(&output));

    let document: Value = serde_json::from_str(&said(&run(&["report", text(&file), "--json"]))).expect("JSON");
    let readings = document["readings"].as_array().expect("readings");
    let of = |name: &str| {
        let found = readings.iter().find(|one| one["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {readings:?}"))
    };
    let occupancy = of("cache/rt/L3:0/occupancy");
    assert_eq!(
        (&occupancy["unit"], &occupancy["max"]),
        (&"octets".into(), &1_048_576.0.into())
    );
    assert_eq!(of("cache/L3:0/occupancy")["mean"], 5_242_880.0);
    let total = of("memory/rt/L3:0/total");
    assert_eq!(total["unit"], "octets/s");
    let mean = total["mean"].as_f64().expect("a mean");
    // Ten million bytes a second are planted; sleep takes longer on a machine that is busy.
    assert!((1e6..=2e7).contains(&mean), "{total}");
    let local = of("memory/rt/L3:0/local");
    assert!(
        local["mean"].is_null() && local["unknown"].as_u64() > Some(1),
        "{local}"
    );
    assert!(
        local["unknown_because"]
            .as_str()
            .is_some_and(|why| why.contains("Unavailable")),
        "{local}"
    );

    let full = said(&run(&["report", text(&file), "--full"]));
    let part = full
        .split("Cache and memory bandwidth")
        .nth(1)
        .expect("a part of the report");
    assert!(
        part.contains("1.00 MiB") && part.contains("5.00 MiB") && part.contains("MiB/s"),
        "{part}"
    );
    let rows = said(&run(&["export", text(&file), "--format", "readings"]));
    let windows = rows
        .lines()
        .filter(|line| line.starts_with("memory/rt/L3:0/total,octets/s,"));
    assert!(windows.count() >= 2, "{rows}");
    let page = directory.path().join("x.html");
    run(&["report", text(&file), "--html", text(&page)]);
    let page = fs::read_to_string(&page).expect("a page");
    assert!(
        page.contains("<section id=\"readings\">") && page.contains("memory/rt/L3:0/total over the time of the run")
    );
}

#[test]
fn a_run_without_the_counters_has_no_readings() {
    if !root_or_skip("a_run_without_the_counters_has_no_readings") {
        return;
    }
    if Path::new("/sys/fs/resctrl/mon_data").exists() {
        return testing::skip("a_run_without_the_counters_has_no_readings", "this kernel counts");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("x.triptime");
    run(&["wakeup", "--duration", "1s", "--out", text(&file)]);
    let document: Value = serde_json::from_str(&said(&run(&["report", text(&file), "--json"]))).expect("JSON");
    assert!(document["series"].as_array().is_some_and(|series| !series.is_empty()));
    assert!(document.get("readings").is_none());
    let rows = said(&run(&["export", text(&file), "--format", "readings"]));
    assert_eq!(rows.lines().count(), 1, "{rows}");
}
